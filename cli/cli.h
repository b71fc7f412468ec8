/* cli.h - what the subcommands of `stdcl` are made of.
 *
 * A subcommand is one file, cmd_NAME.c, that defines `const struct cli_command cmd_NAME` and, from
 * the pieces below, always does the same: it describes its options in a table, parses them, checks
 * what can be checked before computing, opens devices, works while it shows progress and looks for
 * Ctrl-C, and reports as text or as one JSON object. It becomes part of the program by one line in
 * CMakeLists.txt.
 *
 * Everything here prints its own errors, as "stdcl NAME: sentence", and hands back an exit status.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_H
#define STDCL_CLI_H

#include "core/clock.h"
#include "core/outfile.h"

#include <stdcl.h>
#include <stdcl/world.h>

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- Commands and exit status. --------------------------------------------------------------- */

enum cli_status {
    CLI_DONE = 0,
    CLI_FAILED = 1, /* what was asked could not be done */
    CLI_WRONG = 2   /* what was asked makes no sense */
                    /* 128 + signal: interrupted, see cli_interrupt_status */
};

/* What a launcher's processes do: the same, each for itself; or one job together. */
enum cli_ranks { CLI_RANKS_APART, CLI_RANKS_TOGETHER };

/* A subcommand. run gets argv[0] = its name and returns the exit status. */
struct cli_command {
    const char *name;
    const char *summary; /* half a line for `stdcl --help` */
    int (*run)(int argc, char **argv);
    enum cli_ranks ranks;
};

/* What messages begin with, "stdcl NAME"; main sets it. */
extern const char *cli_program;

/* Print one sentence to stderr, without a final dot or newline, and return CLI_WRONG / CLI_FAILED.
 * cli_failed_call prints cli_reason(), after "while DOING: " unless doing is NULL; so does
 * cli_refused_call, of an engine that was not made, with CLI_WRONG when the engine found its
 * options wrong: EINVAL, and no call of OpenCL's. */
int cli_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
int cli_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));
int cli_failed_call(const char *doing);
int cli_refused_call(void);

/* Whether the file that could not be written was given up for lack of time, which is said then; so
 * it is by cli_failed_call, with the status of an interruption. */
bool cli_gave_up(void);

/* clerror() without a "NAME: " or "NAME_verb: " in front, which "stdcl NAME: " would repeat. */
const char *cli_reason(void);

/* As the former two, for something that is not fatal: prints "stdcl NAME: warning: sentence". */
void cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Of a rank: from now on failures are kept, for its last word, and warnings are printed by the
 * first only. What was kept, or "". Prints a sentence as failures are. */
void cli_message_keep(bool first);
const char *cli_message_kept(void);
void cli_message_print(const char *sentence);

/* malloc and realloc of count * size bytes that end the program with a sentence (which says how
 * much was asked for) instead of failing: for the small things; data of the user's size goes
 * through cli_memory_for first. */
void *cli_alloc(size_t count, size_t size);

/* Ends the program with a sentence, where something small found no memory elsewhere. */
_Noreturn void cli_no_memory(const char *what);
void *cli_realloc(void *old, size_t count, size_t size);

/* CLI_DONE when count * size bytes fit the machine's memory; else says so (count "what", in all how
 * much) and returns CLI_FAILED. Asked before allocating, since the system may promise more memory
 * than it has. */
int cli_memory_for(size_t count, size_t size, const char *what);

/* ---- Options. -------------------------------------------------------------------------------- */

/* Words from the command line: pointers into argv, not owned; the array is. */
struct cli_strings {
    size_t n;
    const char **item;
};
void cli_strings_add(struct cli_strings *strings, const char *item);
void cli_strings_free(struct cli_strings *strings);

enum cli_option_type {
    CLI_TYPE_END,
    CLI_TYPE_GROUP, /* a heading in --help */
    CLI_TYPE_FLAG,
    CLI_TYPE_INT,
    CLI_TYPE_SIZE,
    CLI_TYPE_U64,
    CLI_TYPE_REAL,
    CLI_TYPE_CHOICE,
    CLI_TYPE_STRING,
    CLI_TYPE_STRINGS,
    CLI_TYPE_PARSED
};

/* A value that no other type reads: writes it to `to` and returns true, or returns false with the
 * reason in why[size], half a sentence such as "'3x' is not a size; give WIDTHxHEIGHT". */
typedef bool cli_reader(const char *text, void *to, char *why, size_t size);

/* One row of a table of options; made by the macros below, never by hand. */
struct cli_option {
    enum cli_option_type type;
    char letter;          /* -n, or 0 */
    const char *name;     /* --name, or NULL */
    const char *argument; /* what --help calls the value, NULL for a flag */
    const char *help;
    union {
        bool *flag;
        int *integer; /* also the index of a choice */
        size_t *size;
        uint64_t *u64;
        double *real;
        const char **string;
        struct cli_strings *strings;
        void *any;
    } to;
    union {
        struct {
            int min, max;
        } integer;
        struct {
            uint64_t min, max;
        } natural;
        struct {
            double min, max;
        } real;
        const char *const *choices; /* ended by NULL */
        cli_reader *reader;
    } of;
    bool optional;  /* --name alone is allowed; a value needs --name=VALUE */
    unsigned given; /* set by cli_parse: how often */
    bool by_letter; /* set by cli_parse: the last time it was -x, not --name */
};

/* The rows. `to` holds the default when cli_parse is called; a default inside the option's range is
 * shown by --help, one outside it (0 where 1 is the least, NAN, choice -1) means "not given".
 * Bounds are included. CLI_ABOVE_0 as least real number means that 0 itself is not allowed. */
#define CLI_ABOVE_0 DBL_TRUE_MIN
#define CLI_GROUP(title)                                                                           \
    {                                                                                              \
        .type = CLI_TYPE_GROUP, .help = (title)                                                    \
    }
#define CLI_FLAG(letter_, name_, to_, help_)                                                       \
    {                                                                                              \
        .type = CLI_TYPE_FLAG, .letter = (letter_), .name = (name_), .help = (help_),              \
        .to.flag = (to_)                                                                           \
    }
#define CLI_INT(letter_, name_, arg_, to_, min_, max_, help_)                                      \
    {                                                                                              \
        .type = CLI_TYPE_INT, .letter = (letter_), .name = (name_), .argument = (arg_),            \
        .help = (help_), .to.integer = (to_), .of.integer = {                                      \
            (min_),                                                                                \
            (max_)                                                                                 \
        }                                                                                          \
    }
#define CLI_SIZE(letter_, name_, arg_, to_, min_, max_, help_)                                     \
    {                                                                                              \
        .type = CLI_TYPE_SIZE, .letter = (letter_), .name = (name_), .argument = (arg_),           \
        .help = (help_), .to.size = (to_), .of.natural = {                                         \
            (min_),                                                                                \
            (max_)                                                                                 \
        }                                                                                          \
    }
#define CLI_U64(letter_, name_, arg_, to_, min_, max_, help_)                                      \
    {                                                                                              \
        .type = CLI_TYPE_U64, .letter = (letter_), .name = (name_), .argument = (arg_),            \
        .help = (help_), .to.u64 = (to_), .of.natural = {                                          \
            (min_),                                                                                \
            (max_)                                                                                 \
        }                                                                                          \
    }
#define CLI_REAL(letter_, name_, arg_, to_, min_, max_, help_)                                     \
    {                                                                                              \
        .type = CLI_TYPE_REAL, .letter = (letter_), .name = (name_), .argument = (arg_),           \
        .help = (help_), .to.real = (to_), .of.real = {                                            \
            (min_),                                                                                \
            (max_)                                                                                 \
        }                                                                                          \
    }
/* A choice's names stand in its help where that says "{}", else at its end. */
#define CLI_CHOICE(letter_, name_, arg_, to_, choices_, help_)                                     \
    {                                                                                              \
        .type = CLI_TYPE_CHOICE, .letter = (letter_), .name = (name_), .argument = (arg_),         \
        .help = (help_), .to.integer = (to_), .of.choices = (choices_)                             \
    }
#define CLI_STRING(letter_, name_, arg_, to_, help_)                                               \
    {                                                                                              \
        .type = CLI_TYPE_STRING, .letter = (letter_), .name = (name_), .argument = (arg_),         \
        .help = (help_), .to.string = (to_)                                                        \
    }
#define CLI_STRINGS(letter_, name_, arg_, to_, help_)                                              \
    {                                                                                              \
        .type = CLI_TYPE_STRINGS, .letter = (letter_), .name = (name_), .argument = (arg_),        \
        .help = (help_), .to.strings = (to_)                                                       \
    }
#define CLI_PARSED(letter_, name_, arg_, to_, reader_, help_)                                      \
    {                                                                                              \
        .type = CLI_TYPE_PARSED, .letter = (letter_), .name = (name_), .argument = (arg_),         \
        .help = (help_), .to.any = (to_), .of.reader = (reader_)                                   \
    }
/* As CLI_PARSED for an option whose value may be left out, as in --soup[=DENSITY]; the reader then
 * gets text NULL. */
#define CLI_PARSED_OPTIONAL(letter_, name_, arg_, to_, reader_, help_)                             \
    {                                                                                              \
        .type = CLI_TYPE_PARSED, .letter = (letter_), .name = (name_), .argument = (arg_),         \
        .help = (help_), .to.any = (to_), .of.reader = (reader_), .optional = true                 \
    }
#define CLI_END                                                                                    \
    {                                                                                              \
        .type = CLI_TYPE_END                                                                       \
    }

/* The options that every command has which runs kernels. */
struct cli_profile {
    bool wanted;
    int format; /* CLPROF_TABLE, ... */
};
struct cli_common {
    struct cli_strings
        device; /* patterns in order, see cli_devices_open; free with cli_common_free */
    bool json;
    bool quiet;
    bool explain;
    struct cli_profile profile;
    const char *trace; /* a file, or NULL */
    bool alone, share; /* of ranks, see below: read before all others */
};
#define CLI_COMMON_OPTIONS(common)                                                                 \
    CLI_GROUP("Common options"),                                                                   \
        CLI_STRINGS(0, "device", "DEVICE", &(common)->device,                                      \
                    "cpu, gpu, acc, all, part of a device's, vendor's or platform's name, or a "   \
                    "number of 'stdcl devices'; with ':K' only the K-th such device, from 0; may " \
                    "be repeated (default: the first GPU, else the first CPU; of several ranks: "  \
                    "all GPUs of a host, else all CPUs)"),                                         \
        CLI_FLAG(0, "json", &(common)->json, "report as one JSON object on standard output"),      \
        CLI_PARSED_OPTIONAL(0, "profile", "FORMAT", &(common)->profile, cli_read_profile,          \
                            "print on standard error where the devices' time went, as a table, "   \
                            "csv or json"),                                                        \
        CLI_STRING(0, "trace", "FILE", &(common)->trace,                                           \
                   "write a timeline of all that ran, for ui.perfetto.dev"),                       \
        CLI_FLAG(0, "explain", &(common)->explain,                                                 \
                 "say on standard error which measured kernel shapes are used, and why"),          \
        CLI_FLAG('q', "quiet", &(common)->quiet, "no progress and no report"),                     \
        CLI_FLAG(0, "alone", &(common)->alone,                                                     \
                 "under mpirun or srun: each process is a run of its own, not a rank of one job"), \
        CLI_FLAG(0, "share", &(common)->share,                                                     \
                 "ranks take turns on a device where a host has fewer devices than ranks")
void cli_common_free(struct cli_common *common);
cli_reader cli_read_profile; /* for the table above */

/* What a command accepts. */
struct cli_usage {
    const char *synopsis; /* after "usage: stdcl NAME" */
    const char *about;    /* a paragraph; wrapped */
    const char *examples; /* lines, printed as they are; may be NULL */
    struct cli_option *options;
    struct cli_strings *operands; /* NULL: none are accepted */
    size_t operands_min;
    const char *operand; /* what one is called: "FILE" */
    const char *reads; /* options whose values are files that are read: "input rule"; may be NULL */
    const char *writes; /* those of files that are made; none of them may be given twice */
};

/* Reads the command line: -x, -xVALUE, -x VALUE, --name VALUE, --name=VALUE, operands anywhere,
 * "--" ends the options; the last of two equal options wins; whole numbers may be written 16384,
 * 1e6, 2.5e7 or 2^20. True: go on. False: end with *status, after --help (which needs no row) or
 * after a message. */
bool cli_parse(const struct cli_usage *usage, int argc, char **argv, int *status);

/* How often --name (or -letter, for "n") was given. Asking for a name not in the table is a bug. */
unsigned cli_given(const struct cli_option *options, const char *name);

/* The option as it was typed last, "-n" or "--bodies", for messages; valid until the fourth call
 * after. */
const char *cli_typed(const struct cli_option *options, const char *name);

/* Prints the --help of a command; the same for programs to read, see describe.c. */
void cli_help(const struct cli_usage *usage, FILE *fp);
void cli_describe(const struct cli_usage *usage, FILE *fp);

/* Appends to `text` what --help says of an option: its sentence, its choices and its default. */
void cli_help_text(const struct cli_option *option, char *text, size_t size);

/* Prints `text` wrapped into the columns [indent, width), which the cursor has reached already. */
void cli_wrap(FILE *fp, const char *text, size_t indent, size_t width);

/* Reads a whole number, also one written as 1e6, 2.5e7 or 2^20. Returns 0; EINVAL when `text` is
 * not a whole number; ERANGE when it has more than 64 bits. */
int cli_read_natural(const char *text, uint64_t *value);

/* The nearest of the names offered to what was typed, for "did you mean". Starts as {.word =
 * typed}; best stays NULL when nothing is near. */
struct cli_guess {
    const char *word;
    const char *best;
    size_t distance;
};
void cli_guess_offer(struct cli_guess *guess, const char *name);

/* ---- Devices. -------------------------------------------------------------------------------- */

/* A device of this machine, in the order that all of stdcl counts them: platform by platform. */
struct cli_device {
    cl_device_id id;
    cl_device_type type;
    size_t platform; /* counted from 0 */
    char platform_name[256];
    char platform_version[256];
    char name[256];
    char vendor[256];
    cl_int error; /* of a question that it did not answer; 0: it answered all */
};
struct cli_devices {
    size_t n;
    struct cli_device *item;
};

/* Lists the machine's devices, without opening any. Returns how many platforms there are.
 * cli_devices_find: CLI_DONE, or CLI_FAILED after saying what to install when there is no device.
 * Free with cli_devices_free. */
cl_uint cli_devices_list(struct cli_devices *devices);
int cli_devices_find(struct cli_devices *devices);
void cli_devices_free(struct cli_devices *devices);

/* True when `pattern`, in any case of letters, is "all", the device's type (cpu, gpu, acc), its
 * number in the list, or part of its name, its vendor or its platform's name. */
bool cli_device_matches(const struct cli_devices *devices, size_t device, const char *pattern);

/* Fills chosen[] (of devices->n entries) with the numbers of the devices that the patterns pick, in
 * order and without repetition, and *n with how many. Without patterns: the first GPU, else the
 * first CPU, else the first device. CLI_WRONG after listing what there is when a pattern picks
 * none. */
int cli_devices_choose(const struct cli_devices *devices, const struct cli_strings *patterns,
                       size_t *chosen, size_t *n);

/* Opens the devices that the patterns pick, of several ranks on a host each its part. The caller
 * destroys *context. CLI_DONE or as above. */
int cli_devices_open(const struct cli_strings *patterns, CLCONTEXT **context);

/* The devices of a context in words, "NVIDIA H200" or "2 x NVIDIA H200"; of ranks those of all, "16
 * x NVIDIA H200 on 2 hosts, 2 ranks", on rank 0. The caller frees it. */
char *cli_devices_name(CLCONTEXT *context);

/* "CPU", "GPU", "accelerator", ... */
const char *cli_device_type(cl_device_type type);

/* What to type on this system to get an OpenCL device, by the os-release file at `path` (normally
 * "/etc/os-release"); static memory. */
const char *cli_install_hint(const char *path);

/* ---- Ranks. ---------------------------------------------------------------------------------- */

/* The ranks of this run; NULL: alone. */
extern stdcl_world *cli_world;

/* When a launcher started several processes: joins them, compares their command lines and STDCL_
 * variables, and leaves standard output to rank 0. `argv` as of run. CLI_DONE, also when there is
 * no launcher; else after saying why. */
int cli_ranks_join(int argc, char **argv);

/* The end of this rank, with its status; returns that of the job. */
int cli_ranks_end(int status);

/* Called before an engine is freed that may have failed: on several ranks, mail of others may be
 * under way to its memory, so that all end here, with CLI_FAILED; else it returns. Output files are
 * discarded before. */
void cli_ranks_fail(int status);

/* Whether this is the rank that prints and writes what there is one of; whether ranks may take
 * turns on a device (--share). */
bool cli_ranks_first(void);
bool cli_ranks_share(void);

/* Collective. Of a file that all ranks read: whether it is the same on all hosts, by its size and
 * where it begins. */
int cli_ranks_same_file(const char *file);

/* Collective, but for a rank that has `failed`, since others may be waiting for something else of
 * it. As cli_interrupted, of any rank. */
bool cli_ranks_interrupted(bool failed);

/* Collective. The texts of all ranks, each with its 0, one behind the other; the caller frees it.
 * NULL: one of them has failed. */
char *cli_ranks_gather(const char *text);

/* One file that all ranks write (core/outfile.h), each its own bytes of it. Rank 0 writes what
 * stands before; places are counted from there. All but put and discard are collective, and have -1
 * after clerror_set on all ranks if one failed. One rank alone may use it, too. */
enum { CLI_RANKS_NAME = 4096 };
struct cli_ranks_file {
    struct outfile out;
    char name[CLI_RANKS_NAME]; /* until it is whole */
    uint64_t begin;
};
int cli_ranks_open(struct cli_ranks_file *f, const char *name, void (*before)(FILE *fp, void *arg),
                   void *arg);
int cli_ranks_put(const struct cli_ranks_file *f, uint64_t at, const void *bytes, size_t size);
/* What all have written is on the disk, and may be read by any. `status`: -1 if this rank has
 * failed. */
int cli_ranks_settle(const struct cli_ranks_file *f, int status);
int cli_ranks_commit(struct cli_ranks_file *f);
void cli_ranks_discard(struct cli_ranks_file *f);

/* Collective. As cli_check_output, for a file that all ranks write. */
int cli_ranks_check_output(const char *name);

/* shares.c: whether ranks are unlike fast. A rank is at work while it does not wait for others. */
struct cli_shares {
    double seconds, waited, next; /* at the last look; so many seconds after it is the next */
    int looks;
};
struct cli_work {
    double work, busy; /* of a rank since the last look; seconds */
};
void cli_shares_begin(struct cli_shares *s, double seconds);
/* What `busy` is of a rank that waits for others in the thread that computes. */
double cli_shares_busy(const struct cli_shares *s, double seconds);
/* Collective. Looks when it is time, with `seconds` of computing so far and `left` times as much as
 * since the last look to come: *weight is this rank's speed where a division of the work by speeds
 * gains more than it costs, else 0. Says so of `what`, or not if that is NULL. -1 after
 * clerror_set. */
int cli_shares_look(struct cli_shares *s, struct cli_work own, double seconds, double left,
                    const char *what, double *weight);

/* Files that all ranks write with the same bytes, each a part of them, from now on and until `on`
 * is false (core/outfile.h). */
void cli_ranks_together(bool on);

/* All of that, of bytes in one piece, from `at` on. */
int cli_ranks_write(const char *name, void (*before)(FILE *fp, void *arg), void *arg,
                    const void *bytes, size_t at, size_t size);

/* ---- Profiles, and which shapes are used. ---------------------------------------------------- */

/* With --profile or --trace: check that the file can be written and start measuring a context; at
 * the end, print the profile to stderr and write the timeline. Without: nothing. */
int cli_profile_start(const struct cli_common *common, CLCONTEXT *context);
int cli_profile_report(const struct cli_common *common, CLCONTEXT *context);

/* Once it is known which row of the tuning store a device's kernels use: with --explain, prints the
 * device, the engine's sentence about the row and the shape itself to stderr. Warns, once in a
 * program, when the user's own rows could not be read, so it is to be called without --explain
 * too. */
void cli_explain(const struct cli_common *common, CLCONTEXT *context, unsigned dev,
                 const char *sentence, const char *shape);

/* ---- Output. --------------------------------------------------------------------------------- */

/* A table of text. `columns` names them, separated by '|'; a leading '>' aligns one to the
 * right. */
struct cli_table;
struct cli_table *cli_table_create(const char *columns);
/* Adds the next cell, left to right and row by row. */
void cli_table_add(struct cli_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Adds a line over the next row that takes the width it needs. */
void cli_table_heading(struct cli_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void cli_table_print(const struct cli_table *table, FILE *fp);
void cli_table_free(struct cli_table *table);

/* How many columns of a terminal a UTF-8 text takes; broken bytes count one each. */
size_t cli_text_width(const char *text);

/* Numbers for people, in buffers of the caller's; each returns its buffer.
 *   cli_text_bytes     "512 B", "48.0 KiB", "139.8 GiB"
 *   cli_text_rate      4.26e12, "B/s": "4.26 TB/s"; 1e10, "steps/s": "10.0 G steps/s", for a word
 *                      is
 *                      kept apart from the prefix and a symbol (up to four letters) is not
 *   cli_text_duration  "0.42 s", "12.3 s", "3 min 20 s", "2 h 05 min" */
struct cli_text {
    char s[32];
};
const char *cli_text_bytes(struct cli_text *text, double bytes);
const char *cli_text_rate(struct cli_text *text, double value, const char *unit);
const char *cli_text_duration(struct cli_text *text, double seconds);

/* JSON by jansson. print writes one object and a newline to stdout, real numbers with as few digits
 * as give the same double back, and returns an exit status; the object stays the caller's.
 * cli_json_real is json_real, or null for what JSON cannot write (NaN, infinity). */
struct json_t;
int cli_json_print(const struct json_t *object);
struct json_t *cli_json_real(double value);
struct json_t *cli_json_reals(const double *values, size_t n);

/* A line on stderr that is drawn over and over: share done, rate, time left. Silent unless stderr
 * is a terminal. Not thread-safe; at most one at a time. Messages printed meanwhile appear above
 * it. */
struct cli_progress {
    const char *unit; /* "steps" */
    double total;     /* 0: not known */
    double started, drawn;
    bool visible, quiet;
    bool partial; /* set after the start: a part of the work, which does not tell how long all takes
                   */
};
void cli_progress_start(struct cli_progress *progress, const char *unit, double total, bool quiet);
/* `note` is added at the end, such as "10.2 G interactions/s"; may be NULL. Draws ten times a
 * second at most, so that it may be called as often as convenient. */
void cli_progress_update(struct cli_progress *progress, double done, const char *note);
void cli_progress_end(struct cli_progress *progress); /* wipes the line */

/* Says, once and on a terminal, how long a run will take, if that is over ten seconds and as soon
 * as it is known: `done` is the part of the whole run, 0 to 1, that was done since the progress
 * started. Updates with a total call it. */
void cli_progress_estimate(const struct cli_progress *progress, double done);

/* The line itself, cut where the terminal ends; wiped before anything else is printed. */
void cli_line_draw(const char *line);
void cli_line_wipe(void);

/* ---- Files. ---------------------------------------------------------------------------------- */

/* Checks, before hours of computing, that a file called `path` can be made: its folder is there and
 * can be written to, and `path` itself is no folder. CLI_DONE, or CLI_WRONG / CLI_FAILED. */
int cli_check_output(const char *path);

/* Refuses a file of an option under a name that ends as another kind of file does: "would be a
 * timeline (JSON)", whose names end in `suffix`. cli_check_table: a table of text, .csv. */
int cli_check_suffix(const char *option, const char *file, const char *what, const char *suffix);
int cli_check_table(const char *option, const char *file);

/* Opens text to read it line by line. NULL after a sentence that ends with what is wanted: for a
 * folder, too, and for a device but a terminal: /dev/zero has no end of a line. */
FILE *cli_open_text(const char *file, const char *wanted);

/* Whether two names are of one file, which need not be there: "x.tab" and "./x.tab". Devices and
 * pipes are not files. */
bool cli_same_file(const char *a, const char *b);

/* CLI_DONE, or CLI_WRONG when two options name one file, as usage->reads and ->writes tell.
 * cli_parse asks it. */
int cli_check_files(const struct cli_usage *usage);

/* Whether what is called `path` gets its name when it is whole: false for the standard output,
 * pipes and devices. */
bool cli_output_is_whole(const char *path);

/* True when `path` ends in `suffix` (".png"), in any case of letters. */
bool cli_has_suffix(const char *path, const char *suffix);

/* ---- Interruption. --------------------------------------------------------------------------- */

/* To be called first of all: signals that are ignored then stay so, whatever a driver makes of
 * them. */
void cli_interrupt_begin(void);

/* From now on, the first SIGINT, SIGTERM, SIGHUP or SIGUSR2 is only noted; a second one kills, and
 * so does the first when nobody asks for it within two seconds, unless it is one of several ranks.
 * `patiently`: however long that takes, for a search whose steps take as long as a compiler
 * does. */
void cli_interrupt_catch(void);
void cli_interrupt_catch_patiently(void);

/* To be called before and after the first question to the driver: LLVM, in drivers that compile
 * with it, then takes SIGQUIT for a crash of its own, and swallows it. One that comes in between
 * waits. */
void cli_interrupt_hold_quit(void);
void cli_interrupt_keep_quit(void);

/* Whether the call that has just failed is a build that a signal broke: compilers remove their
 * files then. _follows: the same, of a build whose error is not OpenCL's last. */
bool cli_interrupt_broke_build(void);
bool cli_interrupt_follows(void);

/* True after the first, of any rank; to be asked between pieces of work. What follows then must end
 * soon, but for the writing of files. */
bool cli_interrupted(void);

/* Whether files are given up now, see outfile_limit. */
bool cli_interrupt_is_over(void);

/* The last line of a report, whatever signal it was: after how many steps, generations or soups of
 * how many; `of` 0: of nobody knows. */
void cli_interrupt_report(uint64_t done, uint64_t of, const char *units, FILE *fp);

/* 128 + the signal, or `otherwise` when there was none. */
int cli_interrupt_status(int otherwise);

/* As if this signal had come: another rank got it. */
void cli_interrupt_take(int signal_number);

#endif
