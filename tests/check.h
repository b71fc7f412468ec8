/* check.h - assertions shared by the layer's tests.
 *
 * Each macro states one promise of <stdcl.h>. If the promise does not hold, the macro prints the
 * call, its result and clerror() before the test fails:
 *   works(int call)       returns 0
 *   done(event call)      returns 0: the call has blocked
 *   started(event call)   returns an event
 *   ready(pointer)        is not NULL
 *   fails(E, int call)    returns -1; clerrno is E, or any code but 0 if E is ANY_ERROR;
 *   clerror() is set
 *   fails_null, fails_event, fails_size    as fails, for calls of other result types
 *
 * The macros use cmocka, so call them in the main thread only.
 * SPDX-License-Identifier: MIT
 */
#ifndef CHECK_H
#define CHECK_H

#include "core/clock.h"
#include "sanitized.h"

#include <stdcl.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef stop                 /* a macro of cmocka 2 */
#ifdef assert_uint_in_range /* cmocka 2 deprecates assert_in_range */
#undef assert_in_range
#define assert_in_range(value, least, most) assert_uint_in_range(value, least, most)
#endif

#define ANY_ERROR 0
#define NO_EVENT ((cl_event)(intptr_t)-1)

/* Kernels shared by several tests are in kernels/basic.cl; tests run in the folder tests/. */
#define BASIC_CL "kernels/basic.cl"

static inline void check_fail(const char *call, const char *problem, const char *file, int line)
{
    const char *sentence = clerror();
    print_error("%s %s; clerrno %d (%s), clerror: %s\n", call, problem, clerrno,
                clerror_str(clerrno), sentence ? sentence : "NULL");
    _fail(file, line);
}

/* Return value of a group's setup. cmocka reports that the setup failed; this prints why. */
static inline int setup_done(bool holds)
{
    const char *sentence = clerror();
    if (!holds)
        print_error("the tests could not begin: %s\n", sentence ? sentence : "clerror() is NULL");
    return holds ? 0 : -1;
}

static inline void check_that(int holds, const char *call, const char *problem, const char *file,
                              int line)
{
    if (!holds)
        check_fail(call, problem, file, line);
}

static inline void check_error(int code, const char *call, const char *file, int line)
{
    int got = clerrno;
    const char *sentence = clerror();
    if (got == 0 || (code != ANY_ERROR && got != code)) {
        print_error("%s sets clerrno to %d (%s) instead of %d (%s); clerror: %s\n", call, got,
                    clerror_str(got), code, clerror_str(code), sentence ? sentence : "NULL");
        _fail(file, line);
    }
    if (!sentence || strlen(sentence) < 10) {
        print_error("%s fails without a sentence in clerror()\n", call);
        _fail(file, line);
    }
}

static inline void check_forget(void)
{
    clerrno = 0;
    (void)clerror();
}

#define works(call) check_that((call) == 0, #call, "did not return 0", __FILE__, __LINE__)
#define ready(value) check_that((value) != NULL, #value, "is NULL", __FILE__, __LINE__)
#define done(call) check_that((call) == NULL, #call, "did not return 0", __FILE__, __LINE__)
#define started(call) check_started((call), #call, __FILE__, __LINE__)

static inline cl_event check_started(cl_event ev, const char *call, const char *file, int line)
{
    check_that(ev != NULL && ev != NO_EVENT, call, "did not return an event", file, line);
    return ev;
}

/* `text` is the call as written, before macro expansion. */
#define CHECK_FAILS(code, value, problem, call, text)                                              \
    do {                                                                                           \
        check_forget();                                                                            \
        check_that((call) == (value), text, problem, __FILE__, __LINE__);                          \
        check_error((code), text, __FILE__, __LINE__);                                             \
    } while (0)
#define fails(code, call) CHECK_FAILS(code, -1, "did not return -1", call, #call)
#define fails_null(code, call) CHECK_FAILS(code, NULL, "did not return NULL", call, #call)
#define fails_event(code, call)                                                                    \
    CHECK_FAILS(code, NO_EVENT, "did not return (cl_event)-1", call, #call)
#define fails_size(code, call)                                                                     \
    CHECK_FAILS(code, (size_t)-1, "did not return (size_t)-1", call, #call)
#define fails_0(code, call) CHECK_FAILS(code, 0, "did not return 0", call, #call)

/* CPU time of all threads of this process, in seconds; independent of other processes. */
static inline double seconds_worked(void)
{
    return 1e-9 * (double)ns_of_clock(CLOCK_PROCESS_CPUTIME_ID);
}

/* Fail unless `call` rejects the otherwise valid options `o` when the first or last reserved
 * word is set. */
#define refuses_reserved(o, call)                                                                  \
    for (size_t last_ = sizeof(o).reserved / sizeof *(o).reserved - 1, word_ = 0; word_ <= last_;  \
         word_ += last_) {                                                                         \
        (o).reserved[word_] = 1;                                                                   \
        assert_null(call);                                                                         \
        contains(clerror(), word_ == 0   ? "reserved[0]"                                           \
                            : last_ == 7 ? "reserved[7]"                                           \
                                         : "reserved[");                                           \
        (o).reserved[word_] = 0;                                                                   \
    }

/* Fail unless `text` contains `part`. */
#define contains(text, part) check_contains((text), (part), __FILE__, __LINE__)
static inline void check_contains(const char *text, const char *part, const char *file, int line)
{
    if (!text || !strstr(text, part)) {
        print_error("\"%s\" is not in: %s\n", part, text ? text : "NULL");
        _fail(file, line);
    }
}

/* Return an event's execution status, or a negative error. */
static inline cl_int event_status(cl_event ev)
{
    cl_int status = 0;
    cl_int err =
        clGetEventInfo(ev, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    return err == CL_SUCCESS ? status : err;
}

/* True if all devices of the context support doubles. */
static inline bool have_doubles(CLCONTEXT *cp)
{
    struct cldev_info info[64];
    const cl_uint n = clgetndev(cp);
    if (n > 64 || clgetdevinfo(cp, info) != 0)
        return false;
    for (cl_uint i = 0; i < n; i++)
        if (!info[i].dev_pref_vec_double)
            return false;
    return true;
}

/* Return a kernel of kernels/basic.cl. The program is opened once per context and stays open. */
static inline cl_kernel basic_kernel(CLCONTEXT *cp, const char *name)
{
    static CLCONTEXT *of;
    static void *program;
    if (of != cp) {
        program = clopen(cp, BASIC_CL, CLLD_NOW);
        ready(program);
        of = cp;
    }
    cl_kernel krn = clsym(cp, program, name, 0);
    ready(krn);
    return krn;
}

/* Scalar reference of the kernel `slow`; a round takes about six clock cycles. */
static inline cl_uint slow_reference(cl_uint x, int rounds)
{
    for (int r = 0; r < rounds; r++) {
        x = x * 1664525u + 1013904223u;
        x ^= x >> 15;
    }
    return x;
}

#endif /* CHECK_H */
