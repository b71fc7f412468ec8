/* fuzz.h - what a harness shares with its driver: libFuzzer's, or driver.c. */
/* SPDX-License-Identifier: MIT */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One input; the harness defines it, and ends the program by `promise` when something does not hold. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define promise(condition)                                                                                   \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);                   \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

#endif
