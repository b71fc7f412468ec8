/* options.c - one parser for the options of every command, driven by a table.
 *
 * An entry of the table holds the option's names, the address of its value and the allowed
 * values, so that parsing, checks, messages and --help (help.c) cannot drift apart. Each message
 * names the option and the value typed, and ends with the remedy.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "common.h"
#include "alloc.h"
#include "message.h"
#include "text.h"
#include "usage.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

void cli_strings_add(struct cli_strings *strings, const char *item)
{
    strings->item = cli_realloc(strings->item, strings->n + 1, sizeof *strings->item);
    strings->item[strings->n++] = item;
}

void cli_strings_free(struct cli_strings *strings)
{
    free(strings->item);
    *strings = (struct cli_strings){0};
}

void cli_common_free(struct cli_common *common)
{
    cli_strings_free(&common->device);
}

/* ---- The nearest name. ----------------------------------------------------------------------- */

static size_t smaller_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edit distance between two words: insertions, deletions, substitutions and transpositions
 * (optimal string alignment). SIZE_MAX for words longer than LONGEST. */
static size_t edits(const char *a, const char *b)
{
    enum { LONGEST = 40 };
    const size_t na = strlen(a), nb = strlen(b);
    size_t d[LONGEST + 1][LONGEST + 1];
    if (na > LONGEST || nb > LONGEST)
        return SIZE_MAX;
    for (size_t i = 0; i <= na; i++)
        for (size_t j = 0; j <= nb; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            const size_t replaced = d[i - 1][j - 1] + (tolower(a[i - 1]) != tolower(b[j - 1]));
            d[i][j] = smaller_size(replaced, smaller_size(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = smaller_size(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[na][nb];
}

void cli_guess_offer(struct cli_guess *guess, const char *name)
{
    const size_t typed = strlen(guess->word), shorter = smaller_size(typed, strlen(name));
    size_t distance = edits(guess->word, name);
    if (typed >= 2 && strncasecmp(name, guess->word, typed) == 0)
        distance = 1; /* a prefix counts as one edit */
    if (distance > 1 + shorter / 5 || distance >= typed)
        return;
    if (!guess->best || distance < guess->distance) {
        guess->best = name;
        guess->distance = distance;
    }
}

/* ---- Values. --------------------------------------------------------------------------------- */

static bool read_digits(const char **p, uint64_t *value, bool *overflow)
{
    const char *start = *p;
    for (*value = 0; isdigit((unsigned char)**p); ++*p)
        if (__builtin_mul_overflow(*value, 10u, value) ||
            __builtin_add_overflow(*value, (uint64_t)(**p - '0'), value))
            *overflow = true;
    return *p != start;
}

/* Continue parsing after a decimal point: ".5" of "2.5e7" turns 2 into 25, with *places = 1. */
static bool read_fraction(const char **p, uint64_t *value, uint64_t *places, bool *overflow)
{
    const char *start = (*p)++;
    for (; isdigit((unsigned char)**p); ++*p, ++*places)
        if (__builtin_mul_overflow(*value, 10u, value) ||
            __builtin_add_overflow(*value, (uint64_t)(**p - '0'), value))
            *overflow = true;
    for (; *places && *value % 10 == 0; --*places)
        *value /= 10;
    return *p != start + 1 && (**p == 'e' || **p == 'E');
}

int cli_read_natural(const char *text, uint64_t *value)
{
    const char *p = text;
    bool overflow = false;
    uint64_t result, factor = 1, exponent = 0, places = 0;
    if (!read_digits(&p, &result, &overflow))
        return EINVAL;
    if (*p == '.' && !read_fraction(&p, &result, &places, &overflow))
        return EINVAL;
    if (*p == 'e' || *p == 'E' || *p == '^') {
        const bool power = *p++ == '^';
        if (!read_digits(&p, &exponent, &overflow) || exponent < places)
            return EINVAL;
        exponent -= places;
        factor = power ? result : 10;
        result = power ? 1 : result;
    }
    if (*p)
        return EINVAL;
    if (factor > 1 && result > 0) /* powers of 0 and 1 cannot overflow */
        for (uint64_t i = 0; i < exponent && !overflow; i++)
            overflow = __builtin_mul_overflow(result, factor, &result);
    else if (factor == 0 && exponent > 0)
        result = 0;
    if (overflow)
        return ERANGE;
    *value = result;
    return 0;
}

/* Parse one side from the first `length` characters. */
static bool read_side(const char *text, size_t length, uint64_t min, uint64_t max, size_t *side)
{
    char digits[24];
    uint64_t value;
    if (length >= sizeof digits)
        return false;
    memcpy(digits, text, length);
    digits[length] = 0;
    if (cli_read_natural(digits, &value) || value < min || value > max)
        return false;
    *side = (size_t)value;
    return true;
}

bool cli_read_sides(const char *text, uint64_t min, uint64_t max, size_t side[2])
{
    const size_t length = strcspn(text, "xX");
    const char *second = text[length] ? text + length + 1 : text;
    return read_side(text, length, min, max, &side[0]) &&
           read_side(second, strlen(second), min, max, &side[1]);
}

/* Write the option as typed, "--steps", "-e" or "-n, --bodies". */
static const char *option_label(const struct cli_option *option, char buffer[64])
{
    if (option->name && option->letter)
        snprintf(buffer, 64, "-%c, --%s", option->letter, option->name);
    else if (option->name)
        snprintf(buffer, 64, "--%s", option->name);
    else
        snprintf(buffer, 64, "-%c", option->letter);
    return buffer;
}

static int wrong_natural(const char *name, const char *text, int error, uint64_t min, uint64_t max)
{
    if (error == EINVAL && text[strspn(text, " \t")] == '-')
        return cli_wrong("%s: '%s' is negative; the smallest is %" PRIu64, name, text, min);
    if (error == EINVAL)
        return cli_wrong("%s: '%s' is not a whole number", name, text);
    if (error == ERANGE)
        return cli_wrong("%s: '%s' is too large; the largest is %" PRIu64, name, text, max);
    return cli_wrong("%s: '%s' is too small; at least %" PRIu64 " is needed", name, text, min);
}

static int read_natural(const struct cli_option *o, const char *name, const char *text)
{
    const uint64_t min = o->of.natural.min;
    uint64_t max = o->of.natural.max, value = 0;
    if (o->type == CLI_TYPE_SIZE && max > SIZE_MAX)
        max = SIZE_MAX;
    int error = cli_read_natural(text, &value);
    if (!error && value > max)
        error = ERANGE;
    if (error || value < min)
        return wrong_natural(name, text, error, min, max);
    if (o->type == CLI_TYPE_SIZE)
        *o->to.size = (size_t)value;
    else
        *o->to.u64 = value;
    return CLI_DONE;
}

static int read_int(const struct cli_option *o, const char *name, const char *text)
{
    const bool negative = text[0] == '-';
    uint64_t magnitude = 0;
    const int error = cli_read_natural(text + negative, &magnitude);
    if (error == EINVAL)
        return cli_wrong("%s: '%s' is not a whole number", name, text);
    const int64_t value = error || magnitude > INT_MAX ? INT64_MAX : (int64_t)magnitude;
    const int64_t with_sign = negative ? -value : value;
    if (with_sign < o->of.integer.min || with_sign > o->of.integer.max)
        return cli_wrong("%s: '%s' is out of range; give a whole number from %d to %d", name, text,
                         o->of.integer.min, o->of.integer.max);
    *o->to.integer = (int)with_sign;
    return CLI_DONE;
}

static int wrong_real(const struct cli_option *o, const char *name, const char *text)
{
    const double min = o->of.real.min, max = o->of.real.max;
    const bool above_0 = min == CLI_ABOVE_0;
    if (max < DBL_MAX)
        return cli_wrong("%s: '%s' is out of range; give a number %s %g %s %g", name, text,
                         above_0 ? "above" : "from", above_0 ? 0. : min,
                         above_0 ? "and at most" : "to", max);
    if (above_0)
        return cli_wrong("%s: '%s' is not allowed; give a number above 0", name, text);
    return cli_wrong("%s: '%s' is not allowed; give a number of at least %g", name, text, min);
}

/* Parse the number at the start of a text. Return its end; NULL if there is no number. Infinite
 * if out of range. */
static const char *begin_real(const char *text, double *value)
{
    char *end;
    if (isspace((unsigned char)*text))
        return NULL;
    *value = strtod(text, &end);
    return end == text ? NULL : end;
}

/* Parse a number, a quotient such as 1/256, or a power such as 2^-7 or -2^-7, where the sign
 * applies to the power. */
static bool read_expression(const char *text, double *value)
{
    double second;
    const char *end = begin_real(text, value);
    if (!end || !*end)
        return end != NULL;
    const char *last = *end == '/' || *end == '^' ? begin_real(end + 1, &second) : NULL;
    if (!last || *last)
        return false;
    *value = *end == '/' ? *value / second : copysign(pow(fabs(*value), second), *value);
    return true;
}

static int read_real(const struct cli_option *o, const char *name, const char *text)
{
    double value;
    if (!read_expression(text, &value))
        return cli_wrong("%s: '%s' is not a number", name, text);
    if (!isfinite(value))
        return cli_wrong("%s: '%s' is not a finite number", name, text);
    if (value < o->of.real.min || value > o->of.real.max)
        return wrong_real(o, name, text);
    *o->to.real = value;
    return CLI_DONE;
}

static int read_choice(const struct cli_option *o, const char *name, const char *text)
{
    char list[512] = "";
    struct cli_guess guess = {.word = text};
    for (int i = 0; o->of.choices[i]; i++) {
        if (strcasecmp(o->of.choices[i], text) == 0) {
            *o->to.integer = i;
            return CLI_DONE;
        }
        cli_guess_offer(&guess, o->of.choices[i]);
        cli_text_append(list, sizeof list, "%s%s", i ? ", " : "", o->of.choices[i]);
    }
    if (guess.best)
        return cli_wrong("%s: unknown value '%s'; did you mean '%s'? (one of %s)", name, text,
                         guess.best, list);
    return cli_wrong("%s: unknown value '%s'; give one of %s", name, text, list);
}

static int read_parsed(const struct cli_option *o, const char *name, const char *text)
{
    char why[512] = "";
    if (o->of.reader(text, o->to.any, why, sizeof why))
        return CLI_DONE;
    return cli_wrong("%s: %s", name, why);
}

/* Parse one value, NULL for a flag, into the variable of the entry. */
static int read_value(struct cli_option *o, const char *text)
{
    char buffer[64];
    const char *name = option_label(o, buffer);
    o->given++;
    switch (o->type) {
    case CLI_TYPE_FLAG:
        *o->to.flag = true;
        return CLI_DONE;
    case CLI_TYPE_INT:
        return read_int(o, name, text);
    case CLI_TYPE_SIZE:
    case CLI_TYPE_U64:
        return read_natural(o, name, text);
    case CLI_TYPE_REAL:
        return read_real(o, name, text);
    case CLI_TYPE_CHOICE:
        return read_choice(o, name, text);
    case CLI_TYPE_PARSED:
        return read_parsed(o, name, text);
    case CLI_TYPE_STRING:
    case CLI_TYPE_STRINGS:
        break;
    default:
        abort(); /* a heading has no names */
    }
    if (!*text)
        return cli_wrong("%s: the value is empty", name);
    if (o->type == CLI_TYPE_STRING)
        *o->to.string = text;
    else
        cli_strings_add(o->to.strings, text);
    return CLI_DONE;
}

/* ---- The command line. ----------------------------------------------------------------------- */

static struct cli_option *find_letter(struct cli_option *o, char letter)
{
    for (; o->type != CLI_TYPE_END; o++)
        if (o->letter && o->letter == letter)
            return o;
    return NULL;
}

/* Find an option by name. A one-letter name is the letter of an option: --n 1000 is -n 1000. */
static struct cli_option *find_name(struct cli_option *options, const char *name, size_t length)
{
    for (struct cli_option *o = options; o->type != CLI_TYPE_END; o++)
        if (o->name && strlen(o->name) == length && memcmp(o->name, name, length) == 0)
            return o;
    return length == 1 ? find_letter(options, *name) : NULL;
}

/* Offer the options that other programs call `guess->word`: their names do not resemble ours. */
static void offer_synonyms(struct cli_guess *guess, struct cli_option *options)
{
    static const char *const synonyms[][2] = {{"steps", "generations"},
                                              {"iterations", "generations"},
                                              {"iterations", "steps"},
                                              {"time", "until"},
                                              {"t-end", "until"},
                                              {"tmax", "until"},
                                              {"end", "until"},
                                              {"timestep", "dt"},
                                              {"file", "input"},
                                              {"softening", "eps"},
                                              {"soft", "eps"},
                                              {"epsilon", "eps"},
                                              {"number", "n"},
                                              {"count", "n"},
                                              {"particles", "n"},
                                              {"bodies", "n"},
                                              {"atoms", "n"},
                                              {"size", "n"},
                                              {"model", "ic"},
                                              {"init", "ic"},
                                              {"tolerance", "accuracy"},
                                              {"theta", "accuracy"},
                                              {"width", "size"},
                                              {"height", "size"},
                                              {"grid", "size"},
                                              {"random", "soup"},
                                              {"density", "soup"},
                                              {"format", "output"},
                                              {"out", "output"},
                                              {"png", "output"},
                                              {"image", "output"},
                                              {"picture", "output"},
                                              {"film", "output"},
                                              {"movie", "output"},
                                              {"video", "output"},
                                              {"gui", "view"},
                                              {"window", "view"},
                                              {"browser", "view"},
                                              {"cpu", "device"},
                                              {"gpu", "device"},
                                              {"gpus", "device"},
                                              {"double", "precision"},
                                              {"single", "precision"},
                                              {"float", "precision"}};
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms && !guess->best; i++)
        if (strcmp(guess->word, synonyms[i][0]) == 0 &&
            find_name(options, synonyms[i][1], strlen(synonyms[i][1])))
            guess->best = synonyms[i][1];
}

/* Refuse -X. Offer -x if that exists, or the reverse. */
static int wrong_letter(struct cli_option *options, char letter, const char *word)
{
    const unsigned char c = (unsigned char)letter;
    const char other = (char)(islower(c) ? toupper(c) : tolower(c));
    char where[80] = "";
    if (word[2])
        snprintf(where, sizeof where, " in '%.60s'", word);
    if (find_letter(options, other))
        return cli_wrong("unknown option '-%c'%s; did you mean '-%c'?", letter, where, other);
    return cli_wrong("unknown option '-%c'%s; '%s --help' lists those there are", letter, where,
                     cli_program);
}

static int wrong_name(struct cli_option *o, const char *name, size_t length)
{
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)(length < 60 ? length : 60), name);
    if (strcmp(word, "help") == 0 || strcmp(word, "version") == 0)
        return cli_wrong("--%s takes no value", word);
    struct cli_guess guess = {.word = word};
    offer_synonyms(&guess, o);
    if (guess.best)
        return cli_wrong("unknown option '--%s'; did you mean '%s%s'?", word,
                         guess.best[1] ? "--" : "-", guess.best);
    for (; o->type != CLI_TYPE_END; o++)
        if (o->name)
            cli_guess_offer(&guess, o->name);
    cli_guess_offer(&guess, "help");
    cli_guess_offer(&guess, "version");
    if (guess.best)
        return cli_wrong("unknown option '--%s'; did you mean '--%s'?", word, guess.best);
    return cli_wrong("unknown option '--%s'; '%s --help' lists those there are", word, cli_program);
}

static int missing_value(const struct cli_option *o, const char *next)
{
    char buffer[64];
    const char *name = option_label(o, buffer);
    return next ? cli_wrong("%s needs a value: %s; the next word is '%s'", name, o->argument, next)
                : cli_wrong("%s needs a value: %s", name, o->argument);
}

/* True if a word is an option and not the value of the option `o` before it. A text may look like
 * an option unless the command has such an option; --name=TEXT passes any text. */
static bool is_option(struct cli_option *options, const struct cli_option *o, const char *word)
{
    const bool is_long = strncmp(word, "--", 2) == 0, is_text = o->type == CLI_TYPE_STRING ||
                                                                o->type == CLI_TYPE_STRINGS ||
                                                                o->type == CLI_TYPE_PARSED;
    const char *name = word + 1 + is_long;
    double value;
    if (*word != '-' || !isalpha((unsigned char)*name))
        return false;
    if (!is_text)
        return o->type != CLI_TYPE_REAL || !begin_real(word, &value);
    return is_long ? find_name(options, name, strcspn(name, "=")) != NULL
                   : !name[1] && find_letter(options, *name);
}

/* True for a number that names no pattern, such as 0.3, -3 and 30%. */
static bool is_plain_number(const char *word)
{
    const char *digits = word + (*word == '-'), *end = digits + strspn(digits, "0123456789.");
    return strpbrk(digits, "0123456789") == digits + (*digits == '.') &&
           (!*end || strcmp(end, "%") == 0) && strpbrk(word, "-.%");
}

/* True if a word that follows an option with an optional value is meant as that value. It may also
 * be an operand, if the command has any: a file, or another name, such as of a pattern. */
static bool is_separate_value(const struct cli_usage *usage, const struct cli_option *o,
                              const char *word)
{
    char why[512];
    if (!word || (*word == '-' && !is_plain_number(word)))
        return false;
    if (!usage->file && !usage->operands)
        return true;
    if (access(word, F_OK) == 0)
        return false;
    return is_plain_number(word) || o->of.reader(word, o->to.any, why, sizeof why) ||
           (usage->file && !strpbrk(word, "./"));
}

/* Parse the value of an option: `joined` to its name, or the next word. */
static int read_any_value(const struct cli_usage *usage, struct cli_option *o, const char *joined,
                          char **argv, int *i)
{
    char buffer[64];
    const char *next = argv[*i + 1];
    if (joined)
        return read_value(o, joined);
    if (o->optional && is_separate_value(usage, o, next)) {
        const char *name = option_label(o, buffer);
        return cli_wrong("%s: its value must follow '=': %s=%s", name, name, next);
    }
    if (o->optional)
        return read_value(o, NULL);
    if (!next || is_option(usage->options, o, next))
        return missing_value(o, next);
    ++*i;
    return read_value(o, next);
}

/* Parse "--name", "--name=value" or "--name" "value". *i: index of the last word read. */
static int read_long(const struct cli_usage *usage, char **argv, int *i)
{
    struct cli_option *const options = usage->options;
    const char *name = argv[*i] + 2;
    const size_t length = strcspn(name, "=");
    const char *value = name[length] ? name + length + 1 : NULL;
    struct cli_option *o = find_name(options, name, length);
    if (!o)
        return wrong_name(options, name, length);
    o->by_letter = length == 1;
    if (o->type == CLI_TYPE_FLAG && value)
        return cli_wrong("--%.*s takes no value", (int)length, name);
    return o->type == CLI_TYPE_FLAG ? read_value(o, NULL)
                                    : read_any_value(usage, o, value, argv, i);
}

/* Parse "-x", "-xyz" (flags), "-xvalue" or "-x" "value". */
static int read_short(const struct cli_usage *usage, char **argv, int *i)
{
    struct cli_option *const options = usage->options;
    for (const char *p = argv[*i] + 1; *p; p++) {
        struct cli_option *o = find_letter(options, *p);
        if (!o)
            return wrong_letter(options, *p, argv[*i]);
        o->by_letter = true;
        if (o->type != CLI_TYPE_FLAG)
            return read_any_value(usage, o, p[1] ? p + 1 : NULL, argv, i);
        read_value(o, NULL);
    }
    return CLI_DONE;
}

static int read_operand(const struct cli_usage *usage, const char *text)
{
    struct cli_option *o =
        usage->file ? find_name(usage->options, usage->file, strlen(usage->file)) : NULL;
    if (o && o->given)
        return cli_wrong("unexpected argument '%s': there is an input already, %s", text,
                         *o->to.string);
    if (o)
        return read_value(o, text);
    if (!usage->operands)
        return cli_wrong("unexpected argument '%s'; '%s --help' shows the usage", text,
                         cli_program);
    if (!*text)
        return cli_wrong("the name of %s is empty", usage->operand);
    cli_strings_add(usage->operands, text);
    return CLI_DONE;
}

/* Abort if the command's tables name an option or value that does not exist. */
static void check_table(const struct cli_usage *usage)
{
    char term[64];
    if (cli_combinations_exist(usage, term))
        return;
    fprintf(stderr, "%s: a table names '%s', which is no option, value or condition\n", cli_program,
            term);
    abort();
}

bool cli_parse(const struct cli_usage *usage, int argc, char **argv, int *status)
{
    bool options = true;
    *status = CLI_DONE;
    check_table(usage);
    for (int i = 1; i < argc && *status == CLI_DONE; i++) {
        const char *word = argv[i];
        if (options && strcmp(word, "--") == 0) {
            options = false;
        } else if (options && (strcmp(word, "--help") == 0 ||
                               (strcmp(word, "-h") == 0 && !find_letter(usage->options, 'h')))) {
            cli_help(usage, stdout);
            return false;
        } else if (options && strcmp(word, "--help=table") == 0) {
            cli_describe(usage, stdout);
            return false;
        } else if (options && strcmp(word, "--version") == 0) {
            puts("stdcl " STDCL_VERSION);
            return false;
        } else if (options && strncmp(word, "--", 2) == 0) {
            *status = read_long(usage, argv, &i);
        } else if (options && word[0] == '-' && word[1]) {
            *status = read_short(usage, argv, &i);
        } else {
            *status = read_operand(usage, word);
        }
    }
    if (*status == CLI_DONE && usage->operands && usage->operands->n < usage->operands_min)
        *status =
            cli_wrong("%s is missing; '%s --help' shows the usage", usage->operand, cli_program);
    if (*status == CLI_DONE)
        *status = cli_check_files(usage);
    return *status == CLI_DONE;
}
