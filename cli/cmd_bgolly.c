/* cmd_bgolly.c - `stdcl bgolly`: the options and the output format of Golly's bgolly, for
 * existing scripts.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "message.h"
#include "usage.h"
#include "life_run.h"

#include <errno.h>
#include <float.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Parse 1000, 1,000 and 2^20; a negative number means no end, as with bgolly. */
static bool read_count(const char *text, void *to, char *why, size_t size)
{
    char digits[64];
    size_t n = 0;
    int status = 0;
    for (const char *p = text; *p && n + 1 < sizeof digits; p++)
        if (*p != ',' && *p != '_')
            digits[n++] = *p;
    digits[n] = '\0';
    if (digits[0] == '-' && cli_read_natural(digits + 1, to) == 0)
        *(uint64_t *)to = UINT64_MAX;
    else
        status = cli_read_natural(digits, to);
    if (status != 0)
        snprintf(why, size,
                 status == ERANGE ? "'%s' is too large; generations are counted up to 2^64 - 1"
                                  : "'%s' is not a whole number",
                 text);
    return status == 0;
}

/* Golly's algorithms give equal cells. The engine is chosen as by `stdcl life --engine auto`. */
static const char *const algorithms[] = {
    "QuickLife", "HashLife", "Generations", "Larger than Life", "RuleLoader", "Super", NULL};

static bool parse_bgolly_options(struct life_job *job, int argc, char **argv, int *status)
{
    struct life_lines *l = &job->lines;
    uint64_t megabytes = 0;
    int algorithm = -1;
    bool quiet = false, verbose = false, hash = false;
    struct cli_option options[] = {
        CLI_PARSED('m', "generation", "N", &l->last, read_count,
                   "last generation, such as 1000, 1,000 or 2^40 (default: until interrupted)"),
        CLI_PARSED('i', "stepsize", "N", &l->step, read_count,
                   "generations between lines (default: powers of two that end at the last)"),
        CLI_U64(
            'M', "maxmemory", "MB", &megabytes, 16, (uint64_t)1 << 40,
            "memory limit of HashLife's tree in megabytes (default: half of the machine's memory)"),
        CLI_REAL('T', "maxtime", "SECONDS", &l->seconds, CLI_ABOVE_0, DBL_MAX,
                 "time limit, checked after each step"),
        CLI_FLAG('b', "benchmark", &l->stamps, "print the seconds since the start"),
        CLI_FLAG('2', "exponential", &l->doubling, "double each step"),
        CLI_FLAG('q', "quiet", &quiet, "no populations; twice: no lines"),
        CLI_STRING('r', "rule", "RULE", &job->rule_text, "rule, overriding the pattern's"),
        CLI_STRING('s', "search", "FOLDER", &job->rules_folder, "directory of NAME.rule files"),
        CLI_FLAG('h', "hashlife", &hash, "same as --algorithm HashLife"),
        CLI_CHOICE('a', "algorithm", "NAME", &algorithm, algorithms,
                   "accepted for compatibility, 'stdcl life' chooses the engine: {}"),
        CLI_STRINGS('o', "output", "FILE", &job->outputs.names,
                    "file of the last generation: .rle, .mc or any format of 'stdcl life -o'"),
        CLI_FLAG('v', "verbose", &verbose, "accepted for compatibility"),
        CLI_END,
    };
    const struct cli_usage usage = {
        .synopsis = "[options] FILE",
        .about =
            "Accepts the options of Golly's bgolly and prints its lines of generation and population, for existing scripts. Computes as 'stdcl life' does.",
        .examples = "  stdcl bgolly -m 1000 -i 100 gun.rle\n"
                    "  stdcl bgolly -a HashLife -m 2^40 -o later.mc gun.rle\n",
        .options = options,
        .operands = &job->words,
        .operands_min = 1,
        .operand = "FILE",
    };
    if (!cli_parse(&usage, argc, argv, status))
        return false;
    if (job->words.n > 1)
        *status = cli_wrong("unexpected argument '%s'; give one pattern", job->words.item[1]);
    l->quiet = cli_given(options, "quiet");
    job->memory = megabytes << 20;
    job->input = job->words.item[0];
    job->words.n = 0; /* no operands of `stdcl life` */
    return *status == CLI_DONE;
}

static void print_head(int argc, char **argv)
{
    printf("This is stdcl " STDCL_VERSION ", replacing bgolly.\n- stdcl");
    for (int i = 0; i < argc; i++)
        printf(" %s", argv[i]);
    printf("\n");
}

static int cmd_bgolly_run(int argc, char **argv)
{
    struct life_job job = {.engine = LIFE_AUTO,
                           .bounds = LIFE_NOT_GIVEN,
                           .generations = UINT64_MAX,
                           .seed = 1,
                           .lines = {.wanted = true, .last = UINT64_MAX}};
    int status;
    if (parse_bgolly_options(&job, argc, argv, &status)) {
        print_head(argc, argv);
        life_choice_begin(&job, NULL);
        status = life_job_work(&job);
    }
    return life_job_close(&job, status);
}

const struct cli_command cmd_bgolly = {"bgolly",
                                       "run Life with the options and the output of Golly's bgolly",
                                       cmd_bgolly_run, CLI_RANKS_INDEPENDENT};
