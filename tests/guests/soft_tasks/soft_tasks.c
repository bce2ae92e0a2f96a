/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the six HW tasks cost in software (accel_soft.h): the instructions of a job of a quarter of
 * a frame, of one frame and of four. A frame is that of `make bench-fpga`: 18,800 bits, or 4700
 * samples of them; for AES-128 and G.722 the sizes of tools/break-even.tsv. `BENCH {json}` lines
 * for tools/break_even.py, then `BENCH done`.
 */
#include <stdint.h>

#include "accel_soft.h"
#include "machine.h"
#include "print.h"
#include "random.h"
#include "uart.h"

/* bytes of a job's input; no output is larger by more than one block of the FFT */
#define LARGEST (4U * 18800U)
#define WORDS ((LARGEST + 8192U) / 8U)
#define SIZES 3U

int main(unsigned long hart, const void *fdt);

static const struct soft {
    const char *name;
    accel_soft_fn run;
    uint32_t command;
    uint32_t sizes[SIZES]; /* bytes of input */
} softs[] = {
    {"qam16", accel_soft_qam16, 0, {587, 2350, 9400}},
    {"qam64", accel_soft_qam64, 0, {587, 2350, 9400}},
    {"fft512", accel_soft_fft512, 0x1ff, {4700, 18800, 75200}},
    {"fft1024", accel_soft_fft1024, 0x3ff, {4700, 18800, 75200}},
    {"aes128", accel_soft_aes128, ACCEL_AES128_CBC_ENCRYPT, {256, 1024, 4096}},
    {"g722", accel_soft_g722, ACCEL_G722_ENCODE, {160, 640, 2560}},
};

static uint64_t input[WORDS], output[WORDS];

static void measure(const struct soft *soft, uint32_t size)
{
    struct accel_job job = {.command = soft->command,
                            .size = size,
                            .input = input,
                            .output = output,
                            .custom = {1, 2, 3}};
    uint64_t begin = machine_instructions();
    struct accel_result result = soft->run(&job);
    unsigned long cost = (unsigned long)(machine_instructions() - begin);

    if (result.fault != 0 || result.size == 0) {
        print("BENCH failed: %s of %u bytes: fault %u, %u bytes\n", soft->name, size, result.fault,
              result.size);
        machine_shutdown(true);
    }
    print("BENCH "
          "{\"metric\":\"accels.soft.%s.%u\",\"unit\":\"instructions\",\"min\":%lu,\"median\":%lu,"
          "\"avg\":%lu,\"max\":%lu,\"n\":1}\n",
          soft->name, size, cost, cost, cost, cost);
}

int main(unsigned long hart, const void *fdt)
{
    struct random random = random_from(1);

    (void)hart;
    (void)fdt;
    uart_init();
    if (!machine_counts()) {
        print("BENCH failed: no count of instructions\n");
        return 1;
    }
    for (unsigned int i = 0; i < WORDS; i++) {
        input[i] = random_next(&random);
    }
    for (unsigned int i = 0; i < sizeof(softs) / sizeof(softs[0]); i++) {
        for (unsigned int size = 0; size < SIZES; size++) {
            measure(&softs[i], softs[i].sizes[size]);
        }
    }
    print("BENCH done\n");
    return 0;
}
