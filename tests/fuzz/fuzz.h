/* fuzz.h - what a harness shares with its driver: libFuzzer's, or driver.c. */
/* SPDX-License-Identifier: MIT */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One input; the harness defines it, and ends the program by `promise` when something does not
 * hold. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define promise(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            dprintf(2, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);              \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* An error's sentence: it begins with `begins`, and is short and fit for a terminal. */
static inline void promise_sentence(const char *sentence, const char *begins)
{
    promise(sentence && strncmp(sentence, begins, strlen(begins)) == 0);
    promise(strlen(sentence) < 600);
    for (; *sentence; sentence++)
        promise((unsigned char)*sentence >= 32 && *sentence != 127);
}

/* A copy of the input in memory of its size, so that a byte too far is seen; for the caller to
 * free. */
static inline void *exact_copy(const uint8_t *data, size_t size)
{
    void *copy = malloc(size ? size : 1);
    promise(copy);
    if (size)
        memcpy(copy, data, size);
    return copy;
}

/* The same as a string, which ends at the first 0. */
static inline char *text_copy(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, 0, size) : NULL;
    const size_t length = end ? (size_t)(end - data) : size;
    char *copy = malloc(length + 1);
    promise(copy);
    if (length)
        memcpy(copy, data, length);
    copy[length] = 0;
    return copy;
}

#endif
