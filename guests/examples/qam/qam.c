/* SPDX-License-Identifier: Apache-2.0 */
/* Maps 64 bits to QAM16 symbols, on the VM's accelerator or in software (accel_unit.h), and prints
 * the first four symbols. */
#include "accel_unit.h"
#include "print.h"
#include "uart.h"

#define BYTES 8U
#define SYMBOLS 4U /* that are printed */

int main(unsigned long hart, const void *fdt);

/* The device reads and writes whole units of 8 bytes. */
static const uint8_t bits[BYTES]
    __attribute__((aligned(8))) = {'T', 'e', 's', 's', 'e', 'r', 'a', '.'};
static int16_t symbols[ACCEL_QAM16_OUTPUT(BYTES) / 2U] __attribute__((aligned(8)));

int main(unsigned long hart, const void *fdt)
{
    struct accel_job job = {.size = BYTES, .input = bits, .output = symbols};
    struct accel_unit qam;
    struct accel_result result;

    (void)fdt;
    uart_init();
    accel_unit_open(&qam, "qam16", accel_soft_qam16);
    result = accel_unit_run(&qam, &job, hart);
    print("qam: %s: %u bytes, fault %u\n", qam.on_device != 0 ? "device" : "software", result.size,
          result.fault);
    for (unsigned int i = 0; i < SYMBOLS; i++) {
        print("qam: symbol %u: I %d, Q %d\n", i, symbols[2U * i], symbols[2U * i + 1U]);
    }
    return result.fault != 0;
}
