/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a line with the scheduler suspended (say.h). Owns no state. */
#include "say.h"

#include <stdarg.h>

#include "FreeRTOS.h"
#include "print.h"
#include "task.h"
#include "uart.h"

#define TEXT 160U

void say(const char *format, ...)
{
    char text[TEXT];
    va_list args;
    size_t length;

    va_start(args, format);
    length = print_buffer_args(text, sizeof(text), format, args);
    va_end(args);
    vTaskSuspendAll();
    uart_put_line(text, length < sizeof(text) ? length : sizeof(text) - 1);
    (void)xTaskResumeAll();
}
