/* template.h - calls between the three files of kernel templates.
 *
 *   template.c        public calls, and values from C as Lua
 *   template_lua.c    runs lua/templet.lua in a Lua state with limits
 *   template_text.c   collects the text and inserts #line directives
 * SPDX-License-Identifier: MIT
 */
#ifndef TEMPLATE_TEMPLATE_H
#define TEMPLATE_TEMPLATE_H

#include "core/core.h"

/* ---- template_lua.c ---- */

/* Expands a template. `name` as cltemplate's; `values` is the inside of a Lua table constructor, or
 * NULL. The caller frees the string; NULL after fail(). */
char *stdcl_template_expand(const char *name, const char *text, size_t size, const char *values);

/* Processor time of an expansion; tests lower it. A few instructions can call slow functions. */
extern double stdcl_template_seconds;

/* ---- template_text.c ---- */

/* Lexical state at the end of the text, in terms of OpenCL C. */
enum text_state { IN_CODE, IN_LINE_COMMENT, IN_BLOCK_COMMENT, IN_STRING, IN_CHARACTER };

struct text {
    char *data; /* the caller frees it */
    size_t size, capacity;
    const char *file; /* for #line directives; NULL: none */
    size_t
        believed; /* the template's line that a compiler attributes the next line to; 0: unknown */
    size_t directives; /* number written so far */
    bool begun;        /* the current line is not empty */
    bool continues;    /* the previous line ended with a backslash */
    bool escaped;      /* a backslash before escapes this character */
    char before;       /* the previous character */
    char directive;    /* in a line that begins with #: '#', then the first letter after it */
    enum text_state state;
};

/* Append n bytes that begin on a line of the template. All lines of a value belong to that line;
 * other text advances through the template's lines. Return NULL, or the error. */
const char *text_append(struct text *t, const char *bytes, size_t n, size_t line, bool value);

#endif
