/* signals.h - for tests that send a signal to a command: wait until it handles signals.
 * SPDX-License-Identifier: MIT
 */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* True once the child has a handler for SIGVTALRM, the last one that cli_interrupt_catch installs.
 * Until then a signal ends the command, without a report. */
static inline bool command_catches_signals(pid_t child)
{
    char name[64], line[256];
    unsigned long long caught = 0;
    snprintf(name, sizeof name, "/proc/%d/status", (int)child);
    FILE *fp = fopen(name, "r");
    while (fp && fgets(line, sizeof line, fp))
        if (strncmp(line, "SigCgt:", 7) == 0)
            caught = strtoull(line + 7, NULL, 16);
    if (fp)
        fclose(fp);
    return caught >> (SIGVTALRM - 1) & 1;
}

#endif
