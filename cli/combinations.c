/* combinations.c - which options of a command go together: refusals, and sentences for --help.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "message.h"
#include "text.h"
#include "usage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a term is written: as typed; by name, in --help; or by name and argument, to be added. */
enum wording { AS_TYPED, BY_NAME, TO_ADD };

/* A part of a term: "name", "name=value" or "name!value". */
struct part {
    char word[64];
    const struct cli_option *option; /* NULL: a condition */
    const struct cli_condition *condition;
    char relation;     /* '=', '!', or 0 */
    const char *value; /* in `word` */
};

/* Copy the next word of a list, and advance. False at the end, and for NULL. */
static bool next_word(const char **at, char separator, char word[64])
{
    const char ends[] = {separator, '\0'};
    const size_t length = *at ? strcspn(*at, ends) : 0;
    snprintf(word, 64, "%.*s", (int)length, *at ? *at : "");
    if (*at)
        *at += length + strspn(*at + length, ends);
    return length > 0;
}

bool cli_list_has(const char *list, const char *name)
{
    char word[64];
    while (next_word(&list, ' ', word))
        if (strcmp(word, name) == 0)
            return true;
    return false;
}

/* ---- Options by name. ------------------------------------------------------------------------ */

static const struct cli_option *find_option(const struct cli_option *o, const char *name)
{
    for (; o->type != CLI_TYPE_END; o++)
        if ((o->name && strcmp(o->name, name) == 0) ||
            (o->letter && o->letter == name[0] && !name[1]))
            return o;
    return NULL;
}

/* Entry of an option, which must be in the table. */
static const struct cli_option *option_entry(const struct cli_option *options, const char *name)
{
    const struct cli_option *o = find_option(options, name);
    if (o)
        return o;
    fprintf(stderr, "%s: no option '%s' in the table\n", cli_program, name);
    abort();
}

unsigned cli_given(const struct cli_option *options, const char *name)
{
    return option_entry(options, name)->given;
}

const char *cli_typed(const struct cli_option *options, const char *name)
{
    static char typed[4][64];
    static unsigned next;
    const struct cli_option *o = option_entry(options, name);
    char *text = typed[next++ % 4];
    if (o->letter && (o->by_letter || !o->given || !o->name))
        snprintf(text, sizeof *typed, "-%c", o->letter);
    else
        snprintf(text, sizeof *typed, "--%s", o->name);
    return text;
}

/* ---- Terms. ---------------------------------------------------------------------------------- */

/* True if the value of an option is `value`; *known: the value exists, for this type. */
static bool option_has_value(const struct cli_option *o, const char *value, bool *known)
{
    *known = o->type == CLI_TYPE_REAL || o->type == CLI_TYPE_STRING || o->type == CLI_TYPE_STRINGS;
    if (o->type == CLI_TYPE_REAL)
        return *o->to.real == strtod(value, NULL);
    if (o->type == CLI_TYPE_STRING)
        return *o->to.string && strcmp(*o->to.string, value) == 0;
    for (size_t i = 0; o->type == CLI_TYPE_STRINGS && i < o->to.strings->n; i++)
        if (strcmp(o->to.strings->item[i], value) == 0)
            return true;
    for (int i = 0; o->type == CLI_TYPE_CHOICE && o->of.choices[i]; i++)
        if (strcmp(o->of.choices[i], value) == 0)
            return *known = true, *o->to.integer == i;
    return false;
}

static struct cli_condition *find_condition(struct cli_condition *c, const char *name)
{
    for (; c && c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

void cli_condition_set(const struct cli_usage *usage, const char *name, bool holds)
{
    struct cli_condition *c = find_condition(usage->conditions, name);
    if (!c)
        abort();
    c->holds = holds;
}

/* Parse the next part of a term, and advance. False at the end. What does not exist has neither
 * option nor condition. */
static bool next_part(const struct cli_usage *usage, const char **term, struct part *p)
{
    char name[64];
    bool known = true;
    *p = (struct part){.relation = 0};
    if (!next_word(term, '+', p->word))
        return false;
    const size_t length = strcspn(p->word, "=!");
    snprintf(name, sizeof name, "%.*s", (int)length, p->word);
    p->relation = p->word[length];
    p->value = p->word + length + (p->relation != 0);
    p->option = find_option(usage->options, name);
    if (p->option && p->relation)
        option_has_value(p->option, p->value, &known);
    if (!known)
        p->option = NULL;
    else if (!p->option && !p->relation)
        p->condition = find_condition(usage->conditions, name);
    return true;
}

static bool part_holds(const struct part *p)
{
    const struct cli_option *o = p->option;
    bool known;
    if (!o)
        return p->condition->holds;
    if (!p->relation)
        return o->given || (o->type == CLI_TYPE_STRING && *o->to.string);
    return option_has_value(o, p->value, &known) ? p->relation == '='
                                                 : p->relation == '!' && o->given;
}

/* Copy the first term of a list that holds. */
static bool find_holding(const struct cli_usage *usage, const char *list, char term[64])
{
    struct part p;
    while (next_word(&list, ' ', term)) {
        const char *rest = term;
        bool holds = true;
        while (holds && next_part(usage, &rest, &p))
            holds = part_holds(&p);
        if (holds)
            return true;
    }
    return false;
}

/* ---- Sentences. ------------------------------------------------------------------------------ */

static const char *actual_value(const struct cli_option *o, char text[32])
{
    if (o->type == CLI_TYPE_CHOICE)
        return o->of.choices[*o->to.integer];
    if (o->type == CLI_TYPE_STRINGS) {
        const struct cli_strings *const given = o->to.strings;
        snprintf(text, 32, "%s", given->n ? given->item[given->n - 1] : "");
    } else
        snprintf(text, 32, "%g", *o->to.real);
    return text;
}

static void append_part(const struct cli_usage *usage, const struct part *p, enum wording wording,
                        char *text, size_t size)
{
    const struct cli_option *o = p->option;
    const bool by_value = !o && p->condition->option && wording == AS_TYPED;
    char value[32];
    if (by_value)
        o = option_entry(usage->options, p->condition->option);
    if (!o) {
        cli_text_append(text, size, "%s", p->condition->text);
        return;
    }
    const char letter[] = {o->letter, '\0'};
    cli_text_append(text, size, "%s", cli_typed(usage->options, o->name ? o->name : letter));
    if (by_value || (p->relation == '!' && wording == AS_TYPED))
        cli_text_append(text, size, " %s", actual_value(o, value));
    else if (p->relation)
        cli_text_append(text, size, " %s%s", p->relation == '!' ? "other than " : "", p->value);
    else if (wording == TO_ADD && o->argument && !o->optional)
        cli_text_append(text, size, " %s", o->argument);
}

/* Append the terms of a list, as in "a, b and c"; `last` joins the last one. An option as typed
 * appears once in a term, although the term may exclude several of its values. */
static void append_list(const struct cli_usage *usage, const char *list, const char *last,
                        enum wording wording, char *text, size_t size)
{
    char term[64];
    struct part p;
    for (bool first = true; next_word(&list, ' ', term); first = false) {
        const char *rest = term;
        const struct cli_option *before = NULL;
        cli_text_append(text, size, "%s", first ? "" : *list ? ", " : last);
        for (bool alone = true; next_part(usage, &rest, &p); alone = false) {
            if (wording == AS_TYPED && p.option && p.option == before)
                continue;
            before = p.option;
            cli_text_append(text, size, "%s", alone ? "" : *rest ? ", " : " and ");
            append_part(usage, &p, wording, text, size);
        }
    }
}

void cli_combination_text(const struct cli_usage *usage, const struct cli_combination *row,
                          char *text, size_t size)
{
    const bool several = strpbrk(row->option, " +") != NULL;
    *text = '\0';
    append_list(usage, row->option, " and ", BY_NAME, text, size);
    cli_text_append(text, size, " %s%s ",
                    row->requires   ? "need"
                    : row->excludes ? "exclude"
                                    : "allow",
                    several ? "" : "s");
    append_list(usage, row->requires, " or ", TO_ADD, text, size);
    append_list(usage, row->excludes, " and ", BY_NAME, text, size);
    cli_text_append(text, size, "%s", row->only ? "only " : "");
    append_list(usage, row->only, " and ", BY_NAME, text, size);
    cli_text_append(text, size, "%s%s", row->reason ? ": " : "", row->reason ? row->reason : "");
}

/* ---- Checks. --------------------------------------------------------------------------------- */

/* The first given option that a row with `only` does not list. */
static bool find_unlisted(const struct cli_usage *usage, const struct cli_combination *row,
                          char term[64])
{
    for (const struct cli_option *o = usage->options; o->type != CLI_TYPE_END; o++) {
        const char letter[] = {o->letter, '\0'}, *name = o->name ? o->name : letter;
        snprintf(term, 64, "%s", name);
        if (o->given && !cli_list_has(row->option, name) && !cli_list_has(row->only, name) &&
            !cli_list_has(row->only, letter))
            return true;
    }
    return false;
}

/* Check a row for a term of it that holds. */
static int check_combination(const struct cli_usage *usage, const struct cli_combination *row,
                             const char *term)
{
    char other[64], left[256] = "", right[512] = "";
    const char *colon = row->reason ? ": " : "", *reason = row->reason ? row->reason : "";
    append_list(usage, term, "", AS_TYPED, left, sizeof left);
    if (row->requires) {
        append_list(usage, row->requires, " or ", TO_ADD, right, sizeof right);
        return find_holding(usage, row->requires, other)
                   ? CLI_DONE
                   : cli_wrong("%s need%s %s%s%s", left, strchr(term, '+') ? "" : "s", right, colon,
                               reason);
    }
    if (row->excludes ? !find_holding(usage, row->excludes, other)
                      : !find_unlisted(usage, row, other))
        return CLI_DONE;
    append_list(usage, other, "", AS_TYPED, right, sizeof right);
    return cli_wrong("%s and %s cannot be combined%s%s", left, right, colon, reason);
}

int cli_combinations_check(const struct cli_usage *usage)
{
    int status;
    for (const struct cli_combination *row = usage->combinations; row && row->option; row++) {
        const char *list = row->option;
        char term[64], held[64];
        while (next_word(&list, ' ', term))
            if (find_holding(usage, term, held) &&
                (status = check_combination(usage, row, term)) != CLI_DONE)
                return status;
    }
    return CLI_DONE;
}

/* ---- The table itself. ----------------------------------------------------------------------- */

static bool list_exists(const struct cli_usage *usage, const char *list, char term[64])
{
    struct part p;
    while (next_word(&list, ' ', term)) {
        const char *rest = term;
        while (next_part(usage, &rest, &p))
            if (!p.option && !p.condition)
                return false;
    }
    return true;
}

bool cli_combinations_exist(const struct cli_usage *usage, char term[64])
{
    for (const struct cli_combination *c = usage->combinations; c && c->option; c++)
        if (!list_exists(usage, c->option, term) || !list_exists(usage, c->requires, term) ||
            !list_exists(usage, c->excludes, term) || !list_exists(usage, c->only, term))
            return false;
    for (const struct cli_condition *c = usage->conditions; c && c->name; c++)
        if (!list_exists(usage, c->option, term))
            return false;
    return list_exists(usage, usage->reads, term) && list_exists(usage, usage->writes, term);
}
