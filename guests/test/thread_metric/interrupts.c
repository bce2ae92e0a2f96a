/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interrupts that a task raises: the hart's software interrupt, and the interrupt of a device, the
 * UART with an empty transmitter. In a VM the first causes no exit, while the hypervisor emulates
 * the UART and the PLIC.
 */
#include "csr.h"
#include "measure.h"
#include "platform.h"
#include "plic.h"
#include "semphr.h"
#include "uart.h"

static SemaphoreHandle_t semaphore; /* given by the handlers */
static volatile bool raised;        /* by a task; the kernel's yields raise the software interrupt too */
static bool resumes;                /* the software interrupt's handler resumes task 1, else it gives the semaphore */
static uint32_t context;            /* of the hart in the PLIC */

static void software_handler(void)
{
    BaseType_t woken = pdFALSE;

    if (!raised) {
        return;
    }
    raised = false;
    if (resumes) {
        woken = xTaskResumeFromISR(measure_task_handle(1));
    } else {
        (void)xSemaphoreGiveFromISR(semaphore, &woken);
    }
    portYIELD_FROM_ISR(woken);
}

static void device_handler(void)
{
    BaseType_t woken = pdFALSE;
    uint32_t source = plic_claim(context);

    if (source == PLATFORM_UART_IRQ) {
        (void)uart_read(UART_IIR);
        uart_write(UART_IER, 0);
        (void)xSemaphoreGiveFromISR(semaphore, &woken);
    }
    plic_complete(context, source);
    portYIELD_FROM_ISR(woken);
}

static void raise(void)
{
    raised = true;
    csr_set_sip(SIE_SOFT);
}

static void interrupt_task(void *argument)
{
    (void)argument;
    for (;;) {
        raise();
        if (xSemaphoreTake(semaphore, 0) != pdPASS) {
            port_fatal("no interrupt", "interrupt", (unsigned long)measure_passes[0]);
        }
        measure_passes[0]++;
    }
}

static void interrupt_start(void)
{
    semaphore = xSemaphoreCreateBinary();
    configASSERT(semaphore != NULL);
    measure_task(interrupt_task, 0, MEASURE_LOWEST);
}

static void interrupt_stop(void)
{
    vSemaphoreDelete(semaphore);
}

static void resumed_task(void *argument)
{
    (void)argument;
    for (;;) {
        vTaskSuspend(NULL);
        measure_passes[1]++;
    }
}

static void resuming_task(void *argument)
{
    (void)argument;
    for (;;) {
        raise();
        measure_passes[0]++;
    }
}

static void preemption_start(void)
{
    resumes = true;
    measure_task(resuming_task, 0, MEASURE_LOWEST);
    measure_task(resumed_task, 1, MEASURE_LOWEST + 1);
}

static void preemption_stop(void)
{
    resumes = false;
}

static void device_task(void *argument)
{
    (void)argument;
    for (;;) {
        uart_write(UART_IER, UART_IER_TX_EMPTY);
        if (xSemaphoreTake(semaphore, 1) != pdPASS) {
            port_fatal("no interrupt", "interrupt.device", (unsigned long)measure_passes[0]);
        }
        measure_passes[0]++;
    }
}

static void device_start(void)
{
    uart_wait_empty();
    semaphore = xSemaphoreCreateBinary();
    configASSERT(semaphore != NULL);
    plic_set_priority(PLATFORM_UART_IRQ, 1);
    plic_set_threshold(context, 0);
    plic_enable(context, PLATFORM_UART_IRQ, true);
    measure_task(device_task, 0, MEASURE_LOWEST);
}

static void device_stop(void)
{
    uart_write(UART_IER, 0);
    plic_enable(context, PLATFORM_UART_IRQ, false);
    interrupt_stop();
}

void measure_interrupts_init(unsigned long hart)
{
    context = plic_context(hart);
    port_set_software_handler(software_handler);
    port_set_external_handler(device_handler);
}

const struct measure measures_interrupts[] = {
    {.name = "interrupt", .start = interrupt_start, .tasks = 1, .stop = interrupt_stop},
    {.name = "preemption", .start = preemption_start, .tasks = 2, .apart = 1, .stop = preemption_stop},
    {.name = "device", .start = device_start, .tasks = 1, .stop = device_stop},
};
const size_t measures_interrupts_count = sizeof(measures_interrupts) / sizeof(measures_interrupts[0]);
