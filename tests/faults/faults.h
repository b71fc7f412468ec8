/* faults.h - the programs that run with a fault, the errors that calls may return, and what a run gives.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_TEST_FAULTS_H
#define STDCL_TEST_FAULTS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What a run with nothing wrong gives. */
struct result {
    char *text;
    char *file[4];
    size_t size[4];
};

struct program {
    const char *name;
    const char *line;       /* the command, from the build folder */
    const char *compares;   /* what of its standard output is its result: a regular expression; NULL: nothing is */
    const char *outputs[5]; /* files that it writes */
    const char *needs[5];   /* files of the sources that are to lie beside it */
    struct result good;
};

extern struct program programs[];

enum cut { WHOLE, CUT_SHORT };

struct code {
    char name[56];
    int number;
    enum cut how;
};

/* Reads codes.txt. */
bool codes_read(const char *source);

/* An error of the call, another one for another `turn`; NULL when codes.txt has none. */
const struct code *code_of(const char *call, long turn);

/* All that `compares` matches, a line each. The caller frees it. */
char *result_of(const struct program *p, const char *out);

/* The caller frees it; ends with a zero byte besides. NULL when it cannot be read. */
char *file_bytes(const char *path, size_t *size);
bool file_is(const char *path, const char *bytes, size_t size);

#endif
