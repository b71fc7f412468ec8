/* kernel_text.c - reads OpenCL C as words and signs, and finds what typedefs and macros stand for.
 *
 * This is no preprocessor: it follows #ifdef, #if and #else as far as their conditions are made of
 * macros of the file and of the build options. A word with different definitions that may both
 * apply is uncertain.
 * SPDX-License-Identifier: MIT
 */
#include "core/kernel_text.h"

#include <ctype.h>

/* ---- Words and signs. ---- */

bool text_is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static const char *after_comment(const char *c)
{
    if (c[1] == '/')
        return c + strcspn(c, "\n");
    const char *end = strstr(c + 2, "*/");
    return end ? end + 2 : c + strlen(c);
}

static const char *after_string(const char *c)
{
    const char quote = *c++;
    while (*c && *c != quote && *c != '\n')
        c += *c == '\\' && c[1] ? 2 : 1;
    return *c == quote ? c + 1 : c;
}

/* Skip to the newline that ends a directive. */
static const char *after_directive(const char *c)
{
    while (*c && *c != '\n')
        c = *c == '/' && (c[1] == '/' || c[1] == '*')    ? after_comment(c)
            : *c == '\\' && c[1] == '\r' && c[2] == '\n' ? c + 3
            : *c == '\\' && c[1]                         ? c + 2
                                                         : c + 1;
    return c;
}

struct token text_next(struct reader *r)
{
    for (const char *c = r->at;;) {
        if (*c == '/' && (c[1] == '/' || c[1] == '*')) {
            c = after_comment(c);
        } else if (*c == '#' && !r->begun) {
            const char *begin = c;
            r->at = c = after_directive(c);
            r->directives++;
            if (r->tells_directives)
                return (struct token){begin, (size_t)(c - begin)};
        } else if (isspace((unsigned char)*c) || (*c == '\\' && (c[1] == '\n' || c[1] == '\r'))) {
            r->begun = r->begun && *c != '\n';
            c++;
        } else {
            const char *end = text_is_letter(*c)        ? c
                              : *c == '"' || *c == '\'' ? after_string(c)
                                                        : c + (*c != 0);
            while (text_is_letter(*c) && text_is_letter(*end))
                end++;
            r->begun = true;
            r->at = end;
            return (struct token){c, (size_t)(end - c)};
        }
    }
}

bool token_is(struct token t, const char *text)
{
    return strlen(text) == t.length && strncmp(t.text, text, t.length) == 0;
}

void text_skip_group(struct reader *r)
{
    struct token t;
    for (size_t depth = 1; depth && (t = text_next(r)).length;)
        depth = token_is(t, "(") || token_is(t, "[")   ? depth + 1
                : token_is(t, ")") || token_is(t, "]") ? depth - 1
                                                       : depth;
}

/* ---- Conditions. ---- */

enum truth { NO, YES, MAYBE };

/* A branch of #if: its condition, and whether an earlier branch applied. */
struct branch {
    enum truth now, before;
};

struct macro {
    struct token name, value;
};

enum { MOST_LEVELS = 32, MOST_MACROS = 512 };

/* A walk through the source. */
struct walk {
    const struct text *text;
    struct reader reader;
    struct branch level[MOST_LEVELS];
    size_t depth;
    struct macro macro[MOST_MACROS]; /* defined so far */
    size_t macros;
    bool unsure; /* there may be other macros: of an included file, or too many */
};

static enum truth not(enum truth t) { return t == MAYBE ? MAYBE : t == YES ? NO : YES; }

static enum truth both(enum truth a, enum truth b)
{
    return a == NO || b == NO ? NO : a == YES && b == YES ? YES : MAYBE;
}

/* True if the current line is compiled. */
static enum truth is_live(const struct walk *w)
{
    enum truth live = w->depth > MOST_LEVELS ? MAYBE : YES;
    for (size_t i = 0; i < w->depth && i < MOST_LEVELS; i++)
        live = both(live, w->level[i].now);
    return live;
}

/* The value of -D NAME or -D NAME=VALUE in the options: "1" if there is none. */
static bool find_option(const char *options, struct token name, struct token *value)
{
    bool found = false;
    for (const char *c = options; c && (c = strstr(c, "-D")) != NULL;) {
        c += 2;
        c += strspn(c, " \t");
        if (strncmp(c, name.text, name.length) != 0 || text_is_letter(c[name.length]))
            continue;
        c += name.length;
        *value =
            *c == '=' ? (struct token){c + 1, strcspn(c + 1, " \t\n")} : (struct token){"1", 1};
        found = true;
    }
    return found;
}

/* True if a macro is defined, with its value. */
static enum truth find_macro(const struct walk *w, struct token name, struct token *value)
{
    for (size_t i = w->macros; i-- > 0;)
        if (w->macro[i].name.length == name.length &&
            strncmp(w->macro[i].name.text, name.text, name.length) == 0) {
            *value = w->macro[i].value;
            return YES;
        }
    if (find_option(w->text->options, name, value))
        return YES;
    const bool predefined =
        strncmp(name.text, "__", 2) == 0 || strncasecmp(name.text, "cl_", 3) == 0;
    return w->unsure || predefined ? MAYBE : NO;
}

/* The number that a word of a condition stands for; false if unknown. A word that is no macro is
 * 0. */
static bool number_of(const struct walk *w, struct token t, long *number)
{
    struct token value = t;
    if (t.length && !isdigit((unsigned char)*t.text)) {
        const enum truth defined = find_macro(w, t, &value);
        *number = 0;
        if (defined != YES || !value.length)
            return defined == NO;
    }
    char digits[24], *end;
    snprintf(digits, sizeof digits, "%.*s", (int)(value.length < 23 ? value.length : 23),
             value.text);
    *number = strtol(digits, &end, 0);
    return end != digits && strspn(end, "uUlL") == strlen(end);
}

/* A directive, split into its first tokens. */
enum { MOST_TOKENS = 8 };
struct directive {
    struct token token[MOST_TOKENS + 1]; /* the rest has length 0 */
    size_t n;                            /* MOST_TOKENS + 1: there are more */
};

static struct directive split_directive(struct token t)
{
    struct directive d = {.n = 0};
    const char *end = t.text + t.length;
    struct reader r = {.at = t.text + 1, .begun = true};
    for (struct token next = text_next(&r); next.length && next.text < end && d.n <= MOST_TOKENS;
         next = text_next(&r))
        d.token[d.n++] = next;
    return d;
}

/* Evaluate the condition of #if from its token `i` on: [!] defined X, [!] X, X == n, X != n. */
static enum truth evaluate(const struct walk *w, const struct directive *d, size_t i)
{
    struct token value;
    long a, b;
    const bool inverse = token_is(d->token[i], "!");
    i += inverse;
    size_t left = d->n > i ? d->n - i : 0;
    const struct token *t = &d->token[i];
    if (token_is(t[0], "defined") && (left == 2 || (left == 4 && token_is(t[1], "(")))) {
        const enum truth defined = find_macro(w, t[left == 2 ? 1 : 2], &value);
        return inverse ? not(defined) : defined;
    }
    if (left == 1 && number_of(w, t[0], &a))
        return (a != 0) != inverse ? YES : NO;
    if (left == 4 && !inverse && token_is(t[2], "=") && number_of(w, t[0], &a) &&
        number_of(w, t[3], &b)) {
        if (token_is(t[1], "="))
            return a == b ? YES : NO;
        if (token_is(t[1], "!"))
            return a != b ? YES : NO;
    }
    return MAYBE;
}

/* Only a value of one token can be a number. */
static void add_macro(struct walk *w, const struct directive *d)
{
    const struct token none = {"", 0};
    if (d->n < 2)
        return;
    if (w->macros == MOST_MACROS || is_live(w) == MAYBE) {
        w->unsure = true;
        return;
    }
    w->macro[w->macros++] = (struct macro){d->token[1], d->n == 3 ? d->token[2] : none};
}

/* #if, #ifdef, #ifndef: enter a conditional part. */
static void enter_part(struct walk *w, const struct directive *d)
{
    const struct token what = d->token[0];
    struct token value;
    enum truth now = token_is(what, "if") ? evaluate(w, d, 1)
                     : d->n < 2           ? MAYBE
                                          : find_macro(w, d->token[1], &value);
    now = token_is(what, "ifndef") ? not(now) : now;
    if (w->depth < MOST_LEVELS)
        w->level[w->depth] = (struct branch){now, now};
    w->depth++;
}

/* #elif, #else: enter the next branch. */
static void next_branch(struct walk *w, const struct directive *d)
{
    if (w->depth == 0 || w->depth > MOST_LEVELS)
        return;
    struct branch *b = &w->level[w->depth - 1];
    b->now = both(not(b->before), token_is(d->token[0], "else") ? YES : evaluate(w, d, 1));
    b->before = not(both(not(b->before), not(b->now)));
}

/* Enter or leave a conditional part, or note a macro. */
static void follow_directive(struct walk *w, struct token whole)
{
    const struct directive d = split_directive(whole);
    const struct token what = d.token[0];
    if (token_is(what, "if") || token_is(what, "ifdef") || token_is(what, "ifndef"))
        enter_part(w, &d);
    else if (token_is(what, "elif") || token_is(what, "else"))
        next_branch(w, &d);
    else if (token_is(what, "endif"))
        w->depth -= w->depth > 0;
    else if (is_live(w) != NO && token_is(what, "define"))
        add_macro(w, &d);
    else if (is_live(w) != NO && (token_is(what, "include") || token_is(what, "undef")))
        w->unsure = true;
}

/* ---- Definitions. ---- */

struct search {
    const char *word;
    char *meaning; /* `room` bytes */
    size_t room;
    enum definition found;
};

/* Add a definition; a second one that differs makes the word uncertain. */
static void add_definition(struct search *s, const char *meaning, bool plain)
{
    if (!plain || strlen(meaning) >= s->room ||
        (s->found == DEFINED && strcmp(s->meaning, meaning) != 0)) {
        s->found = UNCERTAIN;
    } else if (s->found == UNDEFINED) {
        s->found = DEFINED;
        strcpy(s->meaning, meaning);
    }
}

/* Append a word after a blank; false if there is no room. */
static bool append_word(char *text, size_t room, struct token t)
{
    const size_t n = strlen(text);
    return snprintf(text + n, room - n, "%s%.*s", n ? " " : "", (int)t.length, t.text) <
           (int)(room - n);
}

/* A macro of the directive `whole`, if it defines the word. */
static void search_macro(struct search *s, struct token whole)
{
    const struct directive d = split_directive(whole);
    char meaning[128] = "";
    if (d.n < 2 || !token_is(d.token[0], "define") || !token_is(d.token[1], s->word))
        return;
    bool plain = d.n <= MOST_TOKENS && d.token[1].text[d.token[1].length] != '(';
    for (size_t i = 2; i < d.n && plain; i++)
        plain = append_word(meaning, sizeof meaning, d.token[i]);
    add_definition(s, meaning, plain);
}

static void skip_braces(struct reader *r)
{
    struct token t;
    for (size_t depth = 1; depth && (t = text_next(r)).length;)
        depth = token_is(t, "{") ? depth + 1 : token_is(t, "}") ? depth - 1 : depth;
}

static bool is_tag_word(struct token t)
{
    return token_is(t, "struct") || token_is(t, "union") || token_is(t, "enum");
}

/* A typedef, read after that word, if its name is the word that is searched for. A struct without a
 * tag gets the name. */
static void search_typedef(struct search *s, struct reader *r)
{
    char meaning[128] = "";
    bool plain = true, named = false, untagged = false;
    struct token last = {"", 0};
    for (struct token t = text_next(r); t.length && !token_is(t, ";"); t = text_next(r)) {
        if (token_is(t, "__attribute__")) {
            if (token_is(text_next(r), "("))
                text_skip_group(r);
            continue;
        }
        if (token_is(t, "{")) {
            untagged = is_tag_word(last);
            skip_braces(r);
            continue;
        }
        plain = plain && append_word(meaning, sizeof meaning, last) &&
                (text_is_letter(*t.text) || token_is(t, "*"));
        named = named || (last.length && token_is(t, s->word));
        last = t;
    }
    if (!token_is(last, s->word)) {
        if (named && !plain) /* a function or an array, or one of several names */
            add_definition(s, meaning, false);
        return;
    }
    if (untagged)
        plain = plain && append_word(meaning, sizeof meaning, last);
    add_definition(s, meaning, plain);
}

/* True if the source may define the word: it contains "define WORD", or "WORD ;". */
static bool may_define(const char *source, const char *word)
{
    const size_t length = strlen(word);
    for (const char *c = source; (c = strstr(c, word)) != NULL; c += length) {
        const char *end = c + length;
        const char *before = c;
        while (before > source && (before[-1] == ' ' || before[-1] == '\t'))
            before--;
        if (before - source >= 6 && before < c && strncmp(before - 6, "define", 6) == 0)
            return true;
        if (end[strspn(end, " \t\r\n")] == ';')
            return true;
    }
    return false;
}

enum definition text_definition(const struct text *text, const char *word, char *meaning,
                                size_t room)
{
    struct search s = {word, meaning, room, UNDEFINED};
    struct token value;
    if (find_option(text->options, (struct token){word, strlen(word)}, &value)) {
        char option[128];
        snprintf(option, sizeof option, "%.*s", (int)(value.length < 127 ? value.length : 127),
                 value.text);
        add_definition(&s, option, value.length < 127 && !strpbrk(option, "'\"\\"));
    }
    if (!may_define(text->source, word))
        return s.found;
    struct walk *w = calloc(1, sizeof *w);
    if (!w)
        return UNCERTAIN;
    w->text = text;
    w->reader = (struct reader){.at = text->source, .tells_directives = true};
    for (struct token t = text_next(&w->reader); t.length; t = text_next(&w->reader)) {
        const bool directive = *t.text == '#' && t.length > 1;
        if (directive)
            follow_directive(w, t);
        if (is_live(w) == NO)
            continue;
        if (directive)
            search_macro(&s, t);
        else if (token_is(t, "typedef"))
            search_typedef(&s, &w->reader);
    }
    free(w);
    return s.found;
}
