/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of the guest SDK that need no hardware, on the host with the sanitizers: formatted
 * printing, the device-tree walk (also over trees with each byte damaged), and the string
 * functions. Exits with 0, or aborts at the first error. Usage: sdk_host tree.dtb
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fdt.h"
#include "print.h"
#include "rt.h"

/* The functions of libc/string.c, renamed by test_sdk.py, to compare with the host's. */
void *sdk_memcpy(void *to, const void *from, size_t count);
void *sdk_memmove(void *to, const void *from, size_t count);
void *sdk_memset(void *to, int byte, size_t count);
int sdk_memcmp(const void *a, const void *b, size_t count);
size_t sdk_strlen(const char *text);
int sdk_strcmp(const char *a, const char *b);
int sdk_strncmp(const char *a, const char *b, size_t count);
char *sdk_strncpy(char *to, const char *from, size_t count);

/* A stub for print(): only print_buffer() is tested. */
void uart_put_text(char c);

void uart_put_text(char c)
{
    (void)c;
}

static void must(int holds, const char *what, long number)
{
    if (!holds) {
        fprintf(stderr, "sdk_host: wrong: %s (%ld)\n", what, number);
        abort();
    }
}

#define SAME_TEXT(...)                                                      \
    do {                                                                    \
        char actual[64];                                                    \
        char reference[64];                                                 \
        size_t length = print_buffer(actual, sizeof(actual), __VA_ARGS__);  \
        int expected = snprintf(reference, sizeof(reference), __VA_ARGS__); \
        must((int)length == expected && strcmp(actual, reference) == 0,     \
             "print_buffer" #__VA_ARGS__, __LINE__);                        \
    } while (0)

static void test_print(void)
{
    char small[4];

    SAME_TEXT("plain %% text %c|%s|%10s|%-10s|", 'x', "abc", "abc", "abc");
    SAME_TEXT("%d %d %d|%5d|%-5d|%05d|%5d", 0, INT32_MAX, INT32_MIN, 42, 42, -42, -42);
    SAME_TEXT("%u %u|%x %x|%8x|%08x|%-8x|", 0U, UINT32_MAX, 0U, 0xabcdefU, 0xabcdU, 0xabcdU,
              0xabcdU);
    SAME_TEXT("%ld %ld", INT64_MAX, INT64_MIN);
    SAME_TEXT("%lu %lx", UINT64_MAX, UINT64_MAX);
    SAME_TEXT("%s", "");
    must(print_buffer(small, sizeof(small), "%s", "abcdef") == 6 && strcmp(small, "abc") == 0,
         "cut text", 0);
    must(print_buffer(small, 0, "abc") == 3, "no room at all", 0);
}

static void test_memory(void)
{
    unsigned char a[64];
    unsigned char b[64];

    for (size_t offset = 0; offset < 20; offset++) {
        for (size_t count = 0; count < 30; count++) {
            for (size_t i = 0; i < sizeof(a); i++) {
                a[i] = (unsigned char)(i * 7);
                b[i] = a[i];
            }
            sdk_memmove(a + offset, a + 9, count);
            memmove(b + offset, b + 9, count);
            sdk_memset(a + offset, (int)count - 15, count / 2);
            memset(b + offset, (int)count - 15, count / 2);
            sdk_memcpy(a + 50 - offset, a, offset % 14);
            memcpy(b + 50 - offset, b, offset % 14);
            must(memcmp(a, b, sizeof(a)) == 0 && sdk_memcmp(a, b, sizeof(a)) == 0,
                 "memory functions", (long)offset);
        }
    }
}

static void test_strings(void)
{
    char a[8];

    must(sdk_memcmp("abc", "abd", 3) < 0 && sdk_memcmp("b", "a", 1) > 0 &&
             sdk_memcmp("a", "b", 0) == 0,
         "memcmp", 0);
    must(sdk_strlen("") == 0 && sdk_strlen("abc") == 3, "strlen", 0);
    must(sdk_strcmp("abc", "abc") == 0 && sdk_strcmp("ab", "abc") < 0 &&
             sdk_strcmp("\xff", "a") > 0,
         "strcmp", 0);
    must(sdk_strncmp("abc", "abd", 2) == 0 && sdk_strncmp("abc", "abd", 3) < 0, "strncmp", 0);
    sdk_strncpy(a, "ab", 5);
    must(memcmp(a, "ab\0\0\0", 5) == 0, "strncpy", 0);
}

static void test_tree(const uint8_t *tree)
{
    char value[16];
    char tiny[4];
    uint32_t length = 0;

    must(fdt_bootarg(tree, "role", value, sizeof(value)) == value && strcmp(value, "switch") == 0,
         "role", 0);
    must(fdt_bootarg(tree, "do", value, sizeof(value)) == value && strcmp(value, "read:1f") == 0,
         "last word", 0);
    must(fdt_bootarg(tree, "empty", value, sizeof(value)) == value && value[0] == '\0',
         "empty value", 0);
    must(fdt_bootarg(tree, "role", tiny, sizeof(tiny)) == tiny && strcmp(tiny, "swi") == 0,
         "cut value", 0);
    must(fdt_bootarg_number(tree, "each", 3) == 17 && fdt_bootarg_number(tree, "none", 3) == 3,
         "number", 0);
    must(fdt_bootarg_number(tree, "empty", 3) == 0 && fdt_bootarg_number(tree, "role", 3) == 0,
         "no digits", 0);
    must(fdt_bootarg(tree, "ole", value, sizeof(value)) == NULL, "part of a key", 0);
    must(fdt_bootarg(tree, "rol", value, sizeof(value)) == NULL, "begin of a key", 0);
    must(fdt_bootarg(tree, "wrong", value, sizeof(value)) == NULL, "bootargs of another node", 0);
    must(fdt_property(tree, "chosen", "marker", &length) != NULL && length == 8, "marker", length);
    must(fdt_property(tree, "chosen", "deep", &length) == NULL, "property of a grandchild", 0);
    must(fdt_property(tree, "absent", "marker", &length) == NULL, "absent node", 0);
    must(fdt_property(NULL, "chosen", "marker", &length) == NULL, "no tree", 0);
}

static void test_devices(const uint8_t *tree)
{
    uint32_t length = 0;
    const void *value = fdt_device(tree, "maker,pins", "reg", &length);

    must(length == 8 && fdt_cell(value, length, 0) == 0x18206000 &&
             fdt_cell(value, length, 1) == 4096,
         "reg", length);
    must(fdt_cell(value, length, 2) == 0, "a cell behind the end", 0);
    value = fdt_device(tree, "maker,clock", "reg", &length);
    must(length == 4 && fdt_cell(value, length, 0) == 7, "a device whose reg comes first", length);
    value = fdt_device_at(tree, "maker,clock", 1, "reg", &length);
    must(length == 4 && fdt_cell(value, length, 0) == 9, "the second device with a reg", length);
    must(fdt_device_at(tree, "maker,clock", 2, "reg", &length) == NULL, "a third one", 0);
    must(fdt_device(tree, "maker,pin", "reg", &length) == NULL, "a part of a name", 0);
    must(fdt_device(tree, "pins", "reg", &length) == NULL, "the end of a name", 0);
    must(fdt_device(tree, "maker,bus", "reg", &length) == NULL, "the child of a device", 0);
    must(fdt_device(tree, "maker,pins", "clocks", &length) == NULL, "no such property", 0);
    must(fdt_device(NULL, "maker,pins", "reg", &length) == NULL, "no tree", 0);
}

/* With any byte changed, nothing outside the tree may be read; the sanitizer detects such reads. */
static void test_damaged_tree(uint8_t *tree, size_t size)
{
    char value[16];
    uint32_t length;

    for (size_t at = 0; at < size; at++) {
        uint8_t kept = tree[at];

        if (at >= 4 && at < 8) {
            continue; /* the total size must be trusted */
        }
        for (unsigned int bad = 0; bad < 256; bad++) {
            tree[at] = (uint8_t)bad;
            (void)fdt_bootarg(tree, "do", value, sizeof(value));
            (void)fdt_property(tree, "other", "bootargs", &length);
            (void)fdt_device(tree, "maker,pins", "clocks", &length);
        }
        tree[at] = kept;
    }
}

static void is_said(unsigned long call, long error, unsigned long value, const char *word)
{
    const char *text = rt_strerror(call, (struct hcall_ret){error, value});

    must(strstr(text, word) != NULL, text, error);
}

/* The text names the parameter or the property; errors without a row in the table get a text,
 * too. */
static void test_rt_errors(void)
{
    is_said(HCALL_RT_CREATE_APP, HCALL_ERR_INVALID_PARAM, RT_FIELD_PERIOD, "period");
    is_said(HCALL_RT_CREATE_APP, HCALL_ERR_INVALID_PARAM, RT_FIELD_BUDGET, "budget");
    is_said(HCALL_RT_CREATE_APP, HCALL_ERR_INVALID_PARAM, RT_FIELD_DEADLINE, "deadline");
    is_said(HCALL_RT_CREATE_APP, HCALL_ERR_INVALID_PARAM, RT_FIELD_CPU, "hart");
    is_said(HCALL_RT_CREATE_APP, HCALL_ERR_INVALID_PARAM, 0, "size");
    is_said(HCALL_RT_CREATE_APP, HCALL_ERR_DENIED, RT_FIELD_PERIOD, "rt-period-max-us");
    is_said(HCALL_RT_CREATE_APP, HCALL_ERR_DENIED, RT_FIELD_BUDGET, "rt-budget-max-us");
    is_said(HCALL_RT_CREATE_APP, HCALL_ERR_DENIED, RT_FIELD_CPU, "rt-harts");
    is_said(HCALL_RT_CREATE_APP, HCALL_ERR_DENIED, 0, "rt-apps");
    is_said(HCALL_RT_CREATE_APP, HCALL_ERR_INVALID_ADDRESS, RT_FIELD_ENTRY, "entry");
    is_said(HCALL_RT_CREATE_APP, HCALL_ERR_INVALID_ADDRESS, RT_FIELD_STACK, "stack");
    is_said(HCALL_RT_CREATE_APP, HCALL_ERR_INVALID_ADDRESS, 0, "buffer");
    is_said(HCALL_RT_CREATE_APP, HCALL_ERR_FAILED, 0, "in use");
    is_said(HCALL_RT_LAUNCH_APP, HCALL_ERR_FAILED, RT_REFUSED_UTILIZATION, "utilization");
    is_said(HCALL_RT_LAUNCH_APP, HCALL_ERR_FAILED, RT_REFUSED_RESERVE, "be-reserve-us");
    is_said(HCALL_RT_LAUNCH_APP, HCALL_ERR_FAILED, RT_REFUSED_UNDECIDED, "undecided");
    is_said(HCALL_RT_LAUNCH_APP, HCALL_ERR_FAILED, 6000, "deadline");
    is_said(HCALL_RT_LAUNCH_APP, HCALL_ERR_DENIED, RT_DENIED_SHARE, "rt-share-max");
    is_said(HCALL_RT_LAUNCH_APP, HCALL_ERR_DENIED, 0, "rt-launchers");
    is_said(HCALL_RT_LAUNCH_APP, HCALL_ERR_ALREADY_AVAILABLE, 0, "already");
    is_said(HCALL_RT_LAUNCH_APP, HCALL_ERR_BAD_RANGE, 700, "next release");
    is_said(HCALL_RT_USE_DEVICE, HCALL_ERR_INVALID_PARAM, RT_USE_APP, "app");
    is_said(HCALL_RT_USE_DEVICE, HCALL_ERR_INVALID_PARAM, RT_USE_DEVICE, "no such device");
    is_said(HCALL_RT_USE_DEVICE, HCALL_ERR_INVALID_PARAM, RT_USE_TIME, "time");
    is_said(HCALL_RT_USE_DEVICE, HCALL_ERR_DENIED, RT_USE_NO_APPS, "rt-apps");
    is_said(HCALL_RT_USE_DEVICE, HCALL_ERR_DENIED, RT_USE_HARTS, "hart");
    is_said(HCALL_RT_USE_DEVICE, HCALL_ERR_DENIED, RT_USE_NATIVE, "native");
    is_said(HCALL_RT_USE_DEVICE, HCALL_ERR_DENIED, RT_USE_SHARED, "any time");
    is_said(HCALL_RT_USE_DEVICE, HCALL_ERR_DENIED, RT_USE_HOLD, "hold-us");
    is_said(HCALL_RT_USE_DEVICE, HCALL_ERR_BAD_RANGE, 500, "next release");
    is_said(HCALL_RT_USE_DEVICE, HCALL_ERR_FAILED, 0, "failed");
    is_said(HCALL_RT_USE_DEVICE, HCALL_ERR_INVALID_STATE, 0, "launched");
    is_said(HCALL_RT_USE_DEVICE, HCALL_ERR_ALREADY_AVAILABLE, 0, "declared");
    is_said(HCALL_RT_END_JOB, HCALL_ERR_DENIED, 0, "no RT app");
    is_said(HCALL_RT_GET_STATS, HCALL_ERR_INVALID_PARAM, 0, "app");
    is_said(HCALL_RT_DELETE_APP, HCALL_OK, 0, "done");
    is_said(HCALL_RT_DELETE_APP, -7, 0, "unknown");
    is_said(99, HCALL_ERR_NOT_SUPPORTED, 5, "no such call");
}

int main(int argc, char **argv)
{
    static uint8_t file[65536];
    FILE *in = argc == 2 ? fopen(argv[1], "rb") : NULL;
    size_t size = in == NULL ? 0 : fread(file, 1, sizeof(file), in);
    /* The exact size, so that the sanitizer detects reads past the end. */
    uint8_t *tree = malloc(size);

    must(in != NULL && size > 40 && tree != NULL, "cannot read the device tree", (long)size);
    fclose(in);
    memcpy(tree, file, size);
    test_print();
    test_memory();
    test_strings();
    test_rt_errors();
    test_tree(tree);
    test_devices(tree);
    test_damaged_tree(tree, size);
    free(tree);
    return 0;
}
