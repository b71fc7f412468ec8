/* test_deferred.c - libraries that are opened at their first use.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"
#include "core/deferred.h"

#include <math.h>

#define MATHS(X) X(floor) X(hypot)
struct maths {
    MATHS(DEFERRED_FIELD)
};

static void deferred_library_gives_functions(void **unused)
{
    static const char *const names[] = {MATHS(DEFERRED_NAME)};
    struct maths maths;
    (void)unused;
    works(deferred_open("libm.so.6", names, 2, &maths));
    assert_true(maths.floor(2.5) == 2);
    assert_true(maths.hypot(3, 4) == 5);
}

static void deferred_library_is_named_when_missing(void **unused)
{
    static const char *const names[] = {"floor", "no_such_function"};
    void *pointers[2];
    (void)unused;
    fails(ENOENT, deferred_open("libnone-such.so.7", names, 1, pointers));
    deferred_open("libnone-such.so.7", names, 1, pointers);
    contains(clerror(), "libnone-such.so.7 cannot be opened");
    fails(ENOENT, deferred_open("libm.so.6", names, 2, pointers));
    deferred_open("libm.so.6", names, 2, pointers);
    contains(clerror(), "no_such_function");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deferred_library_gives_functions),
        cmocka_unit_test(deferred_library_is_named_when_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
