/* compile.c - devices to compile kernels for, and the message of a failed build.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "device.h"
#include "interrupt.h"
#include "alloc.h"
#include "message.h"
#include "compile.h"

#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_known(const struct compile_targets *targets, const char *identity)
{
    for (size_t i = 0; i < targets->n; i++)
        if (!strcmp(targets->item[i].identity, identity))
            return true;
    return false;
}

static int add_target(struct compile_targets *targets, const struct cli_device *d)
{
    struct compile_target *t = &targets->item[targets->n];
    const size_t name = device_identity(d->id, t->identity, sizeof t->identity);
    if (name == 0)
        return cli_failed("cannot query the name, driver and platform of a device");
    if (is_known(targets, t->identity))
        return CLI_DONE;
    snprintf(t->device, sizeof t->device, "%.*s", (int)name, t->identity);
    t->context = clcontext_create_from(&d->id, 1);
    if (!t->context)
        return cli_failed_call("opening a device");
    targets->n++;
    return CLI_DONE;
}

int compile_targets_open(const struct cli_strings *patterns, bool needed,
                         struct compile_targets *targets)
{
    struct cli_strings all = {0};
    struct cli_devices devices;
    size_t n = 0;
    *targets = (struct compile_targets){0};
    int status =
        needed || patterns->n ? cli_devices_find(&devices) : (cli_devices_list(&devices), CLI_DONE);
    if (status != CLI_DONE || devices.n == 0)
        return status;
    size_t *chosen = cli_alloc(devices.n, sizeof *chosen);
    targets->item = cli_alloc(devices.n, sizeof *targets->item);
    cli_strings_add(&all, "all");
    status = cli_devices_choose(&devices, patterns->n ? patterns : &all, chosen, &n);
    for (size_t i = 0; i < n && status == CLI_DONE; i++)
        status = add_target(targets, &devices.item[chosen[i]]);
    cli_strings_free(&all);
    free(chosen);
    cli_devices_free(&devices);
    return status;
}

/* Check -I: compilers ignore missing directories. */
int compile_folders_check(const struct cli_strings *folders)
{
    struct stat status;
    for (size_t i = 0; i < folders->n; i++)
        if (stat(folders->item[i], &status) != 0 || !S_ISDIR(status.st_mode))
            return cli_wrong("-I: no directory '%s'", folders->item[i]);
    return CLI_DONE;
}

void compile_targets_close(struct compile_targets *targets)
{
    for (size_t i = 0; i < targets->n; i++)
        clcontext_destroy(targets->item[i].context);
    free(targets->item);
    *targets = (struct compile_targets){0};
}

/* Print the build log without the name of the layer's call, which means nothing to a user of the
 * command. */
int compile_failed(void)
{
    if (cli_interrupt_broke_build())
        return cli_interrupt_status(CLI_FAILED);
    const char *text = cli_reason(), *colon = strstr(text, ": ");
    if (colon && strncmp(text, "cl", 2) == 0 && colon < text + strcspn(text, " "))
        text = colon + 2;
    const size_t length = strlen(text);
    return cli_failed("%.*s", (int)(length && text[length - 1] == '\n' ? length - 1 : length),
                      text);
}
