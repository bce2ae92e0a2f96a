/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the kernel's configuration that depends on the processor. */
#ifndef PORT_CONFIG_H
#define PORT_CONFIG_H

#define configCPU_CLOCK_HZ 10000000UL
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_64_BITS
#define configMINIMAL_STACK_SIZE 512U /* words of 8 bytes; 66 of them are the saved context */
#define configTOTAL_HEAP_SIZE (256U * 1024U)
#define PORT_TASK_STACK 1024 /* words per task of the demo */

#endif
