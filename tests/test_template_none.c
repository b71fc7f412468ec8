/* test_template_none.c - the library as it is built without LuaJIT: a template answers ENOTSUP and
 * says what to install, and all the rest works. template_lua.c is compiled here, where HAVE_LUAJIT
 * is not defined, in the place of the library's.
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

static void test_templates(void **state)
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

static void test_the_rest(void **state)
{
    (void)state;
    void *program = clopen(stddev, BASIC_CL, CLLD_NOW);
    ready(program);
    works(clclose(stddev, program));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_templates),
                                       cmocka_unit_test(test_the_rest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
