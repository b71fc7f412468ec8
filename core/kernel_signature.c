/* kernel_signature.c - parses the declarations of a kernel's arguments from its source.
 *
 * For platforms without argument information, and for NVIDIA's when a kernel of the file has no
 * arguments (build.c). This is no compiler: it skips comments, strings and directives and reads the
 * words between `kernel` and the parenthesis that closes the parameters. Typedefs and macros of the
 * file are resolved (kernel_text.c); an argument that depends on another word stays unknown.
 * SPDX-License-Identifier: MIT
 */
#include "core/kernel_text.h"

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

/* ---- What words mean. ---- */

enum meaning {
    UNKNOWN,
    NOTHING,
    READS,
    WRITES,
    GLOBAL,
    CONSTANT,
    LOCAL,
    PRIVATE,
    TYPE,
    OBJECT,
    TAG,
    SIGNED,
    UNSIGNED
};

static enum meaning meaning_of(const char *word)
{
    static const struct {
        const char *word;
        enum meaning meaning;
    } known[] = {
        {"const", READS},
        {"volatile", NOTHING},
        {"restrict", NOTHING},
        {"__restrict", NOTHING},
        {"__restrict__", NOTHING},
        {"read_only", READS},
        {"write_only", WRITES},
        {"read_write", WRITES},
        {"__read_only", READS},
        {"__write_only", WRITES},
        {"__read_write", WRITES},
        {"void", TYPE},
        {"global", GLOBAL},
        {"__global", GLOBAL},
        {"constant", CONSTANT},
        {"__constant", CONSTANT},
        {"local", LOCAL},
        {"__local", LOCAL},
        {"private", PRIVATE},
        {"__private", PRIVATE},
        {"struct", TAG},
        {"union", TAG},
        {"enum", TAG},
        {"signed", SIGNED},
        {"unsigned", UNSIGNED},
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

/* ---- Parameters. ---- */

/* A partially read declaration. */
struct declaration {
    enum meaning space, sign;
    bool pointer, odd;
    bool reads, writes; /* const before the star, constant or read_only; write_only, read_write */
    bool tag;           /* the next word is the tag of a struct, union or enum */
    enum meaning kind;  /* of the type: TYPE, OBJECT, TAG, or UNKNOWN */
    char type[32], name[32];
};

static void add_word(struct declaration *d, const char *word, enum meaning meaning)
{
    switch (meaning) {
    case NOTHING:
        break;
    case READS:
        d->reads |= !d->pointer;
        break;
    case WRITES:
        d->writes = true;
        break;
    case CONSTANT:
        d->reads = true;
        d->odd |= d->space != UNKNOWN;
        d->space = GLOBAL;
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
    snprintf(type, room, "%s%.*s%s", d->sign == UNSIGNED ? "u" : "", (int)room - 3, base,
             d->pointer ? "*" : "");
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
    /* Images are read_only without a qualifier (OpenCL C specification, 6.6). */
    p.read_only = (d->reads || d->kind == OBJECT) && !d->writes;
    return p;
}

enum { LEVELS = 8 }; /* typedefs and macros that name each other */

static void take_word(struct declaration *d, const struct text *text, struct token t, int levels);

/* Take the words that a typedef or macro stands for. False, with d unchanged, if there are others
 * than words and stars. */
static bool take_meaning(struct declaration *d, const struct text *text, const char *words,
                         int levels)
{
    struct reader r = {.at = words, .begun = true}, check = r;
    for (struct token t = text_next(&check); t.length; t = text_next(&check))
        if (!text_is_letter(*t.text) && !token_is(t, "*"))
            return false;
    const bool reads = d->reads;
    bool star = false;
    d->reads = false;
    for (struct token t = text_next(&r); t.length; t = text_next(&r))
        if (token_is(t, "*"))
            d->pointer = star = true;
        else
            take_word(d, text, t, levels);
    d->reads |= reads && !star; /* const before the typedef of a pointer is not const memory */
    return true;
}

/* Add a word to the declaration, or what it stands for. */
static void take_word(struct declaration *d, const struct text *text, struct token t, int levels)
{
    char word[64], meant[128];
    snprintf(word, sizeof word, "%.*s", (int)(t.length < 63 ? t.length : 63), t.text);
    if (d->tag) {
        snprintf(d->type + strlen(d->type), sizeof d->type - strlen(d->type), " %s", word);
        d->tag = false;
        return;
    }
    const enum definition found = text_definition(text, word, meant, sizeof meant);
    if (found == DEFINED && levels > 0 && take_meaning(d, text, meant, levels - 1))
        return;
    const enum meaning meaning = found == UNDEFINED ? meaning_of(word) : UNKNOWN;
    d->tag = meaning == TAG;
    add_word(d, word, meaning);
}

/* Read one parameter; *end is the character after it. */
static struct parameter read_parameter(struct reader *r, const struct text *text, struct token *end)
{
    struct declaration d = {0};
    bool any = false;
    while ((*end = text_next(r)).length && !token_is(*end, ",") && !token_is(*end, ")")) {
        any = true;
        if (token_is(*end, "*") || token_is(*end, "[")) {
            d.pointer = true;
            if (token_is(*end, "["))
                text_skip_group(r);
        } else if (!text_is_letter(
                       *end->text)) { /* a function, an array after a pointer, or not OpenCL C */
            d.odd = true;
            d.space = UNKNOWN;
            if (token_is(*end, "("))
                text_skip_group(r);
        } else if (token_is(*end, "__attribute__")) {
            if (token_is(text_next(r), "("))
                text_skip_group(r);
        } else {
            take_word(&d, text, *end, LEVELS);
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
        n += n || one.type[0] || token_is(end, ",");
    } while (token_is(end, ","));
    for (cl_uint i = 0; i < n && i < room && r->directives > directives; i++)
        p[i].kind = ARG_UNSET; /* the result of #if is unknown */
    return n;
}

/* ---- Kernels. ---- */

/* After the word `kernel`: true if a declaration of this name follows; reads through its "(". */
static bool is_head_of(struct reader *r, const char *name)
{
    struct token last = {0};
    for (struct token t = text_next(r); t.length && !strchr(";{}=,", t.text[0]); t = text_next(r)) {
        if (token_is(t, "(") && token_is(last, name))
            return true;
        if (token_is(t, "("))
            text_skip_group(r); /* of __attribute__, a macro, or another kernel */
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
        p[i].read_only &= other[i].read_only;
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
    for (struct token t = text_next(&r); list && t.length; t = text_next(&r)) {
        if ((!token_is(t, "kernel") && !token_is(t, "__kernel")) || !is_head_of(&r, name) ||
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

void signature_resolve(const char *source, const char *options, struct parameter *p)
{
    const struct text text = {source, options};
    const size_t letters = strcspn(p->type, "*");
    const bool pointer = p->type[letters] != '\0';
    char name[sizeof p->type];
    struct declaration d = {.pointer = pointer};
    snprintf(name, sizeof name, "%.*s", (int)letters, p->type);
    if (!*name || strchr(name, ' ') || meaning_of(name) != UNKNOWN)
        return;
    take_word(&d, &text, (struct token){name, letters}, LEVELS);
    const struct parameter meant = conclude(&d);
    if (d.odd || (d.kind != TYPE && (d.kind != TAG || d.pointer)))
        return;
    memcpy(p->type, meant.type, sizeof p->type);
    p->size = p->kind == ARG_VALUE ? opencl_type_size(p->type) : 0;
}
