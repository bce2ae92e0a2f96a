/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <string.h>

#include "csr.h"
#include "print.h"
#include "rtm.h"

#define FORM "period:budget:deadline:work[:hart], microseconds and instructions"

static void rtm_command_help(const char *argument)
{
    (void)argument;
    print("list           every app: jobs released, ended, missed, overrun; response min/avg/max\n"
          "start SPEC     a new app; SPEC is " FORM "\n"
          "end ID         delete an app\n");
}

static void rtm_command_list(const char *argument)
{
    (void)argument;
    rtm_list();
}

static void rtm_command_start(const char *argument)
{
    struct rtm_spec spec;
    const char *end = rtm_parse_spec(argument, &spec);

    if (end == NULL || *end != '\0') {
        print("rtm: expected start " FORM ", got '%s'\n", argument);
    } else if (rtm_start(&spec, csr_read_time())) {
        print("rtm: started\n");
    }
}

static void rtm_command_end(const char *argument)
{
    unsigned long id = 0;

    for (; *argument >= '0' && *argument <= '9'; argument++) {
        id = id * 10 + (unsigned long)(*argument - '0');
    }
    print(*argument == '\0' && rtm_end(id) ? "rtm: ended\n" : "rtm: no such app\n");
}

static const struct {
    const char *name;
    void (*run)(const char *argument);
} rtm_commands[] = {
    {"help", rtm_command_help},
    {"list", rtm_command_list},
    {"start", rtm_command_start},
    {"end", rtm_command_end},
};

void rtm_command(const char *line)
{
    for (size_t i = 0; i < sizeof(rtm_commands) / sizeof(rtm_commands[0]); i++) {
        size_t length = strlen(rtm_commands[i].name);

        if (strncmp(line, rtm_commands[i].name, length) == 0 && (line[length] == ' ' || line[length] == '\0')) {
            rtm_commands[i].run(line[length] == ' ' ? line + length + 1 : "");
            return;
        }
    }
    if (line[0] != '\0') {
        print("rtm: no command '%s'; try help\n", line);
    }
}
