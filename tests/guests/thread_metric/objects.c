/* SPDX-License-Identifier: Apache-2.0 */
/* Queues, semaphores and memory of the kernel, each used by one task that never waits. */
#include "measure.h"
#include "queue.h"
#include "semphr.h"

#define MESSAGE_WORDS 4U /* 16 bytes */
#define MESSAGES 10U
#define BLOCK 128U /* bytes */

struct message {
    uint32_t words[MESSAGE_WORDS];
};

static QueueHandle_t queue; /* of the measures, as `semaphore` */
static SemaphoreHandle_t semaphore;

static void messages_task(void *argument)
{
    struct message sent = {{0}}, received;

    (void)argument;
    for (;;) {
        sent.words[0]++;
        if (xQueueSend(queue, &sent, 0) != pdPASS || xQueueReceive(queue, &received, 0) != pdPASS ||
            received.words[0] != sent.words[0]) {
            port_fatal("a message is lost", "messages", sent.words[0]);
        }
        measure_passes[0]++;
    }
}

static void messages_start(void)
{
    queue = xQueueCreate(MESSAGES, sizeof(struct message));
    configASSERT(queue != NULL);
    measure_task(messages_task, 0, MEASURE_LOWEST);
}

static void messages_stop(void)
{
    vQueueDelete(queue);
}

static void synchronization_task(void *argument)
{
    (void)argument;
    for (;;) {
        if (xSemaphoreTake(semaphore, 0) != pdPASS || xSemaphoreGive(semaphore) != pdPASS) {
            port_fatal("the semaphore is not free", "synchronization", 0);
        }
        measure_passes[0]++;
    }
}

static void synchronization_start(void)
{
    semaphore = xSemaphoreCreateBinary();
    configASSERT(semaphore != NULL);
    (void)xSemaphoreGive(semaphore);
    measure_task(synchronization_task, 0, MEASURE_LOWEST);
}

static void synchronization_stop(void)
{
    vSemaphoreDelete(semaphore);
}

static void memory_task(void *argument)
{
    (void)argument;
    for (;;) {
        void *block = pvPortMalloc(BLOCK);

        configASSERT(block != NULL);
        vPortFree(block);
        measure_passes[0]++;
    }
}

static void memory_start(void)
{
    measure_task(memory_task, 0, MEASURE_LOWEST);
}

const struct measure measures_objects[] = {
    {.name = "messages", .start = messages_start, .tasks = 1, .stop = messages_stop},
    {.name = "synchronization",
     .start = synchronization_start,
     .tasks = 1,
     .stop = synchronization_stop},
    {.name = "memory", .start = memory_start, .tasks = 1},
};
const size_t measures_objects_count = sizeof(measures_objects) / sizeof(measures_objects[0]);
