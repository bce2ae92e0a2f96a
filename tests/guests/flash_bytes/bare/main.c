/* SPDX-License-Identifier: Apache-2.0 */
/* Roles without an RTOS. They take no interrupts: these only end the sleep. */
#include <string.h>

#include "fdt.h"
#include "flash_bytes.h"
#include "ipc.h"
#include "machine.h"
#include "print.h"
#include "shared_flash.h"
#include "timer.h"
#include "uart.h"

#define ROLE_LENGTH 16U

int main(unsigned long hart, const void *fdt);

static struct flash_work work;

static void wait_for_start(void)
{
    timer_set(work.start);
    machine_wake_by_timer(true);
    while (machine_time() < work.start) {
        machine_wait();
    }
    timer_set(work.end + SERVER_GRACE);
}

/* The tag of a request is the low byte of its address, which no other outstanding request has. */
static void run_channel(const void *fdt)
{
    static struct flash flash;
    struct shared_completion done;
    uint32_t taken = 0; /* requests of one VM are completed in order */

    if (flash_open(&flash, fdt) != SHARED_OK) {
        print("BENCH failed: no shared flash\n");
        machine_shutdown(true);
    }
    wait_for_start();
    while (machine_time() < work.end) {
        while (flash.channel.waiting < work.depth &&
               flash_submit_read(&flash, work.next, NULL, 1, (uint8_t)work.next) == SHARED_OK) {
            (void)flash_work_next(&work);
        }
        while (shared_take(&flash.channel, &done)) {
            flash_work_check(&work, work.base + taken, done.status == SHARED_OK ? done.data : ~0U);
            taken = (taken + 1U) % BYTES_OF_VM;
        }
    }
}

static void run_spi(void)
{
    wait_for_start();
    while (machine_time() < work.end) {
        uint32_t address = flash_work_next(&work);

        flash_work_check(&work, address, spi_flash_read(address - work.base));
    }
}

/* Answers all messages that are here. */
static void serve(void)
{
    struct flash_message message;
    struct ipc_peer from = {0, 0};

    machine_take_message();
    while (ipc_receive(&message, sizeof(message), &from) == (long)sizeof(message)) {
        message.value = spi_flash_read(message.address);
        (void)ipc_send(from, &message, sizeof(message)); /* fails if the client has ended */
    }
}

static void run_server(void)
{
    wait_for_start();
    while (machine_time() < work.end + SERVER_GRACE) {
        serve();
        machine_wait();
    }
}

/* Sends requests until enough are outstanding; the last one by a call that also sleeps. Returns how
 * many were sent. */
static unsigned int request(struct ipc_peer server, unsigned int number)
{
    struct flash_message message = {0, 0};

    for (unsigned int i = 0; i < number; i++) {
        message.address = work.base + work.next;
        if ((i + 1U == number ? ipc_send_wait : ipc_send)(server, &message, sizeof(message)) != 0) {
            return i;
        }
        (void)flash_work_next(&work);
    }
    return number;
}

static unsigned int take_answers(void)
{
    struct flash_message message;
    struct ipc_peer from;
    unsigned int count = 0;

    machine_take_message();
    while (ipc_receive(&message, sizeof(message), &from) == (long)sizeof(message)) {
        flash_work_check(&work, message.address, message.value);
        count++;
    }
    return count;
}

static void run_client(const void *fdt)
{
    struct ipc_peer server = {(unsigned int)fdt_bootarg_number(fdt, "server", 0), 0};
    unsigned int outstanding = 0;

    machine_wake_by_message(true);
    wait_for_start();
    while (machine_time() < work.end) {
        outstanding -= take_answers();
        if (outstanding < work.depth) {
            outstanding += request(server, work.depth - outstanding);
        } else {
            machine_wait();
        }
    }
}

int main(unsigned long hart, const void *fdt)
{
    char role[ROLE_LENGTH] = "";

    (void)hart;
    uart_init();
    timer_init();
    flash_work_init(&work, fdt);
    (void)fdt_bootarg(fdt, "role", role, sizeof(role));
    (void)spi_flash_open(fdt);
    if (strcmp(role, "channel") == 0) {
        run_channel(fdt);
    } else if (strcmp(role, "spi") == 0) {
        run_spi();
    } else if (strcmp(role, "server") == 0) {
        machine_wake_by_message(true);
        run_server();
    } else {
        run_client(fdt);
    }
    flash_work_report(&work);
}
