/* SPDX-License-Identifier: Apache-2.0 */
/* The tables that all architectures have (REGISTER_IN in core/include/types.h), in .rodata of every linker script. */
#define TABLE(name)     \
    __start_##name = .; \
    KEEP(*(name))       \
    __stop_##name = .;

TABLE(hypercalls)
TABLE(console_keys)
TABLE(console_operators)
TABLE(console_lists)
TABLE(sched_classes)
TABLE(boot_hooks)
TABLE(vm_start_hooks)
TABLE(vm_reset_hooks)
TABLE(vm_stop_hooks)
TABLE(cpu_sync_hooks)
TABLE(vcpu_start_hooks)
TABLE(vcpu_stop_hooks)
TABLE(resource_bounds)
