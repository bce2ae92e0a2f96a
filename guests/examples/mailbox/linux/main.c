/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Linux client of the mailbox: `mailbox hello world` sends a line to FreeRTOS and prints the
 * answer; `mailbox` alone sends the lines of its standard input and prints the answers. Exit status
 * 0: every line was answered; 1: an error, with a message. The shared memory is a PCI function with
 * doorbells, which the kernel's uio_pci_generic drives (docs/messages.md).
 */
#include <stdbool.h>
#include <string.h>

#include "client.h"
#include "linux.h"
#include "uio.h"

/* of input: more than the ring holds, so that sending must wait */
#define CLIENT_CHUNK (4U * MAILBOX_RING)
#define CLIENT_NODES "/proc/device-tree/soc/"
#define CLIENT_NODE "shared@" /* followed by its address, hexadecimal */
#define CLIENT_LABEL "mailbox"
#define CLIENT_PATH 64U

_Noreturn void main(int count, char **words);

#define CLIENT_DEVICES 32L /* of /dev/uioN that are tried */

static struct client client; /* owner: main() */
static struct uio uio;       /* owner: main() */

static _Noreturn void fail(const char *why)
{
    linux_fail("mailbox", why);
}

/* --- finding the shared memory --- */

/* True if the node `name` has the mailbox's label. */
static bool is_mailbox(const char *name)
{
    char path[CLIENT_PATH] = CLIENT_NODES;
    char label[sizeof(CLIENT_LABEL)] = "";
    size_t used = strlen(CLIENT_NODES);
    size_t length = strlen(name);
    long file;
    long size;

    if (strncmp(name, CLIENT_NODE, strlen(CLIENT_NODE)) != 0 ||
        used + length + sizeof("/label") > sizeof(path)) {
        return false;
    }
    memcpy(path + used, name, length);
    memcpy(path + used + length, "/label", sizeof("/label"));
    file = linux_open(path, LINUX_O_RDONLY);
    size = linux_read(file, label, sizeof(label));
    (void)linux_call(LINUX_CLOSE, file, 0, 0);
    return size == (long)sizeof(label) && memcmp(label, CLIENT_LABEL, sizeof(label)) == 0;
}

static uint64_t find_address(void)
{
    static _Alignas(struct linux_dirent) char entries[CLIENT_CHUNK];
    long folder = linux_open(CLIENT_NODES, LINUX_O_RDONLY);
    long size =
        linux_call(LINUX_GETDENTS64, folder, (long)(uintptr_t)entries, (long)sizeof(entries));

    for (long at = 0; at < size;) {
        const struct linux_dirent *entry =
            (const struct linux_dirent *)(const void *)(entries + at);

        if (is_mailbox(entry->name)) {
            return linux_hex(entry->name + strlen(CLIENT_NODE));
        }
        at += entry->size;
    }
    fail("this machine has no shared memory of that name");
}

/* The device /dev/uioN whose memory is at `address`. */
static long find_device(uint64_t address)
{
    for (long number = 0; number < CLIENT_DEVICES; number++) {
        if (uio_address(number) == address) {
            return number;
        }
    }
    fail("the shared memory is no PCI function of this machine, or it is not bound to "
         "uio_pci_generic");
}

static struct mailbox *open_mailbox(void)
{
    long number = find_device(find_address());
    const char *wrong = uio_open(&uio, number);
    volatile void *memory;

    if (wrong != NULL) {
        fail(wrong);
    }
    if (linux_call(LINUX_FLOCK, uio.events, LINUX_LOCK_EX_NB, 0) < 0) { /* released at exit */
        fail("another process uses it");
    }
    memory = uio_map_memory(number, sizeof(struct mailbox));
    if (memory == NULL) {
        fail("the kernel does not map it");
    }
    return (struct mailbox *)(uintptr_t)memory;
}

/* --- the session --- */

int64_t client_now_ms(void)
{
    return linux_now_ms();
}

void client_ring(uint32_t vm)
{
    uio_ring(&uio, (uint16_t)vm);
}

void client_wait(int64_t until)
{
    int64_t now = linux_now_ms();
    bool rung;
    const char *wrong = uio_wait(&uio, until > now ? until - now : 0, &rung);

    if (wrong != NULL) {
        fail(wrong);
    }
}

static void print_answer(const char *text, size_t count)
{
    linux_put(1, text, count);
}

static void must(const char *wrong)
{
    if (wrong != NULL) {
        fail(wrong);
    }
}

static void say(const char *text, size_t count)
{
    must(client_send(&client, text, count));
}

static void hear_the_rest(void)
{
    must(client_receive_rest(&client));
}

static void say_words(int count, char **words)
{
    for (int i = 1; i < count; i++) {
        say(words[i], strlen(words[i]));
        say(i + 1 < count ? " " : "\n", 1);
    }
    hear_the_rest();
}

static void say_input(void)
{
    static char text[CLIENT_CHUNK];
    bool inside = false; /* in a line */

    for (;;) {
        long size = linux_read(0, text, sizeof(text));

        if (size == -LINUX_EINTR) {
            continue;
        }
        if (size <= 0) {
            break;
        }
        say(text, (size_t)size);
        inside = text[size - 1] != '\n';
        hear_the_rest();
    }
    if (inside) {
        say("\n", 1);
        hear_the_rest();
    }
}

_Noreturn void main(int count, char **words)
{
    client.box = open_mailbox();
    client.vm = uio_own(&uio);
    client.answer = print_answer;
    must(client_begin(&client));
    if (count > 1) {
        say_words(count, words);
    } else {
        say_input();
    }
    linux_exit(0);
}
