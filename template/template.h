/* template.h - what the three files of kernel templates share.
 *
 *   template.c        the public calls, and values from C as Lua
 *   template_lua.c    runs lua/templet.lua in a Lua state with limits
 *   template_text.c   collects the text and puts in #line directives
 * SPDX-License-Identifier: MIT
 */
#ifndef TEMPLATE_TEMPLATE_H
#define TEMPLATE_TEMPLATE_H

#include "core/core.h"

/* ---- template_lua.c ---- */

/* Expands a template. `name` as cltemplate's; `values` is the inside of a Lua table constructor, or
 * NULL. The caller frees the string; NULL after fail(). */
char *stdcl_template_expand(const char *name, const char *text, size_t size, const char *values);

/* ---- template_text.c ---- */

/* Where the text so far ends, in terms of OpenCL C. */
enum text_state { IN_CODE, IN_LINE_COMMENT, IN_BLOCK_COMMENT, IN_STRING, IN_CHARACTER };

struct text {
    char *data; /* the caller frees it */
    size_t size, capacity;
    const char *file;  /* for #line directives; NULL: none */
    size_t believed;   /* the template's line that a compiler takes the next line of text for; 0:
                          unknown */
    size_t directives; /* written so far */
    bool begun;        /* the current line holds characters */
    bool continues;    /* the line before ended in a backslash */
    bool escaped;      /* the character before was a backslash that escapes this one */
    char before;       /* the character before */
    char directive;    /* of a line that begins with #: '#', then the first letter after it */
    enum text_state state;
};

/* Appends n bytes that begin on a line of the template. The lines of a value are all that same
 * line; other text goes through the template's lines. Returns NULL, or what is wrong. */
const char *text_append(struct text *t, const char *bytes, size_t n, size_t line, bool value);

#endif
