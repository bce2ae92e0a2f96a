/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends malformed frames to another VM through the shared Ethernet device: ARP, ICMP, UDP and TCP
 * with random bytes, lengths and cuts, half of them with the right checksums of IP and TCP, so that
 * they are not all dropped for these. One of 16 has the source address of the VM with the next
 * number, which the device must refuse.
 *
 * Boot arguments:
 *   target=n  the VM with MAC address 02:00:00:00:00:n and IP address 192.168.76.n (default 2)
 *   period=n  us from one frame to the next (default 200)
 *   count=n   frames (default 1000)
 *   seed=n    of the random numbers (default 1)
 */
#include <string.h>

#include "fdt.h"
#include "machine.h"
#include "print.h"
#include "random.h"
#include "shared_ethernet.h"
#include "timer.h"
#include "uart.h"

#define TICKS_US (PLATFORM_TIMEBASE_HZ / 1000000U)
#define IP ETHERNET_HEADER
#define IP_LENGTH (IP + 2U)
#define IP_PROTOCOL (IP + 9U)
#define IP_CHECKSUM (IP + 10U)
#define IP_SOURCE (IP + 12U)
#define PAYLOAD (IP + 20U)
#define TCP 6U
#define TCP_CHECKSUM (PAYLOAD + 16U)
#define ARP_SENDER (IP + 14U)
#define TEMPLATE 64U /* bytes, with zeros at the end */
#define MUTATIONS 4U /* most, in one frame */
#define FORGED 16U   /* one of so many */

int main(unsigned long hart, const void *fdt);

/* From the Ethernet type on. Sender 192.168.76.6; main() sets the receiver. */
static uint8_t templates[][TEMPLATE - 12U] = {
    /* ARP request */
    {8, 6,   0,   1,  8, 0, 6, 4, 0, 1, 2, 0,   0,   0,  0,
     6, 192, 168, 76, 6, 0, 0, 0, 0, 0, 0, 192, 168, 76, 0},
    /* ICMP echo request, 20 bytes of data */
    {8,   0,  0x45, 0,   0,   48, 0, 1, 0, 0,    64,   1, 0, 0, 192,
     168, 76, 6,    192, 168, 76, 0, 8, 0, 0xf7, 0xff, 0, 0, 0, 0},
    /* UDP to the echo service, without a checksum */
    {8,   0,  0x45, 0,   0,   48, 0, 1, 0, 0, 64, 17, 0,  0, 192,
     168, 76, 6,    192, 168, 76, 0, 4, 0, 0, 7,  0,  28, 0, 0},
    /* TCP SYN with an option for a largest segment */
    {8, 0, 0x45, 0, 0, 44, 0, 1, 0, 0, 64, 6,    0, 0,  192, 168, 76, 6, 192, 168, 76, 0, 4,
     0, 0, 7,    0, 0, 0,  1, 0, 0, 0, 0,  0x60, 2, 16, 0,   0,   0,  0, 0,   2,   4,  5, 0xb4},
    /* a fragment in the middle */
    {8, 0, 0x45, 0, 0, 44, 0, 1, 0x20, 3, 64, 1, 0, 0, 192, 168, 76, 6, 192, 168, 76, 0},
};
#define TEMPLATES (sizeof(templates) / sizeof(templates[0]))

static struct ethernet eth;
static uint8_t frame[ETHERNET_FRAME];
static uint8_t target;
static unsigned long forged;

static unsigned int word(unsigned int at)
{
    return (unsigned int)frame[at] << 8 | frame[at + 1U];
}

/* Writes the checksum of RFC 1071 over an even number of bytes, and `sum`, to `to`. */
static void put_checksum(unsigned int to, unsigned int begin, unsigned int end, unsigned int sum)
{
    frame[to] = 0;
    frame[to + 1U] = 0;
    for (unsigned int at = begin; at < end; at += 2) {
        sum += word(at);
    }
    sum = (sum & 0xffffU) + (sum >> 16);
    sum = ~(sum + (sum >> 16));
    frame[to] = (uint8_t)(sum >> 8);
    frame[to + 1U] = (uint8_t)sum;
}

/* TCP's checksum includes the addresses, which are before its header, the protocol and the
 * length. */
static void put_checksums(void)
{
    unsigned int end = IP + (word(IP_LENGTH) & ~1U);

    put_checksum(IP_CHECKSUM, IP, PAYLOAD, 0);
    if (frame[IP_PROTOCOL] == TCP && end > TCP_CHECKSUM && end <= sizeof(frame)) {
        put_checksum(TCP_CHECKSUM, IP_SOURCE, end, TCP + end - PAYLOAD);
    }
}

/* Makes a frame and returns its length. */
static size_t make(struct random *random)
{
    const uint8_t *from = templates[random_below(random, TEMPLATES)];
    size_t bytes = random_below(random, 2) != 0
                       ? TEMPLATE
                       : IP + random_below(random, sizeof(frame) - IP + 1U);

    memset(frame, 0, sizeof(frame));
    memcpy(frame, (const uint8_t[]){2, 0, 0, 0, 0, target}, ETHERNET_ADDRESS);
    memcpy(frame + ETHERNET_ADDRESS, eth.mac, ETHERNET_ADDRESS);
    memcpy(frame + 12, from, TEMPLATE - 12U);
    for (uint64_t n = random_below(random, MUTATIONS + 1U); n > 0; n--) {
        frame[12U + random_below(random, TEMPLATE - 12U)] = (uint8_t)random_next(random);
    }
    if (frame[13] == 6) {
        /* Not the address of another one: the target would believe it. */
        memcpy(frame + ARP_SENDER, (const uint8_t[]){192, 168, 76, 6}, 4);
    } else if (random_below(random, 2) != 0) {
        put_checksums();
    }
    if (random_below(random, FORGED) == 0) {
        frame[2 * ETHERNET_ADDRESS - 1U]++;
        forged++;
    }
    return bytes;
}

int main(unsigned long hart, const void *fdt)
{
    uint64_t period = fdt_bootarg_number(fdt, "period", 200) * TICKS_US, due;
    unsigned long count = fdt_bootarg_number(fdt, "count", 1000), refused = 0;
    struct random random = random_from(fdt_bootarg_number(fdt, "seed", 1));

    (void)hart;
    uart_init();
    timer_init();
    target = (uint8_t)fdt_bootarg_number(fdt, "target", 2);
    templates[0][29] = target;
    for (unsigned int i = 1; i < TEMPLATES; i++) {
        templates[i][21] = target;
    }
    if (ethernet_open(&eth, fdt) != SHARED_OK) {
        print("malformed: FAILED: no shared Ethernet device\n");
        return 1;
    }
    due = machine_time();
    for (unsigned long n = 0; n < count; n++, due += period) {
        refused += ethernet_send(&eth, frame, make(&random)) != SHARED_OK;
        timer_sleep_until(due);
    }
    print("malformed: done, %lu frames, %lu forged, %lu refused\n", count, forged, refused);
    return 0;
}
