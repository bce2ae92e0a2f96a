/* SPDX-License-Identifier: Apache-2.0 */
/* Runs jobs of FreeRTOS tasks on accelerators (accel_rtos.h). Owns the list of the opened devices,
 * for the handler of the interrupt that they share. */
#include "accel_rtos.h"

#include "plic.h"

static struct accel_rtos *devices;   /* constant once the scheduler runs */
static uint32_t context;             /* of the PLIC */
static volatile unsigned long ended; /* written by the interrupt's handler */

/* Wakes the task whose job is over. */
static BaseType_t finish(struct accel_rtos *d)
{
    TaskHandle_t task = d->waiting;
    BaseType_t woken = pdFALSE;

    if (task != NULL && accel_over(&d->unit.device)) {
        d->result = accel_finish(&d->unit.device);
        d->waiting = NULL;
        ended = ended + 1;
        vTaskNotifyGiveFromISR(task, &woken);
    }
    return woken;
}

/* All devices of the VM share a line, which is high while a job is over and not finished. */
static void interrupt(void)
{
    uint32_t source = plic_claim(context);
    BaseType_t woken = pdFALSE;

    if (source != ACCEL_IRQ) {
        return; /* the line went low before the claim */
    }
    for (struct accel_rtos *d = devices; d != NULL; d = d->next) {
        woken |= finish(d);
    }
    plic_complete(context, source);
    portYIELD_FROM_ISR(woken);
}

void accel_rtos_init(unsigned long hart)
{
    context = plic_context(hart);
    port_set_external_handler(interrupt);
    plic_open(context, ACCEL_IRQ);
}

void accel_rtos_open(struct accel_rtos *d, const char *name, accel_soft_fn soft)
{
    *d = (struct accel_rtos){.next = devices};
    accel_unit_open(&d->unit, name, soft);
    if (d->unit.present) {
        (void)accel_set_model(&d->unit.device, ACCEL_MODEL_GUEST);
    }
    devices = d;
}

struct accel_result accel_rtos_run(struct accel_rtos *d, const struct accel_job *job)
{
    return accel_unit_ready(&d->unit) ? accel_rtos_run_on_device(d, job)
                                      : accel_unit_run_soft(&d->unit, job);
}

struct accel_result accel_rtos_run_on_device(struct accel_rtos *d, const struct accel_job *job)
{
    d->unit.on_device++;
    d->waiting = xTaskGetCurrentTaskHandle(); /* before the job starts, whose interrupt clears it */
    accel_submit(&d->unit.device, job, true);
    (void)ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
    return d->result;
}

unsigned long accel_rtos_ended(void)
{
    return ended;
}
