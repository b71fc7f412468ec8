/* fuzz.h - interface of a harness and its driver: libFuzzer's, or driver.c. */
/* SPDX-License-Identifier: MIT */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Run one input. The harness defines it, and ends the program by `promise` if a promise is broken.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define promise(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            dprintf(2, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);              \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* Check an error message: it begins with `begins`, and is short and printable on a terminal. */
static inline void promise_sentence(const char *sentence, const char *begins)
{
    promise(sentence && strncmp(sentence, begins, strlen(begins)) == 0);
    promise(strlen(sentence) < 600);
    for (; *sentence; sentence++)
        promise((unsigned char)*sentence >= 32 && *sentence != 127);
}

/* Return a copy of the input in memory of exactly its size, so that a read beyond the end is
 * detected; the caller frees it. */
static inline void *exact_copy(const uint8_t *data, size_t size)
{
    void *copy = malloc(size ? size : 1);
    promise(copy);
    if (size)
        memcpy(copy, data, size);
    return copy;
}

/* Return the input as a string, which ends at the first 0. */
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
