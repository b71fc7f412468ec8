/* build.c - the parts of a program, and their builds for each device.
 *
 * Sources start with a #line directive, so that the compiler's messages name the user's file and
 * line.
 * SPDX-License-Identifier: MIT
 */
#include "core/embedded.h"
#include "core/observer.h"
#include "core/pocl.h"
#include "core/program.h"

#include <time.h>
#include <unistd.h>

/* ---- Parts. ---- */

void part_free(struct part *p, cl_uint ndev)
{
    for (cl_uint i = 0; p->program && i < ndev; i++)
        if (p->program[i])
            clReleaseProgram(p->program[i]);
    for (size_t i = 0; p->binary && i < p->nbinary; i++)
        free(p->binary[i]);
    free(p->binary);
    free(p->binary_size);
    free(p->spec);
    free(p->program);
    free(p->source);
    free(p->name);
}

bool is_binary(const char *data, size_t size)
{
    if (memchr(data, 0, size))
        return true;
    const char *version = memmem(data, size, "\n.version ", 10);
    return version && memmem(version, size - (size_t)(version - data), "\n.target ", 9);
}

/* ---- Files from clsave. ---- */

struct binary_header {
    char mark[16];
    uint64_t size, hash;
};
static const char binary_mark[16] = "stdcl binary 1\n";

void binary_header_make(unsigned char header[BINARY_HEADER], const void *data, size_t size)
{
    struct binary_header h = {.size = size, .hash = bytes_hash(data, size)};
    _Static_assert(sizeof h == BINARY_HEADER, "the header has no padding");
    memcpy(h.mark, binary_mark, sizeof h.mark);
    memcpy(header, &h, sizeof h);
}

int binary_unwrap(const char **data, size_t *size, const char *name, const char *call)
{
    struct binary_header h;
    if (*size < sizeof binary_mark || memcmp(*data, binary_mark, sizeof binary_mark) != 0)
        return 0;
    const size_t rest = *size < sizeof h ? 0 : *size - sizeof h;
    if (*size >= sizeof h)
        memcpy(&h, *data, sizeof h);
    if (*size < sizeof h || h.size != rest || h.hash != bytes_hash(*data + sizeof h, rest))
        return fail(ENOEXEC, 0,
                    "%s: %s is a damaged binary of clsave, %zu bytes of it are left; save it again",
                    call, name, *size);
    *data += sizeof h;
    *size = rest;
    return 0;
}

int binary_file_check(const char *data, size_t size, const char *file, const char *call)
{
    const bool marked =
        size >= sizeof binary_mark && memcmp(data, binary_mark, sizeof binary_mark) == 0;
    const char *const dot = strrchr(file, '.');
    if (spirv_begins(data, size))
        return 0;
    if (dot && strcmp(dot, ".spv") == 0)
        return fail(ENOEXEC, 0, "%s: %s is no SPIR-V: it does not begin with the word 0x07230203",
                    call, file);
    if (marked || !memchr(data, 0, size))
        return 0;
    return fail(ENOEXEC, 0,
                "%s: %s is no OpenCL C, and a binary without the length and hash that clsave "
                "writes; save it again with clsave, or pass a driver's own binary to clloadb",
                call, file);
}

/* The source, preceded by `before` and a #line directive. */
static char *with_line(const char *name, const char *before, const char *source, size_t size)
{
    char *text = NULL;
    size_t length = 0;
    FILE *fp = open_memstream(&text, &length);
    if (!fp)
        return NULL;
    include_write_source(fp, NULL, before, strlen(before));
    line_directive_write(fp, name);
    include_write_source(fp, name, source, size);
    fputc('\n', fp);
    fclose(fp);
    return text;
}

bool part_of_source(struct part *p, const char *name, const char *before, const char *source,
                    size_t size, cl_uint ndev)
{
    skip_byte_order_mark(&source, &size);
    p->name = strdup(name);
    p->source = with_line(name, before, source, size);
    p->program = calloc(ndev, sizeof(*p->program));
    return p->name && p->source && p->program;
}

bool part_of_binaries(struct part *p, const char *name, size_t n, char **bin, const size_t *size,
                      cl_uint ndev)
{
    p->name = strdup(name);
    p->program = calloc(ndev, sizeof(*p->program));
    p->binary = calloc(n, sizeof *p->binary);
    p->binary_size = calloc(n, sizeof *p->binary_size);
    if (!p->name || !p->program || !p->binary || !p->binary_size)
        return false;
    for (p->nbinary = 0; p->nbinary < n; p->nbinary++) {
        size_t i = p->nbinary;
        p->binary[i] = malloc(size[i] ? size[i] : 1);
        if (!p->binary[i])
            return false;
        memcpy(p->binary[i], bin[i], size[i]);
        p->binary_size[i] = size[i];
    }
    return true;
}

/* ---- Building. ---- */

/* The options of every program, then the caller's; the caller frees them. */
static char *all_options(const struct device *d, const struct part *p, bool argument_info,
                         const char *options)
{
    char *text = NULL;
    size_t size = 0;
    FILE *fp = open_memstream(&text, &size);
    if (!fp)
        return NULL;
    const char *include = include_folder();
    fputs(argument_info ? "-cl-kernel-arg-info -D __STDCL__ " : "-D __STDCL__ ", fp);
    fputs(d->type & CL_DEVICE_TYPE_CPU   ? "-D __CPU__"
          : d->type & CL_DEVICE_TYPE_GPU ? "-D __GPU__"
                                         : "",
          fp);
    if (d->maker)
        fprintf(fp, " -D %s", d->maker);
    if (d->number)
        fprintf(fp, " -D STDCL_DEVICE=%u", d->number);
    const char *slash = strrchr(p->name, '/');
    if (slash && access(p->name, R_OK) == 0 && !memchr(p->name, ' ', (size_t)(slash - p->name)))
        fprintf(fp, " -I %.*s", (int)(slash - p->name + 1), p->name);
    if (*include && !strchr(include, ' '))
        fprintf(fp, " -I %s", include);
    fprintf(fp, " -I. %s", options ? options : "");
    fclose(fp);
    return text;
}

/* The caller frees it. */
static char *driver_build_log(cl_device_id id, cl_program program)
{
    size_t size = 0;
    clGetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *log = calloc(size + 1, 1);
    if (log && size)
        clGetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, size, log, NULL);
    return log;
}

char *part_build_log(const struct part *p, cl_device_id id, cl_program program)
{
    char *log = driver_build_log(id, program);
    char *translated = log ? build_log_translate(log, p->source) : NULL;
    free(log);
    return translated;
}

static int build_failed(const struct part *p, const struct device *d, cl_program program,
                        cl_int err, const char *call)
{
    char *translated = part_build_log(p, d->id, program);
    fail(ENOEXEC, 0, "%s: %s does not build for %s (%s)\n%s", call, p->name, d->name,
         oclerror_str(err), translated ? translated : "");
    oclerrno = err;
    free(translated);
    return -1;
}

static cl_program part_create_program(const struct part *p, const struct device *d, cl_uint dev,
                                      cl_int *err)
{
    if (p->source) {
        const char *source = p->source;
        return clCreateProgramWithSource(d->context, 1, &source, NULL, err);
    }
    if (p->spirv)
        return spirv_program(p, d, err);
    size_t which = p->nbinary > 1 ? dev : 0;
    const unsigned char *binary = p->binary[which];
    cl_int status;
    return clCreateProgramWithBinary(d->context, 1, &d->id, &p->binary_size[which], &binary,
                                     &status, err);
}

void (*core_compiles)(bool begins);

enum { MAX_BUILDS = 4, PAUSE_NS = 100000000 /* for the other process to finish its file */ };

static bool failed_without_reason(const struct device *d, cl_program program, cl_int err)
{
    char *log = err == CL_BUILD_PROGRAM_FAILURE && is_pocl(d->platform)
                    ? driver_build_log(d->id, program)
                    : NULL;
    const bool failed = log && build_log_gives_no_reason(log);
    free(log);
    return failed;
}

/* Build. PoCL before 6.0 replaces a file of its kernel cache in two steps: it removes the old file,
 * then renames a new one. If several processes compile the same program at once, such as ranks on a
 * host, one process may fail because another has removed the file first (pocl issue 1480). The next
 * build finds the program in the cache. A source that fails without a message for another reason
 * costs three more builds and 0.3 s. */
static cl_int part_compile(cl_program program, const struct device *d, const char *options)
{
    void (*const note)(bool begins) = core_compiles;
    if (note)
        note(true);
    cl_int err = clBuildProgram(program, 1, &d->id, options, NULL, NULL);
    for (int builds = 1; builds < MAX_BUILDS && failed_without_reason(d, program, err); builds++) {
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
        err = clBuildProgram(program, 1, &d->id, options, NULL, NULL);
    }
    if (note)
        note(false);
    return err;
}

/* Load the program from disk, or create and build it. */
static cl_int part_make_program(struct part *p, struct device *d, cl_uint dev, const char *options)
{
    struct disk_entry stored = {.lock = -1};
    cl_int err = CL_SUCCESS;
    p->program[dev] = p->source && p->keep ? disk_cache_find(&stored, d, p->source, options) : NULL;
    const bool found = p->program[dev] != NULL;
    if (!found && (p->program[dev] = part_create_program(p, d, dev, &err)) != NULL)
        err = part_compile(p->program[dev], d, options);
    const bool ready = p->program[dev] && err == CL_SUCCESS;
    char *log = ready && stored.lock >= 0 ? part_build_log(p, d->id, p->program[dev]) : NULL;
    disk_cache_end(&stored, ready && !found ? p->program[dev] : NULL, log);
    free(log);
    if (ready)
        program_cache_add(d, p->program[dev], p->source, options);
    return err;
}

static int try_build(struct part *p, struct device *d, cl_uint dev, bool argument_info,
                     const char *options, const char *call)
{
    char *all = all_options(d, p, argument_info, options);
    if (!all)
        return fail(ENOMEM, 0, "%s: out of memory on the host", call);
    p->program[dev] = program_cache_find(d, p->source, all);
    const cl_int err = p->program[dev] ? CL_SUCCESS : part_make_program(p, d, dev, all);
    free(all);
    if (!p->program[dev] && p->spirv)
        return spirv_failed(p, d, err, call);
    if (!p->program[dev])
        return fail(p->source ? errno_of(err) : ENOEXEC, err, "%s: %s cannot be loaded for %s",
                    call, p->name, d->name);
    return err ? build_failed(p, d, p->program[dev], err, call) : 0;
}

/* Use the binary embedded beside the source, if one matches this device and driver. It was
 * compiled without the caller's options and without a device number. If it fails, the source is
 * built. */
static bool build_embedded_binary(struct part *p, const struct device *d, cl_uint dev,
                                  const char *options)
{
    if (!p->embedded || options || d->number)
        return false;
    const struct stdcl_embedded_binary *b = embedded_binary(p->embedded, d->id);
    const char *bytes = b ? (const char *)b->data : NULL;
    size_t size = b ? b->size : 0;
    if (b && binary_unwrap(&bytes, &size, p->name, "clopen") != 0)
        return false;
    const unsigned char *data = (const unsigned char *)bytes;
    cl_int status, err;
    cl_program program =
        b ? clCreateProgramWithBinary(d->context, 1, &d->id, &size, &data, &status, &err) : NULL;
    if (program && clBuildProgram(program, 1, &d->id, NULL, NULL, NULL) == CL_SUCCESS) {
        p->program[dev] = program;
        return true;
    }
    if (program)
        clReleaseProgram(program);
    return false;
}

/* Argument types come from sources (-cl-kernel-arg-info). With that option NVIDIA's compiler
 * (driver 580) generates wrong assembly if a kernel has no arguments, so a failing source is built
 * again without it, and kernel_signature.c provides the types. The caller does not see the first
 * failure. */
static int build_part(struct part *p, struct device *d, cl_uint dev, const char *options,
                      const char *call)
{
    struct failure before;
    if (build_embedded_binary(p, d, dev, options))
        return 0;
    failure_save(&before);
    int status = try_build(p, d, dev, p->source != NULL, options, call);
    const bool again =
        status != 0 && p->source && p->program[dev] && strcasestr(clerror_text(), "ptxas");
    if (status == 0 || again)
        failure_restore(&before);
    else
        failure_drop_saved(&before);
    if (!again)
        return status;
    clReleaseProgram(p->program[dev]);
    return try_build(p, d, dev, false, options, call);
}

static void unbuild(struct program *p)
{
    for (size_t i = 0; i < p->nparts; i++)
        for (cl_uint dev = 0; dev < p->cp->ndev; dev++)
            if (p->part[i].program[dev]) {
                clReleaseProgram(p->part[i].program[dev]);
                p->part[i].program[dev] = NULL;
            }
}

void program_forget_refusal(struct program *p)
{
    failure_drop_saved(&p->refusal);
    p->refusal = (struct failure){0};
}

int program_build(struct program *p, const char *call)
{
    program_forget_refusal(p);
    for (size_t i = 0; i < p->nparts; i++)
        for (cl_uint dev = 0; dev < p->cp->ndev; dev++)
            if (build_part(&p->part[i], &p->cp->dev[dev], dev, p->options, call) != 0) {
                unbuild(p);
                return -1;
            }
    p->built = true;
    return 0;
}

/* Keep the thread's last failure as the reason why p does not build. */
static void keep_refusal(struct program *p, const char *call)
{
    const size_t head = strlen(call) + 2; /* "call: " */
    p->refusal = failure_copy();
    char *const text = p->refusal.text;
    if (text && strlen(text) > head && strncmp(text, call, head - 2) == 0)
        memmove(text, text + head, strlen(text + head) + 1);
}

int program_build_once(struct program *p, const char *call)
{
    struct failure before;
    if (p->built || p->refusal.code != 0)
        return 0;
    failure_save(&before);
    const bool built = program_build(p, call) == 0;
    if (!built && (clerrno == ENOMEM || errno_of(oclerrno) == ENOMEM)) {
        failure_drop_saved(&before);
        return -1;
    }
    if (!built)
        keep_refusal(p, call);
    failure_restore(&before);
    return 0;
}
