/* deep.h - cases that `make test` leaves to `make test-deep`.
 *
 * `make test` runs a fixed sample of many similar cases, so that it stays short. `make
 * test-deep` sets STDCL_TEST_DEEP=1, and every case runs.
 * SPDX-License-Identifier: MIT
 */
#ifndef DEEP_H
#define DEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* True if every case runs. */
static inline bool deep_tests(void)
{
    return getenv("STDCL_TEST_DEEP") != NULL;
}

/* True if case i runs: every n-th one, beginning with case 0, or all. */
static inline bool sampled(size_t i, size_t n)
{
    return i % n == 0 || deep_tests();
}

/* Keep of `count` tests of `size` bytes each the first `always` and every n-th of the remaining
 * tests. Return the number of tests kept. */
static inline size_t sampled_tests(void *tests, size_t count, size_t size, size_t always, size_t n)
{
    size_t kept = always;
    for (size_t i = always; i < count; i++)
        if (sampled(i - always, n))
            memmove((char *)tests + kept++ * size, (char *)tests + i * size, size);
    return kept;
}

/* Run the first `always` tests of an array of cmocka's tests and every n-th of the remaining
 * tests. */
#define sampled_run(name, tests, always, n, setup, teardown)                                       \
    _cmocka_run_group_tests(                                                                       \
        name, tests,                                                                               \
        sampled_tests(tests, sizeof(tests) / sizeof *(tests), sizeof *(tests), always, n), setup,  \
        teardown)

#endif /* DEEP_H */
