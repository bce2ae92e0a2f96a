/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of the shared Ethernet device, with one channel for each direction (shared_ethernet.h).
 * The caller owns struct ethernet. */
#include <string.h>

#include "fdt.h"
#include "shared_ethernet.h"

#define COMPATIBLE "tessera,shared-ethernet"

enum ethernet_op {
    OP_SEND = 0,
    OP_RECEIVE = 1
};
enum ethernet_page {
    PAGE_SEND = 0,
    PAGE_RECEIVE = 1
};

int ethernet_open(struct ethernet *eth, const void *fdt)
{
    struct shared_device device;
    uint32_t length;
    const void *mac = fdt_device(fdt, COMPATIBLE, "local-mac-address", &length);

    if (mac == NULL || length != ETHERNET_ADDRESS ||
        shared_find(&device, fdt, COMPATIBLE) != SHARED_OK) {
        return SHARED_NO_DEVICE;
    }
    memcpy(eth->mac, mac, ETHERNET_ADDRESS);
    shared_open(&eth->send, &device, PAGE_SEND);
    shared_open(&eth->receive, &device, PAGE_RECEIVE);
    return SHARED_OK;
}

int ethernet_submit(struct ethernet *eth, const void *frame, size_t bytes, uint8_t tag)
{
    if (bytes < ETHERNET_HEADER || bytes > ETHERNET_FRAME) {
        return SHARED_INVALID;
    }
    return shared_submit(&eth->send,
                         &(struct shared_request){frame, 0, (uint16_t)bytes, OP_SEND, tag});
}

int ethernet_send(struct ethernet *eth, const void *frame, size_t bytes)
{
    struct shared_completion done;
    int wrong = eth->send.waiting == 0 ? ethernet_submit(eth, frame, bytes, 0) : SHARED_BUSY;

    if (wrong != SHARED_OK) {
        return wrong;
    }
    shared_wait(&eth->send, &done);
    return done.status;
}

int ethernet_post(struct ethernet *eth, void *buffer, size_t bytes, uint8_t tag)
{
    if (bytes < 1 || bytes > UINT16_MAX) {
        return SHARED_INVALID;
    }
    return shared_submit(&eth->receive,
                         &(struct shared_request){buffer, 0, (uint16_t)bytes, OP_RECEIVE, tag});
}
