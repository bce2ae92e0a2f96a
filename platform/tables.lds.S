/* SPDX-License-Identifier: Apache-2.0 */
/* The components (core/include/component.h), in .rodata of every linker script. */
__start_components = .;
KEEP(*(components))
__stop_components = .;
