/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of the demo's console. Some cause errors on purpose, to test their detection. */
#include <string.h>

#include "FreeRTOS.h"
#include "check.h"
#include "console.h"
#include "hcall.h"
#include "machine.h"
#include "platform.h"
#include "task.h"

#define COMMAND_TASKS_MAX 24U

struct command {
    const char *name;
    const char *help;
    void (*run)(void);
};

static void command_help(void);

static void command_tasks(void)
{
    /* static because it is large; used by the console task only */
    static TaskStatus_t tasks[COMMAND_TASKS_MAX];
    /* running, ready, blocked, suspended, deleted, invalid */
    static const char states[] = "RrBSDI";
    configRUN_TIME_COUNTER_TYPE total = 0;
    UBaseType_t count = uxTaskGetSystemState(tasks, COMMAND_TASKS_MAX, &total);

    console_print("task         state prio stack-left   cpu\n");
    for (UBaseType_t i = 0; i < count; i++) {
        const TaskStatus_t *task = &tasks[i];
        unsigned long per_mille =
            total == 0 ? 0 : (unsigned long)(task->ulRunTimeCounter * 1000 / total);

        console_print("%-12s %c     %4lu %6u B   %3lu.%lu %%\n", task->pcTaskName,
                      states[task->eCurrentState], task->uxCurrentPriority,
                      (unsigned int)(task->usStackHighWaterMark * sizeof(StackType_t)),
                      per_mille / 10, per_mille % 10);
    }
    console_print("heap free %lu B of %u\n", (unsigned long)xPortGetFreeHeapSize(),
                  (unsigned int)configTOTAL_HEAP_SIZE);
}

static void command_uptime(void)
{
    TickType_t ticks = xTaskGetTickCount();

    console_print("up %lu s (%lu ticks of %u Hz, %lu sleeps without ticks)\n",
                  ticks / configTICK_RATE_HZ, ticks, (unsigned int)configTICK_RATE_HZ,
                  port_tickless_sleeps());
}

static void command_id(void)
{
    struct hcall_ret id = hcall_get_id();

    if (id.error == HCALL_OK) {
        console_print("VM %lu of a Tessera system\n", id.value);
    } else {
        console_print("not in a Tessera VM (SBI error %ld)\n", id.error);
    }
}

static void command_reboot(void)
{
    console_print("freertos: reboot\n");
    machine_reboot();
    console_print("freertos: reboot was refused\n");
}

static void command_shutdown(void)
{
    console_print("freertos: shutdown\n");
    machine_shutdown(false);
}

static void command_assert(void)
{
    configASSERT(false);
}

/*
 * In a VM: a fatal trap without a trap handler, after which the hypervisor stops or restarts the
 * VM. Natively the demo's own handler reports the trap.
 */
static void command_crash(void)
{
    if (hcall_get_id().error == HCALL_OK) {
        console_print("freertos: crash: load from an unmapped address, without a trap handler\n");
        machine_lose_vector();
    }
    (void)*(volatile uint32_t *)PLATFORM_HOLE;
}

/* Overflows the task's stack; the kernel finds the fill pattern overwritten at the next switch. */
static void command_overflow(void)
{
    volatile uint8_t much[TASK_STACK * sizeof(StackType_t)];

    for (unsigned int i = 0; i < sizeof(much); i++) {
        much[i] = 0;
    }
    vTaskDelay(1);
}

static const struct command commands[] = {
    {"help", "this list", command_help},
    {"tasks", "all tasks: state, priority, minimum of free stack, share of the CPU", command_tasks},
    {"checks", "rounds of each self-check", checker_print},
    {"uptime", "time since the scheduler started", command_uptime},
    {"id", "id of this VM", command_id},
    {"reboot", "reboot", command_reboot},
    {"shutdown", "shut down", command_shutdown},
    {"spoil", "make the queue's producer skip a number, to fail a self-check", queue_check_spoil},
    {"assert", "fail an assertion", command_assert},
    {"overflow", "overflow a stack", command_overflow},
    {"crash", "a fatal trap: load from an unmapped address, without a trap handler", command_crash},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void command_help(void)
{
    for (unsigned int i = 0; i < COMMANDS; i++) {
        console_print("%-9s %s\n", commands[i].name, commands[i].help);
    }
}

void command_run(const char *line)
{
    if (line[0] == '\0') {
        return;
    }
    for (unsigned int i = 0; i < COMMANDS; i++) {
        if (strcmp(line, commands[i].name) == 0) {
            commands[i].run();
            return;
        }
    }
    console_print("no command '%s'; try help\n", line);
}
