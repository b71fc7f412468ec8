/* test_template_none.c - the library built without LuaJIT: a template fails with ENOTSUP and a
 * message that says what to install; all else works. This test compiles template_lua.c without
 * HAVE_LUAJIT, in place of the library's.
 * SPDX-License-Identifier: MIT
 */
#undef HAVE_LUAJIT
#include "template/template_lua.c"

#include "check.h"

static void check_refused(const char *name)
{
    const char *sentence = clerror();
    assert_int_equal(clerrno, ENOTSUP);
    ready(sentence);
    assert_ptr_equal(strstr(sentence, name), sentence);
    assert_non_null(strstr(sentence, "LuaJIT"));
    assert_non_null(strstr(sentence, "libluajit-5.1-dev"));
}

static void template_without_luajit_is_rejected(void **state)
{
    (void)state;
    const clvalue_t list[] = {clvalue("N", 1), CLVALUE_END};
    assert_null(cltemplate("a.clt", "plain", 5, "N = %d", 1));
    check_refused("a.clt: ");
    assert_null(cltemplatev(NULL, "plain", 5, list));
    check_refused("template: ");
    assert_null(clopen(stddev, "kernels/unrolled.clt", CLLD_NOW));
    check_refused("kernels/unrolled.clt: ");
    assert_null(clopent(stddev, "kernels/unrolled.clt", CLLD_NOW, NULL));
    check_refused("kernels/unrolled.clt: ");
    assert_null(clopen_template(stddev, "b.clt", "x", 1, NULL, CLLD_NOW, NULL));
    check_refused("b.clt: ");
}

static void layer_without_luajit_works(void **state)
{
    (void)state;
    void *program = clopen(stddev, BASIC_CL, CLLD_NOW);
    ready(program);
    works(clclose(stddev, program));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(template_without_luajit_is_rejected),
                                       cmocka_unit_test(layer_without_luajit_works)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
