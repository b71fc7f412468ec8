/* error.c - clerrno, its message, and the texts of codes.
 *
 * A failing call records its code, the OpenCL code that caused it and one sentence, for the calling
 * thread. Nothing is printed unless STDCL_DEBUG=1.
 * SPDX-License-Identifier: MIT
 */
#include "core/core.h"
#include "core/environment.h"
#include "core/no_device.h"
#include "core/pocl.h"

#include <unistd.h>

/* Every code of OpenCL 3.0 and of the ICD loader, with its meaning for a caller. */
#define OCL_ERRORS(X)                                                                              \
    X(0, CL_SUCCESS, "success")                                                                    \
    X(-1, CL_DEVICE_NOT_FOUND, "no such device")                                                   \
    X(-2, CL_DEVICE_NOT_AVAILABLE, "the device is not available")                                  \
    X(-3, CL_COMPILER_NOT_AVAILABLE, "the platform has no compiler")                               \
    X(-4, CL_MEM_OBJECT_ALLOCATION_FAILURE, "the device has no memory left")                       \
    X(-5, CL_OUT_OF_RESOURCES, "the device is out of registers, local memory or memory")           \
    X(-6, CL_OUT_OF_HOST_MEMORY, "the host has no memory left")                                    \
    X(-7, CL_PROFILING_INFO_NOT_AVAILABLE, "no time stamps were taken")                            \
    X(-8, CL_MEM_COPY_OVERLAP, "source and destination overlap")                                   \
    X(-9, CL_IMAGE_FORMAT_MISMATCH, "the image formats differ")                                    \
    X(-10, CL_IMAGE_FORMAT_NOT_SUPPORTED, "the device does not know this image format")            \
    X(-11, CL_BUILD_PROGRAM_FAILURE, "the program does not build")                                 \
    X(-12, CL_MAP_FAILURE, "the buffer cannot be mapped")                                          \
    X(-13, CL_MISALIGNED_SUB_BUFFER_OFFSET, "the device cannot start a buffer at this offset")     \
    X(-14, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "a command that was waited for failed")   \
    X(-15, CL_COMPILE_PROGRAM_FAILURE, "the program does not compile")                             \
    X(-16, CL_LINKER_NOT_AVAILABLE, "the platform has no linker")                                  \
    X(-17, CL_LINK_PROGRAM_FAILURE, "the program does not link")                                   \
    X(-18, CL_DEVICE_PARTITION_FAILED, "the device cannot be partitioned so")                      \
    X(-19, CL_KERNEL_ARG_INFO_NOT_AVAILABLE, "nothing is known of the kernel's arguments")         \
    X(-30, CL_INVALID_VALUE, "a value is out of range")                                            \
    X(-31, CL_INVALID_DEVICE_TYPE, "no such type of device")                                       \
    X(-32, CL_INVALID_PLATFORM, "no such platform")                                                \
    X(-33, CL_INVALID_DEVICE, "no such device")                                                    \
    X(-34, CL_INVALID_CONTEXT, "not an OpenCL context")                                            \
    X(-35, CL_INVALID_QUEUE_PROPERTIES, "the queue cannot have these properties")                  \
    X(-36, CL_INVALID_COMMAND_QUEUE, "not a command queue")                                        \
    X(-37, CL_INVALID_HOST_PTR, "a host pointer does not go with the flags")                       \
    X(-38, CL_INVALID_MEM_OBJECT, "not a memory object of this context")                           \
    X(-39, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "not an image format")                              \
    X(-40, CL_INVALID_IMAGE_SIZE, "the device cannot hold an image of this size")                  \
    X(-41, CL_INVALID_SAMPLER, "not a sampler")                                                    \
    X(-42, CL_INVALID_BINARY, "the binary is not for this device")                                 \
    X(-43, CL_INVALID_BUILD_OPTIONS, "the compiler does not know a build option")                  \
    X(-44, CL_INVALID_PROGRAM, "not a program")                                                    \
    X(-45, CL_INVALID_PROGRAM_EXECUTABLE, "the program was not built for this device")             \
    X(-46, CL_INVALID_KERNEL_NAME, "the program has no kernel of this name")                       \
    X(-47, CL_INVALID_KERNEL_DEFINITION, "the kernel differs between devices")                     \
    X(-48, CL_INVALID_KERNEL, "not a kernel")                                                      \
    X(-49, CL_INVALID_ARG_INDEX, "the kernel has no such argument")                                \
    X(-50, CL_INVALID_ARG_VALUE, "the argument cannot have this value")                            \
    X(-51, CL_INVALID_ARG_SIZE, "the argument has another size")                                   \
    X(-52, CL_INVALID_KERNEL_ARGS, "an argument of the kernel was never set")                      \
    X(-53, CL_INVALID_WORK_DIMENSION, "an index space has 1 to 3 dimensions")                      \
    X(-54, CL_INVALID_WORK_GROUP_SIZE, "the device cannot run work-groups of this size")           \
    X(-55, CL_INVALID_WORK_ITEM_SIZE, "a work-group is too long in one dimension")                 \
    X(-56, CL_INVALID_GLOBAL_OFFSET, "the offset of the index space is out of range")              \
    X(-57, CL_INVALID_EVENT_WAIT_LIST, "not a list of events")                                     \
    X(-58, CL_INVALID_EVENT, "not an event")                                                       \
    X(-59, CL_INVALID_OPERATION, "the operation is not allowed here")                              \
    X(-60, CL_INVALID_GL_OBJECT, "not an OpenGL object")                                           \
    X(-61, CL_INVALID_BUFFER_SIZE, "the device cannot hold a buffer of this size")                 \
    X(-62, CL_INVALID_MIP_LEVEL, "no such mip level")                                              \
    X(-63, CL_INVALID_GLOBAL_WORK_SIZE, "the global size is 0 or too large")                       \
    X(-64, CL_INVALID_PROPERTY, "no such property")                                                \
    X(-65, CL_INVALID_IMAGE_DESCRIPTOR, "not an image descriptor")                                 \
    X(-66, CL_INVALID_COMPILER_OPTIONS, "the compiler does not know an option")                    \
    X(-67, CL_INVALID_LINKER_OPTIONS, "the linker does not know an option")                        \
    X(-68, CL_INVALID_DEVICE_PARTITION_COUNT, "the device cannot be cut into so many parts")       \
    X(-69, CL_INVALID_PIPE_SIZE, "not a size for a pipe")                                          \
    X(-70, CL_INVALID_DEVICE_QUEUE, "not a device queue")                                          \
    X(-71, CL_INVALID_SPEC_ID, "no such specialization constant")                                  \
    X(-72, CL_MAX_SIZE_RESTRICTION_EXCEEDED, "a size is larger than the device allows")            \
    X(-1001, CL_PLATFORM_NOT_FOUND_KHR, "no OpenCL platform is installed")

/* The values of clerrno, with their meaning here. */
#define CL_ERRNOS(X)                                                                               \
    X(0, "no error")                                                                               \
    X(EFAULT, "the pointer is not from clmalloc, or was freed")                                    \
    X(EINVAL, "an argument of the call is wrong")                                                  \
    X(ENOMEM, "no memory left on the host or the device")                                          \
    X(ENOTSUP, "not supported by this platform or this build")                                     \
    X(ENOENT, "no such file or kernel")                                                            \
    X(ENOEXEC, "the program does not build, or is not for this device")                            \
    X(ENODEV, "no such device")                                                                    \
    X(EBUSY, "in use")                                                                             \
    X(EIO, "a command failed on the device")

static _Thread_local struct failure last; /* its text is freed when the thread ends */

static pthread_key_t text_key;
static pthread_once_t text_once = PTHREAD_ONCE_INIT;

static void make_text_key(void)
{
    pthread_key_create(&text_key, free);
}

/* Make `text` the thread's message and take ownership of it. */
static void keep_text(char *text)
{
    pthread_once(&text_once, make_text_key);
    free(last.text);
    last.text = text;
    pthread_setspecific(text_key, text);
    last.unread = true;
}

void failure_save(struct failure *before)
{
    *before = last;
    last.text = NULL;
}

void failure_restore(const struct failure *before)
{
    keep_text(before->text);
    last = *before;
}

void failure_drop_saved(struct failure *before)
{
    free(before->text);
}

struct failure failure_copy(void)
{
    struct failure copy = last;
    copy.text = last.text ? strdup(last.text) : NULL;
    copy.unread = true;
    return copy;
}

/* Messages quote files and command lines: replace characters that a terminal would interpret. */
static void replace_controls(char *text)
{
    for (; text && *text; text++)
        if (((unsigned char)*text < ' ' && *text != '\n' && *text != '\t') || *text == 127)
            *text = '?';
}

static void failure_record(int code, cl_int ocl, const char *format, va_list ap)
{
    char *text = NULL, *whole = NULL;
    if (vasprintf(&text, format, ap) < 0)
        text = NULL;
    if (text && ocl != CL_SUCCESS && asprintf(&whole, "%s: %s", text, oclerror_str(ocl)) >= 0) {
        free(text);
        text = whole;
    }
    replace_controls(text);
    keep_text(text);
    last.code = code;
    last.ocl = ocl;
    if (debug_prints())
        debug_print(text ? text : clerror_str(code));
}

int fail(int code, cl_int ocl, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    failure_record(code, ocl, format, ap);
    va_end(ap);
    return -1;
}

STDCL_API int clerror_set(int code, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    failure_record(code, CL_SUCCESS, format, ap);
    va_end(ap);
    return -1;
}

int errno_of(cl_int ocl)
{
    switch (ocl) {
    case CL_SUCCESS:
        return 0;
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_INVALID_BUFFER_SIZE:
        return ENOMEM;
    case CL_BUILD_PROGRAM_FAILURE:
    case CL_COMPILE_PROGRAM_FAILURE:
    case CL_LINK_PROGRAM_FAILURE:
    case CL_COMPILER_NOT_AVAILABLE:
    case CL_INVALID_BINARY:
        return ENOEXEC;
    case CL_DEVICE_NOT_FOUND:
    case CL_DEVICE_NOT_AVAILABLE:
        return ENODEV;
    case CL_INVALID_KERNEL_NAME:
        return ENOENT;
    case CL_IMAGE_FORMAT_NOT_SUPPORTED:
        return ENOTSUP;
    case CL_MEM_COPY_OVERLAP:
    case CL_IMAGE_FORMAT_MISMATCH:
    case CL_MISALIGNED_SUB_BUFFER_OFFSET:
        return EINVAL;
    default:
        return ocl <= CL_INVALID_VALUE && ocl > -1000 ? EINVAL : EIO;
    }
}

STDCL_API int *stdcl_errno_address(void)
{
    return &last.code;
}

STDCL_API int *stdcl_oclerrno_address(void)
{
    return &last.ocl;
}

/* Stands for a message that could not be allocated. */
static char no_sentence[] =
    "out of memory for the sentence of this failure; clerrno and oclerrno tell its codes";

const char *clerror_text(void)
{
    return last.text ? last.text : last.unread ? no_sentence : "";
}

/* The last message if it is unread and begins with one of these names; NULL ends the list. */
static const char *failure_of_calls(const char *const *call)
{
    for (; last.unread && last.text && *call; call++)
        if (strncmp(last.text, *call, strlen(*call)) == 0)
            return last.text;
    return NULL;
}

const char *failure_to_open(void)
{
    static const char *const calls[] = {"clopen", "clsopen", "clload", "clbuild", "clsym", NULL};
    return failure_of_calls(calls);
}

const char *failure_to_compute(void)
{
    static const char *const calls[] = {"clexec", "clfork", "clarg", "clmsync", "clmcopy", NULL};
    const char *command = failure_of_calls(calls);
    return command ? command : failure_to_open();
}

const char *failure_to_allocate(void)
{
    static const char *const calls[] = {"clmalloc", "clmem_adopt", "clmrealloc", NULL};
    return failure_of_calls(calls);
}

/* ---- Calls without a context. ---- */

static _Atomic(const char *) first_reason;

void no_context_reason(const char *text)
{
    const char *none = NULL;
    atomic_compare_exchange_strong(&first_reason, &none, text);
}

static const char *missing_device(char *text, size_t size)
{
    char because[256];
    cl_uint platforms = 0;
    if (clGetPlatformIDs(0, NULL, &platforms) == CL_SUCCESS && platforms > 0)
        return "no such device on this machine? 'stdcl devices' lists the devices of each context";
    snprintf(text, size, "this system has no OpenCL platform%s; " NO_DEVICE_REMEDY,
             no_platform_because(because, sizeof because));
    return text;
}

int fail_no_context(const char *call)
{
    char text[512];
    const char *reason = atomic_load(&first_reason);
    return fail(EINVAL, 0, "%s: the context is NULL (%s)", call,
                reason ? reason : missing_device(text, sizeof text));
}

STDCL_API char *clerror(void)
{
    if (!last.unread)
        return NULL;
    last.unread = false;
    return last.text ? last.text : no_sentence;
}

STDCL_API const char *clerror_str(int code)
{
    switch (code) {
#define X(value, text)                                                                             \
    case value:                                                                                    \
        return text;
        CL_ERRNOS(X)
#undef X
    default: {
        const char *text = strerrordesc_np(code);
        return text ? text : "an unknown error";
    }
    }
}

STDCL_API const char *oclerror_str(int code)
{
    switch (code) {
#define X(value, name, text)                                                                       \
    case value:                                                                                    \
        return #name ": " text;
        OCL_ERRORS(X)
#undef X
    default:
        return "an OpenCL code that this version does not know";
    }
}

static void print_error(const char *prefix, const char *text)
{
    if (prefix && *prefix)
        fprintf(stderr, "%s: %s\n", prefix, text);
    else
        fprintf(stderr, "%s\n", text);
}

STDCL_API void clperror(const char *prefix)
{
    print_error(prefix, clerror_str(last.code));
}

STDCL_API void oclperror(const char *prefix)
{
    print_error(prefix, oclerror_str(last.ocl));
}
