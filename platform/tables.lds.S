/* SPDX-License-Identifier: Apache-2.0 */
/* The tables that all architectures have (REGISTER_IN in core/include/types.h), in .rodata of every linker script. */
#define TABLE(name)     \
    __start_##name = .; \
    KEEP(*(name))       \
    __stop_##name = .;

TABLE(components)
TABLE(console_keys)
TABLE(console_operators)
TABLE(console_lists)
