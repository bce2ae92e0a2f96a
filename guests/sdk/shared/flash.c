/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of the shared flash (shared_flash.h). The caller owns struct flash. */
#include <string.h>

#include "fabric_map.h"
#include "shared_flash.h"

enum flash_op {
    OP_READ = 0,
    OP_PROGRAM = 1,
    OP_ERASE = 2
};

#define PART 32768U   /* bytes of one request of a long read or program operation */
#define INLINE 4U     /* a read of at most as many bytes returns them in the completion */
#define SYNCHRONOUS 0 /* tag */

int flash_open(struct flash *flash, const void *fdt)
{
    struct shared_device device;
    int wrong = shared_find(&device, fdt, "tessera,shared-flash");

    if (wrong == SHARED_OK) {
        shared_open(&flash->channel, &device, 0);
        flash->size = (uint32_t)(shared_read(flash->channel.page, FABRIC_CHANNEL_INFO) >>
                                 FABRIC_CHANNEL_INFO_SIZE_LSB);
    }
    return wrong;
}

int flash_submit_read(struct flash *flash, uint32_t address, void *buffer, uint16_t bytes,
                      uint8_t tag)
{
    return shared_submit(&flash->channel,
                         &(struct shared_request){buffer, address, bytes, OP_READ, tag});
}

int flash_submit_program(struct flash *flash, uint32_t address, const void *data, uint16_t bytes,
                         uint8_t tag)
{
    return shared_submit(&flash->channel,
                         &(struct shared_request){data, address, bytes, OP_PROGRAM, tag});
}

int flash_submit_erase(struct flash *flash, uint32_t address, uint8_t tag)
{
    return shared_submit(&flash->channel,
                         &(struct shared_request){NULL, address, 0, OP_ERASE, tag});
}

/* Submits a request and waits for its end. */
static int execute(struct flash *flash, const struct shared_request *request,
                   struct shared_completion *done)
{
    int wrong = flash->channel.waiting == 0 ? shared_submit(&flash->channel, request) : SHARED_BUSY;

    if (wrong != SHARED_OK) {
        return wrong;
    }
    shared_wait(&flash->channel, done);
    return done->status;
}

static uint16_t part_of(size_t bytes)
{
    return (uint16_t)(bytes < PART ? bytes : PART);
}

int flash_read(struct flash *flash, uint32_t address, void *buffer, size_t bytes)
{
    int wrong = SHARED_OK;
    uint8_t *to = buffer;

    while (bytes > 0 && wrong == SHARED_OK) {
        uint16_t part = part_of(bytes);
        struct shared_completion done;

        wrong = execute(flash, &(struct shared_request){to, address, part, OP_READ, SYNCHRONOUS},
                        &done);
        if (wrong == SHARED_OK && part <= INLINE) {
            memcpy(to, &done.data, part);
        }
        address += part;
        to += part;
        bytes -= part;
    }
    return wrong;
}

int flash_program(struct flash *flash, uint32_t address, const void *data, size_t bytes)
{
    int wrong = SHARED_OK;
    const uint8_t *from = data;

    while (bytes > 0 && wrong == SHARED_OK) {
        uint16_t part = part_of(bytes);
        struct shared_completion done;

        wrong = execute(
            flash, &(struct shared_request){from, address, part, OP_PROGRAM, SYNCHRONOUS}, &done);
        address += part;
        from += part;
        bytes -= part;
    }
    return wrong;
}

int flash_erase(struct flash *flash, uint32_t address)
{
    struct shared_completion done;

    return execute(flash, &(struct shared_request){NULL, address, 0, OP_ERASE, SYNCHRONOUS}, &done);
}
