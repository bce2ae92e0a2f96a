/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers of the guest across a 2 MiB boundary of its memory. The hypervisor maps a guest's memory
 * in units of 2 MiB: physically, the next unit may be unmapped or belong to another VM.
 */
#include <string.h>

#include "attacker.h"
#include "hcall.h"
#include "ipc.h"
#include "rt.h"
#include "sbi.h"

#define BOUNDARY (RAM_BASE + 0x200000UL)
/* bytes beyond it: the first instructions of the image, which are no longer needed */
#define BEYOND_MAX 40UL
#define FILL 0xeeU

static uint8_t *across(unsigned long before)
{
    uint8_t *at = (uint8_t *)(BOUNDARY - before);

    memset((uint8_t *)BOUNDARY - IPC_MESSAGE_MAX, FILL, IPC_MESSAGE_MAX + BEYOND_MAX);
    return at;
}

/* True if all bytes that across() has filled are unchanged, except `size` bytes at `at`. */
static bool untouched(const uint8_t *at, size_t size)
{
    for (const uint8_t *p = (uint8_t *)BOUNDARY - IPC_MESSAGE_MAX;
         p < (uint8_t *)BOUNDARY + BEYOND_MAX; p++) {
        if ((p < at || p >= at + size) && *p != FILL) {
            return false;
        }
    }
    return true;
}

static void message_across(struct verdict *v, unsigned long before, unsigned long size)
{
    uint8_t sent[IPC_MESSAGE_MAX];
    struct ipc_peer from = {0};
    uint8_t *at = across(before);
    long got;

    fill_message(sent, size);
    memcpy(at, sent, size);
    await_answer(v, at, size);
    at = across(before);
    got = ipc_receive(at, IPC_MESSAGE_MAX, &from);
    judge(v, got == (long)size && memcmp(at, sent, size) == 0 && untouched(at, size),
          "%lu bytes, %lu before: %ld", size, before, got);
}

static void apps_across(struct verdict *v, unsigned long before)
{
    struct rt_params params = {.entry = RAM_BASE,
                               .stack = RAM_BASE + 16,
                               .period_us = 9,
                               .budget_us = 1,
                               .deadline_us = 9};
    uint8_t *at = across(before);
    struct hcall_ret ret;

    memcpy(at, &params, sizeof(params));
    ret = rt_create_app((const struct rt_params *)(const void *)at);
    judge(v, ret.error == 0 && ret.value == 0, "parameters %lu before: %ld", before, ret.error);
    at = across(sizeof(struct rt_stats) - before);
    ret = hcall_call(HCALL_RT_GET_STATS, 0, hcall_address(at), sizeof(struct rt_stats));
    judge(v, ret.error == 0 && at[0] == 0 && at[sizeof(struct rt_stats) - 1] == 0,
          "statistics: %ld", ret.error);
    judge(v, untouched(at, sizeof(struct rt_stats)), "statistics around %lu", before);
    judge(v, rt_delete_app(0).error == 0, "not deleted");
}

/* Prints the text in as many calls as needed. */
static void text_across(struct verdict *v, unsigned long before)
{
    static const char text[] = "attack: across\n";
    const uint8_t *at = memcpy(across(before), text, sizeof(text) - 1);

    for (unsigned long done = 0; done < sizeof(text) - 1;) {
        struct sbi_ret ret =
            sbi_call(SBI_EXT_DBCN, 0, sizeof(text) - 1 - done, (uintptr_t)at + done, 0);

        judge(v, ret.error == 0 && ret.value >= 0 && done + (unsigned long)ret.value < sizeof(text),
              "text: %ld", ret.error);
        done += ret.error == 0 ? (unsigned long)ret.value : sizeof(text);
    }
}

void buffers_across(struct verdict *v, uint64_t arg)
{
    static const unsigned long sizes[] = {8, 13, 16, 64, 128};

    (void)arg;
    for (size_t s = 0; s < LENGTH_OF(sizes); s++) {
        unsigned long least = sizes[s] > BEYOND_MAX ? sizes[s] - BEYOND_MAX : 0;

        for (unsigned long before = least + 1; before < sizes[s]; before += sizes[s] < 16 ? 3 : 7) {
            message_across(v, before, sizes[s]);
        }
        /* Aligned: the hypervisor has a fast path for this. */
        message_across(v, least == 0 ? 8 : sizes[s] - 8, sizes[s]);
    }
    for (unsigned long before = 4; before < 40; before += 4) {
        apps_across(v, before);
    }
    for (unsigned long before = 1; before < 15; before++) {
        text_across(v, before);
    }
}

static void job_nothing(void *argument)
{
    (void)argument;
}

/* The longest path of send-and-wait, repeatedly, while all apps are released at the same times. */
void send_storm(struct verdict *v, uint64_t arg)
{
    const uint8_t *at = across(IPC_MESSAGE_MAX - 1);
    uint64_t end = csr_read_time() + 60UL * MS;

    (void)arg;
    fill_message((void *)(uintptr_t)at, IPC_MESSAGE_MAX);
    apps_start_together(v, job_nothing);
    csr_write_sie(SIE_SOFT);
    while (csr_read_time() < end) {
        struct ipc_peer from;
        uint8_t answer[IPC_MESSAGE_MAX];
        long error = ipc_send_wait((struct ipc_peer){VM_TICKER, 0}, at, IPC_MESSAGE_MAX);

        judge(v, error == 0 || error == IPC_ERR_NOT_NOW, "sending: %ld", error);
        csr_clear_sip(SIE_SOFT);
        (void)ipc_receive(answer, sizeof(answer), &from);
    }
    csr_write_sie(0);
}
