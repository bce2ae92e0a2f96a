/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two tasks of FreeRTOS process frames at a rate: one encodes them with G.722, the other transforms
 * them (512 points). Each frame is processed by the VM's accelerator, or in software while that has
 * no region, and compared with software.
 *
 * Boot arguments:
 *   period=n  milliseconds from frame to frame (default 20)
 *   report=n  frames from line to line (default 50)
 *   frames=n  shuts down after so many frames of each task, 0: never (default)
 */
#include <string.h>

#include "FreeRTOS.h"
#include "accel_rtos.h"
#include "fdt.h"
#include "machine.h"
#include "platform.h"
#include "print.h"
#include "random.h"
#include "task.h"
#include "timer.h"
#include "uart.h"

#define STACK 1024U /* words */
#define PRIORITY 2UL
#define FRAME 2048U /* bytes of input, most */
#define CODED 40U   /* octets of a frame of G.722: 5 ms of sound */
#define TEXT 160U
#define TASKS 2U
#define US (PLATFORM_TIMEBASE_HZ / 1000000U)

int main(unsigned long hart, const void *fdt);

struct stream {
    const char *name;
    accel_soft_fn soft;
    uint32_t command;
    uint32_t bytes; /* of a frame */
    struct accel_rtos device;
    unsigned long frames, wrong;
    uint64_t input[FRAME / 8], output[FRAME / 8], expected[FRAME / 8];
};

static struct stream streams[TASKS] = {
    {.name = "g722", .soft = accel_soft_g722, .command = ACCEL_G722_ENCODE, .bytes = 4U * CODED},
    {.name = "fft512", .soft = accel_soft_fft512, .command = 0x155, .bytes = FRAME},
};
static struct {
    unsigned long period, report, frames;
} setup; /* boot arguments; constant once the scheduler runs */
/* tasks that have done their last frame; changed with the scheduler suspended */
static unsigned int finished;

static void report(const struct stream *s, uint64_t time)
{
    char text[TEXT];
    size_t length = print_buffer(
        text, sizeof(text),
        "frames: %s: frame %lu, %lu wrong, %u on the device, %u in software, last %lu us\n",
        s->name, s->frames, s->wrong, s->device.unit.on_device, s->device.unit.in_software,
        (unsigned long)(time / US));

    uart_put_line(text, length < sizeof(text) ? length : sizeof(text) - 1);
}

/* One frame; returns the time from the job's start to its end, in ticks of machine_time(). */
static uint64_t process(struct stream *s)
{
    struct accel_job job = {
        .command = s->command, .size = s->bytes, .input = s->input, .output = s->expected};
    struct accel_result right, result;
    uint64_t begin, time;

    right = s->soft(&job);
    job.output = s->output;
    begin = machine_time();
    result = accel_rtos_run(&s->device, &job);
    time = machine_time() - begin;
    s->frames++;
    s->wrong += result.fault != 0 || result.size != right.size || result.code != right.code ||
                memcmp(s->output, s->expected, right.size) != 0;
    memset(s->output, 0, right.size);
    return time;
}

/* The last task to end ends the guest. */
static void end(void)
{
    finished++;
    if (finished == TASKS) {
        print("frames: done, %lu jobs ended by interrupts\n", accel_rtos_ended());
        machine_shutdown(streams[0].wrong + streams[1].wrong != 0);
    }
}

static void stream_task(void *argument)
{
    struct stream *s = argument;
    struct random random = random_from(s->command);
    TickType_t wake = xTaskGetTickCount();

    while (setup.frames == 0 || s->frames < setup.frames) {
        uint64_t time;

        for (unsigned int i = 0; i < s->bytes / 8U; i++) {
            s->input[i] = random_next(&random);
        }
        time = process(s);
        vTaskSuspendAll();
        if (s->frames % setup.report == 0) {
            report(s, time);
        }
        (void)xTaskResumeAll();
        (void)xTaskDelayUntil(&wake, pdMS_TO_TICKS(setup.period));
    }
    vTaskSuspendAll();
    end();
    (void)xTaskResumeAll();
    vTaskDelete(NULL);
}

int main(unsigned long hart, const void *fdt)
{
    uart_init();
    (void)timer_init();
    port_init();
    setup.period = fdt_bootarg_number(fdt, "period", 20);
    setup.report = fdt_bootarg_number(fdt, "report", 50);
    setup.frames = fdt_bootarg_number(fdt, "frames", 0);
    if (setup.period == 0 || setup.report == 0) {
        port_fatal("boot arguments: expected period and report from 1, got 0", "", 0);
    }
    accel_rtos_init(hart);
    for (struct stream *s = streams; s < streams + TASKS; s++) {
        accel_rtos_open(&s->device, s->name, s->soft);
        if (xTaskCreate(stream_task, s->name, STACK, s, PRIORITY, NULL) != pdPASS) {
            port_fatal("cannot create task", s->name, 0);
        }
    }
    print("frames: a frame each %lu ms, FreeRTOS %s\n", setup.period, tskKERNEL_VERSION_NUMBER);
    vTaskStartScheduler();
    port_fatal("the scheduler did not start: heap too small?", "",
               (unsigned long)xPortGetFreeHeapSize());
}
