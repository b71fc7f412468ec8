/* nbody_command.h - run `stdcl nbody` in the test's folder.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_COMMAND_H
#define NBODY_COMMAND_H

#include "files.h"

#include <jansson.h>
#include <stdlib.h>
#include <sys/wait.h>

static const char *command, *variables = ""; /* NAME=VALUE ... in the command's environment */
static char out[1 << 16], err[1 << 16];

static inline void load_nbody_file(const char *name, char *text, size_t room)
{
    char *bytes = bytes_of(in_folder(name), NULL);
    snprintf(text, room, "%s", bytes ? bytes : "");
    free(bytes);
}

/* Run `stdcl nbody ARGUMENTS` in the test's folder. */
static inline int run_nbody_command(const char *arguments)
{
    char line[2 * PATH_MAX + 1000];
    snprintf(line, sizeof line, "cd '%s' && %s '%s' nbody %s >out 2>err", files_folder, variables,
             command, arguments);
    const int status = system(line);
    load_nbody_file("out", out, sizeof out);
    load_nbody_file("err", err, sizeof err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

static inline void nbody_succeeds(const char *arguments)
{
    const int status = run_nbody_command(arguments);
    if (status != 0)
        fail_msg("stdcl nbody %s: status %d\n%s%s", arguments, status, out, err);
}

/* Fail unless the command fails with one line that contains `words`. */
static inline void nbody_refuses(int status, const char *words, const char *arguments)
{
    const int got = run_nbody_command(arguments);
    const char *newline = strchr(err, '\n');
    if (got != status || !strstr(err, words) || !newline || newline[1])
        fail_msg("stdcl nbody %s: status %d, not %d with '%s'\n%s%s", arguments, got, status, words,
                 out, err);
}

/* Return the --json report of the last run; the caller frees it. */
static inline json_t *nbody_report_json(void)
{
    json_t *r = json_loads(out, 0, NULL);
    if (!r)
        fail_msg("no JSON: %s%s", out, err);
    return r;
}

static inline double nbody_json_number(const json_t *r, const char *key)
{
    return json_number_value(json_object_get(r, key));
}

#endif
