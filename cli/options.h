/* options.h - the table of options of a command.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_OPTIONS_H
#define STDCL_CLI_OPTIONS_H

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Words of the command line. The array is owned; the words are pointers into argv. */
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

/* Parse a value of a type of its own: write it to `to` and return true, or return false with the
 * reason in why[size], half a sentence such as "'3x' is not a size; give WIDTHxHEIGHT". */
typedef bool cli_reader(const char *text, void *to, char *why, size_t size);

/* One entry of a table of options; made by the macros below. */
struct cli_option {
    enum cli_option_type type;
    char letter;          /* -n, or 0 */
    const char *name;     /* --name, or NULL */
    const char *argument; /* name of the value in --help; NULL: flag */
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
    bool optional;  /* --name needs no value; one needs --name=VALUE */
    unsigned given; /* set by cli_parse: number of occurrences */
    bool by_letter; /* set by cli_parse: last given as -x */
};

/* Entries of the table. `to` holds the default when cli_parse is called. --help shows a default
 * inside the option's range; a default outside it (0 where the minimum is 1, NAN, choice -1) means
 * "not given". Bounds are inclusive; CLI_ABOVE_0 as minimum of a real number excludes 0. */
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
/* The help text lists the choices at its "{}", or at its end if it has none. */
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
/* CLI_PARSED whose value is optional, as in --soup[=DENSITY]; without a value the reader gets text
 * NULL. */
#define CLI_PARSED_OPTIONAL(letter_, name_, arg_, to_, reader_, help_)                             \
    {                                                                                              \
        .type = CLI_TYPE_PARSED, .letter = (letter_), .name = (name_), .argument = (arg_),         \
        .help = (help_), .to.any = (to_), .of.reader = (reader_), .optional = true                 \
    }
#define CLI_END                                                                                    \
    {                                                                                              \
        .type = CLI_TYPE_END                                                                       \
    }

#endif
