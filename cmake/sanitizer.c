/* sanitizer.c - sanitizer options, linked into every program of a sanitized build.
 *
 * OpenCL drivers, and the compilers inside them, are not instrumented. ThreadSanitizer would see
 * some of their accesses without the locks around them, and LeakSanitizer the memory that they keep
 * until exit. Neither concerns our code. HDF5 keeps the header of a damaged object that it fails to
 * load (H5C_protect), whatever the caller does.
 * SPDX-License-Identifier: MIT
 */
/* The sanitizer's library looks these names up. */
#define SEEN __attribute__((visibility("default"))) const char *
SEEN __asan_default_options(void);
SEEN __tsan_default_options(void);
SEEN __ubsan_default_options(void);
SEEN __lsan_default_options(void);
SEEN __lsan_default_suppressions(void);

/* A failed allocation returns NULL, as without the sanitizer. GCC 12's leak check crashes ("Tracer
 * caught signal 11") while it looks for the thread-local memory of libraries opened later, here
 * drivers, if glibc's block begins 16 bytes after a page boundary. intercept_tls_get_addr=0 avoids
 * the crash. */
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
           "leak:libOpenCL\n"
           "leak:H5C_protect\n";
}
