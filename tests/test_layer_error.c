/* test_layer_error.c - thread-local clerrno, oclerrno and clerror(), the texts of codes, and
 * where messages are printed.
 * SPDX-License-Identifier: MIT
 */
#include "child.h"

#include <pthread.h>

static CLCONTEXT *cp;

static int error_setup(void **state)
{
    (void)state;
    cp = stddev;
    return setup_done(cp);
}

/* A call that fails with EFAULT. */
static void fail_softly(void)
{
    int on_stack = 0;
    assert_int_equal(clfree(&on_stack), -1);
}

static void test_success_does_not_reset(void **state)
{
    (void)state;
    clerrno = 0;
    fail_softly();
    assert_int_equal(clerrno, EFAULT);
    void *p = clmalloc(cp, 100, 0);
    ready(p);
    works(clfree(p));
    assert_int_equal(clerrno, EFAULT);
    clerrno = 0; /* may be assigned */
    assert_int_equal(clerrno, 0);
    clerrno = EBUSY;
    assert_int_equal(clerrno, EBUSY);
}

static void test_sentence_behaves_as_dlerror(void **state)
{
    (void)state;
    check_forget();
    assert_null(clerror());
    fail_softly();
    const char *sentence = clerror();
    assert_non_null(sentence);
    contains(sentence, "clfree"); /* the call */
    assert_null(clerror());       /* reported once */
    fail_softly();
    assert_null(clmalloc(NULL, 100, 0));
    contains(clerror(), "clmalloc"); /* the last one */
    assert_null(clerror());
    fail_softly();
    void *p = clmalloc(cp, 100, 0); /* success in between takes nothing back */
    works(clfree(p));
    contains(clerror(), "clfree");
}

static void test_opencl_code(void **state)
{
    (void)state;
    oclerrno = 0;
    assert_null(clsopen(cp, "no OpenCL C at all", CLLD_NOW));
    assert_int_equal(clerrno, ENOEXEC);
    assert_int_equal(oclerrno, CL_BUILD_PROGRAM_FAILURE);
    fail_softly(); /* has no OpenCL code */
    assert_int_equal(oclerrno, 0);
    oclerrno = CL_OUT_OF_RESOURCES;
    assert_int_equal(oclerrno, CL_OUT_OF_RESOURCES);
}

static void test_libraries_may_set_it(void **state)
{
    (void)state;
    assert_int_equal(clerror_set(ERANGE, "galaxy %d of %s: %.1f", 7, "the catalogue", 2.5), -1);
    assert_int_equal(clerrno, ERANGE);
    assert_string_equal(clerror(), "galaxy 7 of the catalogue: 2.5");
    char *long_text = malloc(100001);
    memset(long_text, 'x', 100000);
    long_text[100000] = 0;
    assert_int_equal(clerror_set(EINVAL, "%s!", long_text), -1); /* of any length: logs are long */
    const char *sentence = clerror();
    assert_int_equal(strlen(sentence), 100001);
    free(long_text);
}

/* A message that cannot be formatted still gives a message. */
static void test_sentence_that_cannot_be_made(void **state)
{
    (void)state;
    static const wchar_t no_letter[] = {(wchar_t)0x7fffffff, 0};
    assert_int_equal(clerror_set(EINVAL, "%ls", no_letter), -1);
    assert_int_equal(clerrno, EINVAL);
    contains(clerror(), "out of memory");
    assert_null(clerror());
}

/* ---- Threads. ---- */

struct seen {
    int code_before, code_after, ocl;
    bool no_sentence_before, sentence_after;
};

static void *fail_in_a_thread(void *arg)
{
    struct seen *seen = arg;
    seen->code_before = clerrno;
    seen->ocl = oclerrno;
    seen->no_sentence_before = clerror() == NULL;
    clmalloc(NULL, 100, 0);
    seen->code_after = clerrno;
    seen->sentence_after = clerror() != NULL;
    return NULL;
}

static void test_errors_belong_to_threads(void **state)
{
    (void)state;
    pthread_t thread;
    struct seen seen = {0};
    fail_softly();
    oclerrno = CL_OUT_OF_RESOURCES;
    assert_int_equal(pthread_create(&thread, NULL, fail_in_a_thread, &seen), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(seen.code_before, 0);
    assert_int_equal(seen.ocl, 0);
    assert_true(seen.no_sentence_before);
    assert_int_equal(seen.code_after, EINVAL);
    assert_true(seen.sentence_after);
    assert_int_equal(clerrno, EFAULT); /* ours are as they were */
    assert_int_equal(oclerrno, CL_OUT_OF_RESOURCES);
    contains(clerror(), "clfree");
}

/* ---- Texts. ---- */

static void test_texts_of_codes(void **state)
{
    (void)state;
    static const int ours[] = {EFAULT, EINVAL, ENOMEM,  ENODEV, ENOENT,
                               EBUSY,  EIO,    ENOEXEC, ENOTSUP};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        assert_true(strlen(clerror_str(ours[i])) > 5);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(clerror_str(ours[i]), clerror_str(ours[k]));
    }
    for (int code = -10; code < 300; code++)
        assert_non_null(clerror_str(code));
    assert_non_null(clerror_str(0x7fffffff));
    assert_non_null(clerror_str(-0x7fffffff - 1));
}

static void test_texts_of_opencl_codes(void **state)
{
    (void)state;
#define named(code) contains(oclerror_str(code), #code)
    named(CL_SUCCESS);
    named(CL_DEVICE_NOT_FOUND);
    named(CL_MEM_OBJECT_ALLOCATION_FAILURE);
    named(CL_OUT_OF_RESOURCES);
    named(CL_OUT_OF_HOST_MEMORY);
    named(CL_BUILD_PROGRAM_FAILURE);
    named(CL_MISALIGNED_SUB_BUFFER_OFFSET);
    named(CL_INVALID_VALUE);
    named(CL_INVALID_KERNEL_NAME);
    named(CL_INVALID_KERNEL_ARGS);
    named(CL_INVALID_WORK_GROUP_SIZE);
    named(CL_INVALID_BUFFER_SIZE);
    for (int code = -2000; code < 100; code++)
        assert_non_null(oclerror_str(code));
    assert_non_null(oclerror_str(0x7fffffff));
    assert_non_null(oclerror_str(-0x7fffffff - 1));
}

/* ---- Printed messages. ---- */

static void test_perror(void **state)
{
    (void)state;
    char expected[512];
    struct child child = start_child(with("STDCL_DEBUG=0"), (const char *const[]){"fail", NULL});
    snprintf(expected, sizeof expected, "first: %s\n", clerror_str(EBUSY));
    assert_string_equal(line_of(&child), expected); /* and nothing of the failing call before it */
    snprintf(expected, sizeof expected, "second: %s\n", oclerror_str(CL_OUT_OF_RESOURCES));
    assert_string_equal(line_of(&child), expected);
    snprintf(expected, sizeof expected, "%s\n", clerror_str(EBUSY));
    assert_string_equal(line_of(&child), expected); /* as perror(NULL) */
    assert_int_equal(end_child(&child), 0);
}

static void test_debug_prints_as_it_goes(void **state)
{
    (void)state;
    struct child child = start_child(with("STDCL_DEBUG=1"), (const char *const[]){"fail", NULL});
    contains(line_of(&child), "clfree");
    contains(line_of(&child), "first: ");
    assert_int_equal(end_child(&child), 0);
}

static void test_debug_counts_equal_messages(void **state)
{
    (void)state;
    struct child child = start_child(with("STDCL_DEBUG=1"), (const char *const[]){"repeat", NULL});
    contains(line_of(&child), "clfree");
    assert_string_equal(line_of(&child), "stdcl: the last message was repeated 199 times\n");
    contains(line_of(&child), "clgetqueue");
    contains(line_of(&child), "clfree");
    assert_string_equal(line_of(&child), "stdcl: the last message was repeated 2 times\n");
    assert_int_equal(end_child(&child), 0);
}

static void test_debug_names_input_without_data(void **state)
{
    (void)state;
    struct child child = start_child(with("STDCL_DEBUG=1"), (const char *const[]){"no-data", NULL});
    const char *line = line_of(&child);
    contains(line, "stdcl: clexec: argument 0 of kernel pass is read on device 0, ");
    contains(line, "which holds no data of the block");
    assert_string_equal(line_of(&child), "launched\n");
    assert_int_equal(end_child(&child), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_success_does_not_reset),
        cmocka_unit_test(test_sentence_behaves_as_dlerror),
        cmocka_unit_test(test_opencl_code),
        cmocka_unit_test(test_libraries_may_set_it),
        cmocka_unit_test(test_sentence_that_cannot_be_made),
        cmocka_unit_test(test_errors_belong_to_threads),
        cmocka_unit_test(test_texts_of_codes),
        cmocka_unit_test(test_texts_of_opencl_codes),
        cmocka_unit_test(test_perror),
        cmocka_unit_test(test_debug_prints_as_it_goes),
        cmocka_unit_test(test_debug_counts_equal_messages),
        cmocka_unit_test(test_debug_names_input_without_data),
    };
    return cmocka_run_group_tests(tests, error_setup, NULL);
}
