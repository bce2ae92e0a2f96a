/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system calls of Linux on riscv64 that our programs for Linux use, instead of a C library.
 * Each returns the kernel's result, a negative errno for an error. Numbers:
 * include/uapi/asm-generic/unistd.h.
 */
#ifndef LINUX_H
#define LINUX_H

#include <stddef.h>
#include <stdint.h>

#define LINUX_FLOCK 32L
#define LINUX_OPENAT 56L
#define LINUX_CLOSE 57L
#define LINUX_GETDENTS64 61L
#define LINUX_READ 63L
#define LINUX_WRITE 64L
#define LINUX_PREAD 67L
#define LINUX_PWRITE 68L
#define LINUX_PPOLL 73L
#define LINUX_EXIT_GROUP 94L
#define LINUX_NANOSLEEP 101L
#define LINUX_CLOCK_GETTIME 113L
#define LINUX_MMAP 222L

#define LINUX_AT_FDCWD (-100L)
#define LINUX_O_RDONLY 0L
#define LINUX_O_RDWR 2L
#define LINUX_O_SYNC 04010000L
#define LINUX_PROT_READ_WRITE 3L
#define LINUX_MAP_SHARED 1L
#define LINUX_LOCK_EX_NB 6L
#define LINUX_CLOCK_MONOTONIC 1L
#define LINUX_EINTR 4L

struct linux_time {
    int64_t seconds;
    int64_t nanoseconds;
};

/* One entry of a directory, as getdents64 writes it. */
struct linux_dirent {
    uint64_t inode;
    int64_t next;
    uint16_t size; /* of the entry, including the name */
    uint8_t type;
    char name[];
};

/** A system call with up to six arguments. */
static inline long linux_call6(long number, const long arguments[6])
{
    register long a0 __asm__("a0") = arguments[0];
    register long a1 __asm__("a1") = arguments[1];
    register long a2 __asm__("a2") = arguments[2];
    register long a3 __asm__("a3") = arguments[3];
    register long a4 __asm__("a4") = arguments[4];
    register long a5 __asm__("a5") = arguments[5];
    register long a7 __asm__("a7") = number;

    __asm__ volatile("ecall"
                     : "+r"(a0)
                     : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a7)
                     : "memory");
    return a0;
}

static inline long linux_call(long number, long a, long b, long c)
{
    const long arguments[6] = {a, b, c};

    return linux_call6(number, arguments);
}

static inline long linux_open(const char *path, long flags)
{
    return linux_call(LINUX_OPENAT, LINUX_AT_FDCWD, (long)(uintptr_t)path, flags);
}

static inline long linux_read(long file, void *to, size_t room)
{
    return linux_call(LINUX_READ, file, (long)(uintptr_t)to, (long)room);
}

static inline long linux_write(long file, const void *from, size_t count)
{
    return linux_call(LINUX_WRITE, file, (long)(uintptr_t)from, (long)count);
}

/**
 * Maps `size` bytes at `offset` of an open file, read-write. Returns the address, or a negative
 * errno.
 */
static inline long linux_map(long file, long offset, size_t size)
{
    const long arguments[6] = {0,    (long)size, LINUX_PROT_READ_WRITE, LINUX_MAP_SHARED,
                               file, offset};

    return linux_call6(LINUX_MMAP, arguments);
}

/** Milliseconds of a monotonic clock. */
static inline int64_t linux_now_ms(void)
{
    struct linux_time now = {0, 0};

    (void)linux_call(LINUX_CLOCK_GETTIME, LINUX_CLOCK_MONOTONIC, (long)(uintptr_t)&now, 0);
    return now.seconds * 1000 + now.nanoseconds / 1000000;
}

static inline void linux_sleep_ms(int64_t ms)
{
    struct linux_time time = {ms / 1000, ms % 1000 * 1000000};

    (void)linux_call(LINUX_NANOSLEEP, (long)(uintptr_t)&time, 0, 0);
}

/** Writes all of a text; ends the program if that fails. */
void linux_put(long file, const char *text, size_t count);

/** The number in a decimal text, up to UINT32_MAX; -1: the text is not one. */
long linux_number(const char *text);

/** The number in a text of hexadecimal digits, in lower case, up to the first other character. */
uint64_t linux_hex(const char *text);

static inline _Noreturn void linux_exit(int status)
{
    for (;;) {
        (void)linux_call(LINUX_EXIT_GROUP, status, 0, 0);
    }
}

/** Prints `program: why` on the standard error output and ends the program with status 1. */
_Noreturn void linux_fail(const char *program, const char *why);

#endif
