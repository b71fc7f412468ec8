/* script.c - modules as browsers get them: all in one, so without imports and exports; and without
 * what only those want who read the source, comments, indentation, spaces and ends of lines that
 * mean nothing.
 *
 * It knows of the language what it must: words, strings, templates, regular expressions (after a
 * sign, or `return`), and where the end of a line may end a statement. A line ends there only where
 * the source has a semicolon or a brace, as ours does.
 * SPDX-License-Identifier: MIT
 */
#include "view/internal.h"

#include <ctype.h>

struct script {
    const char *at, *end;
    struct bytes *to;
    char before; /* the last sign that was put; 'a' of a regular expression, whose flags may follow;
                    0: none */
};

enum gap { NONE, SPACES, LINES };

static bool starts(const struct script *s, const char *word)
{
    const size_t n = strlen(word);
    return (size_t)(s->end - s->at) >= n && memcmp(s->at, word, n) == 0;
}

static bool one_of(char sign, const char *signs)
{
    return sign && strchr(signs, sign);
}

static bool in_word(char sign)
{
    return isalnum((unsigned char)sign) || one_of(sign, "_$") || (unsigned char)sign >= 0x80;
}

static void put(struct script *s, size_t n)
{
    bytes_put(s->to, s->at, n);
    s->before = s->at[n - 1];
    s->at += n;
}

/* ---- Between words and signs. ---------------------------------------------------------------- */

static void skip_line(struct script *s)
{
    const char *end = memchr(s->at, '\n', (size_t)(s->end - s->at));
    s->at = end ? end : s->end;
}

static enum gap skip(struct script *s)
{
    enum gap gap = s->before ? NONE : LINES;
    for (; s->at < s->end; s->at++) {
        if (*s->at == '\n')
            gap = LINES;
        else if (starts(s, "//") || (gap == LINES && starts(s, "import "))) {
            skip_line(s);
            s->at--;
        } else if (gap == LINES && starts(s, "export "))
            s->at += strlen("export ") - 1;
        else if (*s->at != ' ')
            break;
        else if (gap == NONE)
            gap = SPACES;
    }
    return gap;
}

/* What must stay of a gap; 0: nothing. */
static char between(char before, enum gap gap, char next)
{
    const bool apart =
        (in_word(before) && in_word(next)) || (before == next && one_of(next, "+-/"));
    if (gap == LINES && before && !one_of(before, "{([,;:?=&|") && !one_of(next, "})],;:?.&|"))
        return '\n';
    return gap != NONE && apart ? ' ' : 0;
}

/* ---- Texts in quotes. ------------------------------------------------------------------------ */

static void put_quoted(struct script *s, char quote)
{
    do
        put(s, *s->at == '\\' && s->at + 1 < s->end ? 2 : 1);
    while (s->at < s->end && *s->at != quote);
    if (s->at < s->end)
        put(s, 1);
}

/* A template, whose lines lose their indentation only. */
static void put_template(struct script *s)
{
    int depth = 0; /* of braces */
    do {
        if (depth && one_of(*s->at, "\"'"))
            put_quoted(s, *s->at);
        else if (depth && *s->at == '`')
            put_template(s);
        else {
            const bool opens = starts(s, "${"), line = *s->at == '\n' && !depth;
            depth += opens || (depth && *s->at == '{');
            depth -= depth && *s->at == '}';
            put(s, opens || (*s->at == '\\' && s->at + 1 < s->end) ? 2 : 1);
            while (line && s->at < s->end && *s->at == ' ')
                s->at++;
        }
    } while (s->at < s->end && (depth || *s->at != '`'));
    if (s->at < s->end)
        put(s, 1);
}

static bool is_expression(const struct script *s)
{
    const size_t n = strlen("return");
    return one_of(s->before, "(,=:[!&|?{;>") ||
           (s->to->used >= n && memcmp(s->to->at + s->to->used - n, "return", n) == 0);
}

static void put_expression(struct script *s)
{
    bool within = false; /* [...], where a slash is a letter */
    do {
        within = *s->at == '[' || (within && *s->at != ']');
        put(s, *s->at == '\\' && s->at + 1 < s->end ? 2 : 1);
    } while (s->at < s->end && (within || *s->at != '/'));
    if (s->at < s->end)
        put(s, 1);
    s->before = 'a';
}

void script_put(struct bytes *to, const void *text, size_t size)
{
    struct script s = {text, (const char *)text + size, to, 0};
    for (enum gap gap = skip(&s); s.at < s.end && !to->failed; gap = skip(&s)) {
        const char kept = between(s.before, gap, *s.at);
        if (kept)
            bytes_put(to, &kept, 1);
        if (one_of(*s.at, "\"'"))
            put_quoted(&s, *s.at);
        else if (*s.at == '`')
            put_template(&s);
        else if (*s.at == '/' && is_expression(&s))
            put_expression(&s);
        else
            put(&s, 1);
    }
    bytes_put(to, "\n", 1);
}
