/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of core/include/lib.h: formatted text, compared with printf(), copies and checksums. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console.h"
#include "lib.h"

/* core's functions under the names that the tests link (tools/mk/unit.mk) */
void *lib_memcpy(void *restrict dst, const void *restrict src, size_t n);
void *lib_memset(void *dst, int c, size_t n);

/* Formats `args` by `fmt` with core's formatter. */
static const char *made(const char *fmt, const ulong *args)
{
    static char bytes[256];
    struct text text;
    size_t length = 0;

    text_begin(&text, fmt, args);
    for (int c = text_next(&text); c != TEXT_END; c = text_next(&text)) {
        assert_true(length < sizeof(bytes) - 1);
        bytes[length++] = (char)c;
    }
    assert_int_equal(text_next(&text), TEXT_END);
    bytes[length] = '\0';
    return bytes;
}

/* core's formatter must produce the same text as printf(). */
#define same_as_printf(...)                                          \
    do {                                                             \
        const struct log_line line = {LOG_LINE(__VA_ARGS__)};        \
        char expected[256];                                          \
                                                                     \
        (void)snprintf(expected, sizeof(expected), __VA_ARGS__);     \
        assert_string_equal(made(line.format, line.args), expected); \
    } while (0)

static void test_format_numbers(void **state)
{
    static const long values[] = {0,     1,         -1,        9,         10,       4711,
                                  -4711, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
        same_as_printf("%u|%x", (unsigned)values[i], (unsigned)values[i]);
        same_as_printf("%lu|%lx", (unsigned long)values[i], (unsigned long)values[i]);
        same_as_printf("%12lu|%-12lu|%012lx|%2u", (unsigned long)values[i],
                       (unsigned long)values[i], (unsigned long)values[i], (unsigned)values[i]);
        same_as_printf("%20lu|%-25lx|%020lx", (unsigned long)values[i], (unsigned long)values[i],
                       (unsigned long)values[i]);
    }
}

static void test_format_text(void **state)
{
    (void)state;
    same_as_printf("plain");
    same_as_printf("%%|%c|%s|%s", 'x', "", "word");
    same_as_printf("%8s|%-8s|%2s|%3c|%-3c", "word", "word", "word", 'a', 'b');
    same_as_printf("%s%u%s", "a", 1U, "b");
}

/* Formats that printf() leaves undefined terminate and remain visible. */
static void test_undefined_formats_end(void **state)
{
    (void)state;
    assert_string_equal(made("100%", NULL), "100");
    assert_string_equal(made("%q", NULL), "q");
    assert_string_equal(made("%5", NULL), "");
}

/* Compares with the definition, for a number of words that is no multiple of any unrolling
 * factor. */
static void test_copy_words_summed_sums(void **state)
{
    uint32_t src[38] PACKED_ALIGN(8), dst[38] PACKED_ALIGN(8);
    uint64_t words = 0, sums = 0;
    struct word_sums all = {0, 0}, pieces = {0, 0};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(src); i++) {
        src[i] = 0xffffffffU - i * 0x01234567U;
        words += src[i];
        sums += words;
    }
    copy_words_summed((uint64_t *)(void *)dst, (const uint64_t *)(const void *)src, sizeof(src),
                      &all);
    assert_memory_equal(dst, src, sizeof(src));
    assert_true(all.words == words && all.sums == sums);
    copy_words_summed((uint64_t *)(void *)dst, (const uint64_t *)(const void *)src, 64, &pieces);
    copy_words_summed((uint64_t *)(void *)(dst + 16), (const uint64_t *)(const void *)(src + 16),
                      sizeof(src) - 64, &pieces);
    assert_true(pieces.words == words && pieces.sums == sums);
}

static void test_crc32_known_values(void **state)
{
    unsigned char all[256];

    (void)state;
    for (unsigned i = 0; i < sizeof(all); i++) {
        all[i] = (unsigned char)i;
    }
    assert_int_equal(crc32("", 0), 0);
    assert_int_equal(crc32("123456789", 9), 0xcbf43926); /* the standard check value of CRC-32 */
    assert_int_equal(crc32(all, sizeof(all)), 0x29058c73);
}

/* Every length around the unrolled loops, with a guard after the last byte. */
static void test_words(void **state)
{
    (void)state;
    for (size_t words = 0; words <= 40; words++) {
        uint64_t *src = calloc(words + 1, sizeof(*src));
        uint64_t *dst = calloc(words + 1, sizeof(*dst));

        for (size_t i = 0; i < words; i++) {
            src[i] = 0x0123456789abcdefULL * (i + 1);
        }
        dst[words] = 42;
        copy_words(dst, src, words * sizeof(*dst));
        assert_memory_equal(dst, src, words * sizeof(*dst));
        assert_int_equal(dst[words], 42);
        clear_words(dst, words * sizeof(*dst));
        for (size_t i = 0; i < words; i++) {
            assert_int_equal(dst[i], 0);
        }
        assert_int_equal(dst[words], 42);
        free(src);
        free(dst);
    }
}

static void test_bytes(void **state)
{
    char dst[16] = "................";

    (void)state;
    assert_ptr_equal(lib_memcpy(dst + 3, "tessera", 7), dst + 3);
    assert_memory_equal(dst, "...tessera......", sizeof(dst));
    assert_ptr_equal(lib_memset(dst + 1, 'x', 2), dst + 1);
    assert_memory_equal(dst, ".xxtessera......", sizeof(dst));
    lib_memcpy(dst, "y", 0);
    lib_memset(dst, 'y', 0);
    assert_memory_equal(dst, ".xxtessera......", sizeof(dst));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format_numbers),
        cmocka_unit_test(test_format_text),
        cmocka_unit_test(test_undefined_formats_end),
        cmocka_unit_test(test_copy_words_summed_sums),
        cmocka_unit_test(test_crc32_known_values),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
