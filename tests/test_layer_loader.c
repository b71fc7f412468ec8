/* test_layer_loader.c - programs and kernels: sources and binaries, when and with which options
 * they are built, build errors, and how kernels are found.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"
#include "deep.h"
#include "pocl.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static CLCONTEXT *cp;
static int *out; /* kernels write their result here */
static char folder[] = "/tmp/stdcl-loader-XXXXXX";
static clndrange_t one = clndrange_init1d(0, 1, 1);

enum { OUT = 16 };

static int loader_setup(void **state)
{
    (void)state;
    cp = stddev;
    out = clmalloc(cp, OUT * sizeof *out, 0);
    return setup_done(out && mkdtemp(folder));
}

static int loader_teardown(void **state)
{
    (void)state;
    clfree(out);
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* Run a kernel whose only argument is `out` on every device; `out` then holds the last device's
 * result. */
static void collect_build_report(cl_kernel krn)
{
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        memset(out, 0, OUT * sizeof *out);
        done(clforka(cp, dev, krn, &one, CL_EVENT_WAIT, out));
        done(clmsync(cp, dev, out, CL_MEM_HOST));
    }
}

/* Return the int that the kernel `answer` of a program writes. */
static int answer_of(void *program)
{
    cl_kernel krn = clsym(cp, program, "answer", 0);
    ready(krn);
    collect_build_report(krn);
    return out[0];
}

#define ANSWER(n) "__kernel void answer(__global int *out) { out[0] = " #n "; }\n"

/* Write a file with `text` in the test's folder; its path is valid until the next call. */
static const char *write_kernel_file(const char *name, const char *text, size_t size)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *fp = fopen(path, "wb");
    assert_non_null(fp);
    assert_int_equal(fwrite(text, 1, size, fp), size);
    fclose(fp);
    return path;
}

/* Return the content of a file and its *size; the caller frees it. */
static char *read_whole(const char *path, size_t *size)
{
    FILE *fp = fopen(path, "rb");
    assert_non_null(fp);
    fseek(fp, 0, SEEK_END);
    *size = (size_t)ftell(fp);
    rewind(fp);
    char *bytes = malloc(*size + 1);
    assert_int_equal(fread(bytes, 1, *size, fp), *size);
    fclose(fp);
    return bytes;
}

/* ---- Embedded sources; first, while nothing is registered yet. ---- */

static void test_embedded_kernels(void **state)
{
    (void)state;
    static const unsigned char seven[] = "__kernel void seven(__global int *out) { out[0] = 7; }\n";
    static const unsigned char eight[] = "__kernel void eight(__global int *out) { out[0] = 8; }\n"
                                         "__kernel void add_up(__global int *x, int a, int b)\n"
                                         "{ x[0] = a + b; }\n";
    static struct stdcl_embedded first = {"seven.cl", seven, sizeof seven - 1, NULL};
    static struct stdcl_embedded second = {"eight.cl", eight, sizeof eight - 1, NULL};

    fails_null(ANY_ERROR, clopen(cp, NULL, CLLD_NOW)); /* there are none */
    fails_event(ANY_ERROR, clexecb(cp, 0, &one, seven, out));

    stdcl_embed_register(&first);
    stdcl_embed_register(&second);
    void *program = clopen(cp, NULL, CLLD_NOW);
    ready(program);
    collect_build_report(clsym(cp, program, "seven", 0));
    assert_int_equal(out[0], 7);
    collect_build_report(clsym(cp, program, "eight", 0));
    assert_int_equal(out[0], 8);
    works(clclose(cp, program));

    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) { /* clexec needs no clopen */
        done(clexecb(cp, dev, &one, add_up, out, 30, (int)dev));
        done(clmsync(cp, dev, out, CL_MEM_HOST));
        assert_int_equal(out[0], 30 + (int)dev);
        started(clexec(cp, dev, &one, eight, out));
        started(clmsync(cp, dev, out, CL_MEM_HOST | CL_EVENT_NOWAIT));
        done(clwait(cp, dev, CL_ALL_EVENT));
        assert_int_equal(out[0], 8);
    }
    fails_event(ENOENT, clexecb(cp, 0, &one, nowhere, out));
    fails_event(ENOENT, clexecv(cp, 0, &one, CL_EVENT_WAIT, NULL, 0, NULL));
}

/* ---- Where programs come from. ---- */

static void test_open_file(void **state)
{
    (void)state;
    void *program = clopen(cp, BASIC_CL, CLLD_NOW);
    ready(program);
    int *x = clmalloc(cp, 100 * sizeof *x, 0);
    ready(x);
    clndrange_t ndr = clndrange_init1d(0, 100, 0);
    cl_kernel fill = clsym(cp, program, "fill", 0);
    ready(fill);
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        done(clforka(cp, dev, fill, &ndr, CL_EVENT_WAIT, x, 3));
        done(clmsync(cp, dev, x, CL_MEM_HOST));
        assert_int_equal(x[99], 3);
    }
    works(clfree(x));
    works(clclose(cp, program));
}

static void test_open_refuses_bad_files(void **state)
{
    (void)state;
    fails_null(ENOENT, clopen(cp, "kernels/no-such-file.cl", CLLD_NOW));
    assert_null(clopen(cp, "kernels/no-such-file.cl", CLLD_LAZY)); /* even then */
    contains(clerror(), "no-such-file.cl");
    fails_null(ANY_ERROR, clopen(cp, "kernels", CLLD_NOW)); /* a folder */
    fails_null(ANY_ERROR,
               clopen(cp, write_kernel_file("noise.cl", "\1\2\3\4\0\5\6\7", 8), CLLD_NOW));
    fails_null(EINVAL, clopen(NULL, BASIC_CL, CLLD_NOW));
    fails_null(EINVAL, clsopen(NULL, ANSWER(1), CLLD_NOW));
    fails_null(EINVAL, clsopen(cp, NULL, CLLD_NOW));
    if (geteuid() != 0) {
        const char *path = write_kernel_file("secret.cl", ANSWER(1), strlen(ANSWER(1)));
        chmod(path, 0);
        fails_null(EACCES, clopen(cp, path, CLLD_NOW));
    }
}

/* A pipe is not a file: it is rejected without waiting. */
static void test_open_refuses_a_pipe(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "%s/pipe.cl", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    fails_null(EINVAL, clopen(cp, path, CLLD_NOW));
    contains((clopen(cp, path, CLLD_NOW), clerror()), "is not a regular file");
}

/* Builds so far; builds to come during which no file may grow. */
static int builds, builds_on_full_disk;

extern cl_int __real_clBuildProgram(cl_program, cl_uint, const cl_device_id *, const char *,
                                    void(CL_CALLBACK *)(cl_program, void *), void *);
cl_int __wrap_clBuildProgram(cl_program, cl_uint, const cl_device_id *, const char *,
                             void(CL_CALLBACK *)(cl_program, void *), void *);

cl_int __wrap_clBuildProgram(cl_program program, cl_uint n, const cl_device_id *ids,
                             const char *options, void(CL_CALLBACK *ready)(cl_program, void *),
                             void *arg)
{
    builds++;
    if (builds_on_full_disk == 0)
        return __real_clBuildProgram(program, n, ids, options, ready, arg);
    builds_on_full_disk--;
    struct rlimit before, none = {0};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    none.rlim_max = before.rlim_max;
    setrlimit(RLIMIT_FSIZE, &none);
    const cl_int err = __real_clBuildProgram(program, n, ids, options, ready, arg);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    return err;
}

/* Open a program that no cache has, its first `full` builds on a full disk. PoCL cannot compile
 * then and reports nothing. NVIDIA's driver ends the program, as tests/drivers/no_room.c shows. */
static void *open_on_full_disk(int full)
{
    static int programs;
    struct cldev_info info[64];
    char source[128];
    works(clgetdevinfo(cp, info));
    if (strstr(info[0].dev_vendor, "NVIDIA"))
        skip();
    snprintf(source, sizeof source,
             "__kernel void answer(__global int *out) { out[0] = %d; out[1] = %d; }", (int)getpid(),
             programs++);
    builds = 0;
    builds_on_full_disk = full;
    void *program = clsopen(cp, source, CLLD_NOW);
    builds_on_full_disk = 0;
    return program;
}

static void test_build_on_full_disk_fails(void **state)
{
    (void)state;
    void *program = open_on_full_disk(INT_MAX);
    const char *sentence = program ? NULL : clerror();
    if (program)
        works(clclose(cp, program)); /* the driver needs no file */
    else if (strstr(sentence, "failed to build the program") && !strstr(sentence, "error:"))
        contains(sentence, "it cannot write in '");
    else
        contains(sentence, "does not build");
}

/* A build that PoCL fails without a reason is repeated: another process may have used the same file
 * of its cache. A compiler's error is final. */
static void test_build_is_repeated_if_pocl_gives_no_reason(void **state)
{
    (void)state;
    char version[256] = "";
    cl_platform_id platform;
    assert_int_equal(
        clGetDeviceInfo(clgetdevice(cp, 0), CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL),
        CL_SUCCESS);
    clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof version, version, NULL);
    if (pocl_version_in(version) == 0)
        skip();
    void *program = open_on_full_disk(2);
    ready(program);
    assert_int_equal(builds, 2 + (int)clgetndev(cp));
    assert_int_equal(answer_of(program), (int)getpid());
    works(clclose(cp, program));
    builds = 0;
    fails_null(ENOEXEC, clopen(cp, "kernels/broken.cl", CLLD_NOW));
    assert_int_equal(builds, 1);
}

static void test_open_file_in_a_folder_with_spaces(void **state)
{
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s/two words", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    void *program =
        clopen(cp, write_kernel_file("two words/a b.cl", ANSWER(12), strlen(ANSWER(12))), CLLD_NOW);
    ready(program);
    assert_int_equal(answer_of(program), 12);
    works(clclose(cp, program));

    static const char neighbour[] = "#include \"deeper.h\"\n#define NEAR (DEEP + 1)\n",
                      deeper[] = "#define DEEP 13\n",
                      includes[] = "// a comment\n"
                                   "  # include \"near.h\" // the neighbour\r\n"
                                   "#include \"kernels/neighbour.h\"\n"
                                   "__kernel void answer(__global int *out)"
                                   " { out[0] = NEAR + NEIGHBOUR; }";
    write_kernel_file("two words/near.h", neighbour, strlen(neighbour));
    write_kernel_file("two words/deeper.h", deeper, strlen(deeper));
    ready(program = clopen(cp, write_kernel_file("two words/c.cl", includes, strlen(includes)),
                           CLLD_NOW));
    assert_int_equal(answer_of(program), 14 + 77);
    works(clclose(cp, program));
}

/* As editors on Windows write: a byte order mark, and lines that end with CR and LF. */
static void test_open_file_with_byte_order_mark(void **state)
{
    (void)state;
    static const char text[] = "\xEF\xBB\xBF// Gr\xC3\xB6\xC3\x9F"
                               "e\r\n"
                               "#define SIX \\\r\n 6 /* \xE2\x82\xAC */\r\n"
                               "__kernel void answer(__global int *out)\r\n"
                               "{\r\n    out[0] = SIX + WRONG 7;\r\n}\r\n";
    const char *path = write_kernel_file("mark.cl", text, strlen(text));
    assert_null(clopen(cp, path, CLLD_NOW));
    contains(clerror(), "mark.cl:6:");
    void *program = clopen(cp, path, CLLD_NOBUILD);
    ready(program);
    works(clbuild(cp, program, "-D WRONG=", 0));
    assert_int_equal(answer_of(program), 13);
    works(clclose(cp, program));
    program = clopen_named(cp, "mark.cl", text, strlen(text), "-D WRONG=", CLLD_NOW);
    ready(program);
    assert_int_equal(answer_of(program), 13);
    works(clclose(cp, program));
}

static void test_open_string(void **state)
{
    (void)state;
    char source[] = ANSWER(42);
    void *program = clsopen(cp, source, CLLD_LAZY);
    ready(program);
    memset(source, '#', sizeof source - 1); /* the string was copied */
    assert_int_equal(answer_of(program), 42);
    works(clclose(cp, program));
}

static void test_load_memory(void **state)
{
    (void)state;
    char source[] = ANSWER(43) "this is beyond the end";
    void *program = clload(cp, source, strlen(ANSWER(43)), CLLD_LAZY);
    ready(program);
    memset(source, '#', sizeof source - 1);
    assert_int_equal(answer_of(program), 43);
    works(clclose(cp, program));
    fails_null(EINVAL, clload(cp, NULL, 100, CLLD_NOW));
    fails_null(EINVAL, clload(cp, source, 0, CLLD_NOW));
    fails_null(EINVAL, clload(NULL, source, 10, CLLD_NOW));
}

/* Create a context of the first device and all devices equal to it. */
static CLCONTEXT *same_devices(void)
{
    cl_device_id same[64];
    char first[256] = "", name[256] = "";
    cl_uint n = 0;
    clGetDeviceInfo(clgetdevice(cp, 0), CL_DEVICE_NAME, sizeof first, first, NULL);
    for (cl_uint dev = 0; dev < clgetndev(cp) && n < 64; dev++) {
        clGetDeviceInfo(clgetdevice(cp, dev), CL_DEVICE_NAME, sizeof name, name, NULL);
        if (strcmp(first, name) == 0)
            same[n++] = clgetdevice(cp, dev);
    }
    CLCONTEXT *made = clcontext_create_from(same, n);
    ready(made);
    return made;
}

static void test_binaries(void **state)
{
    (void)state;
    void *program = clsopen(cp, ANSWER(44), CLLD_NOW);
    ready(program);
    cl_uint ndev = clgetndev(cp);
    char path[8][256], *bin[8];
    size_t size[8];
    assert_true(ndev <= 8);
    for (cl_uint dev = 0; dev < ndev; dev++) {
        snprintf(path[dev], sizeof path[dev], "%s/answer%u.bin", folder, dev);
        works(clsave(cp, program, dev, path[dev]));
        bin[dev] = read_whole(path[dev], &size[dev]);
        assert_true(size[dev] > 0);
    }
    fails(EINVAL, clsave(cp, program, ndev, path[0]));
    fails(ANY_ERROR, clsave(cp, program, 0, "/proc/nonexistent/folder/file"));
    works(clclose(cp, program));

    program = clloadb(cp, (int)ndev, bin, size, CLLD_NOW); /* one a device */
    ready(program);
    assert_int_equal(answer_of(program), 44);
    works(clclose(cp, program));

    CLCONTEXT *all = cp;
    int *out_of_all = out;
    cp = same_devices(); /* one binary is for one kind of device */
    out = clmalloc(cp, OUT * sizeof *out, 0);
    ready(out);
    program = clloadb(cp, 1, bin, size, CLLD_NOW);
    ready(program);
    assert_int_equal(answer_of(program), 44);
    works(clclose(cp, program));
    program = clload(cp, bin[0], size[0], CLLD_NOW);
    ready(program);
    assert_int_equal(answer_of(program), 44);
    works(clclose(cp, program));
    program = clopen(cp, path[0], CLLD_NOW); /* from the file */
    ready(program);
    assert_int_equal(answer_of(program), 44);
    works(clclose(cp, program));
    works(clcontext_destroy(cp));
    cp = all;
    out = out_of_all;

    fails_null(EINVAL, clloadb(cp, (int)ndev + 1, bin, size, CLLD_NOW));
    fails_null(EINVAL, clloadb(cp, 0, bin, size, CLLD_NOW));
    fails_null(EINVAL, clloadb(cp, -1, bin, size, CLLD_NOW));
    fails_null(EINVAL, clloadb(cp, 1, NULL, size, CLLD_NOW));
    for (cl_uint dev = 0; dev < ndev; dev++)
        free(bin[dev]);
}

static void test_open_named(void **state)
{
    (void)state;
    const char *ours = "__kernel void answer(__global int *out) { out[0] = ANSWERED; }\n";
    unsetenv("STDCL_KERNEL_PATH");
    void *program =
        clopen_named(cp, "room/answer.cl", ours, strlen(ours), "-D ANSWERED=45", CLLD_NOW);
    ready(program);
    assert_int_equal(answer_of(program), 45);
    works(clclose(cp, program));

    char path[256];
    snprintf(path, sizeof path, "%s/room", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    write_kernel_file("room/answer.cl", ANSWER(46), strlen(ANSWER(46)));
    setenv("STDCL_KERNEL_PATH", folder, 1);
    program = clopen_named(cp, "room/answer.cl", ours, strlen(ours), NULL, CLLD_NOW);
    ready(program);
    assert_int_equal(answer_of(program), 46); /* the file is read instead */
    works(clclose(cp, program));
    program = clopen_named(cp, "room/other.cl", ours, strlen(ours), "-D ANSWERED=47", CLLD_NOW);
    ready(program);
    assert_int_equal(answer_of(program), 47); /* no such file there */
    works(clclose(cp, program));
    /* Text after the options precedes both, and lines keep their numbers. */
    const char *text = "-D ONE=1\n#define SUM(x, y) \\\n    ((x) + (y) + ONE)\n";
    const char *sum = "__kernel void answer(__global int *out) { out[0] = SUM(__LINE__, 46); }\n";
    program = clopen_named(cp, "room/other.cl", sum, strlen(sum), text, CLLD_NOW);
    ready(program);
    assert_int_equal(answer_of(program), 48);
    works(clclose(cp, program));
    write_kernel_file("room/answer.cl", sum, strlen(sum));
    program = clopen_named(cp, "room/answer.cl", ours, strlen(ours), text, CLLD_NOW);
    ready(program);
    assert_int_equal(answer_of(program), 48);
    works(clclose(cp, program));
    unsetenv("STDCL_KERNEL_PATH");

    const char *bad =
        "\n\n__kernel void answer(__global int *out) { out[0] = undeclared_thing; }\n";
    fails_null(ENOEXEC, clopen_named(cp, "room/bad.cl", bad, strlen(bad), NULL, CLLD_NOW));
    assert_null(clopen_named(cp, "room/bad.cl", bad, strlen(bad), NULL, CLLD_NOW));
    contains(clerror(), "room/bad.cl:3"); /* messages call it by its name */
}

/* ---- Headers and options. ---- */

/* A part of a binary would crash the driver. */
static void test_damaged_binaries_are_refused(void **state)
{
    (void)state;
    char path[256];
    size_t size = 0;
    void *program = clsopen(cp, ANSWER(5), CLLD_NOW);
    ready(program);
    snprintf(path, sizeof path, "%s/whole.bin", folder);
    works(clsave(cp, program, 0, path));
    works(clclose(cp, program));
    char *whole = read_whole(path, &size);
    ready(whole);
    const size_t sizes[] = {20, 31, 32, 33, size / 2, size - 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        fails_null(ENOEXEC, clopen(cp, write_kernel_file("part.bin", whole, sizes[i]), CLLD_NOW));
        fails_null(ENOEXEC, clload(cp, whole, sizes[i], CLLD_NOW));
        fails_null(ENOEXEC, clloadb(cp, 1, &whole, (size_t *)(uintptr_t)&sizes[i], CLLD_NOW));
    }
    whole[size - 7] ^= 1;
    assert_null(clopen(cp, write_kernel_file("part.bin", whole, size), CLLD_NOW));
    contains(clerror(), "part.bin is a damaged binary of clsave");
    free(whole);
}

/* Bytes that the driver returned have no header. In memory they are used; a file of them, as clsave
 * once wrote, may be damaged. */
static void test_binaries_without_header(void **state)
{
    (void)state;
    CLCONTEXT *all = cp;
    cl_program raw = NULL;
    size_t size = 0;
    cp = same_devices();
    void *program = clsopen(cp, ANSWER(6), CLLD_NOW);
    ready(program);
    const cl_kernel krn = clsym(cp, program, "answer", 0);
    assert_int_equal(clGetKernelInfo(krn, CL_KERNEL_PROGRAM, sizeof raw, &raw, NULL), 0);
    assert_int_equal(clGetProgramInfo(raw, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL), 0);
    char *bytes = malloc(size);
    ready(bytes);
    assert_int_equal(clGetProgramInfo(raw, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL), 0);
    works(clclose(cp, program));
    program = clloadb(cp, 1, &bytes, &size, CLLD_NOW);
    ready(program);
    works(clclose(cp, program));
    if (memchr(bytes, 0, size)) { /* no assembly of NVIDIA, which is text */
        fails_null(ENOEXEC, clopen(cp, write_kernel_file("old.bin", bytes, size), CLLD_NOW));
        assert_null(clopen(cp, write_kernel_file("old.bin", bytes, size / 2), CLLD_NOW));
        contains(clerror(), "old.bin is no OpenCL C, and a binary without the length and hash");
    }
    free(bytes);
    works(clcontext_destroy(cp));
    cp = all;
}

static void test_includes(void **state)
{
    (void)state;
    void *program = clopen(cp, "kernels/includes.cl", CLLD_NOW);
    ready(program);
    cl_kernel krn = clsym(cp, program, "included", 0);
    ready(krn);
    static const float expected[] = {77, 10, 30, 103, 0.75f, 8, -3, 4};
    float *x = clmalloc(cp, sizeof expected, 0);
    ready(x);
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        done(clforka(cp, dev, krn, &one, CL_EVENT_WAIT, x));
        done(clmsync(cp, dev, x, CL_MEM_HOST));
        for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
            assert_true(x[i] == expected[i]);
    }
    works(clfree(x));
    works(clclose(cp, program));
}

static void test_working_directory_is_searched(void **state)
{
    (void)state;
    const char *text = "#include \"kernels/neighbour.h\"\n"
                       "__kernel void answer(__global int *out) { out[0] = NEIGHBOUR; }\n";
    void *program = clopen(cp, write_kernel_file("elsewhere.cl", text, strlen(text)), CLLD_NOW);
    ready(program);
    assert_int_equal(answer_of(program), 77);
    works(clclose(cp, program));
    program = clsopen(cp, text, CLLD_NOW);
    ready(program);
    assert_int_equal(answer_of(program), 77);
    works(clclose(cp, program));
}

static void test_default_defines(void **state)
{
    (void)state;
    void *program = clopen(cp, "kernels/defines.cl", CLLD_NOW);
    ready(program);
    cl_kernel krn = clsym(cp, program, "defines", 0);
    ready(krn);
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        cl_device_type type = 0;
        clGetDeviceInfo(clgetdevice(cp, dev), CL_DEVICE_TYPE, sizeof type, &type, NULL);
        done(clforka(cp, dev, krn, &one, CL_EVENT_WAIT, out));
        done(clmsync(cp, dev, out, CL_MEM_HOST));
        assert_int_equal(out[0], 1);
        assert_int_equal(out[1], (type & CL_DEVICE_TYPE_CPU) != 0);
        assert_int_equal(out[2], (type & CL_DEVICE_TYPE_GPU) &&
                                     !(type & CL_DEVICE_TYPE_CPU)); /* Oclgrind is all of them */
        assert_int_equal(out[3], -1);
    }
    works(clclose(cp, program));
}

/* One build for each device, since on PoCL 5 two devices must not run the same program, nor two
 * contexts. */
static void test_a_build_for_each_device(void **state)
{
    (void)state;
    const char *source =
        "#ifndef STDCL_DEVICE\n#define STDCL_DEVICE 0\n#endif\n" ANSWER(STDCL_DEVICE);
    for (int each = 0; each < 2; each++) {
        setenv("STDCL_DEVICE_BUILDS", each ? "1" : "0", 1);
        cl_device_id all[64];
        cl_uint n = 0;
        cl_platform_id platform;
        clGetDeviceInfo(clgetdevice(cp, 0), CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
        assert_int_equal(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 64, all, &n), CL_SUCCESS);
        n = n < 64 ? n : 64;
        for (cl_uint i = 0; i < n;
             i++) { /* the number is the platform's: in this context each is device 0 */
            CLCONTEXT *one_device = clcontext_create_from(&all[i], 1);
            ready(one_device);
            int *x = clmalloc(one_device, sizeof *x, 0);
            void *program = clsopen(one_device, source, CLLD_NOW);
            done(clforka(one_device, 0, clsym(one_device, program, "answer", 0), &one,
                         CL_EVENT_WAIT, x));
            done(clmsync(one_device, 0, x, CL_MEM_HOST));
            assert_int_equal(
                (cl_uint)*x % n,
                each ? i : 0); /* others of that device are the numbers of other contexts */
            works(clcontext_destroy(one_device));
        }
    }
    unsetenv("STDCL_DEVICE_BUILDS");
}

static void test_build_with_options(void **state)
{
    (void)state;
    static const int flags[] = {CLLD_NOBUILD, CLLD_LAZY};
    for (size_t f = 0; f < 2; f++) {
        void *program = clopen(cp, "kernels/defines.cl", flags[f]);
        ready(program);
        works(clbuild(cp, program, (char[]){"-D VALUE=17"}, 0));
        collect_build_report(clsym(cp, program, "defines", 0));
        assert_int_equal(out[0], 1); /* the defaults stay */
        assert_int_equal(out[3], 17);
        fails(EINVAL, clbuild(cp, program, (char[]){"-D VALUE=18"}, 0)); /* it is built */
        works(clclose(cp, program));
    }
    void *program = clopen(cp, "kernels/defines.cl", CLLD_NOBUILD);
    ready(program);
    works(clbuild(cp, program, NULL, 0));
    collect_build_report(clsym(cp, program, "defines", 0));
    assert_int_equal(out[3], -1);
    works(clclose(cp, program));
}

static void test_build_with_long_options(void **state)
{
    (void)state;
    enum { DEFINES = 1500 };
    char *options = malloc(DEFINES * 32), *end = options;
    for (int i = 0; i < DEFINES; i++)
        end += sprintf(end, "-D LONG_NAME_NUMBER_%d=%d ", i, i);
    sprintf(end, "-D VALUE=LONG_NAME_NUMBER_%d", DEFINES - 1);
    void *program = clopen(cp, "kernels/defines.cl", CLLD_NOBUILD);
    ready(program);
    works(clbuild(cp, program, options, 0));
    collect_build_report(clsym(cp, program, "defines", 0));
    assert_int_equal(out[3], DEFINES - 1);
    works(clclose(cp, program));
    free(options);
}

/* Calls of the loader take flags of the loader only; clsym and clbuild ignore them. */
static void test_unknown_flags_are_refused(void **state)
{
    (void)state;
    static const int wrong[] = {0x20, CL_MEM_DETACHED, CL_MEM_IMAGE, 0x20000000};
    char source[] = "kernel void f(global int *x) { *x = 1; }";
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        fails_null(EINVAL, clopen(cp, "kernels/defines.cl", CLLD_NOW | wrong[i]));
        fails_null(EINVAL, clsopen(cp, source, wrong[i]));
        fails_null(EINVAL, clload(cp, source, strlen(source), wrong[i]));
    }
    assert_null(clsopen(cp, source, 0x20));
    contains(clerror(), "clsopen: 0x20 is no flag of this call; it takes CLLD_LAZY, CLLD_NOW");
    void *program = clsopen(cp, source, CLLD_NOBUILD | CLLD_GLOBAL);
    fails(EINVAL, clbuild(cp, program, NULL, 0x20));
    works(clbuild(cp, program, NULL, CLLD_NOW));
    fails_null(EINVAL, clsym(cp, program, "f", 0x20));
    ready(clsym(cp, program, "f", CLLD_NOW));
    works(clclose(cp, program));
    const int internal = 0x40000000; /* of the library's own sources, not the program's */
    fails_null(EINVAL, clsopen(cp, "__kernel void k(void) {}", internal));
    fails_null(EINVAL, clopen(cp, "kernels/defines.cl", internal));
    fails_null(EINVAL, clopen_named(cp, "k.cl", "__kernel void k(void) {}", 24, NULL, internal));
}

static void test_unbuilt_program_has_no_kernels(void **state)
{
    (void)state;
    void *program = clopen(cp, "kernels/defines.cl", CLLD_NOBUILD);
    ready(program);
    fails_null(ANY_ERROR, clsym(cp, program, "defines", 0));
    works(clbuild(cp, program, NULL, 0)); /* the failed clsym changed nothing */
    ready(clsym(cp, program, "defines", 0));
    works(clclose(cp, program));
}

/* ---- Builds that fail. ---- */

static void test_failed_build_hands_over_the_log(void **state)
{
    (void)state;
    fails_null(ENOEXEC, clopen(cp, "kernels/broken.cl", CLLD_NOW));
    assert_null(clopen(cp, "kernels/broken.cl", CLLD_DEFAULT));
    const char *sentence = clerror();
    contains(sentence, "broken.cl:10");     /* file and line */
    contains(sentence, "undeclared_thing"); /* the compiler's own words */
    fails_null(ENOEXEC,
               clsopen(cp, "__kernel void k(__global int *x) { x[0] = no_such_name; }", 0));
    assert_null(clsopen(cp, "__kernel void k(__global int *x) { x[0] = no_such_name; }", 0));
    contains(clerror(), "no_such_name");
}

static void test_lazy_build_fails_at_clsym(void **state)
{
    (void)state;
    void *program = clopen(cp, "kernels/broken.cl", CLLD_LAZY);
    ready(program);
    fails_null(ENOEXEC, clsym(cp, program, "broken", 0));
    assert_null(clsym(cp, program, "fine", 0)); /* and again */
    contains(clerror(), "undeclared_thing");
    works(clclose(cp, program));
}

static void test_failed_clbuild(void **state)
{
    (void)state;
    void *program = clopen(cp, "kernels/broken.cl", CLLD_NOBUILD);
    ready(program);
    fails(ENOEXEC, clbuild(cp, program, NULL, 0));
    assert_int_equal(clbuild(cp, program, NULL, 0), -1);
    contains(clerror(), "broken.cl:10");
    works(
        clbuild(cp, program, (char[]){"-D undeclared_thing=5"}, 0)); /* a second try may succeed */
    collect_build_report(clsym(cp, program, "broken", 0));
    assert_int_equal(out[0], 5);
    works(clclose(cp, program));
    program = clopen(cp, "kernels/defines.cl", CLLD_NOBUILD);
    ready(program);
    fails(ANY_ERROR, clbuild(cp, program, (char[]){"--no-such-option=1"}, 0));
    works(clclose(cp, program));
}

/* A log of hundreds of errors arrives complete. */
static void test_long_log(void **state)
{
    (void)state;
    enum { ERRORS = 15 };
    char source[8192], *end = source;
    end += sprintf(end, "__kernel void k(__global int *x) {\n");
    for (int i = 0; i < ERRORS; i++)
        end += sprintf(end, "x[%d] = this_rather_long_name_was_never_declared_%02d;\n", i, i);
    sprintf(end, "}\n");
    assert_null(clsopen(cp, source, CLLD_NOW));
    const char *log = clerror();
    contains(log, "never_declared_00");
    contains(log, "never_declared_14");
}

static void test_failed_build_leaves_nothing(void **state)
{
    (void)state;
    struct clstat_info before, after;
    works(clstat(cp, &before));
    assert_null(clopen(cp, "kernels/broken.cl", CLLD_NOW));
    works(clstat(cp, &after));
    assert_int_equal(before.nprg, after.nprg);
}

/* ---- clsym. ---- */

static void test_sym_gives_usable_kernels(void **state)
{
    (void)state;
    void *program = clopen(cp, BASIC_CL, CLLD_NOW);
    ready(program);
    cl_kernel add = clsym(cp, program, "add", 0), fill = clsym(cp, program, "fill", CLLD_NOW);
    ready(add);
    ready(fill);
    assert_ptr_not_equal(add, fill);
    assert_ptr_equal(clsym(cp, program, "add", 0), add); /* the same name, the same kernel */
    char name[64] = "";
    cl_uint nargs = 0;
    assert_int_equal(clGetKernelInfo(add, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL),
                     CL_SUCCESS);
    assert_string_equal(name, "add");
    assert_int_equal(clGetKernelInfo(add, CL_KERNEL_NUM_ARGS, sizeof nargs, &nargs, NULL),
                     CL_SUCCESS);
    assert_int_equal(nargs, 2);
    works(clclose(cp, program));
}

static void test_unknown_name_lists_the_names(void **state)
{
    (void)state;
    void *program = clopen(cp, BASIC_CL, CLLD_NOW);
    ready(program);
    fails_null(ENOENT, clsym(cp, program, "subtract", 0));
    assert_null(clsym(cp, program, "subtract", 0));
    const char *sentence = clerror();
    contains(sentence, "subtract");
    contains(sentence, "axpy");
    contains(sentence, "fill");
    contains(sentence, "reverse");
    fails_null(ENOENT, clsym(cp, program, "", 0));
    fails_null(EINVAL, clsym(cp, program, NULL, 0));
    fails_null(EINVAL, clsym(NULL, program, "add", 0));
    works(clclose(cp, program));
}

static void test_null_handle_searches_newest_first(void **state)
{
    (void)state;
    void *older =
        clsopen(cp, ANSWER(1) "__kernel void only_older(__global int *x) { x[0] = 5; }", 0);
    void *newer = clsopen(cp, ANSWER(2), 0);
    ready(older);
    ready(newer);
    assert_int_equal(answer_of(NULL), 2);
    collect_build_report(clsym(cp, NULL, "only_older", 0));
    assert_int_equal(out[0], 5);
    works(clclose(cp, newer));
    void *unbuilt = clsopen(cp, ANSWER(4), CLLD_NOBUILD); /* is skipped */
    ready(unbuilt);
    assert_int_equal(answer_of(NULL), 1);
    fails_null(EINVAL, clsym(cp, NULL, "only_unbuilt", 0)); /* perhaps it is in there */
    works(clclose(cp, unbuilt));
    works(clclose(cp, older));
    fails_null(ENOENT, clsym(cp, NULL, "only_older", 0));
}

/* clexec finds what clsym finds without a handle; kernels of libraries come last. */
static void test_bare_names_are_the_programs_own(void **state)
{
    (void)state;
    const char other[] = ANSWER(7) "__kernel void only_library(__global int *x) { x[0] = 8; }";
    fails_event(ENOENT, clexecb(cp, 0, &one, only_library, out));
    void *own = clsopen(cp, ANSWER(6), 0);
    void *library = clopen_named(cp, "library.cl", other, sizeof other - 1, NULL, CLLD_NOW);
    ready(own);
    ready(library);
    assert_int_equal(answer_of(NULL), 6);
    done(clexecb(cp, 0, &one, answer, out));
    done(clmsync(cp, 0, out, CL_MEM_HOST));
    assert_int_equal(out[0], 6);
    done(clexecb(cp, 0, &one, only_library, out));
    done(clmsync(cp, 0, out, CL_MEM_HOST));
    assert_int_equal(out[0], 8);
    works(clclose(cp, own));
    assert_int_equal(answer_of(NULL), 7);
    works(clclose(cp, library));
}

/* A program of one context is not found in another. */
static void test_contexts_do_not_share_programs(void **state)
{
    (void)state;
    cl_device_id first = clgetdevice(cp, 0);
    CLCONTEXT *other = clcontext_create_from(&first, 1);
    ready(other);
    void *program =
        clsopen(other, ANSWER(3) "__kernel void only_there(__global int *x) { x[0] = 1; }", 0);
    ready(program);
    fails_null(ENOENT, clsym(cp, NULL, "only_there", 0));
    fails_null(ANY_ERROR, clsym(cp, program, "only_there", 0));
    ready(clsym(other, program, "only_there", 0));
    fails(ANY_ERROR,
          clclose(cp, program)); /* the two-device tutorial closes on the wrong context */
    works(clclose(other, program));
    works(clcontext_destroy(other));
}

/* ---- clclose. ---- */

static void test_close_refuses_bad_handles(void **state)
{
    (void)state;
    int on_stack = 0;
    fails(ANY_ERROR, clclose(cp, NULL));
    fails(ANY_ERROR, clclose(cp, &on_stack));
    void *program = clsopen(cp, ANSWER(1), 0);
    ready(program);
    fails(ANY_ERROR, clclose(NULL, program));
    works(clclose(cp, program));
    fails(ANY_ERROR, clclose(cp, program));
    fails_null(ANY_ERROR, clsym(cp, program, "answer", 0));
    fails(ANY_ERROR, clbuild(cp, program, NULL, 0));
    fails(ANY_ERROR, clsave(cp, program, 0, "/tmp/never-written"));
}

static void test_close_waits_for_work_in_flight(void **state)
{
    (void)state;
    void *program = clopen(cp, BASIC_CL, CLLD_NOW);
    ready(program);
    cl_kernel slow = clsym(cp, program, "slow", 0);
    ready(slow);
    cl_uint *x = clmalloc(cp, 16 * sizeof *x, 0);
    ready(x);
    clndrange_t ndr = clndrange_init1d(0, 16, 16);
    x[3] = 3;
    done(clmsync(cp, 0, x, CL_MEM_DEVICE));
    cl_event running =
        started(clforka(cp, 0, slow, &ndr, CL_EVENT_NOWAIT | CL_EVENT_OWN, x, 12000000));
    works(clclose(cp, program));
    assert_int_equal(event_status(running), CL_COMPLETE);
    clReleaseEvent(running);
    done(clmsync(cp, 0, x, CL_MEM_HOST));
    assert_int_equal(x[3], slow_reference(3, 12000000));
    works(clfree(x));
}

/* Return the OpenCL program of a kernel. */
static cl_program program_of_kernel(cl_kernel krn)
{
    cl_program program = NULL;
    ready(krn);
    assert_int_equal(
        clGetKernelInfo(krn, CL_KERNEL_PROGRAM, sizeof program, (void *)&program, NULL),
        CL_SUCCESS);
    return program;
}

/* Open a text, check its answer and return its OpenCL program. */
static cl_program program_of_text(const char *text, const char *options, int answer, void **opened)
{
    *opened = clopen_named(cp, "text.cl", text, strlen(text), options, CLLD_NOW);
    ready(*opened);
    assert_int_equal(answer_of(*opened), answer);
    return program_of_kernel(clsym(cp, *opened, "answer", 0));
}

/* Reopening a program does not build it again, even if it was closed meanwhile, unless text or
 * options differ, it includes a file, or many other programs were opened since. */
static void test_programs_are_kept(void **state)
{
    static const char text[] = "#ifndef MORE\n#define MORE 0\n#endif\n"
                               "__kernel void answer(__global int *out) { out[0] = 31 + MORE; }\n";
    static const char includes[] =
        " # include \"kept.h\"\n__kernel void answer(__global int *out) { out[0] = KEPT; }\n";
    char option[300], path[300];
    void *opened, *second;
    (void)state;
    const cl_program first = program_of_text(text, NULL, 31, &opened);
    assert_int_equal(clRetainProgram(first), CL_SUCCESS); /* so that no other has its address */
    assert_ptr_equal(program_of_text(text, NULL, 31, &second), first);
    cl_kernel one_of = clsym(cp, opened, "answer", 0), other = clsym(cp, second, "answer", 0);
    assert_true(one_of != other);
    works(clclose(cp, opened));
    assert_int_equal(answer_of(second), 31);
    works(clclose(cp, second));
    assert_ptr_equal(program_of_text(text, NULL, 31, &opened), first);
    works(clclose(cp, opened));
    assert_ptr_not_equal(program_of_text(text, "-D MORE=1", 32, &opened), first);
    works(clclose(cp, opened));

    snprintf(option, sizeof option, "-I %s", folder);
    for (int n = 1; n <= 2; n++) { /* the file has changed */
        snprintf(path, sizeof path, "#define KEPT %d\n", n);
        write_kernel_file("kept.h", path, strlen(path));
        program_of_text(includes, option, n, &opened);
        works(clclose(cp, opened));
    }
    for (int n = 0; n < 16; n++) {
        snprintf(option, sizeof option, "-D MORE=%d", 100 + n);
        opened = clopen_named(cp, "text.cl", text, strlen(text), option, CLLD_NOW);
        ready(opened);
        works(clclose(cp, opened));
    }
    assert_ptr_not_equal(program_of_text(text, NULL, 31, &opened), first);
    works(clclose(cp, opened));
    assert_int_equal(clReleaseProgram(first), CL_SUCCESS);
}

static void test_kernels_end_with_their_program(void **state)
{
    (void)state;
    void *program = clsopen(cp, ANSWER(1), 0);
    ready(program);
    cl_kernel krn = clsym(cp, program, "answer", 0);
    ready(krn);
    works(clclose(cp, program));
    fails_event(EINVAL, clfork(cp, 0, krn, &one, CL_EVENT_WAIT));
    fails(EINVAL, clarg_set(krn, 0, 1));
}

int main(void)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open_file),
        cmocka_unit_test(test_open_refuses_bad_files),
        cmocka_unit_test(test_open_refuses_a_pipe),
        cmocka_unit_test(test_build_on_full_disk_fails),
        cmocka_unit_test(test_build_is_repeated_if_pocl_gives_no_reason),
        cmocka_unit_test(test_open_file_in_a_folder_with_spaces),
        cmocka_unit_test(test_open_file_with_byte_order_mark),
        cmocka_unit_test(test_open_string),
        cmocka_unit_test(test_load_memory),
        cmocka_unit_test(test_binaries),
        cmocka_unit_test(test_damaged_binaries_are_refused),
        cmocka_unit_test(test_binaries_without_header),
        cmocka_unit_test(test_includes),
        cmocka_unit_test(test_default_defines),
        cmocka_unit_test(test_unknown_flags_are_refused),
        cmocka_unit_test(test_unbuilt_program_has_no_kernels),
        cmocka_unit_test(test_long_log),
        cmocka_unit_test(test_failed_build_leaves_nothing),
        cmocka_unit_test(test_sym_gives_usable_kernels),
        cmocka_unit_test(test_unknown_name_lists_the_names),
        cmocka_unit_test(test_contexts_do_not_share_programs),
        cmocka_unit_test(test_close_refuses_bad_handles),
        cmocka_unit_test(test_kernels_end_with_their_program),
        /* Of the following, every n-th runs. */
        cmocka_unit_test(test_programs_are_kept),
        cmocka_unit_test(test_embedded_kernels),
        cmocka_unit_test(test_open_named),
        cmocka_unit_test(test_failed_build_hands_over_the_log),
        cmocka_unit_test(test_failed_clbuild),
        cmocka_unit_test(test_close_waits_for_work_in_flight),
        cmocka_unit_test(test_null_handle_searches_newest_first),
        cmocka_unit_test(test_bare_names_are_the_programs_own),
        cmocka_unit_test(test_working_directory_is_searched),
        cmocka_unit_test(test_lazy_build_fails_at_clsym),
        cmocka_unit_test(test_a_build_for_each_device),
        cmocka_unit_test(test_build_with_options),
        cmocka_unit_test(test_build_with_long_options),
    };
    return sampled_run("loader", tests, 20, 3, loader_setup, loader_teardown);
}
