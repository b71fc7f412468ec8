/* cmd_bgolly.c - `stdcl bgolly`: the options and the output of Golly's bgolly, for scripts that
 * call it.
 * SPDX-License-Identifier: MIT
 */
#include "life_job.h"

/* 1000, 1,000 and 2^20; below 0 without end, as with bgolly. */
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

/* All of Golly's algorithms give the same cells; which of ours is taken, `stdcl life --engine auto`
 * decides. */
static const char *const algorithms[] = {
    "QuickLife", "HashLife", "Generations", "Larger than Life", "RuleLoader", "Super", NULL};

static bool parse(struct life_job *job, int argc, char **argv, int *status)
{
    struct life_lines *l = &job->lines;
    uint64_t megabytes = 0;
    int algorithm = -1;
    bool quiet = false, verbose = false, hash = false;
    struct cli_option options[] = {
        CLI_PARSED('m', "generation", "N", &l->last, read_count,
                   "how far to run, such as 1000, 1,000 or 2^40 (default: until interrupted)"),
        CLI_PARSED(
            'i', "stepsize", "N", &l->step, read_count,
            "generations from one line to the next (default: powers of two that meet the last)"),
        CLI_U64('M', "maxmemory", "MB", &megabytes, 16, (uint64_t)1 << 40,
                "megabytes for HashLife's tree (default: half of the machine's)"),
        CLI_REAL('T', "maxtime", "SECONDS", &l->seconds, CLI_ABOVE_0, DBL_MAX,
                 "end with the step during which so much time has passed"),
        CLI_FLAG('b', "benchmark", &l->stamps, "with the seconds since the start"),
        CLI_FLAG('2', "exponential", &l->doubling, "each step twice as far"),
        CLI_FLAG('q', "quiet", &quiet, "without populations; twice: without lines"),
        CLI_STRING('r', "rule", "RULE", &job->rule_text, "in place of the pattern's"),
        CLI_STRING('s', "search", "FOLDER", &job->rules_folder, "where files NAME.rule are"),
        CLI_FLAG('h', "hashlife", &hash, "as --algorithm HashLife"),
        CLI_CHOICE('a', "algorithm", "NAME", &algorithm, algorithms,
                   "{}; accepted for scripts: the engine is chosen as 'stdcl life' does"),
        CLI_STRINGS('o', "output", "FILE", &job->outputs.names,
                    "write the last generation, as .rle, .mc, or what else 'stdcl life -o' writes"),
        CLI_FLAG('v', "verbose", &verbose, "accepted for scripts"),
        CLI_END,
    };
    const struct cli_usage usage = {
        .synopsis = "[options] FILE",
        .about =
            "Takes the options of Golly's bgolly and prints its lines, generation and population, for scripts that call it; computes as 'stdcl life' does.",
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
        *status = cli_wrong("unexpected argument '%s'; there is one pattern", job->words.item[1]);
    l->quiet = cli_given(options, "quiet");
    job->memory = megabytes << 20;
    job->input = job->words.item[0];
    job->words.n = 0; /* none of them is for `stdcl life` */
    return *status == CLI_DONE;
}

static void print_head(int argc, char **argv)
{
    printf("This is stdcl " STDCL_VERSION ", in place of bgolly.\n- stdcl");
    for (int i = 0; i < argc; i++)
        printf(" %s", argv[i]);
    printf("\n");
}

static int run(int argc, char **argv)
{
    struct life_job job = {.engine = LIFE_AUTO,
                           .bounds = LIFE_NOT_GIVEN,
                           .generations = UINT64_MAX,
                           .seed = 1,
                           .lines = {.wanted = true, .last = UINT64_MAX}};
    int status;
    if (parse(&job, argc, argv, &status)) {
        print_head(argc, argv);
        life_choice_begin(&job, NULL);
        status = life_job_work(&job);
    }
    return life_job_close(&job, status);
}

const struct cli_command cmd_bgolly = {
    "bgolly", "run Life with the options and the output of Golly's bgolly", run, CLI_RANKS_APART};
