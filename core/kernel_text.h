/* kernel_text.h - the words and signs of OpenCL C, and the meanings that a file's typedefs and
 * macros give to words.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_KERNEL_TEXT_H
#define CORE_KERNEL_TEXT_H

#include "core/kernel.h"

/* ---- Words and signs. ---- */

struct reader {
    const char *at;
    bool begun;            /* the current line has a character that is not blank */
    bool tells_directives; /* a directive is one token; else it is skipped */
    size_t directives;     /* number of directives so far */
};

struct token {
    const char *text;
    size_t length; /* 0: end of the text */
};

/* Read the next word or sign; comments are skipped. */
struct token text_next(struct reader *r);

bool token_is(struct token t, const char *text);
bool text_is_letter(char c);

/* Skip past the bracket that closes the one just read. */
void text_skip_group(struct reader *r);

/* ---- Typedefs and macros. ---- */

/* A kernel's source, and the build options, which may be NULL. */
struct text {
    const char *source, *options;
};

/* UNCERTAIN: there are several definitions, and the conditions under which they apply are unknown;
 * or the definition is no list of words. */
enum definition { UNDEFINED, DEFINED, UNCERTAIN };

/* Find what a typedef or a macro without parameters makes of a word: "unsigned int". Conditional
 * parts of the source count if their conditions depend on the file and the options only. */
enum definition text_definition(const struct text *text, const char *word, char *meaning,
                                size_t room);

#endif
