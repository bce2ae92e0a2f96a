/* SPDX-License-Identifier: Apache-2.0 */
/* The measured workload of the codec (work.h), for both guests of this folder. The caller owns
 * struct work. */
#include "work.h"

#include "fdt.h"
#include "hcall.h"
#include "machine.h"
#include "platform.h"
#include "print.h"
#include "timer.h"

#ifndef WORK_FRAMES
#define WORK_FRAMES 100U
#endif
#define WORK_PAUSE_MS 20U
#define WORK_TURN_MS 10U

/* 32-bit FNV-1a over whole values instead of octets. */
#define WORK_SUM_START 2166136261U
#define WORK_SUM_FACTOR 16777619U

static uint64_t work_argument(const void *fdt, const char *key, uint64_t otherwise)
{
    char text[24];
    uint64_t value = 0;

    if (fdt_bootarg(fdt, key, text, sizeof(text)) == NULL) {
        return otherwise;
    }
    for (const char *digit = text; *digit >= '0' && *digit <= '9'; digit++) {
        value = value * 10 + (uint64_t)(*digit - '0');
    }
    return value;
}

static _Noreturn void work_fail(const char *why)
{
    print("BENCH failed: %s\n", why);
    machine_shutdown(true);
}

static void work_wait(uint64_t begin)
{
    timer_set(begin);
    machine_wake_by_timer(true);
    while (machine_time() < begin) {
        machine_wait();
    }
    machine_wake_by_timer(false);
    timer_set(UINT64_MAX);
}

void work_prepare(struct work *work, const void *fdt)
{
    uint64_t begin = work_argument(fdt, "begin", 0);

    signal_init(&work->signal);
    g722_encoder_init(&work->encoder);
    g722_decoder_init(&work->decoder);
    work->codes = WORK_SUM_START;
    work->samples = WORK_SUM_START;
    work->frames = work_argument(fdt, "frames", WORK_FRAMES);
    if (!machine_counts()) {
        work_fail("instret cannot be read here (scounteren, hcounteren or mcounteren forbids it)");
    }
    if (work->frames < WORK_PARTS) {
        work_fail("frames=: fewer than 10");
    }
    if (begin != 0 && machine_time() >= begin) {
        work_fail("begin=: that time is past");
    }
    work_wait(begin);
}

static void work_frame(struct work *work)
{
    int16_t samples[2U * WORK_OCTETS];
    uint8_t codes[WORK_OCTETS];

    signal_make(&work->signal, samples, 2U * WORK_OCTETS);
    g722_encode(&work->encoder, samples, codes, WORK_OCTETS);
    g722_decode(&work->decoder, codes, samples, WORK_OCTETS);
    for (unsigned int i = 0; i < WORK_OCTETS; i++) {
        work->codes = (work->codes ^ codes[i]) * WORK_SUM_FACTOR;
    }
    for (unsigned int i = 0; i < 2U * WORK_OCTETS; i++) {
        work->samples = (work->samples ^ (uint16_t)samples[i]) * WORK_SUM_FACTOR;
    }
}

void work_run(struct work *work)
{
    uint64_t frame = 0;

    work->marks[0] = machine_instructions();
    for (uint64_t part = 1; part <= WORK_PARTS; part++) {
        for (; frame < work->frames * part / WORK_PARTS; frame++) {
            work_frame(work);
        }
        work->marks[part] = machine_instructions();
    }
}

uint64_t work_pause_ms(void)
{
    struct hcall_ret id = hcall_get_id();

    return WORK_PAUSE_MS + (id.error == HCALL_OK ? (uint64_t)id.value * WORK_TURN_MS : 0);
}

_Noreturn void work_report(const struct work *work, uint64_t ticks)
{
    uint64_t now = machine_instructions();

    print("ADPCM frames %llu codes 0x%08x samples 0x%08x ticks %llu\n",
          (unsigned long long)work->frames, work->codes, work->samples, (unsigned long long)ticks);
    for (unsigned int i = 0; i <= WORK_PARTS; i++) {
        print("ADPCM mark %u %llu\n", i, (unsigned long long)work->marks[i]);
    }
    print("ADPCM reported %llu\nBENCH done\n", (unsigned long long)now);
    machine_shutdown(false);
}
