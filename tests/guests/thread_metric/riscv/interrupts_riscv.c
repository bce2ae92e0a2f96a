/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hart's software interrupt, and the interrupt of a device: the UART with an empty transmitter.
 * In a VM the first causes no exit, while the hypervisor emulates the UART and the PLIC.
 */
#include "csr.h"
#include "interrupts.h"
#include "measure.h"
#include "platform.h"
#include "plic.h"
#include "semphr.h"
#include "uart.h"

static SemaphoreHandle_t semaphore; /* given by device_handler() */
static uint32_t context;            /* of the hart in the PLIC */

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

static void device_task(void *argument)
{
    (void)argument;
    for (;;) {
        uart_write(UART_IER, UART_IER_TX_EMPTY);
        if (xSemaphoreTake(semaphore, portMAX_DELAY) != pdPASS) {
            port_fatal("no interrupt", "device", measure_passes[0]);
        }
        measure_passes[0]++;
    }
}

static void device_start(void)
{
    uart_wait_empty();
    semaphore = xSemaphoreCreateBinary();
    configASSERT(semaphore != NULL);
    plic_open(context, PLATFORM_UART_IRQ);
    measure_task(device_task, 0, MEASURE_LOWEST);
}

static void device_stop(void)
{
    uart_write(UART_IER, 0);
    plic_enable(context, PLATFORM_UART_IRQ, false);
    vSemaphoreDelete(semaphore);
}

void interrupts_raise(void)
{
    csr_set_sip(SIE_SOFT);
}

void interrupts_init(unsigned long hart, void (*handler)(void))
{
    context = plic_context(hart);
    port_set_message_handler(handler);
    port_set_external_handler(device_handler);
}

const struct measure measures_devices[] = {
    {.name = "device", .start = device_start, .tasks = 1, .stop = device_stop},
};
const size_t measures_devices_count = sizeof(measures_devices) / sizeof(measures_devices[0]);
