/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the kernel's configuration that depends on the processor. */
#ifndef PORT_CONFIG_H
#define PORT_CONFIG_H

#define configCPU_CLOCK_HZ 100000000UL
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS
/* words of 4 bytes; 36 of them are the saved context */
#define configMINIMAL_STACK_SIZE 256U
/* set by make; some parts have only 512 KiB of RAM */
#define configTOTAL_HEAP_SIZE (PORT_HEAP_KIB * 1024U)
#define PORT_TASK_STACK 512 /* words per task of the demo */

#endif
