/* sanitizer.c - what sanitized builds ask of their sanitizers; linked into every program of such a
 * build.
 *
 * OpenCL drivers, and the compilers inside them, are not instrumented. ThreadSanitizer would see
 * some of their accesses and not the locks around them, LeakSanitizer what they keep until the
 * process ends; neither tells anything about our code.
 * SPDX-License-Identifier: MIT
 */
/* Found by the sanitizer's library by their names. */
#define SEEN __attribute__((visibility("default"))) const char *
SEEN __asan_default_options(void);
SEEN __tsan_default_options(void);
SEEN __ubsan_default_options(void);
SEEN __lsan_default_options(void);
SEEN __lsan_default_suppressions(void);

/* A size that cannot be had is an error to report, as without the sanitizer. GCC 12's looks for
 * thread-local memory of libraries that were opened later at an address that is none, where glibc's
 * block begins 16 bytes behind a page, and its search for leaks crashes there ("Tracer caught
 * signal 11"); those libraries are drivers. */
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:intercept_tls_get_addr=0";
}

const char *__tsan_default_options(void)
{
    return "ignore_noninstrumented_modules=1:allocator_may_return_null=1";
}

const char *__ubsan_default_options(void)
{
    return "print_stacktrace=1";
}

const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}

const char *__lsan_default_suppressions(void)
{
    return "leak:libpocl\n"
           "leak:libLLVM\n"
           "leak:libclang-cpp\n"
           "leak:libhwloc\n"
           "leak:libOpenCL\n";
}
