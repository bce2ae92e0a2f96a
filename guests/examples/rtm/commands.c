/* SPDX-License-Identifier: Apache-2.0 */
/* Parses and executes the command lines of the real-time manager (rtm.h). */
#include <stddef.h>
#include <string.h>

#include "machine.h"
#include "print.h"
#include "rtm.h"

#define FORM "period:budget:deadline:work[:hart], microseconds and instructions"

static void rtm_command_help(const char *argument)
{
    (void)argument;
    print("list           every app: jobs released, ended, missed, overrun; response min/avg/max\n"
          "start SPEC     a new app; SPEC is " FORM "\n"
          "create SPEC    a new app for another VM to launch\n"
          "receive SPEC   a new app that receives messages\n"
          "send VM SPEC   a new app that sends VM a message in each job\n"
          "end ID         delete an app\n"
          "hang           loop forever; the apps keep running\n");
}

static void rtm_command_list(const char *argument)
{
    (void)argument;
    rtm_list();
}

/* Parses a decimal number and advances `text` past it. */
static unsigned long rtm_command_number(const char **text)
{
    unsigned long number = 0;

    for (; **text >= '0' && **text <= '9'; ++*text) {
        number = number * 10 + (unsigned long)(**text - '0');
    }
    return number;
}

/* Parses a spec up to the end of the line, or prints an error. */
static bool rtm_command_spec(const char *text, struct rtm_spec *spec)
{
    const char *end = rtm_parse_spec(text, spec);

    if (end == NULL || *end != '\0') {
        print("rtm: expected " FORM ", got '%s'\n", text);
        return false;
    }
    return true;
}

static void rtm_command_launch(const char *text, void (*duty)(struct rtm_app *app),
                               unsigned int peer)
{
    struct rtm_spec spec;

    if (rtm_command_spec(text, &spec)) {
        spec.duty = duty;
        spec.peer = peer;
        if (rtm_start(&spec, machine_time())) {
            print("rtm: started\n");
        }
    }
}

static void rtm_command_start(const char *argument)
{
    rtm_command_launch(argument, NULL, 0);
}

static void rtm_command_receive(const char *argument)
{
    rtm_command_launch(argument, rtm_receive, 0);
}

static void rtm_command_send(const char *argument)
{
    unsigned int peer = (unsigned int)rtm_command_number(&argument);

    rtm_command_launch(*argument == ' ' ? argument + 1 : argument, rtm_send, peer);
}

static void rtm_command_create(const char *argument)
{
    struct rtm_spec spec;

    if (rtm_command_spec(argument, &spec) && rtm_create(&spec)) {
        print("rtm: created\n");
    }
}

static void rtm_command_end(const char *argument)
{
    unsigned long id = rtm_command_number(&argument);

    print(*argument == '\0' && rtm_end(id) ? "rtm: ended\n" : "rtm: no such app\n");
}

static void rtm_command_hang(const char *argument)
{
    (void)argument;
    print("rtm: hangs\n");
    for (;;) {
    }
}

static const struct {
    const char *name;
    void (*run)(const char *argument);
} rtm_commands[] = {
    {"help", rtm_command_help},     {"list", rtm_command_list},       {"start", rtm_command_start},
    {"create", rtm_command_create}, {"receive", rtm_command_receive}, {"send", rtm_command_send},
    {"end", rtm_command_end},       {"hang", rtm_command_hang},
};

void rtm_command(const char *line)
{
    for (size_t i = 0; i < sizeof(rtm_commands) / sizeof(rtm_commands[0]); i++) {
        size_t length = strlen(rtm_commands[i].name);

        if (strncmp(line, rtm_commands[i].name, length) == 0 &&
            (line[length] == ' ' || line[length] == '\0')) {
            rtm_commands[i].run(line[length] == ' ' ? line + length + 1 : "");
            return;
        }
    }
    if (line[0] != '\0') {
        print("rtm: no command '%s'; try help\n", line);
    }
}
