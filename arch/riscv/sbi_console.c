/* SPDX-License-Identifier: Apache-2.0 */
/* SBI DBCN and the legacy console calls of guests, for the current VCPU: output goes to the
 * console, input comes from the VM's UART (vuart.c). Owns no state. */
#include "arch.h"
#include "console.h"
#include "internal.h"

/* characters per call, to bound its time; callers repeat it for the rest */
#define DBCN_CHUNK 4UL

/* The part of the guest's buffer that one call handles; NULL with an error if it is not guest
 * RAM. */
static char *dbcn_buffer(const struct vm *vm, ulong *size, ulong low, ulong high,
                         struct hcall_ret *ret)
{
    uint64_t room;
    hpa_t hpa;
    char *buffer;

    if (high != 0 || !memmap_ram(&vm->memmap, low, *size, &hpa)) {
        *ret = SBI_RET(HCALL_ERR_INVALID_PARAM);
        return NULL;
    }
    buffer = arch_window(hpa, &room);
    *size = *size < DBCN_CHUNK ? *size : DBCN_CHUNK;
    *size = *size < room ? *size : room;
    return buffer;
}

static struct hcall_ret dbcn_write(struct vm *vm, ulong size, ulong low, ulong high)
{
    struct hcall_ret ret = SBI_RET(HCALL_OK);
    const char *buffer = size != 0 ? dbcn_buffer(vm, &size, low, high, &ret) : NULL;

    ret.value = buffer != NULL ? console_write(vm, buffer, (unsigned)size) : 0;
    return ret;
}

static struct hcall_ret dbcn_read(struct vm *vm, ulong size, ulong low, ulong high)
{
    struct hcall_ret ret = SBI_RET(HCALL_OK);
    char *buffer = size != 0 ? dbcn_buffer(vm, &size, low, high, &ret) : NULL;
    ulong done = 0;

    while (buffer != NULL && done < size) {
        int c = vuart_getc(vm);

        if (c < 0) {
            break;
        }
        buffer[done] = (char)c;
        done++;
    }
    ret.value = done;
    return ret;
}

static struct hcall_ret sbi_dbcn(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5,
                                 ulong fid)
{
    struct vm *vm = cpu_self()->current->vm;

    (void)a3, (void)a4, (void)a5;
    switch (fid) {
    case SBI_DBCN_CONSOLE_WRITE:
        return dbcn_write(vm, a0, a1, a2);
    case SBI_DBCN_CONSOLE_READ:
        return dbcn_read(vm, a0, a1, a2);
    case SBI_DBCN_CONSOLE_WRITE_BYTE:
        return console_write(vm, &(char){(char)a0}, 1) == 1 ? SBI_RET(HCALL_OK) : sbi_again(a0, a1);
    default:
        return SBI_RET(HCALL_ERR_NOT_SUPPORTED);
    }
}
SBI_EXTENSION(SBI_EXT_DBCN, sbi_dbcn, 22);

/* Legacy calls return in a0 only and preserve a1. */
static struct hcall_ret sbi_putchar(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5,
                                    ulong fid)
{
    (void)a2, (void)a3, (void)a4, (void)a5, (void)fid;
    if (console_write(cpu_self()->current->vm, &(char){(char)a0}, 1) == 0) {
        return sbi_again(a0, a1);
    }
    return (struct hcall_ret){0, a1};
}
SBI_EXTENSION(1, sbi_putchar, 30);

static struct hcall_ret sbi_getchar(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5,
                                    ulong fid)
{
    (void)a0, (void)a2, (void)a3, (void)a4, (void)a5, (void)fid;
    return (struct hcall_ret){vuart_getc(cpu_self()->current->vm), a1};
}
SBI_EXTENSION(2, sbi_getchar, 31);
