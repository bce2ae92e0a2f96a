/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same in FreeRTOS, as a driver and its users are written there: a task that reads a byte takes
 * the driver's mutex, sends the request and sleeps until the interrupt puts the answer into its
 * queue; the driver is a task that takes requests from a queue.
 */
#include <string.h>

#include "FreeRTOS.h"
#include "fdt.h"
#include "flash_bytes.h"
#include "ipc.h"
#include "machine.h"
#include "queue.h"
#include "semphr.h"
#include "task.h"
#include "timer.h"
#include "uart.h"

#define ROLE_LENGTH 16U
#define STACK 1024U /* words */
#define PRIORITY 2U
#define QUEUE_LENGTH 8U
#define TICK (PLATFORM_TIMEBASE_HZ / configTICK_RATE_HZ)

struct received {
    struct flash_message message;
    struct ipc_peer from;
};

int main(unsigned long hart, const void *fdt);

static struct flash_work work;
static struct ipc_peer server;
static QueueHandle_t queue;
static SemaphoreHandle_t mutex;

/* Also called at each yield of the kernel, which uses the same interrupt. */
static void message_interrupt(void)
{
    struct received received;
    BaseType_t woken = pdFALSE;

    while (ipc_receive(&received.message, sizeof(received.message), &received.from) ==
           (long)sizeof(received.message)) {
        (void)xQueueSendFromISR(queue, &received, &woken);
    }
    portYIELD_FROM_ISR(woken);
}

static void serve_task(void *argument)
{
    struct received received;

    (void)argument;
    while (machine_time() < work.end + SERVER_GRACE) {
        if (xQueueReceive(queue, &received, 1) == pdPASS) {
            received.message.value = spi_flash_read(received.message.address);
            (void)ipc_send(received.from, &received.message,
                           sizeof(received.message)); /* fails if the client has ended */
        }
    }
    flash_work_report(&work);
}

/* What an application calls. */
static uint32_t read_byte(uint32_t address)
{
    struct received received = {.message = {address, 0}};

    (void)xSemaphoreTake(mutex, portMAX_DELAY);
    (void)ipc_send(server, &received.message, sizeof(received.message));
    (void)xQueueReceive(queue, &received, portMAX_DELAY);
    (void)xSemaphoreGive(mutex);
    return received.message.value;
}

static void read_task(void *argument)
{
    (void)argument;
    while (machine_time() + TICK < work.start) {
        vTaskDelay(1);
    }
    while (machine_time() < work.start) {
    }
    while (machine_time() < work.end) {
        uint32_t address = flash_work_next(&work);

        flash_work_check(&work, address, read_byte(address));
    }
    flash_work_report(&work);
}

int main(unsigned long hart, const void *fdt)
{
    char role[ROLE_LENGTH] = "";
    bool serves;

    (void)hart;
    uart_init();
    (void)timer_init();
    flash_work_init(&work, fdt);
    (void)fdt_bootarg(fdt, "role", role, sizeof(role));
    serves = strcmp(role, "server") == 0;
    server.vm = (unsigned int)fdt_bootarg_number(fdt, "server", 0);
    mutex = xSemaphoreCreateMutex();
    queue = xQueueCreate(QUEUE_LENGTH, sizeof(struct received));
    if (mutex == NULL || queue == NULL || (serves && !spi_flash_open(fdt)) ||
        xTaskCreate(serves ? serve_task : read_task, role, STACK, NULL, PRIORITY, NULL) != pdPASS) {
        port_fatal("no flash or no memory:", role, 0);
    }
    port_set_message_handler(message_interrupt);
    vTaskStartScheduler();
    port_fatal("the scheduler did not start: heap too small?", "", xPortGetFreeHeapSize());
}
