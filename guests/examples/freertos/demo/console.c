/* SPDX-License-Identifier: Apache-2.0 */
/* The console of the demo (console.h): the interrupt handler queues received characters, and a task
 * edits and executes command lines. Owns the lock of the output and the queue of the input. */
#include "console.h"

#include <stdarg.h>

#include "FreeRTOS.h"
#include "check.h"
#include "machine.h"
#include "print.h"
#include "queue.h"
#include "semphr.h"
#include "task.h"
#include "uart.h"

#define CONSOLE_TEXT 201U
#define CONSOLE_LINE 64U
#define CONSOLE_BACKSPACE '\b'
#define CONSOLE_DELETE 0x7f

static SemaphoreHandle_t console_lock;
static QueueHandle_t console_received;
static unsigned long console_hart;

static void console_write(const char *text, size_t length)
{
    (void)xSemaphoreTake(console_lock, portMAX_DELAY);
    uart_put_line(text, length);
    (void)xSemaphoreGive(console_lock);
}

void console_print(const char *format, ...)
{
    char text[CONSOLE_TEXT];
    va_list args;
    size_t length;

    va_start(args, format);
    length = print_buffer_args(text, sizeof(text), format, args);
    va_end(args);
    console_write(text, length < sizeof(text) ? length : sizeof(text) - 1);
}

/* Interrupt handler. Drops characters that do not fit into the queue, as a UART does. */
static void console_interrupt(void)
{
    BaseType_t woken = pdFALSE;

    for (uint32_t source = machine_claim(console_hart); source != 0;
         source = machine_claim(console_hart)) {
        for (int c = uart_get(); c >= 0; c = uart_get()) {
            char byte = (char)c;

            (void)xQueueSendFromISR(console_received, &byte, &woken);
        }
        machine_complete(console_hart, source);
    }
    portYIELD_FROM_ISR(woken);
}

/* Echoes and stores one character of a command line. True when the line is complete. */
static bool console_edit(char line[CONSOLE_LINE], size_t *used, char c)
{
    if (c == '\r' || c == '\n') {
        console_write("\n", 1);
        line[*used] = '\0';
        *used = 0;
        return true;
    }
    if (c == CONSOLE_BACKSPACE || c == CONSOLE_DELETE) {
        if (*used > 0) {
            console_write("\b \b", 3);
            *used -= 1;
        }
    } else if (c >= ' ' && *used + 1 < CONSOLE_LINE) {
        console_write(&c, 1);
        line[*used] = c;
        *used += 1;
    }
    return false;
}

static void console_task(void *argument)
{
    char line[CONSOLE_LINE];
    size_t used = 0;
    char c;

    (void)argument;
    for (;;) {
        if (xQueueReceive(console_received, &c, portMAX_DELAY) == pdPASS &&
            console_edit(line, &used, c)) {
            command_run(line);
        }
    }
}

void console_start(unsigned long hart)
{
    console_hart = hart;
    console_lock = xSemaphoreCreateMutex();
    console_received = xQueueCreate(CONSOLE_LINE, sizeof(char));
    configASSERT(console_lock != NULL && console_received != NULL);
    check_create_task(console_task, "console", NULL, PRIORITY_CONSOLE);
    port_set_external_handler(console_interrupt);
    machine_uart_interrupt(hart, true);
    uart_enable_rx_interrupt(true);
}
