/* template_text.c - the text of an expanded template, with #line directives that lead back to it.
 *
 * A compiler counts lines from the last directive on. The text keeps the same count. If a line
 * would be attributed to a wrong line of the template, blank lines or a directive precede it. A
 * directive cannot stand within a line, in a comment (where it has no effect) or after a backslash
 * (where it would end a macro); the correction then waits for the next line that allows it.
 * SPDX-License-Identifier: MIT
 */
#include "template/template.h"

enum {
    MOST_TEXT = 256 << 20, /* more than any compiler takes */
    MOST_BLANK_LINES = 4,  /* a longer gap gets a directive */
};

static bool text_reserve(struct text *t, size_t n)
{
    size_t need = t->size + n + 1;
    if (need <= t->capacity)
        return true;
    size_t capacity = 2 * t->capacity > need ? 2 * t->capacity : need + 4096;
    char *data = realloc(t->data, capacity);
    if (!data)
        return false;
    t->data = data;
    t->capacity = capacity;
    return true;
}

static bool write_directive(struct text *t, size_t line)
{
    if (!text_reserve(t, 4 * strlen(t->file) + 40))
        return false;
    char *to = t->data + t->size;
    to += sprintf(to, "#line %zu \"", line);
    for (const char *c = t->file; *c; c++) {
        if (*c == '"' || *c == '\\')
            *to++ = '\\';
        *to++ = (unsigned char)*c < ' ' ? '?' : *c;
    }
    to += sprintf(to, "\"\n");
    t->size = (size_t)(to - t->data);
    t->directives++;
    t->believed = line;
    return true;
}

/* Called before the first character of a line that belongs to `line` of the template. */
static bool text_correct_line(struct text *t, size_t line)
{
    if (!t->file || t->believed == line || t->continues)
        return true;
    if (t->believed && line > t->believed && line - t->believed <= MOST_BLANK_LINES) {
        if (!text_reserve(t, MOST_BLANK_LINES))
            return false;
        for (; t->believed < line; t->believed++)
            t->data[t->size++] = '\n';
        return true;
    }
    return t->state == IN_BLOCK_COMMENT || write_directive(t, line);
}

/* Called after a newline. Directives in lines that the preprocessor skips have no effect, so after
 * #else, #elif and #endif the count is uncertain. */
static void end_line(struct text *t)
{
    t->continues = t->before == '\\';
    if (t->believed)
        t->believed++;
    if (t->continues)
        return;
    if (t->state != IN_BLOCK_COMMENT)
        t->state = IN_CODE;
    if (t->directive == 'e' && t->directives > 1)
        t->believed = 0;
    t->directive = 0;
}

/* Track comments, strings and the first letter of a preprocessor directive. */
static void text_follow(struct text *t, char c)
{
    if (t->state == IN_CODE) {
        bool blank = c == ' ' || c == '\t';
        if (t->before == '/' && (c == '/' || c == '*')) {
            t->state = c == '/' ? IN_LINE_COMMENT : IN_BLOCK_COMMENT;
            c = 0; /* the star that opens a comment cannot close it */
        } else if (c == '"' || c == '\'') {
            t->state = c == '"' ? IN_STRING : IN_CHARACTER;
        }
        if (!t->begun && !t->continues && c == '#')
            t->directive = '#';
        else if (t->directive == '#' && !blank)
            t->directive = c;
        t->begun = t->begun || !blank;
        t->escaped = false;
    } else if (t->state == IN_BLOCK_COMMENT) {
        if (t->before == '*' && c == '/') {
            t->state = IN_CODE;
            c = 0;
        }
    } else if (t->state != IN_LINE_COMMENT) {
        char quote = t->state == IN_STRING ? '"' : '\'';
        if (!t->escaped && c == quote)
            t->state = IN_CODE;
        t->escaped = !t->escaped && c == '\\';
    }
    t->before = c;
}

const char *text_append(struct text *t, const char *bytes, size_t n, size_t line, bool value)
{
    if (n > MOST_TEXT || t->size > MOST_TEXT - n)
        return "the text grows beyond 256 MiB";
    if (!text_reserve(t, n))
        return "out of memory for the text";
    for (size_t i = 0; i < n; i++) {
        char c = bytes[i];
        bool starts = t->size == 0 || t->data[t->size - 1] == '\n';
        if (c == '\0')
            return "a zero byte, which no source text holds";
        if (starts && (!text_correct_line(t, line) || !text_reserve(t, n - i)))
            return "out of memory for the text";
        t->data[t->size++] = c;
        if (c == '\n') {
            end_line(t);
            t->begun = false;
            t->before = 0;
            line += !value;
        } else if (c != '\r') {
            text_follow(t, c);
        }
    }
    return NULL;
}
