/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The response of a task of FreeRTOS: a timer interrupt at a random time releases the task of the
 * highest priority. The response is the instructions from the time at which the interrupt is due to
 * the task's first one, on the M5150 clocks. The same guest runs natively and in a VM. Two
 * situations: a task of low priority computes when the interrupt comes, or the processor sleeps.
 * With an accelerator, the released task then runs a job on it, which is timed from the due
 * interrupt, too.
 *
 * Boot arguments:
 *   samples=n  in each situation, at most SAMPLES (default)
 *   device=s   the accelerator for the jobs (job.h)
 */
#include <stdbool.h>
#include <stdint.h>

#include "FreeRTOS.h"
#include "fdt.h"
#include "job.h"
#include "machine.h"
#include "platform.h"
#include "print.h"
#include "random.h"
#include "release.h"
#include "semphr.h"
#include "task.h"
#include "timer.h"
#include "uart.h"

#define SAMPLES 400U
#define STACK (2U * configMINIMAL_STACK_SIZE)
#define URGENT_PRIORITY (configMAX_PRIORITIES - 1)
#define LOW_PRIORITY 1U
#define TICK ((uint64_t)PLATFORM_TIMEBASE_HZ / configTICK_RATE_HZ)
/* from now to the release, and from the release to the next tick, at least */
#define NEAR (TICK / 20)
#define WORDS 64U
#define SEED 21U

int main(unsigned long hart, const void *fdt);
void response_timer(void); /* called by the port in the timer's interrupt (PORT_TIMER_HOOK) */

struct situation {
    const char *name;
    void (*pause)(void); /* between two releases, repeatedly */
    void (*wait)(void);  /* until the release, repeatedly */
    unsigned long samples[SAMPLES];
    /* units of machine_time() from the due interrupt to the job's result */
    unsigned long jobs[SAMPLES];
};

static TaskHandle_t urgent;
static SemaphoreHandle_t semaphore; /* free; of compute() */
static uint32_t words[WORDS];
static unsigned int wanted; /* samples in each situation; constant once the scheduler runs */

/* The release that is awaited: written with interrupts off, `taken` by the released task. */
static struct {
    bool armed;
    uint64_t time;         /* at which the interrupt is due */
    uint64_t instructions; /* the same in instructions */
    unsigned long response;
    unsigned long job;
    volatile bool taken;
} release;

void response_timer(void)
{
    BaseType_t woken = pdFALSE;

    if (release.armed && machine_time() >= release.time) {
        release.armed = false;
        vTaskNotifyGiveFromISR(urgent, &woken);
        portYIELD_FROM_ISR(woken);
    }
}

static void urgent_task(void *argument)
{
    (void)argument;
    for (;;) {
        (void)ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
        release.response = (unsigned long)(machine_instructions() - release.instructions);
        release.job = job_present() ? (unsigned long)(job_run() - release.time) : 0;
        release.taken = true;
    }
}

/* Mostly without the kernel, whose critical sections a release has to wait for. */
static void compute(void)
{
    for (size_t i = 0; i < WORDS; i++) {
        words[i] = (words[i] + (uint32_t)i) ^ words[WORDS - 1 - i];
    }
    if (xSemaphoreTake(semaphore, 0) != pdPASS || xSemaphoreGive(semaphore) != pdPASS) {
        port_fatal("the semaphore is not free", "response", 0);
    }
}

/* Sets the timer to a random time before the next tick; returns false if there is too little time
 * until then. */
static bool arm(struct random *random)
{
    uint64_t now, last;
    bool possible;

    taskENTER_CRITICAL();
    now = machine_time();
    last = release_next_tick() - NEAR;
    possible = now + 2 * NEAR < last;
    if (possible) {
        release.time = now + NEAR + random_below(random, last - now - NEAR);
        release.taken = false;
        release.armed = true;
        release.instructions = release_arm(release.time);
    }
    taskEXIT_CRITICAL();
    return possible;
}

static void sleep(void)
{
    vTaskDelay(1);
}

/* A VM that computes never gives up the hart: beside a busy VM it loses the hart at the end of its
 * slices only. */
static struct situation situations[] = {
    {.name = "computing", .pause = compute, .wait = compute},
    {.name = "asleep", .pause = sleep, .wait = machine_wait},
};

static void measure(struct situation *s, struct random *random)
{
    for (unsigned int i = 0; i < wanted; i++) {
        do {
            s->pause();
        } while (!arm(random));
        while (!release.taken) {
            s->wait();
        }
        s->samples[i] = release.response;
        s->jobs[i] = release.job;
    }
}

static void report(const struct situation *s)
{
    for (unsigned int i = 0; i < wanted; i++) {
        print("RESPONSE %s %lu\n", s->name, s->samples[i]);
        if (job_present()) {
            print("JOB %s %lu\n", s->name, s->jobs[i]);
        }
    }
}

static void low_task(void *argument)
{
    struct random random = random_from(SEED);

    (void)argument;
    if (job_present()) {
        (void)job_run(); /* the first job also waits for a region that was never configured */
    }
    for (struct situation *s = situations;
         s < situations + sizeof(situations) / sizeof(situations[0]); s++) {
        measure(s, &random);
    }
    for (struct situation *s = situations;
         s < situations + sizeof(situations) / sizeof(situations[0]); s++) {
        report(s);
    }
    if (job_present()) {
        print("PREEMPTIONS %lu\n", job_preemptions());
    }
    print("BENCH done\n");
    machine_shutdown(false);
}

static void create(TaskFunction_t code, const char *name, UBaseType_t priority, TaskHandle_t *task)
{
    if (xTaskCreate(code, name, STACK, NULL, priority, task) != pdPASS) {
        port_fatal("cannot create task", name, 0);
    }
}

int main(unsigned long hart, const void *fdt)
{
    uart_init();
    (void)timer_init();
    job_open(hart, fdt);
    wanted = (unsigned int)fdt_bootarg_number(fdt, "samples", SAMPLES);
    if (wanted == 0 || wanted > SAMPLES || !machine_counts()) {
        print("BENCH failed: samples from 1 to %u and a count of instructions are needed\n",
              SAMPLES);
        machine_shutdown(true);
    }
    semaphore = xSemaphoreCreateBinary();
    configASSERT(semaphore != NULL);
    (void)xSemaphoreGive(semaphore);
    create(urgent_task, "urgent", URGENT_PRIORITY, &urgent);
    create(low_task, "low", LOW_PRIORITY, NULL);
    vTaskStartScheduler();
    port_fatal("the scheduler did not start: heap too small?", "",
               (unsigned long)xPortGetFreeHeapSize());
}
