/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel configuration of the demo. make defines FREERTOS_TICK_HZ (default 1000). */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#include "fatal.h"
#include "port_config.h"

#define configTICK_RATE_HZ FREERTOS_TICK_HZ
#define configUSE_PREEMPTION 1
#define configUSE_TIME_SLICING 1
#define configUSE_TICKLESS_IDLE 1
#define configMAX_PRIORITIES 8
#define configMAX_TASK_NAME_LEN 12
#define configSUPPORT_STATIC_ALLOCATION 0
#define configSUPPORT_DYNAMIC_ALLOCATION 1

#define configUSE_MUTEXES 1
#define configUSE_RECURSIVE_MUTEXES 1
#define configUSE_TASK_NOTIFICATIONS 1
#define configQUEUE_REGISTRY_SIZE 0
#define configUSE_TIMERS 1
#define configTIMER_TASK_PRIORITY 6
#define configTIMER_QUEUE_LENGTH 8
#define configTIMER_TASK_STACK_DEPTH configMINIMAL_STACK_SIZE

#define configUSE_IDLE_HOOK 1
#define configUSE_TICK_HOOK 0
#define configUSE_MALLOC_FAILED_HOOK 1
#define configCHECK_FOR_STACK_OVERFLOW 2
#define configASSERT(condition)               \
    do {                                      \
        if (!(condition)) {                   \
            fatal_assert(__FILE__, __LINE__); \
        }                                     \
    } while (0)

/* For the command `tasks`. */
#define configUSE_TRACE_FACILITY 1
#define configGENERATE_RUN_TIME_STATS 1
#define configRUN_TIME_COUNTER_TYPE uint64_t

#define INCLUDE_vTaskDelay 1
#define INCLUDE_xTaskDelayUntil 1
#define INCLUDE_vTaskSuspend 1
#define INCLUDE_vTaskDelete 1
#define INCLUDE_uxTaskGetStackHighWaterMark 1
#define INCLUDE_xTaskGetCurrentTaskHandle 1
#define INCLUDE_xTaskGetSchedulerState 1

#endif
