/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A producer and a consumer with a short queue between them: no item may be lost, duplicated,
 * reordered or changed.
 */
#include "FreeRTOS.h"
#include "check.h"
#include "queue.h"
#include "task.h"

#define QUEUE_LENGTH 4U
#define QUEUE_BURST 10U /* more than the queue holds, so that the producer blocks */

struct message {
    uint64_t number;
    uint64_t inverse;
};

struct check queue_check = {.name = "queue", .needed = 100};

static QueueHandle_t queue_messages;
static volatile bool queue_spoiled;

void queue_check_spoil(void)
{
    queue_spoiled = true;
}

static void queue_producer(void *argument)
{
    uint64_t number = 0;

    (void)argument;
    for (;;) {
        for (unsigned int i = 0; i < QUEUE_BURST; i++) {
            struct message message = {.number = number, .inverse = ~number};

            if (xQueueSend(queue_messages, &message, portMAX_DELAY) != pdPASS) {
                check_fail(&queue_check, "send failed at", (unsigned long)number);
            }
            number++;
        }
        if (queue_spoiled) {
            queue_spoiled = false;
            number++;
        }
        vTaskDelay(pdMS_TO_TICKS(20));
    }
}

static void queue_consumer(void *argument)
{
    uint64_t expected = 0;

    (void)argument;
    for (;;) {
        struct message message = {0};

        if (xQueueReceive(queue_messages, &message, portMAX_DELAY) != pdPASS) {
            check_fail(&queue_check, "receive failed at", (unsigned long)expected);
        } else if (message.number != expected) {
            check_fail(&queue_check, "out of sequence at", (unsigned long)expected);
        } else if (message.inverse != ~expected) {
            check_fail(&queue_check, "message damaged at", (unsigned long)expected);
        } else {
            check_pass(&queue_check);
        }
        expected++;
    }
}

void queue_check_start(void)
{
    queue_messages = xQueueCreate(QUEUE_LENGTH, sizeof(struct message));
    configASSERT(queue_messages != NULL);
    check_create_task(queue_producer, "producer", NULL, PRIORITY_PRODUCER);
    check_create_task(queue_consumer, "consumer", NULL, PRIORITY_CONSUMER);
}
