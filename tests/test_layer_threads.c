/* test_layer_threads.c - several threads in the layer at once, on the same and on different
 * devices, each checking its own results. Built with -DSTDCL_SANITIZE=thread it also shows that
 * there are no data races; cmake/sanitizer.c lists the exceptions for other libraries.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

#include <pthread.h>

enum { THREADS = 4, N = 512 };

static CLCONTEXT *cp;
static void *program;
static cl_kernel add, copy; /* shared by all threads: clforka allows that */
static int *shared;         /* read by all threads */
static pthread_barrier_t start_line;

/* A thread's state. Its checks count failures instead of jumping out, as cmocka's would. */
struct worker {
    int id;
    cl_uint dev;
    int failures;
    char first[512]; /* the first failure */
};

static void check_thread_result(struct worker *w, bool holds, const char *what, int line)
{
    if (holds || w->failures++ > 0)
        return;
    const char *sentence = clerror();
    snprintf(w->first, sizeof w->first, "line %d: %s; clerror: %s", line, what,
             sentence ? sentence : "NULL");
}
#define expect(what) check_thread_result(w, (what), #what, __LINE__)
#define expect_event(call) check_thread_result(w, event_given(call), #call, __LINE__)

static bool event_given(cl_event ev)
{
    return ev != NULL && ev != NO_EVENT;
}

/* Run `work` in all threads at once and fail with each thread's first report. The first to run
 * creates the objects the others use. */
static void run_threads(void *(*work)(void *))
{
    static bool begun;
    if (begun && !shared)
        fail_msg("the first test has not opened what this one works with");
    begun = true;
    pthread_t thread[THREADS];
    struct worker w[THREADS];
    int failures = 0;
    memset(w, 0, sizeof w);
    pthread_barrier_init(&start_line, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        w[i].id = i;
        w[i].dev = cp ? (cl_uint)i % clgetndev(cp) : 0;
        assert_int_equal(pthread_create(&thread[i], NULL, work, &w[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        if (w[i].failures)
            print_error("thread %d: %d failures, the first: %s\n", i, w[i].failures, w[i].first);
        failures += w[i].failures;
    }
    pthread_barrier_destroy(&start_line);
    assert_int_equal(failures, 0);
}

/* ---- First use, before anything else. ---- */

static CLCONTEXT *seen[THREADS][4];

static void *use_first(void *arg)
{
    struct worker *w = arg;
    pthread_barrier_wait(&start_line);
    seen[w->id][0] = stddev;
    seen[w->id][1] = stdcpu;
    seen[w->id][2] = stdgpu;
    seen[w->id][3] = stdnpu;
    expect(clerrno == 0);
    return NULL;
}

static void threads_first_use_standard_contexts(void **state)
{
    (void)state;
    run_threads(use_first);
    for (int i = 1; i < THREADS; i++)
        assert_memory_equal(seen[i], seen[0], sizeof seen[0]);
    ready(seen[0][0]);

    cp = stddev; /* for the tests to come */
    program = clopen(cp, BASIC_CL, CLLD_NOW);
    ready(program);
    add = clsym(cp, program, "add", 0);
    copy = clsym(cp, program, "copy", 0);
    shared = clmalloc(cp, N * sizeof *shared, 0);
    ready(add);
    ready(copy);
    ready(shared);
    for (int i = 0; i < N; i++)
        shared[i] = 7 * i;
}

/* ---- Blocks of one's own, a kernel of all. ---- */

static void *own_blocks(void *arg)
{
    struct worker *w = arg;
    clndrange_t ndr = clndrange_init1d(0, N, 64);
    pthread_barrier_wait(&start_line);
    for (int round = 0; round < 40; round++) {
        int flags = round % 5 == 4 ? CL_MEM_ZEROCOPY : 0;
        int *x = clmalloc(cp, N * sizeof *x, flags), *y = clmalloc(cp, N * sizeof *y, 0);
        expect(x && y);
        if (!x || !y)
            break;
        int value = 1000 * w->id + round;
        for (int i = 0; i < N; i++)
            x[i] = i;
        expect_event(clmsync(cp, w->dev, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT));
        expect_event(clforka(cp, w->dev, add, &ndr, CL_EVENT_NOWAIT, x, value));
        expect_event(clforka(cp, w->dev, copy, &ndr, CL_EVENT_NOWAIT, x, y));
        expect_event(clmsync(cp, w->dev, y, CL_MEM_HOST | CL_EVENT_NOWAIT));
        if (round % 3 == 0)
            expect(clflush(cp, w->dev, 0) == 0);
        expect(clwait(cp, w->dev, CL_ALL_EVENT) ==
               NULL); /* waits for our commands too, whichever thread waits */
        int wrong = 0;
        for (int i = 0; i < N; i++)
            wrong += y[i] != i + value;
        expect(wrong == 0);
        expect(clmemptr(cp, y + N / 2) == y);
        expect(clsizeofmem(x + 1) == N * sizeof *x);
        if (round % 4 == 0) {
            int *larger = clmrealloc(cp, y, 3 * N * sizeof *y, 0);
            expect(larger != NULL);
            y = larger ? larger : y;
            expect(y[N - 1] == N - 1 + value);
        }
        expect(clfree(x) == 0);
        expect(clfree(y) == 0);
    }
    return NULL;
}

static void threads_use_own_blocks(void **state)
{
    (void)state;
    run_threads(own_blocks);
}

/* Free right after a launch: clfree waits. */
static void *free_in_flight(void *arg)
{
    struct worker *w = arg;
    clndrange_t ndr = clndrange_init1d(0, N, 64);
    pthread_barrier_wait(&start_line);
    for (int round = 0; round < 60; round++) {
        int *x = clmalloc(cp, N * sizeof *x, round & 1 ? CL_MEM_DEVONLY : 0);
        expect(x != NULL);
        expect_event(clforka(cp, w->dev, add, &ndr, CL_EVENT_NOWAIT, x, 1));
        expect(clfree(x) == 0);
    }
    expect(clwait(cp, w->dev, 0) == NULL);
    return NULL;
}

static void threads_free_while_others_work(void **state)
{
    (void)state;
    run_threads(free_in_flight);
}

/* ---- A block of all. ---- */

static void *read_shared(void *arg)
{
    struct worker *w = arg;
    clndrange_t ndr = clndrange_init1d(0, N, 64);
    int *y = clmalloc(cp, N * sizeof *y, 0);
    pthread_barrier_wait(&start_line);
    for (int round = 0; round < 30; round++) {
        cl_uint dev = (w->dev + (cl_uint)round) % clgetndev(cp);
        expect_event(clmsync(cp, dev, shared, CL_MEM_DEVICE | CL_MEM_NOFORCE | CL_EVENT_NOWAIT));
        expect(clforka(cp, dev, copy, &ndr, CL_EVENT_WAIT, shared, y) == NULL);
        expect(clmsync(cp, dev, y, CL_MEM_HOST) == NULL);
        expect(memcmp(y, shared, N * sizeof *y) == 0);
        expect(clmctl(shared, CL_MCTL_GET_DEVNUM) >= 0);
    }
    expect(clfree(y) == 0);
    return NULL;
}

static void threads_share_block(void **state)
{
    (void)state;
    run_threads(read_shared);
}

/* ---- Events of one's own. ---- */

static void *own_events(void *arg)
{
    struct worker *w = arg;
    clndrange_t ndr = clndrange_init1d(0, N, 64);
    int *x = clmalloc(cp, N * sizeof *x, 0);
    memset(x, 0, N * sizeof *x);
    expect(clmsync(cp, w->dev, x, CL_MEM_DEVICE) == NULL);
    pthread_barrier_wait(&start_line);
    for (int round = 0; round < 200; round++) {
        cl_event ev = clforka(cp, w->dev, add, &ndr, CL_EVENT_NOWAIT | CL_EVENT_OWN, x, 1);
        expect_event(ev);
        if (round % 7 == 0)
            expect(clwaitev(cp, w->dev, ev, 0) == ev);
        if (round % 11 == 0)
            expect(clwait(cp, w->dev, CL_KERNEL_EVENT) == NULL);
        expect(clReleaseEvent(ev) == CL_SUCCESS);
    }
    expect(clmsync(cp, w->dev, x, CL_MEM_HOST) == NULL);
    expect(x[0] == 200 && x[N - 1] == 200);
    expect(clfree(x) == 0);
    return NULL;
}

static void threads_use_own_events(void **state)
{
    (void)state;
    run_threads(own_events);
}

/* ---- Programs. ---- */

static void *own_programs(void *arg)
{
    struct worker *w = arg;
    clndrange_t one = clndrange_init1d(0, 1, 1);
    int *x = clmalloc(cp, sizeof *x, 0);
    pthread_barrier_wait(&start_line);
    for (int round = 0; round < 3; round++) {
        char source[128], name[32];
        snprintf(name, sizeof name, "mine_%d", w->id);
        snprintf(source, sizeof source,
                 "__kernel void %s(__global int *x, int a) { x[0] = a + %d; }", name, w->id);
        void *mine = clsopen(cp, source, round == 1 ? CLLD_LAZY : CLLD_NOW);
        expect(mine != NULL);
        cl_kernel krn = clsym(cp, round == 2 ? NULL : mine, name, 0);
        expect(krn != NULL);
        expect(clforka(cp, w->dev, krn, &one, CL_EVENT_WAIT, x, 100 * round) == NULL);
        expect(clmsync(cp, w->dev, x, CL_MEM_HOST) == NULL);
        expect(*x == 100 * round + w->id);
        expect(clsym(cp, program, "fill", 0) != NULL);
        expect(clsym(cp, NULL, "nobody has this", 0) == NULL && clerrno == ENOENT);
        expect(clclose(cp, mine) == 0);
    }
    expect(clfree(x) == 0);
    return NULL;
}

static void threads_use_own_programs(void **state)
{
    (void)state;
    run_threads(own_programs);
}

static void *lazy_program;

static void *build_lazily(void *arg)
{
    struct worker *w = arg;
    pthread_barrier_wait(&start_line);
    cl_kernel krn =
        clsym(cp, lazy_program, "fill", 0); /* one of the threads builds, the others wait */
    expect(krn != NULL);
    expect(krn == clsym(cp, lazy_program, "fill", 0));
    return NULL;
}

static void threads_share_lazy_program(void **state)
{
    (void)state;
    lazy_program = clopen(cp, BASIC_CL, CLLD_LAZY);
    ready(lazy_program);
    run_threads(build_lazily);
    works(clclose(cp, lazy_program));
}

/* ---- Contexts, attachment, errors. ---- */

static void *own_contexts(void *arg)
{
    struct worker *w = arg;
    cl_device_id device = clgetdevice(cp, w->dev);
    int *moving = clmalloc(NULL, 4096, CL_MEM_DETACHED);
    pthread_barrier_wait(&start_line);
    for (int round = 0; round < 5; round++) {
        CLCONTEXT *mine = clcontext_create_from(&device, 1);
        expect(mine != NULL);
        moving[0] = round;
        expect(clmattach(mine, moving) == 0);
        expect(clmsync(mine, 0, moving, CL_MEM_DEVICE) == NULL);
        moving[0] = -1;
        expect(clmsync(mine, 0, moving, CL_MEM_HOST) == NULL);
        expect(moving[0] == round);
        expect(clmdetach(moving) == 0);
        expect(clmalloc(mine, 100, 0) != NULL); /* freed with its context */
        expect(clcontext_destroy(mine) == 0);
        expect(clcontext_create("no-such-thing", (int)CL_DEVICE_TYPE_ALL, 0, NULL, 0) == NULL);
        expect(clerrno == ENODEV);
        const char *sentence = clerror();
        expect(sentence && strstr(sentence, "no-such-thing"));
    }
    expect(clfree(moving) == 0);
    return NULL;
}

static void threads_use_own_contexts(void **state)
{
    (void)state;
    run_threads(own_contexts);
}

static void threads_leave_nothing_open(void **state)
{
    (void)state;
    works(clfree(shared));
    works(clclose(cp, program));
    struct clstat_info info;
    works(clstat(cp, &info));
    assert_int_equal(info.nprg, 0);
    assert_int_equal(info.nkrn, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_first_use_standard_contexts),
        cmocka_unit_test(threads_use_own_blocks),
        cmocka_unit_test(threads_free_while_others_work),
        cmocka_unit_test(threads_share_block),
        cmocka_unit_test(threads_use_own_events),
        cmocka_unit_test(threads_use_own_programs),
        cmocka_unit_test(threads_share_lazy_program),
        cmocka_unit_test(threads_use_own_contexts),
        cmocka_unit_test(threads_leave_nothing_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
