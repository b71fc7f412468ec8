/* compile.h - kernels compiled for the devices that there are: `stdcl check FILE.cl`, and a trial
 * by `stdcl embed`.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_COMPILE_H
#define STDCL_CLI_COMPILE_H

#include "core/core.h"

#include "cli.h"

/* Devices to compile for. Equal ones with equal drivers compile alike, so there is one of each
 * kind. */
struct compile_targets {
    size_t n;
    struct compile_target {
        CLCONTEXT *context;
        char device[256];
        char identity[EMBEDDED_IDENTITY]; /* see device_identity */
    } * item;
};

/* Opens the devices that the patterns pick; without patterns all. CLI_DONE, or a status after a
 * message; without patterns n = 0 and CLI_DONE where there is none, unless one is `needed`. */
int compile_targets_open(const struct cli_strings *patterns, bool needed,
                         struct compile_targets *targets);
void compile_targets_close(struct compile_targets *targets);

/* CLI_WRONG after a message if one of -I is no folder. */
int compile_folders_check(const struct cli_strings *folders);

/* Says that the program that was just opened does not compile, with clerror()'s log. Returns
 * CLI_FAILED. */
int compile_failed(void);

#endif
