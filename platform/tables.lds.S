/* SPDX-License-Identifier: Apache-2.0 */
/* The table of components (core/include/component.h), in .rodata of every linker script: what
 * COMPONENT() has put into the section `components`. */
__start_components = .;
KEEP(*(components))
__stop_components = .;
