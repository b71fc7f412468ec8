/* faults.h - the programs that run with a fault, the errors that calls may return, and what a run
 * gives.
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
    char *file[8];
    size_t size[8];
};

struct program {
    const char *name;
    const char *line;     /* the command, from the build folder */
    const char *compares; /* what of its standard output is its result: a regular expression; NULL:
                             nothing is */
    const char *outputs[9]; /* files that it writes */
    const char *needs[5];   /* files of the sources that are to lie beside it */
    struct result good;
};

/* programs.c; the last one has no name. */
extern struct program programs[];
/* Those that this build lacks, though found.txt may have cases of them; NULL at the end. */
extern const char *const programs_left_out[];

enum cut { WHOLE, CUT_SHORT };

struct code {
    char name[56];
    int number;
    enum cut how;
};

/* Reads codes.txt, when `source` is known. */
bool codes_read(void);

/* An error of the call, another one for another `turn`; NULL when codes.txt has none. */
const struct code *code_of(const char *call, long turn);

/* All that `compares` matches, a line each. The caller frees it. */
char *result_of(const struct program *p, const char *out);

/* ---- runs.c: a folder in which a program runs, and what it leaves there. ---- */

extern const char *build, *source; /* folders, from the root */
extern char base[256];             /* a folder for all that is written */
extern char folder[300];           /* in it this process's own one, in which programs run */

/* Makes them; false after saying why. */
bool runs_begin(const char *build_folder, const char *source_folder);
bool runs_in(const char *name);
void runs_end(void);

/* How many processes run programs: STDCL_FAULTS_WORKERS, or 2. Whether STDCL_FAULTS_SECONDS have
 * passed, after which no run begins. */
int runs_at_once(void);
bool runs_late(void);

/* Leaves in the folder what the program needs, and nothing else. */
void run_tidy(const struct program *p);

/* With STDCL_FAULT and STDCL_FAULT_LOG, where they are not NULL. A run that hangs ends by SIGXCPU,
 * after a minute of processor time, or SIGALRM, after a quarter of an hour. */
pid_t run_start(const struct program *p, const char *fault, const char *log);
int run_wait(pid_t child);

char *in_folder(const char *name);

/* What the program has printed and written is the result that others are compared with. */
bool result_keep(struct program *p);

/* Whether the list, which NULL ends, has the name, or a path to it. */
bool name_in(const char *name, const char *const *list);

/* Files that nobody asked for and that are not allowed. */
bool leaves_others(const struct program *p, bool (*allowed)(const char *name), char *why,
                   size_t size);

/* The caller frees it; ends with a zero byte besides. NULL when it cannot be read. */
char *file_bytes(const char *path, size_t *size);
bool file_is(const char *path, const char *bytes, size_t size);

#endif
