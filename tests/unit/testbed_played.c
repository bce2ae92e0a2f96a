/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the functions that the test has set, instead of those of accel and shared
 * (testbed_played.h). Owns the pointers to the test's functions. */
#include "testbed_played.h"

#include "virtio.h"

/* The names that the linker's option --wrap makes. */
bool __real_cipher_unit_begin(const struct vm *vm, uint32_t unit, const struct cipher_job *job);
enum cipher_outcome __real_cipher_unit_result(uint32_t unit);
bool __real_cipher_unit_stop(const struct vm *vm, uint32_t unit);
bool __wrap_cipher_unit_begin(const struct vm *vm, uint32_t unit, const struct cipher_job *job);
enum cipher_outcome __wrap_cipher_unit_result(uint32_t unit);
bool __wrap_cipher_unit_stop(const struct vm *vm, uint32_t unit);
bool __real_accelerator_exists(const struct vm *vm, unsigned device);
bool __real_accelerator_pending(const struct vm *vm, unsigned device);
void __real_accelerator_mask(const struct vm *vm, unsigned device, bool masked);
bool __wrap_accelerator_exists(const struct vm *vm, unsigned device);
bool __wrap_accelerator_pending(const struct vm *vm, unsigned device);
void __wrap_accelerator_mask(const struct vm *vm, unsigned device, bool masked);
bool __real_shared_pages(const struct vm *vm, uint64_t *pages);
bool __real_shared_pending(const struct vm *vm);
void __real_shared_mask(const struct vm *vm, bool masked);
bool __wrap_shared_pages(const struct vm *vm, uint64_t *pages);
bool __wrap_shared_pending(const struct vm *vm);
void __wrap_shared_mask(const struct vm *vm, bool masked);

/* owner: this file */
static struct {
    testbed_played_begin_fn *begin;
    testbed_played_result_fn *result;
    testbed_played_stop_fn *stop;
    testbed_played_pending_fn *pending;
    testbed_played_mask_fn *mask;
    uint64_t pages;
    testbed_played_pending_fn *shared_pending;
    testbed_played_mask_fn *shared_mask;
} played;

void testbed_played_units(testbed_played_begin_fn *begin, testbed_played_result_fn *result,
                          testbed_played_stop_fn *stop)
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
    return played.result != NULL ? (enum cipher_outcome)played.result(unit)
                                 : __real_cipher_unit_result(unit);
}

bool __wrap_cipher_unit_stop(const struct vm *vm, uint32_t unit)
{
    return played.stop != NULL ? played.stop(unit) : __real_cipher_unit_stop(vm, unit);
}

void testbed_played_accelerators(testbed_played_pending_fn *pending, testbed_played_mask_fn *mask)
{
    played.pending = pending;
    played.mask = mask;
}

bool __wrap_accelerator_exists(const struct vm *vm, unsigned device)
{
    return played.pending != NULL || __real_accelerator_exists(vm, device);
}

bool __wrap_accelerator_pending(const struct vm *vm, unsigned device)
{
    return played.pending != NULL ? played.pending(device) : __real_accelerator_pending(vm, device);
}

void __wrap_accelerator_mask(const struct vm *vm, unsigned device, bool masked)
{
    if (played.mask != NULL) {
        played.mask(device, masked);
    } else {
        __real_accelerator_mask(vm, device, masked);
    }
}

void testbed_played_shared(uint64_t pages, testbed_played_pending_fn *pending,
                           testbed_played_mask_fn *mask)
{
    played.pages = pages;
    played.shared_pending = pending;
    played.shared_mask = mask;
}

bool __wrap_shared_pages(const struct vm *vm, uint64_t *pages)
{
    if (played.shared_pending == NULL) {
        return __real_shared_pages(vm, pages);
    }
    *pages = played.pages;
    return true;
}

bool __wrap_shared_pending(const struct vm *vm)
{
    return played.shared_pending != NULL ? played.shared_pending(0) : __real_shared_pending(vm);
}

void __wrap_shared_mask(const struct vm *vm, bool masked)
{
    if (played.shared_mask != NULL) {
        played.shared_mask(0, masked);
    } else {
        __real_shared_mask(vm, masked);
    }
}
