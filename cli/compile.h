/* compile.h - kernels compiled for the available devices, for `stdcl check FILE.cl` and the
 * trial of `stdcl embed`.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_COMPILE_H
#define STDCL_CLI_COMPILE_H

#include "core/core.h"

#include "options.h"

#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>

/* Devices to compile for, one per model and driver. */
struct compile_targets {
    size_t n;
    struct compile_target {
        CLCONTEXT *context;
        char device[256];
        char identity[EMBEDDED_IDENTITY]; /* see device_identity */
    } * item;
};

/* Open the devices that the patterns select; without patterns all. CLI_DONE, or a status after a
 * message. Without patterns and devices n = 0 and CLI_DONE, unless a device is `needed`. */
int compile_targets_open(const struct cli_strings *patterns, bool needed,
                         struct compile_targets *targets);
void compile_targets_close(struct compile_targets *targets);

/* CLI_WRONG after a message if a directory of -I does not exist. */
int compile_folders_check(const struct cli_strings *folders);

/* Report that the last opened program does not compile, with clerror()'s log. Return CLI_FAILED. */
int compile_failed(void);

#endif
