/* test_layer_fork.c - processes forked after the first use of OpenCL: every call returns an error
 * that says so, and none waits.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

#include "stdcl/arrays.h"
#include "stdcl/matmul.h"

enum { N = 1024, CHILD_SECONDS = 60 };

static CLCONTEXT *cp;
static void *program, *recording;
static cl_kernel scale;
static float *x;
static clndrange_t range = clndrange_init1d(0, N, 0);

/* In the child: print the call and leave if it did not fail with the sentence. */
static void refused(bool failed, const char *call)
{
    const int code = clerrno;
    const char *sentence = clerror();
    if (failed && code == ENOTSUP && sentence && strstr(sentence, "forked"))
        return;
    printf("%s: failed %d, clerrno %d, clerror: %s\n", call, failed, code,
           sentence ? sentence : "NULL");
    fflush(stdout);
    _exit(1);
}

#define refuses(failure, call) refused((clerrno = 0, (call) == (failure)), #call)

static void child_of_the_layer(void)
{
    struct cldev_info info[8];
    struct clstat_info stat;
    cl_float two = 2;
    refuses(NO_EVENT, clmsync(cp, 0, x, CL_MEM_DEVICE));
    refuses(NO_EVENT, clmsync(cp, 0, x, CL_MEM_HOST | CL_EVENT_NOWAIT));
    refuses(NO_EVENT, clmsyncn(cp, 0, x, 4, CL_MEM_HOST));
    refuses(NO_EVENT, clfork(cp, 0, scale, &range, CL_EVENT_WAIT));
    refuses(NO_EVENT, clforka(cp, 0, scale, &range, CL_EVENT_NOWAIT, x, 2.0f));
    refuses(NO_EVENT, clwait(cp, 0, CL_ALL_EVENT));
    refuses(-1, clflush(cp, 0, 0));
    refuses(-1, clrecord_begin(cp, 0));
    refuses(NULL, clrecord_end(cp, 0));
    refuses(NO_EVENT, clrecord_replay(cp, recording, CL_EVENT_WAIT));
    refuses(-1, clrecord_set(cp, recording, 0, 1, 2.0f));
    refuses(-1, clrecord_free(cp, recording));
    refuses(NULL, clmalloc(cp, 64, 0));
    refuses(NULL, clmrealloc(cp, x, 64, 0));
    refuses(-1, clfree(x));
    refuses(-1, clmdetach(x));
    refuses(0, clsizeofmem(x));
    refuses(NULL, clgetbuffer(cp, 0, x));
    refuses(NULL, clgetqueue(cp, 0));
    refuses(-1, clmctl(x, CL_MCTL_GET_STATUS));
    refuses(-1, clarg_set(scale, 1, 2.0f));
    refuses((size_t)-1, clarg_set_global(scale, 0, x));
    refuses(CL_INVALID_OPERATION, clSetKernelArg(scale, 1, sizeof two, &two));
    refuses(NULL, clsopen(cp, "kernel void f() { }", CLLD_NOW));
    refuses(NULL, clopen(cp, BASIC_CL, CLLD_NOW));
    refuses(NULL, clsym(cp, program, "scale", 0));
    refuses(NULL, clsym(cp, NULL, "scale", 0));
    refuses(-1, clbuild(cp, program, NULL, 0));
    refuses(-1, clclose(cp, program));
    refuses(-1, clgetdevinfo(cp, info));
    refuses(-1, clstat(cp, &stat));
    refuses(-1, clprofile(cp, 1));
    refuses(NULL, clcontext_create(NULL, (int)CL_DEVICE_TYPE_ALL, 0, NULL, 0));
    refuses(-1, clcontext_destroy(cp));
}

/* Run `body` in a child, which is killed if it waits; it must succeed. */
static void in_child(void (*body)(void))
{
    int status = -1;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_SECONDS);
        body();
        _exit(0);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    if (status != 0)
        fail_msg("the child ended with status %#x", (unsigned)status);
}

static void fork_child_is_refused(void **state)
{
    (void)state;
    for (int i = 0; i < N; i++)
        x[i] = (float)i;
    works(clrecord_begin(cp, 0));
    done(clmsync(cp, 0, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT));
    recording = clrecord_end(cp, 0);
    ready(recording);
    started(clmsync(cp, 0, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT));
    started(clforka(cp, 0, scale, &range, CL_EVENT_NOWAIT, x, 2.0f)); /* in flight */
    in_child(child_of_the_layer);
    done(clmsync(cp, 0, x, CL_MEM_HOST)); /* the parent goes on */
    for (int i = 0; i < N; i++)
        assert_true(x[i] == 2 * (float)i);
}

/* ---- Libraries on top. ---- */

static matmul *mm;
static arrays *sums;
static float product[4];

static void child_of_libraries(void)
{
    double sum;
    const float a[4] = {1, 2, 3, 4};
    refuses(-1, matmul_multiply(mm, MATMUL_NN, 2, 2, 2, 1, a, 2, a, 2, 0, product, 2));
    refuses(-1, matmul_single(MATMUL_NN, 2, 2, 2, 1, a, 2, a, 2, 0, product, 2));
    refuses(-1, matmul_enqueue(mm, 0, MATMUL_NN, 2, 2, 2, 1, x, 2, x, 2, 0, x + N / 2, 2));
    refuses(-1, matmul_load(mm, MATMUL_NN, 2, 2, 2, a, 2, a, 2));
    refuses(-1, arrays_sum(sums, x, N, &sum));
    arrays_free(sums);
    matmul_free(mm);
}

static void fork_child_of_libraries_is_refused(void **state)
{
    (void)state;
    double sum;
    const float a[4] = {1, 2, 3, 4};
    ready(mm = matmul_create(&(struct matmul_options){.ctx = cp}));
    ready(sums = arrays_create(&(struct arrays_options){.ctx = cp}));
    works(matmul_multiply(mm, MATMUL_NN, 2, 2, 2, 1, a, 2, a, 2, 0, product, 2));
    works(matmul_single(MATMUL_NN, 2, 2, 2, 1, a, 2, a, 2, 0, product, 2));
    works(arrays_upload(sums, x, N));
    works(arrays_sum(sums, x, N, &sum));
    in_child(child_of_libraries);
    works(matmul_multiply(mm, MATMUL_NN, 2, 2, 2, 1, a, 2, a, 2, 0, product, 2));
    assert_true(product[0] == 7 && product[3] == 22);
    arrays_free(sums);
    matmul_free(mm);
}

/* A parent that has not used OpenCL yet: the child may. */
static void child_that_is_first(void)
{
    CLCONTEXT *own = clcontext_create(NULL, (int)CL_DEVICE_TYPE_ALL, 1, NULL, 0);
    int *n = own ? clmalloc(own, sizeof *n, 0) : NULL;
    if (!n || clmsync(own, 0, n, CL_MEM_DEVICE) != 0)
        _exit(2);
}

static int fork_setup(void **state)
{
    (void)state;
    cp = clcontext_create(NULL, (int)CL_DEVICE_TYPE_ALL, 0, NULL, 0);
    program =
        clsopen(cp, "kernel void scale(global float *x, float by) { x[get_global_id(0)] *= by; }",
                CLLD_NOW);
    scale = program ? clsym(cp, program, "scale", 0) : NULL;
    x = clmalloc(cp, N * sizeof *x, 0);
    return setup_done(scale && x);
}

static int fork_teardown(void **state)
{
    (void)state;
    return clcontext_destroy(cp);
}

static void fork_before_first_use_is_allowed(void **state)
{
    (void)state;
    in_child(child_that_is_first);
}

int main(void)
{
    const struct CMUnitTest before[] = {cmocka_unit_test(fork_before_first_use_is_allowed)};
    const struct CMUnitTest after[] = {cmocka_unit_test(fork_child_is_refused),
                                       cmocka_unit_test(fork_child_of_libraries_is_refused)};
    const int failed = cmocka_run_group_tests(before, NULL, NULL);
    return failed + cmocka_run_group_tests(after, fork_setup, fork_teardown);
}
