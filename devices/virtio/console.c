/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtio-console (virtio 1.2, section 5.3): ends of lines between two VMs, one on each port. Bytes
 * wait in the sender's queue until the other end has buffers. As on a serial line without a
 * receiver, they are lost while the other end has no driver. With several ports the driver learns
 * of them by messages on the control queues; a port is always open.
 *
 * Port 0 is the guest's console. Linux prints on it with interrupts disabled, and spins until the
 * device has returned the bytes
 * (__send_to_port() of virtio_console.c), so they never wait for another VM: what the other end has
 * no buffers for is dropped.
 *
 * Lock order: the lock of the queue of the driver's messages, then that of the device's.
 */
#include "virtio.h"

#define QUEUE_TO_DRIVER 2U /* control queues: messages of the device, and of the driver */
#define QUEUE_TO_DEVICE 3U
#define REQUESTS 0x2aeU /* control queues, and the send queues of 4 ports */
#define FEATURE_MULTIPORT (UINT64_C(1) << 1)
#define CLASS_COMMUNICATION 0x078000U
#define CONFIG_PORTS 4U /* offset: max_nr_ports */

/* Events of messages (section 5.3.6.2). */
#define DEVICE_READY 0U
#define PORT_ADD 1U
#define PORT_READY 3U
#define CONSOLE_PORT 4U
#define PORT_OPEN 6U
#define PORT_NAME 7U

/* struct virtio_console_control (section 5.3.6.2), little-endian. */
struct message {
    uint32_t port;
    uint16_t event, value;
};

/* Guarded by the lock of the port's send queue. */
struct end {
    bool waits;               /* bytes for which the other end has no buffers wait; constant */
    bool sending;             /* a chain, which is still in the queue */
    struct virtio_chain rest; /* of that chain */
    struct virtio_console_counts counts;
};

struct console {
    struct end ends[VIRTIO_CONSOLE_PORTS];
    /* A message of the driver, still in its queue until those that it causes are sent; guarded by
     * the lock of QUEUE_TO_DEVICE. */
    bool received;
    uint32_t head; /* of the message's chain */
    /* bit n: an event n for the driver; guarded by the lock of QUEUE_TO_DRIVER */
    uint32_t pending[VIRTIO_CONSOLE_PORTS];
};

/* by number of the function; owner: this file */
static struct console consoles[VIRTIO_MAX_FUNCTIONS];

/* The queues of port 0 are in front of the control queues. */
static unsigned receive_queue(unsigned port)
{
    return port == 0 ? 0 : 2U * port + 2U;
}

static unsigned send_queue(unsigned port)
{
    return receive_queue(port) + 1U;
}

static unsigned port_of(unsigned queue)
{
    return queue < QUEUE_TO_DRIVER ? 0 : queue / 2U - 1U;
}

static const char *console_boot(struct virtio_device *dev)
{
    const struct virtio_image_function *config = dev->config;

    if (config->ports == 0 || config->ports > VIRTIO_CONSOLE_PORTS) {
        return "the image has a console with a wrong number of ports";
    }
    for (unsigned port = 0; port < config->ports; port++) {
        if (config->other_functions[port] >= virtio_device_count ||
            config->other_ports[port] >= VIRTIO_CONSOLE_PORTS) {
            return "the image has a console without another end";
        }
    }
    consoles[virtio_number(dev)] = (struct console){.pending = {0}};
    dev->data = &consoles[virtio_number(dev)];
    for (unsigned port = 1; port < config->ports; port++) {
        consoles[virtio_number(dev)].ends[port].waits = true;
    }
    if (config->ports > 1U) {
        dev->offered |= FEATURE_MULTIPORT;
        dev->nqueues = (uint8_t)(2U * config->ports + 2U);
    }
    return NULL;
}

static uint32_t console_config(const struct virtio_device *dev, unsigned offset)
{
    return offset == CONFIG_PORTS ? dev->config->ports : 0;
}

/* --- bytes of a line --- */

/* The other end of the port's line, and in *port its port; NULL if it is none, as only a damaged
 * image has it. */
static struct virtio_device *other_end(const struct virtio_device *dev, unsigned *port)
{
    const struct virtio_image_function *own = dev->config;
    unsigned far = own->other_ports[*port];
    struct virtio_device *other = &virtio_devices[own->other_functions[*port]];
    bool mutual = other->class == dev->class && other != dev && far < other->config->ports &&
                  other->config->other_functions[far] == virtio_number(dev) &&
                  other->config->other_ports[far] == *port;

    *port = far;
    return mutual ? other : NULL;
}

/* Copies bytes of the sender's buffer into the receiver's next chain. With the locks of both
 * queues. */
static enum virtio_found fill(struct virtio_device *to, struct virtq *q, struct end *end)
{
    struct virtio_chain chain, *from = &end->rest;
    enum virtio_found found = virtq_first(to, q, VIRTIO_QUEUE_SIZE, &chain);
    uint32_t n;

    if (found == VIRTIO_SOME) {
        found = virtio_chain_span(&chain);
    }
    if (found != VIRTIO_SOME || !chain.writable) {
        return VIRTIO_WRONG;
    }
    n = virtio_min(virtio_min(from->room, chain.room), VIRTIO_PIECE);
    virtio_copy(chain.at, from->at, n);
    virtio_chain_advance(from, n);
    end->counts.sent += n;
    q->next++;
    virtq_return(q, chain.head, n);
    virtq_interrupt(to, q);
    return VIRTIO_SOME;
}

static void drop(struct end *end)
{
    end->counts.dropped += end->rest.room;
    virtio_chain_advance(&end->rest, end->rest.room);
}

/* Sends a piece of the current buffer, which is not empty, to a port of the other end. */
static struct virtio_step deliver(struct virtio_device *to, unsigned port, struct end *end)
{
    struct virtq *q = &to->queues[receive_queue(port)];
    struct virtio_step step = {.wait = false};

    spin_lock(&q->lock);
    if (q->ready && (virtq_waiting(q) != 0 || !virtq_enable_notify(to, q))) {
        step.broken = fill(to, q, end) == VIRTIO_SOME ? NULL : virtio_wrong(to);
    } else if (q->ready && end->waits) {
        step.wait = true;
    } else {
        drop(end);
    }
    spin_unlock(&q->lock);
    return step;
}

static struct virtio_step send_step(struct virtio_device *dev, unsigned port, struct virtq *q)
{
    struct end *end = &consoles[virtio_number(dev)].ends[port];
    struct virtio_device *other = other_end(dev, &port);
    enum virtio_found found = VIRTIO_SOME;

    if (!end->sending) {
        found = virtq_first(dev, q, VIRTIO_QUEUE_SIZE, &end->rest);
        end->sending = true;
    }
    if (found == VIRTIO_SOME) {
        found = virtio_chain_span(&end->rest);
    }
    if (found == VIRTIO_WRONG || (found == VIRTIO_SOME && end->rest.writable)) {
        return (struct virtio_step){.broken = virtio_wrong(dev)};
    }
    if (found == VIRTIO_SOME && other != NULL) {
        return deliver(other, port, end);
    }
    end->sending = false;
    virtio_done(dev, q, end->rest.head, 0);
    return (struct virtio_step){.wait = false};
}

struct virtio_console_counts virtio_console_count(struct virtio_device *dev)
{
    struct virtio_console_counts sum = {0};

    for (unsigned port = 0; port < dev->config->ports; port++) {
        struct virtq *q = &dev->queues[send_queue(port)];
        const struct end *end = &consoles[virtio_number(dev)].ends[port];

        spin_lock(&q->lock);
        sum.sent += end->counts.sent;
        sum.dropped += end->counts.dropped;
        spin_unlock(&q->lock);
    }
    return sum;
}

/* --- messages --- */

/* The driver's message makes events pending. */
static void handle_message(struct virtio_device *dev, const struct message *message)
{
    struct console *console = dev->data;
    struct virtq *q = &dev->queues[QUEUE_TO_DRIVER];

    spin_lock(&q->lock);
    if (message->event == DEVICE_READY && message->value != 0) {
        for (unsigned port = 0; port < dev->config->ports; port++) {
            console->pending[port] |= 1U << PORT_ADD;
        }
    } else if (message->event == PORT_READY && message->value != 0 &&
               message->port < dev->config->ports) {
        console->pending[message->port] |=
            1U << PORT_OPEN | 1U << PORT_NAME | (message->port == 0 ? 1U << CONSOLE_PORT : 0U);
    }
    spin_unlock(&q->lock);
}

static struct virtio_step receive_message(struct virtio_device *dev, struct virtq *q)
{
    struct console *console = dev->data;
    struct virtio_chain chain;
    struct message message;
    enum virtio_found found = virtq_first(dev, q, VIRTIO_QUEUE_SIZE, &chain);

    if (found == VIRTIO_SOME) {
        found = virtio_chain_read(&chain, &message, sizeof(message));
    }
    if (found != VIRTIO_SOME) {
        return (struct virtio_step){.broken = virtio_wrong(dev)};
    }
    handle_message(dev, &message);
    console->received = true;
    console->head = chain.head;
    return (struct virtio_step){.wait = false};
}

/* The event's message into the chain; *bytes is its length. */
static enum virtio_found write_message(const struct virtio_device *dev, struct virtio_chain *chain,
                                       unsigned port, unsigned event, uint32_t *bytes)
{
    const char *name = &dev->config->names[(size_t)port * VIRTIO_CONSOLE_NAME];
    struct message message = {.port = port, .event = (uint16_t)event, .value = 1};
    uint32_t length = 0;
    enum virtio_found found = virtio_chain_write(chain, &message, sizeof(message));

    while (event == PORT_NAME && length < VIRTIO_CONSOLE_NAME && name[length] != '\0') {
        length++;
    }
    if (found == VIRTIO_SOME) {
        found = virtio_chain_write(chain, name, length);
    }
    *bytes = (uint32_t)sizeof(message) + length;
    return found;
}

/* The driver's next buffer gets the first pending event. */
static struct virtio_step control_tx_step(struct virtio_device *dev, struct virtq *q)
{
    struct console *console = dev->data;
    struct virtio_chain chain;
    unsigned port = 0, event = 0;
    uint32_t bytes = 0;
    enum virtio_found found;

    while (port < dev->config->ports && console->pending[port] == 0) {
        port++;
    }
    if (port == dev->config->ports) {
        return (struct virtio_step){.wait = true};
    }
    while ((console->pending[port] >> event & 1U) == 0) {
        event++;
    }
    found = virtq_first(dev, q, VIRTIO_QUEUE_SIZE, &chain);
    if (found == VIRTIO_SOME) {
        found = write_message(dev, &chain, port, event, &bytes);
    }
    if (found != VIRTIO_SOME) {
        return (struct virtio_step){.broken = virtio_wrong(dev)};
    }
    console->pending[port] &= ~(1U << event);
    virtio_done(dev, q, chain.head, bytes);
    return (struct virtio_step){.wait = false};
}

/* The driver's message, and then those that it causes, as far as there are buffers for them. */
static struct virtio_step control_rx_step(struct virtio_device *dev, struct virtq *q)
{
    struct console *console = dev->data;
    struct virtq *to_driver = &dev->queues[QUEUE_TO_DRIVER];
    struct virtio_step step = {.wait = true};

    if (!console->received) {
        return receive_message(dev, q);
    }
    spin_lock(&to_driver->lock);
    if (to_driver->ready && virtq_waiting(to_driver) != 0) {
        step = control_tx_step(dev, to_driver);
    }
    spin_unlock(&to_driver->lock);
    if (step.wait) {
        console->received = false;
        virtio_done(dev, q, console->head, 0);
        step.wait = false;
    }
    return step;
}

/* --- the device --- */

static struct virtio_step console_step(struct virtio_device *dev, struct virtq *q)
{
    unsigned number = (unsigned)(q - dev->queues);

    switch (number) {
    case QUEUE_TO_DRIVER:
        return control_tx_step(dev, q);
    case QUEUE_TO_DEVICE:
        return control_rx_step(dev, q);
    default:
        return send_step(dev, port_of(number), q);
    }
}

/* The other end's bytes wait for buffers of a port. */
static struct virtq *console_waiting(struct virtio_device *dev, struct virtio_device *to,
                                     ulong number)
{
    unsigned port = port_of((unsigned)number);
    bool receives = number == receive_queue(port);

    return receives && other_end(to, &port) == dev ? &dev->queues[send_queue(port)] : NULL;
}

static void console_reset(struct virtio_device *dev)
{
    struct console *console = dev->data;

    for (unsigned port = 0; port < dev->config->ports; port++) {
        struct virtq *q = &dev->queues[send_queue(port)];

        spin_lock(&q->lock);
        console->ends[port].sending = false;
        spin_unlock(&q->lock);
        spin_lock(&dev->queues[QUEUE_TO_DRIVER].lock);
        console->pending[port] = 0;
        spin_unlock(&dev->queues[QUEUE_TO_DRIVER].lock);
    }
    spin_lock(&dev->queues[QUEUE_TO_DEVICE].lock);
    console->received = false;
    spin_unlock(&dev->queues[QUEUE_TO_DEVICE].lock);
}

VIRTIO_CLASS(console) = {
    .type = VIRTIO_IMAGE_CONSOLE,
    .queues = 2,
    .pci_class = CLASS_COMMUNICATION,
    .requests = REQUESTS,
    .boot = console_boot,
    .config = console_config,
    .step = console_step,
    .senders = VIRTIO_IMAGE_CONSOLE,
    .waiting = console_waiting,
    .reset = console_reset,
};
