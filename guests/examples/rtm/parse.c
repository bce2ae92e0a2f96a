/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the parameters of an app, for boot arguments and commands (rtm_parse_spec() of rtm.h). */
#include <stddef.h>

#include "rtm.h"

#define FIELDS 5U
#define FIELDS_NEEDED 4U
#define LARGEST 0xffffffffUL

/* Parses a decimal number up to LARGEST. Returns the text after it, or NULL. */
static const char *rtm_parse_number(const char *text, uint64_t *value)
{
    const char *start = text;

    for (*value = 0; *text >= '0' && *text <= '9'; text++) {
        *value = *value * 10 + (uint64_t)(*text - '0');
        if (*value > LARGEST) {
            return NULL;
        }
    }
    return text == start ? NULL : text;
}

const char *rtm_parse_spec(const char *text, struct rtm_spec *spec)
{
    uint64_t fields[FIELDS] = {0};
    unsigned int count = 0;

    do {
        text = rtm_parse_number(text, &fields[count++]);
    } while (text != NULL && count < FIELDS && *text == ':' && *++text != '\0');
    if (text == NULL || count < FIELDS_NEEDED || (*text != ',' && *text != '\0')) {
        return NULL;
    }
    *spec = (struct rtm_spec){.period_us = (uint32_t)fields[0],
                              .budget_us = (uint32_t)fields[1],
                              .deadline_us = (uint32_t)fields[2],
                              .work = fields[3],
                              .cpu = (uint32_t)fields[4]};
    return text;
}
