/* The option parser, tables and texts of the command, without running the command. */
/* SPDX-License-Identifier: MIT */
#include "cli/alloc.h"
#include "cli/command.h"
#include "cli/device.h"
#include "cli/text.h"
#include "cli/usage.h"
#include "core/host_memory.h"
#include "core/terminal.h"
#include "core/text_table.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- Messages on stderr. --------------------------------------------------------------------- */

static int real_stderr;
static FILE *captured;
static char said[8192];

static void capture_begin(void)
{
    fflush(stderr);
    real_stderr = dup(STDERR_FILENO);
    captured = tmpfile();
    assert_non_null(captured);
    dup2(fileno(captured), STDERR_FILENO);
}

static void capture_end(void)
{
    fflush(stderr);
    dup2(real_stderr, STDERR_FILENO);
    close(real_stderr);
    rewind(captured);
    said[fread(said, 1, sizeof said - 1, captured)] = 0;
    fclose(captured);
}

/* ---- A command with one option of each type. ------------------------------------------------- */

static bool size_reader(const char *text, void *to, char *why, size_t size)
{
    unsigned *wh = to;
    if (!text) {
        wh[0] = wh[1] = 1;
        return true;
    }
    if (sscanf(text, "%ux%u", &wh[0], &wh[1]) == 2)
        return true;
    snprintf(why, size, "'%s' is not a size; give WxH", text);
    return false;
}

static const char *const colours[] = {"red", "green", "blue", NULL};

static struct values {
    bool verbose, all;
    int level, colour;
    size_t count;
    uint64_t seed;
    double dt, eps, share, any;
    const char *file;
    struct cli_strings list, operands;
    unsigned size[2];
} v;
static unsigned given_count;
static const struct cli_combination *rows; /* of the command, or NULL */

/* Parse up to six words; return -1 if the command would continue, else its exit status. */
static int parse_words(const char *a, const char *b, const char *c, const char *d, const char *e)
{
    const char *words[] = {"test", a, b, c, d, e, NULL};
    int argc = 1, status;
    while (words[argc])
        argc++;
    cli_strings_free(&v.list);
    cli_strings_free(&v.operands);
    v = (struct values){.level = 3, .colour = -1, .count = 10, .dt = NAN, .eps = 0.5, .share = 0.5};
    struct cli_option options[] = {
        CLI_GROUP("Things"),
        CLI_FLAG('v', "verbose", &v.verbose, "talk"),
        CLI_FLAG('a', NULL, &v.all, "all"),
        CLI_INT('l', "level", "LEVEL", &v.level, -5, 9, "a level"),
        CLI_CHOICE(0, "colour", "NAME", &v.colour, colours, "a colour"),
        CLI_SIZE('n', "count", "N", &v.count, 1, SIZE_MAX, "how many"),
        CLI_U64(0, "seed", "SEED", &v.seed, 0, UINT64_MAX, "a seed"),
        CLI_REAL(0, "dt", "T", &v.dt, CLI_ABOVE_0, DBL_MAX, "a step"),
        CLI_REAL(0, "eps", "L", &v.eps, 0, DBL_MAX, "a length"),
        CLI_REAL(0, "share", "X", &v.share, 0, 1, "a share"),
        CLI_REAL(0, "any", "X", &v.any, -DBL_MAX, DBL_MAX, "any number"),
        CLI_STRING('o', "output", "FILE", &v.file, "a file"),
        CLI_STRINGS(0, "device", "D", &v.list, "a list"),
        CLI_PARSED(0, "size", "WxH", v.size, size_reader, "a size"),
        CLI_PARSED_OPTIONAL(0, "soup", "WxH", v.size, size_reader, "a size or none"),
        CLI_END,
    };
    struct cli_condition conditions[] = {
        {"film", .text = "a film (-o FILE.mp4)"},
        {"red", .text = "shades of red", .option = "colour"},
        {NULL},
    };
    const struct cli_usage usage = {.synopsis = "[options] [FILE...]",
                                    .about = "Tests.",
                                    .options = options,
                                    .combinations = rows,
                                    .conditions = conditions,
                                    .operands = &v.operands,
                                    .operand = "a file"};
    capture_begin();
    bool go_on = cli_parse(&usage, argc, (char **)(uintptr_t)words, &status);
    cli_condition_set(&usage, "film", v.file && strstr(v.file, ".mp4"));
    cli_condition_set(&usage, "red", v.colour == 0);
    go_on = go_on && (status = cli_combinations_check(&usage)) == CLI_DONE;
    capture_end();
    given_count = cli_given(options, "n") + 10 * cli_given(options, "verbose");
    return go_on ? -1 : status;
}
#define PARSE1(a) parse_words(a, NULL, NULL, NULL, NULL)
#define PARSE2(a, b) parse_words(a, b, NULL, NULL, NULL)

/* Fail unless there is one line after the program's name that contains `part`. */
static void assert_said(const char *part)
{
    const size_t length = strlen(said);
    assert_true(length > 2 && said[length - 1] == '\n');
    assert_ptr_equal(strchr(said, '\n'), said + length - 1);
    assert_int_equal(strncmp(said, "stdcl: ", 7), 0);
    if (!strstr(said, part))
        fail_msg("'%s' is not in: %s", part, said);
}

static void expect_parse_error(const char *a, const char *b, const char *part)
{
    assert_int_equal(PARSE2(a, b), CLI_WRONG);
    assert_said(part);
}

/* ---- Options. -------------------------------------------------------------------------------- */

static void options_parse_every_spelling(void **state)
{
    (void)state;
    assert_int_equal(parse_words("-n", "5", "--level=-5", "-v", "x"), -1);
    assert_int_equal(v.count, 5);
    assert_int_equal(v.level, -5);
    assert_true(v.verbose);
    assert_int_equal(v.operands.n, 1);
    assert_string_equal(v.operands.item[0], "x");
    assert_int_equal(given_count, 11);
    assert_int_equal(PARSE2("--n", "6"), -1);
    assert_int_equal(v.count, 6);
    assert_int_equal(PARSE1("--n=7"), -1);
    assert_int_equal(v.count, 7);
    assert_int_equal(parse_words("-n7", "--count", "8", "-va", "-ofile"), -1);
    assert_int_equal(v.count, 8); /* the last wins */
    assert_true(v.verbose && v.all);
    assert_string_equal(v.file, "file");
    assert_int_equal(parse_words("-val-2", "--", "-n", "--dt", "-"), -1);
    assert_int_equal(v.level, -2);
    assert_int_equal(v.operands.n, 3);
    assert_string_equal(v.operands.item[0], "-n");
    assert_int_equal(parse_words("--device", "a", "--device=b", "-", NULL), -1);
    assert_int_equal(v.list.n, 2);
    assert_string_equal(v.list.item[1], "b");
    assert_string_equal(v.operands.item[0], "-");
    assert_int_equal(PARSE1(NULL), -1);
    assert_int_equal(given_count, 0);
    assert_int_equal(v.count, 10);
}

static void options_parse_real_values(void **state)
{
    (void)state;
    assert_int_equal(parse_words("--dt", "1e-3", "--eps=0", "--any", "-2.5"), -1);
    assert_true(v.dt == 1e-3 && v.eps == 0 && v.any == -2.5);
    assert_int_equal(parse_words("--colour", "Blue", "--seed", "18446744073709551615", "-n1e6"),
                     -1);
    assert_int_equal(v.colour, 2);
    assert_true(v.seed == UINT64_MAX);
    assert_int_equal(v.count, 1000000);
    assert_int_equal(PARSE2("-n2^20", "--size=3x4"), -1);
    assert_int_equal(v.count, 1 << 20);
    assert_int_equal(v.size[1], 4);
    assert_int_equal(PARSE2("--soup", "56"), -1); /* 56 is an operand */
    assert_int_equal(v.size[0], 1);
    assert_int_equal(v.operands.n, 1);
    assert_int_equal(PARSE1("--soup=5x6"), -1);
    assert_int_equal(v.size[0], 5);
}

static void options_parse_counts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int error;
        uint64_t value;
    } cases[] = {
        {"0", 0, 0},
        {"0e99", 0, 0},
        {"0^3", 0, 0},
        {"0^0", 0, 1},
        {"1^99999999999", 0, 1},
        {"1e19", 0, 10000000000000000000u},
        {"2e19", ERANGE, 0},
        {"1e20", ERANGE, 0},
        {"2^63", 0, 1ull << 63},
        {"2^64", ERANGE, 0},
        {"18446744073709551615", 0, UINT64_MAX},
        {"18446744073709551616", ERANGE, 0},
        {"99999999999999999999999", ERANGE, 0},
        {"7e99999999999999999999", ERANGE, 0},
        {"", EINVAL, 0},
        {"-1", EINVAL, 0},
        {"+1", EINVAL, 0},
        {" 1", EINVAL, 0},
        {"1 ", EINVAL, 0},
        {"1e", EINVAL, 0},
        {"e5", EINVAL, 0},
        {"1.5", EINVAL, 0},
        {"2.5e7", 0, 25000000},
        {"1.50e1", 0, 15},
        {"1.25e1", EINVAL, 0},
        {"0.0e0", 0, 0},
        {"1.5e0", EINVAL, 0},
        {"1.e3", EINVAL, 0},
        {"1.5^3", EINVAL, 0},
        {"1.2.3e9", EINVAL, 0},
        {".5e3", EINVAL, 0},
        {"1.8446744073709551616e19", ERANGE, 0},
        {"1e-3", EINVAL, 0},
        {"0x10", EINVAL, 0},
        {"2^", EINVAL, 0},
        {"5k", EINVAL, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t value = 77;
        const int error = cli_read_natural(cases[i].text, &value);
        if (error != cases[i].error || value != (error ? 77 : cases[i].value))
            fail_msg("'%s' gives %d, %llu", cases[i].text, error, (unsigned long long)value);
    }
}

/* ---- Combinations. --------------------------------------------------------------------------- */

static const struct cli_combination good_rows[] = {
    CLI_REQUIRES("dt", "colour=red colour=blue", NULL),
    CLI_REQUIRES("level", "film", "it is seen in films"),
    CLI_REQUIRES("eps+any!0", "l", NULL),
    CLI_EXCLUDES("verbose a", "n device", "be quiet"),
    CLI_EXCLUDES("red", "output=- device=-", NULL),
    CLI_EXCLUDES("colour!green", "share+seed", NULL),
    CLI_ALLOWS_ONLY("size", "o colour", "one size"),
    {NULL},
};

static void combinations_that_fit_are_accepted(void **state)
{
    (void)state;
    rows = good_rows;
    assert_int_equal(parse_words("--dt=1", "--colour=red", NULL, NULL, NULL), -1);
    assert_int_equal(parse_words("--dt=1", "--colour=blue", "-oa", NULL, NULL), -1);
    assert_int_equal(parse_words("-l1", "-oa.mp4", NULL, NULL, NULL), -1);
    assert_int_equal(parse_words("--eps=1", "--any=0", NULL, NULL, NULL), -1);
    assert_int_equal(parse_words("--any=1", "-n2", "--device=-", NULL, NULL), -1);
    assert_int_equal(parse_words("--colour=green", "--share=1", "--seed=1", "-o-", NULL), -1);
    assert_int_equal(parse_words("--size=1x1", "-oa", "--colour=green", NULL, NULL), -1);
    rows = NULL;
    assert_int_equal(parse_words("--dt=1", "-v", "-n1", NULL, NULL), -1);
}

static void combinations_that_contradict_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *words[4];
        const char *said;
    } cases[] = {
        {{"--dt=1"}, "stdcl: --dt needs --colour red or --colour blue\n"},
        {{"--dt=1", "--colour=green"}, "stdcl: --dt needs --colour red or --colour blue\n"},
        {{"-l2"}, "stdcl: -l needs a film (-o FILE.mp4): it is seen in films\n"},
        {{"--level=2", "-oa.png"},
         "stdcl: --level needs a film (-o FILE.mp4): it is seen in films\n"},
        {{"--eps=1", "--any=0.5"}, "stdcl: --eps and --any 0.5 need -l LEVEL\n"},
        {{"-v", "-n1"}, "stdcl: -v and -n cannot be combined: be quiet\n"},
        {{"-a", "--count=1"}, "stdcl: -a and --count cannot be combined: be quiet\n"},
        {{"--verbose", "--device=x"},
         "stdcl: --verbose and --device cannot be combined: be quiet\n"},
        {{"--colour=red", "-o-"}, "stdcl: --colour red and -o - cannot be combined\n"},
        {{"--colour=red", "--device=x", "--device=-"},
         "stdcl: --colour red and --device - cannot be combined\n"},
        {{"--colour=blue", "--share=1", "--seed=3"},
         "stdcl: --colour blue and --share and --seed cannot be combined\n"},
        {{"--size=1x1", "-a"}, "stdcl: --size and -a cannot be combined: one size\n"},
        {{"--size=1x1", "--soup"}, "stdcl: --size and --soup cannot be combined: one size\n"},
    };
    rows = good_rows;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const *w = cases[i].words;
        assert_int_equal(parse_words(w[0], w[1], w[2], w[3], NULL), CLI_WRONG);
        assert_string_equal(said, cases[i].said);
    }
    rows = NULL;
}

static void combinations_are_listed_in_help(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size;
    bool flag = false;
    int colour = -1;
    double x = NAN;
    struct cli_option options[] = {
        CLI_FLAG('v', "verbose", &flag, "talk"), CLI_FLAG('a', NULL, &flag, "all"),
        CLI_REAL(0, "any", "X", &x, 0, 1, "any number"),
        CLI_CHOICE(0, "colour", "NAME", &colour, colours, "a colour"), CLI_END};
    const struct cli_combination listed[] = {CLI_REQUIRES("any v", "colour=red a", NULL),
                                             CLI_REQUIRES("a", "any", "why"),
                                             CLI_EXCLUDES("colour!red+any", "verbose", NULL),
                                             CLI_ALLOWS_ONLY("a", "any verbose", NULL),
                                             {NULL}};
    const struct cli_usage usage = {
        .synopsis = "", .about = "Tests.", .options = options, .combinations = listed};
    FILE *fp = open_memstream(&text, &size);
    cli_help(&usage, fp);
    fclose(fp);
    assert_non_null(strstr(text, "\nCombinations\n"
                                 "  --any and -v need --colour red or -a\n"
                                 "  -a needs --any X: why\n"
                                 "  --colour other than red and --any exclude -v\n"
                                 "  -a allows only --any and -v\n"));
    free(text);
}

/* Every row of every command is checked when the build calls `stdcl --help=table`. */
static void combinations_that_name_nothing_are_found(void **state)
{
    (void)state;
    static const struct {
        struct cli_combination row;
        const char *term; /* NULL: the row is good */
    } cases[] = {
        {CLI_EXCLUDES("verbose", "colour=red film", NULL), NULL},
        {CLI_EXCLUDES("verbsoe", "colour", NULL), "verbsoe"},
        {CLI_EXCLUDES("verbose", "colour coluor", NULL), "coluor"},
        {CLI_REQUIRES("verbose", "colour=rde", NULL), "colour=rde"},
        {CLI_REQUIRES("verbose", "film+colour!rde", NULL), "film+colour!rde"},
        {CLI_REQUIRES("verbose", "flim", NULL), "flim"},
        {CLI_REQUIRES("verbose=1", "colour", NULL), "verbose=1"},
        {CLI_ALLOWS_ONLY("verbose", "colour x", NULL), "x"},
    };
    bool flag = false;
    int colour = -1;
    struct cli_option options[] = {CLI_FLAG('v', "verbose", &flag, "talk"),
                                   CLI_CHOICE(0, "colour", "NAME", &colour, colours, "a colour"),
                                   CLI_END};
    struct cli_condition conditions[] = {{"film", .text = "a film"}, {NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct cli_combination table[] = {cases[i].row, {NULL}};
        const struct cli_usage usage = {
            .options = options, .combinations = table, .conditions = conditions};
        char term[64] = "";
        assert_int_equal(cli_combinations_exist(&usage, term), !cases[i].term);
        if (cases[i].term)
            assert_string_equal(term, cases[i].term);
    }
    const struct cli_usage files = {.options = options, .reads = "colour", .writes = "colour fiel"};
    char term[64];
    assert_false(cli_combinations_exist(&files, term));
    assert_string_equal(term, "fiel");
}

static void combination_that_names_nothing_ends_the_command(void **state)
{
    (void)state;
    static const struct cli_combination wrong[] = {CLI_REQUIRES("verbose", "levle", NULL), {NULL}};
    int ended = 0;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        rows = wrong;
        PARSE1("--help");
        _exit(0);
    }
    assert_true(child > 0 && waitpid(child, &ended, 0) == child);
    assert_true(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGABRT);
}

static void options_reject_unknown_names(void **state)
{
    (void)state;
    expect_parse_error("--levle", "1", "did you mean '--level'?");
    expect_parse_error("--verb", NULL, "did you mean '--verbose'?");
    expect_parse_error("--hlep", NULL, "did you mean '--help'?");
    expect_parse_error("--zzzz", NULL, "unknown option '--zzzz'; 'stdcl --help' lists");
    expect_parse_error("--epss", NULL, "did you mean '--eps'?");
    expect_parse_error("--opus", NULL, "unknown option '--opus'; 'stdcl --help' lists");
    expect_parse_error("-z", NULL, "unknown option '-z'; 'stdcl --help' lists");
    expect_parse_error("-N", "5", "unknown option '-N'; did you mean '-n'?");
    expect_parse_error("-vN5", NULL, "unknown option '-N' in '-vN5'; did you mean '-n'?");
    expect_parse_error("-vz", NULL, "unknown option '-z' in '-vz'");
    expect_parse_error("--verbose=1", NULL, "--verbose takes no value");
    expect_parse_error("--v=1", NULL, "--v takes no value");
    expect_parse_error("--z", NULL, "unknown option '--z'");
    expect_parse_error("--help=1", NULL, "--help takes no value");
    expect_parse_error("--level", NULL, "--level needs a value: LEVEL");
    expect_parse_error("-n", NULL, "--count needs a value: N");
    expect_parse_error("--output=", NULL, "--output: the value is empty");
    expect_parse_error("--=", NULL, "unknown option '--'");
    expect_parse_error("", NULL, "a file is empty");
}

static void options_reject_option_as_value(void **state)
{
    (void)state;
    static const char *const needy[][2] = {
        {"--level", "--level needs a value: LEVEL"},  {"-n", "--count needs a value: N"},
        {"--seed", "--seed needs a value: SEED"},     {"--dt", "--dt needs a value: T"},
        {"--colour", "--colour needs a value: NAME"}, {"--output", "--output needs a value: FILE"},
        {"--device", "--device needs a value: D"},    {"--size", "--size needs a value: WxH"}};
    char part[80];
    for (size_t i = 0; i < sizeof needy / sizeof *needy; i++) {
        snprintf(part, sizeof part, "%s; the next word is '--verbose'", needy[i][1]);
        expect_parse_error(needy[i][0], "--verbose", part);
        snprintf(part, sizeof part, "%s; the next word is '-v'", needy[i][1]);
        expect_parse_error(needy[i][0], "-v", part);
        snprintf(part, sizeof part, "%s; the next word is '--eps=1'", needy[i][1]);
        expect_parse_error(needy[i][0], "--eps=1", part);
    }
    expect_parse_error("-n", "-l3", "needs a value: N; the next word is '-l3'");
    expect_parse_error("-n", "--levle", "needs a value: N; the next word is '--levle'");
    expect_parse_error("--dt", "-inf", "'-inf' is not a finite number");
    assert_int_equal(PARSE2("--output", "--no-such-option"), -1);
    assert_string_equal(v.file, "--no-such-option");
    assert_int_equal(PARSE2("--output", "-"), -1);
    assert_int_equal(PARSE1("--output=--verbose"), -1);
    assert_string_equal(v.file, "--verbose");
    expect_parse_error("--soup", "3x4", "--soup: its value must follow '=': --soup=3x4");
    assert_int_equal(PARSE2("--soup", "word"), -1);
    assert_int_equal(v.operands.n, 1);
    assert_int_equal(PARSE2("--soup", "--verbose"), -1);
    assert_true(v.verbose);
}

static void options_reject_bad_values(void **state)
{
    (void)state;
    expect_parse_error("-n", "0", "--count: '0' is too small; at least 1");
    expect_parse_error("-n", "-3", "--count: '-3' is negative");
    expect_parse_error("-n", "many", "--count: 'many' is not a whole number");
    expect_parse_error("-n", "1e30",
                       "--count: '1e30' is too large; the largest is 18446744073709551615");
    expect_parse_error("--level", "10", "from -5 to 9");
    expect_parse_error("--level", "99999999999999999999", "from -5 to 9");
    expect_parse_error("--dt", "0", "--dt: '0' is not allowed; give a number above 0");
    expect_parse_error("--dt", "-1", "above 0");
    expect_parse_error("--dt", "nan", "a finite number");
    expect_parse_error("--dt", "inf", "a finite number");
    expect_parse_error("--dt", "1e999", "a finite number");
    expect_parse_error("--dt", "0.1s", "'0.1s' is not a number");
    expect_parse_error("--dt", " 1", "is not a number");
    expect_parse_error("--dt", "", "'' is not a number");
    expect_parse_error("--eps", "-0.1", "at least 0");
    expect_parse_error("--share", "1.5", "from 0 to 1");
    expect_parse_error("--colour", "gren", "did you mean 'green'? (one of red, green, blue)");
    expect_parse_error("--colour", "mauve", "give one of red, green, blue");
    expect_parse_error("--size", "3", "--size: '3' is not a size; give WxH");
    expect_parse_error("--output", "", "is empty");
    expect_parse_error("--colour", "a\033[2Jb", "a?[2Jb"); /* nothing reaches the terminal */
}

static void options_help_lists_every_option(void **state)
{
    (void)state;
    size_t n = 7;
    double dt = NAN;
    int colour = 1, other = -1;
    struct cli_option options[] = {
        CLI_GROUP("Things"),
        CLI_SIZE('n', "count", "N", &n, 1, SIZE_MAX, "how many"),
        CLI_REAL(0, "dt", "T", &dt, CLI_ABOVE_0, DBL_MAX, "a step"),
        CLI_CHOICE(0, "colour", "NAME", &colour, colours, "a colour"),
        CLI_CHOICE('o', NULL, "NAME", &other, colours, "or {} (none by default)"),
        CLI_END,
    };
    const struct cli_usage usage = {.synopsis = "[options]", .about = "Does.", .options = options};
    char text[4096];
    FILE *fp = tmpfile();
    cli_help(&usage, fp);
    rewind(fp);
    text[fread(text, 1, sizeof text - 1, fp)] = 0;
    fclose(fp);
    assert_string_equal(text,
                        "usage: stdcl [options]\n\nDoes.\n\nThings\n"
                        "  -n, --count N           how many (default 7)\n"
                        "      --dt T              a step\n"
                        "      --colour NAME       a colour: red, green, blue (default green)\n"
                        "  -o NAME                 or red, green, blue (none by default)\n"
                        "      --help              this text\n");
}

/* ---- Tables and texts. ----------------------------------------------------------------------- */

static void print_table(const struct text_table *t, size_t columns, char *text, size_t size)
{
    FILE *fp = tmpfile();
    assert_non_null(fp);
    assert_int_equal(text_table_print(t, fp, columns), 0);
    rewind(fp);
    text[fread(text, 1, size - 1, fp)] = 0;
    fclose(fp);
}

static void table_columns_are_aligned(void **state)
{
    (void)state;
    char text[1024];
    struct text_table *t = text_table_create("name|>n|last");
    text_table_heading(t, "a heading as long as it likes");
    text_table_add(t, "Ångström");
    text_table_add(t, "%d", 7);
    text_table_add(t, "x");
    text_table_add(t, "日本"); /* four columns */
    text_table_add(t, "%d", 1234);
    text_table_add(t, "%s", "");
    print_table(t, 0, text, sizeof text);
    text_table_free(t);
    assert_string_equal(text, "name         n  last\n"
                              "a heading as long as it likes\n"
                              "Ångström     7  x\n"
                              "日本      1234\n");
}

/* The full table takes 50 columns. Narrower ones cut the device to 24 columns, then lose columns by
 * rank, then cut the device further. */
static void table_fits_terminals(void **state)
{
    static const struct {
        size_t columns;
        const char *text;
    } narrow[] = {
        {53, "device                          time  peak  driver\n"
             "a device with a very long name  1 ms     -  1.2\n"},
        {45, "device                     time  peak  driver\n"
             "a device with a very lo..  1 ms     -  1.2\n"},
        {40, "device                        time  peak\n"
             "a device with a very long ..  1 ms     -\n"
             "not shown in 40 columns: driver\n"},
        {35, "device                         time\n"
             "a device with a very long n..  1 ms\n"
             "not shown in 35 columns: peak,\ndriver\n"},
        {20, "device          time\n"
             "a device wit..  1 ms\n"
             "not shown in 20\ncolumns: peak,\ndriver\n"},
    };
    char text[1024];
    struct text_table *t = text_table_create("~device|>time|>1peak|2driver");
    (void)state;
    text_table_add(t, "a device with a very long name");
    text_table_add(t, "1 ms");
    text_table_add(t, "-");
    text_table_add(t, "1.2");
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++) {
        print_table(t, narrow[i].columns, text, sizeof text);
        assert_string_equal(text, narrow[i].text);
    }
    text_table_free(t);
    assert_int_equal(text_table_print(NULL, stdout, 0), -1);
}

static void text_keeps_significant_digits(void **state)
{
    static const struct {
        double value;
        const char *text;
    } of[] = {{0, "0"},
              {1234.5, "1234"},
              {0.01234, "0.0123"},
              {9.999, "10.0"},
              {3.3e-4, "3.30e-4"},
              {-7.305, "-7.30"},
              {2.5e12, "2.50e12"},
              {NAN, "-"}};
    char text[32];
    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        text_number(text, 3, of[i].value);
        assert_string_equal(text, of[i].text);
    }
    text_number(text, 2, 3.31e-4);
    assert_string_equal(text, "3.3e-4");
}

static void text_width_counts_columns(void **state)
{
    (void)state;
    assert_int_equal(text_width(""), 0);
    assert_int_equal(text_width("e\xcc\x81"), 1);        /* e and a joining accent */
    assert_int_equal(text_width("\xf0\x9f\x8c\x8c"), 2); /* a galaxy */
    assert_int_equal(text_width("\xff\xc3"), 2);         /* broken bytes */
    assert_int_equal(text_width("\xe2\x82"), 2);         /* cut short */
}

static void text_formats_bytes_and_rates(void **state)
{
    struct cli_text t;
    (void)state;
    assert_string_equal(cli_text_bytes(&t, 0), "0 B");
    assert_string_equal(cli_text_bytes(&t, 49152), "48 KiB");
    assert_string_equal(cli_text_bytes(&t, 1.5 * 1073741824.), "1.5 GiB");
    assert_string_equal(cli_text_bytes(&t, 1048575), "1 MiB");
    assert_string_equal(cli_text_rate(&t, 4.26e12, "B/s"), "4.26 TB/s");
    assert_string_equal(cli_text_rate(&t, 1.98e9, "Hz"), "1.98 GHz");
    assert_string_equal(cli_text_rate(&t, 999.7, "x"), "1.00 kx");
    assert_string_equal(cli_text_rate(&t, 35.12, "steps/s"), "35.1 steps/s");
    assert_string_equal(cli_text_rate(&t, 1.24e10, "bodies/s"), "12.4 G bodies/s");
    assert_string_equal(cli_text_duration(&t, 0.424), "0.42 s");
    assert_string_equal(cli_text_duration(&t, 12.34), "12.3 s");
    assert_string_equal(cli_text_duration(&t, 59.97), "1 min 00 s");
    assert_string_equal(cli_text_duration(&t, 119.6), "2 min 00 s");
    assert_string_equal(cli_text_duration(&t, 200), "3 min 20 s");
    assert_string_equal(cli_text_duration(&t, 3599.7), "1 h 00 min");
    assert_string_equal(cli_text_duration(&t, 7500), "2 h 05 min");
}

static const char *nearest_command(const char *word)
{
    struct cli_guess guess = {.word = word};
    static const char *const names[] = {"devices", "nbody", "embed", "matmul"};
    for (size_t i = 0; i < 4; i++)
        cli_guess_offer(&guess, names[i]);
    return guess.best ? guess.best : "";
}

static void options_guess_nearest_command(void **state)
{
    (void)state;
    assert_string_equal(nearest_command("device"), "devices");
    assert_string_equal(nearest_command("nbdoy"), "nbody");
    assert_string_equal(nearest_command("n-body"), "nbody");
    assert_string_equal(nearest_command("mat"), "matmul");
    assert_string_equal(nearest_command("MATMUL"), "matmul");
    assert_string_equal(nearest_command("xyz"), "");
    assert_string_equal(nearest_command("n"), "");
    assert_string_equal(nearest_command(""), "");
}

/* ---- Devices, without any. ------------------------------------------------------------------- */

static void device_patterns_select_devices(void **state)
{
    (void)state;
    struct cli_device item[] = {
        {.type = CL_DEVICE_TYPE_CPU, .platform_name = "Portable", .name = "pthread", .vendor = "X"},
        {.type = CL_DEVICE_TYPE_GPU, .platform_name = "CUDA", .name = "H200", .vendor = "NVIDIA"},
        {.type = CL_DEVICE_TYPE_GPU, .platform_name = "CUDA", .name = "H200", .vendor = "NVIDIA"},
    };
    const struct cli_devices devices = {3, item};
    static const struct {
        const char *patterns[3];
        const char *chosen;
    } cases[] = {
        {{NULL}, "1"},          {{"cpu"}, "0"},     {{"gpu"}, "12"},           {{"all"}, "012"},
        {{"GPU:1"}, "2"},       {{"nvidia"}, "12"}, {{"h200:0", "cpu"}, "10"}, {{"2", "gpu"}, "21"},
        {{"gpu", "gpu"}, "12"}, {{"200"}, "12"},    {{"portable"}, "0"},       {{"gpu:2"}, "?"},
        {{"acc"}, "?"},         {{"3"}, "?"},       {{"gpu", "none"}, "?"},    {{":1"}, "?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cli_strings patterns = {0};
        size_t chosen[3], n;
        char text[8] = "";
        for (size_t p = 0; p < 3 && cases[i].patterns[p]; p++)
            cli_strings_add(&patterns, cases[i].patterns[p]);
        capture_begin();
        const int status = cli_devices_choose(&devices, &patterns, chosen, &n);
        capture_end();
        for (size_t c = 0; c < n; c++)
            text[c] = (char)('0' + chosen[c]);
        cli_strings_free(&patterns);
        if (*cases[i].chosen == '?') {
            assert_int_equal(status, CLI_WRONG);
            assert_said("2 = H200 (GPU, CUDA)");
        } else {
            assert_int_equal(status, CLI_DONE);
            assert_string_equal(text, cases[i].chosen);
        }
    }
}

static const char *hint(const char *os_release)
{
    char name[] = "/tmp/stdcl-os-XXXXXX";
    const int fd = mkstemp(name);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, os_release, strlen(os_release)), (ssize_t)strlen(os_release));
    close(fd);
    const char *text = cli_install_hint(name);
    unlink(name);
    return text;
}

static void install_hint_fits_distribution(void **state)
{
    (void)state;
    assert_non_null(strstr(hint("NAME=x\nID=debian\n"), "apt-get install pocl-opencl-icd"));
    assert_non_null(strstr(hint("ID=mint\nID_LIKE=\"ubuntu debian\"\n"), "apt-get"));
    assert_non_null(strstr(hint("ID=fedora"), "dnf"));
    assert_non_null(strstr(hint("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n"), "dnf"));
    assert_non_null(strstr(hint("ID=endeavouros\nID_LIKE=arch\n"), "pacman"));
    assert_non_null(strstr(hint("ID=plan9\n"), "brew"));
    assert_non_null(strstr(cli_install_hint("/proc/nonexistent"), "pacman"));
}

/* ---- Memory. --------------------------------------------------------------------------------- */

/* The ranks of a host together may not need more than the host has, although each needs less. */
static void memory_is_shared_by_ranks_of_a_host(void **unused)
{
    const size_t half = (size_t)(host_memory_resident() / 2);
    (void)unused;
    capture_begin();
    const int one = cli_memory_for_ranks(1, half / 8, 1, "bytes"),
              three = cli_memory_for_ranks(3, half / 8 * 6, 1, "bytes");
    capture_end();
    assert_int_equal(one, CLI_DONE);
    assert_int_equal(three, CLI_FAILED);
    assert_non_null(strstr(said, " bytes on each of 3 ranks of this host need "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_parse_every_spelling),
        cmocka_unit_test(options_parse_real_values),
        cmocka_unit_test(options_parse_counts),
        cmocka_unit_test(combinations_that_fit_are_accepted),
        cmocka_unit_test(combinations_that_contradict_are_refused),
        cmocka_unit_test(combinations_are_listed_in_help),
        cmocka_unit_test(combinations_that_name_nothing_are_found),
        cmocka_unit_test(combination_that_names_nothing_ends_the_command),
        cmocka_unit_test(options_reject_unknown_names),
        cmocka_unit_test(options_reject_option_as_value),
        cmocka_unit_test(options_reject_bad_values),
        cmocka_unit_test(options_help_lists_every_option),
        cmocka_unit_test(table_columns_are_aligned),
        cmocka_unit_test(table_fits_terminals),
        cmocka_unit_test(text_keeps_significant_digits),
        cmocka_unit_test(text_width_counts_columns),
        cmocka_unit_test(text_formats_bytes_and_rates),
        cmocka_unit_test(options_guess_nearest_command),
        cmocka_unit_test(device_patterns_select_devices),
        cmocka_unit_test(install_hint_fits_distribution),
        cmocka_unit_test(memory_is_shared_by_ranks_of_a_host),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cli_strings_free(&v.list);
    cli_strings_free(&v.operands);
    return failed;
}
