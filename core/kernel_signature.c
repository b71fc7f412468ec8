/* kernel_signature.c - parses the declarations of a kernel's arguments from its source.
 *
 * For platforms without argument information, and for NVIDIA's when a kernel of the file has no
 * arguments (build.c). This is no compiler: it skips comments, strings and directives and reads the
 * words between `kernel` and the parenthesis that closes the parameters. A word that OpenCL C does
 * not define may be a macro or a typedef; the argument that depends on it stays unknown.
 * SPDX-License-Identifier: MIT
 */
#include "core/kernel.h"

#include <ctype.h>

size_t opencl_type_size(const char *type)
{
    static const struct {
        const char *name;
        size_t size;
    } scalars[] = {
        {"char", 1},           {"uchar", 1},
        {"short", 2},          {"ushort", 2},
        {"half", 2},           {"int", 4},
        {"uint", 4},           {"float", 4},
        {"long", 8},           {"ulong", 8},
        {"double", 8},         {"unsigned char", 1},
        {"unsigned short", 2}, {"unsigned int", 4},
        {"unsigned long", 8},  {"sampler_t", sizeof(cl_sampler)},
    };
    size_t letters = strlen(type);
    while (letters && isdigit((unsigned char)type[letters - 1]))
        letters--;
    size_t elements = type[letters] ? strtoul(type + letters, NULL, 10) : 1;
    if (type[letters] && elements != 2 && elements != 3 && elements != 4 && elements != 8 &&
        elements != 16)
        return 0;
    elements = elements == 3 ? 4 : elements;
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++)
        if (strlen(scalars[i].name) == letters && strncmp(type, scalars[i].name, letters) == 0)
            return scalars[i].size * elements;
    return 0;
}

/* ---- Words and signs. ---- */

struct reader {
    const char *at;
    bool begun;        /* the current line has a character that is not blank */
    size_t directives; /* number skipped so far */
};

struct token {
    const char *text;
    size_t length; /* 0: end of the text */
};

static bool is_letter(char c)
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

static struct token next(struct reader *r)
{
    for (const char *c = r->at;;) {
        if (*c == '/' && (c[1] == '/' || c[1] == '*')) {
            c = after_comment(c);
        } else if (*c == '#' && !r->begun) {
            c = after_directive(c);
            r->directives++;
        } else if (isspace((unsigned char)*c) || (*c == '\\' && (c[1] == '\n' || c[1] == '\r'))) {
            r->begun = r->begun && *c != '\n';
            c++;
        } else {
            const char *end = is_letter(*c)             ? c
                              : *c == '"' || *c == '\'' ? after_string(c)
                                                        : c + (*c != 0);
            while (is_letter(*c) && is_letter(*end))
                end++;
            r->begun = true;
            r->at = end;
            return (struct token){c, (size_t)(end - c)};
        }
    }
}

static bool word_is(struct token t, const char *text)
{
    return strlen(text) == t.length && strncmp(t.text, text, t.length) == 0;
}

/* Skip past the bracket that closes the one just read. */
static void skip_group(struct reader *r)
{
    struct token t;
    for (size_t depth = 1; depth && (t = next(r)).length;)
        depth = word_is(t, "(") || word_is(t, "[")   ? depth + 1
                : word_is(t, ")") || word_is(t, "]") ? depth - 1
                                                     : depth;
}

/* ---- What words mean. ---- */

enum meaning {
    UNKNOWN,
    NOTHING,
    GLOBAL,
    LOCAL,
    PRIVATE,
    TYPE,
    OBJECT,
    TAG,
    SIGNED,
    UNSIGNED,
    ATTRIBUTE
};

static enum meaning meaning_of(const char *word)
{
    static const struct {
        const char *word;
        enum meaning meaning;
    } known[] = {
        {"const", NOTHING},
        {"volatile", NOTHING},
        {"restrict", NOTHING},
        {"__restrict", NOTHING},
        {"__restrict__", NOTHING},
        {"read_only", NOTHING},
        {"write_only", NOTHING},
        {"read_write", NOTHING},
        {"__read_only", NOTHING},
        {"__write_only", NOTHING},
        {"__read_write", NOTHING},
        {"void", TYPE},
        {"global", GLOBAL},
        {"__global", GLOBAL},
        {"constant", GLOBAL},
        {"__constant", GLOBAL},
        {"local", LOCAL},
        {"__local", LOCAL},
        {"private", PRIVATE},
        {"__private", PRIVATE},
        {"struct", TAG},
        {"union", TAG},
        {"enum", TAG},
        {"signed", SIGNED},
        {"unsigned", UNSIGNED},
        {"__attribute__", ATTRIBUTE},
        {"image1d_t", OBJECT},
        {"image1d_buffer_t", OBJECT},
        {"image1d_array_t", OBJECT},
        {"image2d_t", OBJECT},
        {"image2d_array_t", OBJECT},
        {"image3d_t", OBJECT},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(word, known[i].word) == 0)
            return known[i].meaning;
    return opencl_type_size(word) ? TYPE : UNKNOWN;
}

/* True if the text may define this word as a macro: it contains "define WORD", "-DWORD" or "-D
 * WORD". */
static bool is_made(const char *text, const char *by, const char *word)
{
    const size_t length = strlen(word);
    for (const char *c = text; c && (c = strstr(c, by)) != NULL;) {
        c += strlen(by);
        c += strspn(c, " \t");
        if (strncmp(c, word, length) == 0 && !is_letter(c[length]))
            return true;
    }
    return false;
}

/* ---- Parameters. ---- */

struct text {
    const char *source, *options;
};

/* A partially read declaration. */
struct declaration {
    enum meaning space, sign;
    bool pointer, odd;
    enum meaning kind; /* of the type: TYPE, OBJECT, TAG, or UNKNOWN */
    char type[32], name[32];
};

static void add_word(struct declaration *d, const char *word, enum meaning meaning)
{
    switch (meaning) {
    case NOTHING:
        break;
    case GLOBAL:
    case LOCAL:
    case PRIVATE:
        d->odd |= d->space != UNKNOWN;
        d->space = meaning;
        break;
    case SIGNED:
    case UNSIGNED:
        d->odd |= d->sign != UNKNOWN;
        d->sign = meaning;
        break;
    case TYPE:
    case OBJECT:
    case TAG:
        if (strcmp(word, "int") == 0 && (!strcmp(d->type, "long") || !strcmp(d->type, "short")))
            break; /* long int */
        d->odd |= d->type[0] != 0;
        d->kind = meaning;
        snprintf(d->type, sizeof d->type, "%.31s", word);
        break;
    default: /* the name, or the name of a type */
        d->odd |= d->name[0] != 0;
        snprintf(d->type[0] || d->sign ? d->name : d->type, sizeof d->type, "%.31s", word);
    }
}

/* Write the type as OpenCL names it: "uint" for "unsigned", with the star of a pointer. */
static void name_type(const struct declaration *d, char *type, size_t room)
{
    const char *base = d->type[0] ? d->type : "int";
    snprintf(type, room, "%s%s%s", d->sign == UNSIGNED ? "u" : "", base, d->pointer ? "*" : "");
}

static bool takes_a_sign(const char *type)
{
    static const char *const signs[] = {"", "char", "short", "int", "long"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strcmp(type, signs[i]) == 0)
            return true;
    return false;
}

static struct parameter conclude(struct declaration *d)
{
    struct parameter p = {0};
    if (d->sign && d->type[0] == 0)
        d->kind = TYPE;
    d->odd |= d->sign && !takes_a_sign(d->type);
    name_type(d, p.type, sizeof p.type);
    snprintf(p.name, sizeof p.name, "%s", d->name);
    if (d->pointer)
        p.kind = d->space == GLOBAL ? ARG_GLOBAL : d->space == LOCAL ? ARG_LOCAL : ARG_UNSET;
    else if (!d->odd && (d->space == UNKNOWN || d->space == PRIVATE))
        p.kind = d->kind == TYPE || d->kind == TAG ? ARG_VALUE
                 : d->kind == OBJECT               ? ARG_GLOBAL
                                                   : ARG_UNSET;
    p.size = p.kind == ARG_VALUE ? opencl_type_size(p.type) : 0;
    return p;
}

/* Read one parameter; *end is the character after it. */
static struct parameter read_parameter(struct reader *r, const struct text *text, struct token *end)
{
    struct declaration d = {0};
    bool tag = false, any = false;
    while ((*end = next(r)).length && !word_is(*end, ",") && !word_is(*end, ")")) {
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)(end->length < 63 ? end->length : 63), end->text);
        any = true;
        if (word_is(*end, "*") || word_is(*end, "[")) {
            d.pointer = true;
            if (word[0] == '[')
                skip_group(r);
        } else if (!is_letter(
                       word[0])) { /* a function, an array after a pointer, or not OpenCL C */
            d.odd = true;
            d.space = UNKNOWN;
            if (word[0] == '(')
                skip_group(r);
        } else if (tag) {
            snprintf(d.type + strlen(d.type), sizeof d.type - strlen(d.type), " %s", word);
            tag = false;
        } else {
            const bool macro =
                is_made(text->source, "define", word) || is_made(text->options, "-D", word);
            const enum meaning meaning = macro ? UNKNOWN : meaning_of(word);
            tag = meaning == TAG;
            if (meaning == ATTRIBUTE && word_is(next(r), "("))
                skip_group(r);
            else
                add_word(&d, word, meaning);
        }
    }
    struct parameter p = conclude(&d);
    if (!any || strcmp(p.type, "void") == 0)
        p.type[0] = '\0'; /* an empty list */
    return p;
}

/* Read a parameter list up to its ")" and return their number; the first `room` are stored. */
static cl_uint read_list(struct reader *r, const struct text *text, cl_uint room,
                         struct parameter *p)
{
    cl_uint n = 0;
    struct token end;
    const size_t directives = r->directives;
    do {
        const struct parameter one = read_parameter(r, text, &end);
        if (n < room)
            p[n] = one;
        n += n || one.type[0] || word_is(end, ",");
    } while (word_is(end, ","));
    for (cl_uint i = 0; i < n && i < room && r->directives > directives; i++)
        p[i].kind = ARG_UNSET; /* the result of #if is unknown */
    return n;
}

/* ---- Kernels. ---- */

/* After the word `kernel`: true if a declaration of this name follows; reads through its "(". */
static bool is_head_of(struct reader *r, const char *name)
{
    struct token last = {0};
    for (struct token t = next(r); t.length && !strchr(";{}=,", t.text[0]); t = next(r)) {
        if (word_is(t, "(") && word_is(last, name))
            return true;
        if (word_is(t, "("))
            skip_group(r); /* of __attribute__, a macro, or another kernel */
        last = t;
    }
    return false;
}

/* Parameters that differ between two declarations, for instance under #if, become unknown. A
 * prototype may lack names. */
static void parameters_merge(struct parameter *p, const struct parameter *other, cl_uint n)
{
    for (cl_uint i = 0; i < n; i++) {
        if (p[i].kind != other[i].kind || strcmp(p[i].type, other[i].type) != 0)
            p[i].kind = ARG_UNSET;
        if (!p[i].name[0])
            memcpy(p[i].name, other[i].name, sizeof p[i].name);
    }
}

bool signature_parse(const char *source, const char *options, const char *name, cl_uint n,
                     struct parameter *p)
{
    const struct text text = {source, options};
    struct reader r = {.at = source};
    bool found = false;
    struct parameter *list = calloc((size_t)n + 1, sizeof *list);
    for (struct token t = next(&r); list && t.length; t = next(&r)) {
        if ((!word_is(t, "kernel") && !word_is(t, "__kernel")) || !is_head_of(&r, name) ||
            read_list(&r, &text, n, list) != n)
            continue;
        if (found)
            parameters_merge(p, list, n);
        else if (n)
            memcpy(p, list, n * sizeof *p);
        found = true;
    }
    free(list);
    return found;
}
