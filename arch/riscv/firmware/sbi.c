/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of the hypervisor, or of a kernel in its place (RISC-V SBI 2.0): BASE, TIME, IPI, SRST
 * and the legacy console here, RFENCE, HSM and DBCN by rfence.c, harts.c and console.c. Called by
 * main.c; owns no state. */
#include "firmware.h"
#include "platform.h"
#include "sbi_numbers.h"

#define SBI_VERSION_2_0 0x02000000L
#define SBI_IMPLEMENTATION 0x545346L
#define SBI_FIRMWARE_VERSION 1L

static bool is_known(ulong extension)
{
    static const ulong known[] = {
        SBI_LEGACY_PUTCHAR, SBI_LEGACY_GETCHAR, SBI_EXT_BASE, SBI_EXT_TIME, SBI_EXT_IPI,
        SBI_EXT_RFENCE,     SBI_EXT_HSM,        SBI_EXT_SRST, SBI_EXT_DBCN,
    };

    for (unsigned n = 0; n < sizeof(known) / sizeof(known[0]); n++) {
        if (known[n] == extension) {
            return true;
        }
    }
    return false;
}

static struct sbi_ret sbi_base(ulong fid, ulong extension)
{
    switch (fid) {
    case 0:
        return (struct sbi_ret){SBI_OK, SBI_VERSION_2_0};
    case 1:
        return (struct sbi_ret){SBI_OK, SBI_IMPLEMENTATION};
    case 2:
        return (struct sbi_ret){SBI_OK, SBI_FIRMWARE_VERSION};
    case 3:
        return (struct sbi_ret){SBI_OK, is_known(extension)};
    case 4:
        return (struct sbi_ret){SBI_OK, (long)csr_read(CSR_MVENDORID)};
    case 5:
        return (struct sbi_ret){SBI_OK, (long)csr_read(CSR_MARCHID)};
    case 6:
        return (struct sbi_ret){SBI_OK, (long)csr_read(CSR_MIMPID)};
    default:
        return (struct sbi_ret){SBI_ERR_NOT_SUPPORTED, 0};
    }
}

/* trap.S has handled the call unless the hart has Sstc. */
static struct sbi_ret sbi_time(ulong fid, ulong deadline)
{
    if (fid != 0) {
        return (struct sbi_ret){SBI_ERR_NOT_SUPPORTED, 0};
    }
    csr_write(CSR_STIMECMP, deadline);
    return (struct sbi_ret){SBI_OK, 0};
}

static struct sbi_ret sbi_ipi(ulong fid, ulong mask, ulong base)
{
    ulong harts;

    if (fid != 0) {
        return (struct sbi_ret){SBI_ERR_NOT_SUPPORTED, 0};
    }
    if (!harts_from_mask(mask, base, &harts)) {
        return (struct sbi_ret){SBI_ERR_INVALID_PARAM, 0};
    }
    harts_request(harts, REQUEST_IPI);
    return (struct sbi_ret){SBI_OK, 0};
}

/* Types 0 to 2: shutdown, cold and warm reboot. Reason 1: a failure of the system. Returns if the
 * board cannot do it. */
static struct sbi_ret sbi_reset(ulong fid, ulong type, ulong reason)
{
    if (fid != 0) {
        return (struct sbi_ret){SBI_ERR_NOT_SUPPORTED, 0};
    }
    if (type > 2U) {
        return (struct sbi_ret){SBI_ERR_INVALID_PARAM, 0};
    }
    if (type != 0) {
        platform_end(PLATFORM_RESET);
    } else {
        platform_end(reason == 1U ? PLATFORM_FAILED : PLATFORM_OFF);
    }
    return (struct sbi_ret){SBI_ERR_NOT_SUPPORTED, 0};
}

/* SBI v0.1: only a0 is a result. The hypervisor's last means to print if the UART is not the
 * board's. */
static long legacy_console(ulong extension, ulong character)
{
    if (extension == SBI_LEGACY_GETCHAR) {
        return platform_uart_get();
    }
    while (!platform_uart_put((char)character)) {
    }
    return SBI_OK;
}

static struct sbi_ret call(const ulong *args, struct hart *hart)
{
    ulong fid = args[6];

    switch (args[7]) {
    case SBI_EXT_BASE:
        return sbi_base(fid, args[0]);
    case SBI_EXT_TIME:
        return sbi_time(hart->mtimecmp == NULL ? fid : 1U, args[0]);
    case SBI_EXT_IPI:
        return sbi_ipi(fid, args[0], args[1]);
    case SBI_EXT_RFENCE:
        return sbi_rfence(fid, args[0], args[1]);
    case SBI_EXT_HSM:
        return sbi_hsm(fid, args, hart);
    case SBI_EXT_SRST:
        return sbi_reset(fid, args[0], args[1]);
    case SBI_EXT_DBCN:
        return sbi_console(fid, args);
    default:
        return (struct sbi_ret){SBI_ERR_NOT_SUPPORTED, 0};
    }
}

void sbi_handle(struct frame *frame, struct hart *hart)
{
    ulong extension = frame->a[7];
    struct sbi_ret ret;

    if (extension == SBI_LEGACY_PUTCHAR || extension == SBI_LEGACY_GETCHAR) {
        frame->a[0] = (ulong)legacy_console(extension, frame->a[0]);
        return;
    }
    ret = call(frame->a, hart);
    frame->a[0] = (ulong)ret.error;
    frame->a[1] = (ulong)ret.value;
}
