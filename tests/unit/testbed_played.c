/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed_cipher.h"

/* The names that the linker's option --wrap makes. */
bool __real_cipher_unit_begin(const struct vm *vm, uint32_t unit, const struct cipher_job *job);
enum cipher_outcome __real_cipher_unit_result(uint32_t unit);
bool __real_cipher_unit_stop(const struct vm *vm, uint32_t unit);
bool __wrap_cipher_unit_begin(const struct vm *vm, uint32_t unit, const struct cipher_job *job);
enum cipher_outcome __wrap_cipher_unit_result(uint32_t unit);
bool __wrap_cipher_unit_stop(const struct vm *vm, uint32_t unit);

/* owner: testbed_cipher_play() */
static struct {
    testbed_cipher_begin_fn *begin;
    testbed_cipher_result_fn *result;
    testbed_cipher_stop_fn *stop;
} played;

void testbed_cipher_play(testbed_cipher_begin_fn *begin, testbed_cipher_result_fn *result, testbed_cipher_stop_fn *stop)
{
    played.begin = begin;
    played.result = result;
    played.stop = stop;
}

bool __wrap_cipher_unit_begin(const struct vm *vm, uint32_t unit, const struct cipher_job *job)
{
    return played.begin != NULL ? played.begin(unit, job) : __real_cipher_unit_begin(vm, unit, job);
}

enum cipher_outcome __wrap_cipher_unit_result(uint32_t unit)
{
    return played.result != NULL ? (enum cipher_outcome)played.result(unit) : __real_cipher_unit_result(unit);
}

bool __wrap_cipher_unit_stop(const struct vm *vm, uint32_t unit)
{
    return played.stop != NULL ? played.stop(unit) : __real_cipher_unit_stop(vm, unit);
}
