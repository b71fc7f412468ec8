/* fuzz_command.c - arbitrary lines as the words of a command line, on a machine without devices;
 * for libFuzzer or for driver.c.
 *
 * The command ends with a documented status; 1 or 2 with one message on stderr that begins with
 * "stdcl", and 0 only after help or another list. Words have no '/', so that files stay in a
 * folder that is removed; nothing large is computed, no program is started.
 * SPDX-License-Identifier: MIT
 */
#include "cli/command.h"
#include "cli/message.h"
#include "fuzz.h"
#include "life_job.h"
#include "matmul_job.h"
#include "stdcl/nbody.h"

#include <fcntl.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int stdcl_main(int argc, char **argv); /* cli/main.c's */

/* Wrappers (--wrap) of computations on the host that may take hours. */
life *__wrap_life_create(const struct life_options *options);
life *__wrap_life_create(const struct life_options *options)
{
    (void)options;
    clerror_set(ENODEV, "life_create: not here");
    return NULL;
}

int __wrap_matmul_job_matrices(struct matmul_job *job);
int __wrap_matmul_job_matrices(struct matmul_job *job)
{
    (void)job;
    return cli_failed("no matrices here");
}

int __wrap_nbody_initial(enum nbody_model model, size_t n, uint64_t seed, double *mass,
                         double (*pos)[3], double (*vel)[3]);
int __wrap_nbody_initial(enum nbody_model model, size_t n, uint64_t seed, double *mass,
                         double (*pos)[3], double (*vel)[3])
{
    (void)model, (void)n, (void)seed, (void)mass, (void)pos, (void)vel;
    return clerror_set(ENODEV, "nbody_initial: not here");
}

static char folder[] = "/tmp/fuzz-command-XXXXXX";
static int inside, outside; /* the folder for files, and libFuzzer's working folder */

static void remove_fuzz_folder(void)
{
    if (rmdir(folder) != 0)
        fprintf(stderr, "fuzz_command: %s is not empty\n", folder);
}

static void prepare_fuzz_command(void)
{
    const int null = open("/dev/null", O_RDONLY);
    promise(null >= 0 && dup2(null, 0) == 0 && mkdtemp(folder));
    close(null);
    inside = open(folder, O_RDONLY | O_DIRECTORY);
    outside = open(".", O_RDONLY | O_DIRECTORY);
    promise(inside >= 0 && outside >= 0);
    atexit(remove_fuzz_folder);
    setenv("OCL_ICD_VENDORS", "/proc/self/task", 1);
    setenv("OCL_ICD_FILENAMES", "", 1);
    setenv("PATH", "/nonexistent", 1);
    setenv("CC", "/bin/false", 1);
    unsetenv("HOME");
    unsetenv("XDG_CACHE_HOME");
}

/* Output that a stream of the program has received. */
struct heard {
    FILE *before;
    char *text;
    size_t size;
};

static void note_error(FILE **stream, struct heard *heard)
{
    heard->before = *stream;
    *stream = open_memstream(&heard->text, &heard->size);
    promise(*stream);
}

static void drop_errors(FILE **stream, struct heard *heard)
{
    fclose(*stream);
    *stream = heard->before;
}

static void check_command_message(int status, const struct heard *err)
{
    promise(status == CLI_DONE || status == CLI_FAILED || status == CLI_WRONG);
    for (size_t i = 0; i < err->size; i++)
        promise((unsigned char)err->text[i] >= 32 || err->text[i] == '\n' || err->text[i] == '\t');
    if (status != CLI_DONE)
        promise(err->size && err->text[err->size - 1] == '\n');
    if (status != CLI_DONE && strncmp(err->text, "usage: ", 7) != 0)
        promise(strncmp(err->text, "stdcl", 5) == 0 ||
                strstr(err->text, "\nstdcl")); /* it may follow the output of --explain */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MOST_WORDS = 30 };
    char *word[MOST_WORDS + 2] = {(char[]){"stdcl"}}, *text = text_copy(data, size);
    struct heard out = {0}, err = {0};
    int n = 1;
    if (!inside)
        prepare_fuzz_command();
    promise(fchdir(inside) == 0);
    for (char *p = text; *p; p++)
        *p = *p == '/' ? '_' : *p;
    for (char *p = text; p && n <= MOST_WORDS;)
        word[n++] = strsep(&p, "\n"); /* words may be empty */
    note_error(&stdout, &out);
    note_error(&stderr, &err);
    cli_program = "stdcl";
    const int status = stdcl_main(n, word);
    drop_errors(&stdout, &out);
    drop_errors(&stderr, &err);
    promise(fchdir(outside) == 0);
    check_command_message(status, &err);
    free(out.text);
    free(err.text);
    free(text);
    return 0;
}
