/* faults.h - the programs that run with a fault, the errors that calls may return, and the result
 * of a run.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_TEST_FAULTS_H
#define STDCL_TEST_FAULTS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Result of a run without faults. */
struct result {
    char *text;
    char *file[8];
    size_t size[8];
};

struct program {
    const char *name;
    const char *line;       /* the command, from the build folder */
    const char *compares;   /* regular expression of the result in standard output; NULL: none */
    const char *outputs[9]; /* files that it writes; "a/b": in a folder that it makes */
    const char *needs[5];   /* source files that it needs in its folder */
    struct result good;
};

/* programs.c; the last one has no name. */
extern struct program programs[];
/* Programs that this build lacks, although found.txt may have cases of them; NULL at the end. */
extern const char *const programs_left_out[];

enum cut { WHOLE, CUT_SHORT };

struct code {
    char name[56];
    int number;
    enum cut how;
};

/* Read codes.txt; `source` must be set. */
bool codes_read(void);

/* Return an error of the call, a different one for each `turn`; NULL if codes.txt has none. */
const struct code *code_of(const char *call, long turn);

/* Return all matches of `compares`, a line each. The caller frees the text. */
char *program_result(const struct program *p, const char *out);

/* ---- runs.c: a program's working folder, and the files left there. ---- */

extern const char *build, *source; /* folders, from the root */
extern char base[256];             /* a folder for all that is written */
extern char folder[300];           /* this process's folder in base; programs run here */

/* Create the folders; print why and return false on failure. */
bool runs_begin(const char *build_folder, const char *source_folder);
bool runs_in(const char *name);
void runs_end(void);

/* Number of processes that run programs: STDCL_FAULTS_WORKERS, or 2. True if STDCL_FAULTS_SECONDS
 * have passed: then no run begins. */
int runs_at_once(void);
bool runs_late(void);

/* Leave in the folder the files that the program needs; remove all further files. */
void run_tidy(const struct program *p);

/* Start the program with STDCL_FAULT and STDCL_FAULT_LOG, unless NULL. A hanging run ends by
 * SIGXCPU after a minute of processor time, or by SIGALRM after a quarter of an hour. */
pid_t run_start(const struct program *p, const char *fault, const char *log);
int run_wait(pid_t child);

char *in_run_folder(const char *name);

/* Keep the program's output and files as the reference result. */
bool result_keep(struct program *p);

/* True if the NULL-terminated list has the name, or a path to it. */
bool name_in(const char *name, const char *const *list);

/* True if there are files that are neither expected nor allowed. */
bool leaves_others(const struct program *p, bool (*allowed)(const char *name), char *why,
                   size_t size);

/* Return the bytes of a file and a terminating 0, for the caller to free; NULL if it cannot be
 * read. */
char *file_bytes(const char *path, size_t *size);
bool file_is(const char *path, const char *bytes, size_t size);

#endif
