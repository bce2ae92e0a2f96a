/* SPDX-License-Identifier: Apache-2.0 */
/* The Debug Console Extension (RISC-V SBI 2.0, chapter 12), on the board's UART, for sbi.c. Owns no
 * state. An access to a buffer may fault, which ends the transfer. */
#include "firmware.h"
#include "platform.h"

/* A buffer is physical memory, and none of the firmware's. */
static bool is_allowed(ulong size, ulong low, ulong high)
{
    bool outside = low + size <= FIRMWARE_BASE || low >= FIRMWARE_BASE + FIRMWARE_SIZE;

    return high == 0 && low + size >= low && outside && (size == 0 || fw_load_byte(low) >= 0);
}

/* Each returns the number of bytes, fewer if the transmitter is full, or nothing has been typed, or
 * memory ends. */
static ulong put_bytes(ulong size, ulong address)
{
    for (ulong n = 0; n < size; n++) {
        long byte = fw_load_byte(address + n);

        if (byte < 0 || !platform_uart_put((char)byte)) {
            return n;
        }
    }
    return size;
}

static ulong get_bytes(ulong size, ulong address)
{
    for (ulong n = 0; n < size; n++) {
        int byte = fw_load_byte(address + n) < 0 ? -1 : platform_uart_get();

        if (byte < 0 || !fw_store_byte(address + n, (ulong)byte)) {
            return n;
        }
    }
    return size;
}

/* An access that faults changes mepc and mstatus, which belong to the ecall. All of it is written
 * back: the call came from HS-mode, with MPV = 0 as after that fault, so it does not matter that
 * QEMU 10 ignores a write of MPV. */
static struct sbi_ret transfer(ulong fid, const ulong *args)
{
    ulong mepc = csr_read(CSR_MEPC), mstatus = csr_read(CSR_MSTATUS);
    struct sbi_ret ret = {SBI_ERR_INVALID_PARAM, 0};

    if (is_allowed(args[0], args[1], args[2])) {
        ret.value = (long)(fid == 0 ? put_bytes(args[0], args[1]) : get_bytes(args[0], args[1]));
        ret.error = SBI_OK;
    }
    csr_write(CSR_MEPC, mepc);
    csr_write(CSR_MSTATUS, mstatus);
    return ret;
}

struct sbi_ret sbi_console(ulong fid, const ulong *args)
{
    if (fid <= 1) {
        return transfer(fid, args);
    }
    if (fid > 2) {
        return (struct sbi_ret){SBI_ERR_NOT_SUPPORTED, 0};
    }
    while (!platform_uart_put((char)args[0])) {
    }
    return (struct sbi_ret){SBI_OK, 0};
}
