/* test_layer_disk_cache.c - the disk cache of programs (CLLD_CACHE): which programs are stored,
 * and when they are loaded.
 *
 * Each program is opened in a context of its own, since a context does not build an open program
 * twice (test_layer_loader).
 * SPDX-License-Identifier: MIT
 */
#include "files.h"

#include <pthread.h>
#include <sys/file.h>
#include <time.h>

#define TEXT(n)                                                                                    \
    "__kernel void answer(__global int *out) { out[0] = " #n                                       \
    " + MORE; }\n__kernel void other(float x) { (void)x; }\n"

static cl_device_id device;
static int sources, binaries; /* programs created so far */
static int to_refusal; /* countdown to the refused call, of these and of queries about programs */

extern cl_program __real_clCreateProgramWithSource(cl_context, cl_uint, const char **,
                                                   const size_t *, cl_int *);
extern cl_int __real_clGetProgramInfo(cl_program, cl_program_info, size_t, void *, size_t *);
extern cl_program __real_clCreateProgramWithBinary(cl_context, cl_uint, const cl_device_id *,
                                                   const size_t *, const unsigned char **, cl_int *,
                                                   cl_int *);
cl_program __wrap_clCreateProgramWithSource(cl_context, cl_uint, const char **, const size_t *,
                                            cl_int *);
cl_program __wrap_clCreateProgramWithBinary(cl_context, cl_uint, const cl_device_id *,
                                            const size_t *, const unsigned char **, cl_int *,
                                            cl_int *);
cl_int __wrap_clGetProgramInfo(cl_program, cl_program_info, size_t, void *, size_t *);

cl_program __wrap_clCreateProgramWithSource(cl_context context, cl_uint n, const char **text,
                                            const size_t *size, cl_int *err)
{
    sources++;
    return __real_clCreateProgramWithSource(context, n, text, size, err);
}

cl_program __wrap_clCreateProgramWithBinary(cl_context context, cl_uint n, const cl_device_id *id,
                                            const size_t *size, const unsigned char **binary,
                                            cl_int *status, cl_int *err)
{
    binaries++;
    if (to_refusal && --to_refusal == 0)
        return *err = CL_OUT_OF_HOST_MEMORY, NULL;
    return __real_clCreateProgramWithBinary(context, n, id, size, binary, status, err);
}

cl_int __wrap_clGetProgramInfo(cl_program program, cl_program_info what, size_t size, void *to,
                               size_t *actual)
{
    if (to_refusal && --to_refusal == 0)
        return CL_OUT_OF_HOST_MEMORY;
    return __real_clGetProgramInfo(program, what, size, to, actual);
}

/* Select a CPU device. True if its platform is PoCL, where programs are stored. */
static bool find_device(void)
{
    char version[256] = "";
    cl_platform_id platform;
    device = stdcpu ? clgetdevice(stdcpu, 0) : NULL;
    if (device &&
        clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) == CL_SUCCESS)
        clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof version, version, NULL);
    return strstr(version, "PoCL") || strstr(version, "pocl");
}

/* Give each test an empty folder of its own. */
static void begin_disk_cache(const char *name)
{
    works(setenv("STDCL_CACHE", "1", 1));
    works(setenv("XDG_CACHE_HOME", in_folder(name), 1));
    sources = binaries = 0;
}

/* List the names of stored programs, at most `room`; return their number. */
static size_t stored_programs(char name[][64], size_t room)
{
    char path[PATH_MAX];
    size_t n = 0;
    snprintf(path, sizeof path, "%.2000s/stdcl/programs", getenv("XDG_CACHE_HOME"));
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;)
        if (strstr(e->d_name, ".program")) {
            assert_true(e->d_name[0] != '.'); /* nothing half-written stays */
            if (n < room)
                snprintf(name[n], 64, "%.60s", e->d_name);
            n++;
        }
    if (dir)
        closedir(dir);
    return n;
}

static const char *stored_program_path(const char *name)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%.2000s/stdcl/programs/%.100s", getenv("XDG_CACHE_HOME"), name);
    return path;
}

/* Open a program again and return its answer; check how often it was built from source and from a
 * binary. */
static int answer_of_program(const char *text, const char *options, int flags, int from_source,
                             int from_binary)
{
    clndrange_t one = clndrange_init1d(0, 1, 1);
    CLCONTEXT *cp = clcontext_create_from(&device, 1);
    ready(cp);
    int *out = clmalloc(cp, sizeof *out, 0);
    check_forget();
    sources = binaries = 0;
    void *h = clopen_named(cp, "stored.cl", text, strlen(text), options, flags);
    ready(h);
    assert_null(clerror()); /* a bad file is no error */
    assert_int_equal(sources, from_source);
    assert_int_equal(binaries, from_binary);
    cl_kernel kernel = clsym(cp, h, "answer", 0);
    ready(kernel);
    done(clforka(cp, 0, kernel, &one, CL_EVENT_WAIT, out));
    done(clmsync(cp, 0, out, CL_MEM_HOST));
    const int result = *out;
    clfree(out);
    works(clcontext_destroy(cp));
    return result;
}

static void disk_cache_stores_and_loads_program(void **state)
{
    (void)state;
    begin_disk_cache("loaded");
    assert_int_equal(answer_of_program(TEXT(7), "-D MORE=0", CLLD_NOW, 1, 0), 7);
    assert_int_equal(stored_programs(NULL, 0), 0); /* it was not asked for */
    assert_int_equal(answer_of_program(TEXT(7), "-D MORE=0", CLLD_NOW | CLLD_CACHE, 1, 0), 7);
    assert_int_equal(stored_programs(NULL, 0), 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(answer_of_program(TEXT(7), "-D MORE=0", CLLD_NOW | CLLD_CACHE, 0, 1), 7);
    assert_int_equal(answer_of_program(TEXT(7), "-D MORE=0", CLLD_NOW, 1, 0), 7);
    assert_int_equal(answer_of_program(TEXT(7), "-D MORE=1", CLLD_NOW | CLLD_CACHE, 1, 0),
                     8); /* other options, other text */
    assert_int_equal(answer_of_program(TEXT(9), "-D MORE=0", CLLD_NOW | CLLD_CACHE, 1, 0), 9);
    assert_int_equal(stored_programs(NULL, 0), 3);
    assert_int_equal(answer_of_program(TEXT(7), "-D MORE=1", CLLD_NOW | CLLD_CACHE, 0, 1), 8);
    assert_int_equal(answer_of_program(TEXT(9), "-D MORE=0", CLLD_NOW | CLLD_CACHE, 0, 1), 9);
    works(setenv("POCL_OF_THIS_TEST", "1", 1)); /* a setting that may change how PoCL compiles */
    assert_int_equal(answer_of_program(TEXT(9), "-D MORE=0", CLLD_NOW | CLLD_CACHE, 1, 0), 9);
    works(unsetenv("POCL_OF_THIS_TEST"));
    assert_int_equal(answer_of_program(TEXT(9), "-D MORE=0", CLLD_NOW | CLLD_CACHE, 0, 1), 9);
}

/* A loaded program has all the information of a built one. */
static void disk_cache_loaded_program_equals_built(void **state)
{
    (void)state;
    begin_disk_cache("alike");
    for (int loaded = 0; loaded <= 1; loaded++) {
        clndrange_t one = clndrange_init1d(0, 1, 1);
        CLCONTEXT *cp = clcontext_create_from(&device, 1);
        ready(cp);
        binaries = 0;
        void *h = clopen_named(cp, "stored.cl", TEXT(5), strlen(TEXT(5)), "-D MORE=0",
                               CLLD_NOW | CLLD_CACHE);
        ready(h);
        assert_int_equal(binaries, loaded);
        check_forget();
        assert_null(clsym(cp, h, "neither", 0));
        const char *sentence = clerror();
        assert_true(sentence && strstr(sentence, "answer") && strstr(sentence, "other"));
        cl_kernel kernel = clsym(cp, h, "other", 0);
        ready(kernel);
        check_forget();
        assert_true(clforka(cp, 0, kernel, &one, CL_EVENT_WAIT, 2.0) == NO_EVENT);
        sentence = clerror();
        assert_true(sentence && strstr(sentence, "argument 0 of kernel other is float x"));
        works(clsave(cp, h, 0, in_folder(loaded ? "loaded.bin" : "built.bin")));
        works(clcontext_destroy(cp));
    }
    size_t size[2];
    char *bytes[2] = {bytes_of(in_folder("built.bin"), &size[0]),
                      bytes_of(in_folder("loaded.bin"), &size[1])};
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    free(bytes[0]);
    free(bytes[1]);
}

/* A truncated file, or another program's, is rejected and replaced. */
static void disk_cache_replaces_corrupt_file(void **state)
{
    (void)state;
    begin_disk_cache("spoilt");
    char name[1][64];
    size_t size, other;
    assert_int_equal(answer_of_program(TEXT(3), "-D MORE=1", CLLD_CACHE, 1, 0), 4);
    assert_int_equal(stored_programs(name, 1), 1);
    char *others = bytes_of(stored_program_path(name[0]), &other);
    works(unlink(stored_program_path(name[0])));
    assert_int_equal(answer_of_program(TEXT(3), "-D MORE=0", CLLD_CACHE, 1, 0), 3);
    assert_int_equal(stored_programs(name, 1), 1);
    char *bytes = bytes_of(stored_program_path(name[0]), &size);
    const size_t places[] = {0, 20, size / 4, size / 2, size - 1};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        bytes[places[i]] ^= 1;
        put_bytes(stored_program_path(name[0]), bytes, size);
        bytes[places[i]] ^= 1;
        assert_int_equal(answer_of_program(TEXT(3), "-D MORE=0", CLLD_CACHE, 1, 0), 3);
        assert_int_equal(answer_of_program(TEXT(3), "-D MORE=0", CLLD_CACHE, 0, 1), 3);
    }
    const size_t lengths[] = {0, 10, 60, size / 2, size - 1};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        put_bytes(stored_program_path(name[0]), bytes, lengths[i]);
        assert_int_equal(answer_of_program(TEXT(3), "-D MORE=0", CLLD_CACHE, 1, 0), 3);
        assert_int_equal(answer_of_program(TEXT(3), "-D MORE=0", CLLD_CACHE, 0, 1), 3);
    }
    put_bytes(stored_program_path(name[0]), others, other);
    assert_int_equal(answer_of_program(TEXT(3), "-D MORE=0", CLLD_CACHE, 1, 0), 3);
    assert_int_equal(answer_of_program(TEXT(3), "-D MORE=0", CLLD_CACHE, 0, 1), 3);
    assert_int_equal(stored_programs(NULL, 0), 1);
    if (geteuid() == 0) { /* another user's */
        works(chown(stored_program_path(name[0]), 65534, (gid_t)-1));
        assert_int_equal(answer_of_program(TEXT(3), "-D MORE=0", CLLD_CACHE, 1, 0), 3);
        assert_int_equal(answer_of_program(TEXT(3), "-D MORE=0", CLLD_CACHE, 0, 1), 3);
    }
    free(bytes);
    free(others);
}

/* An intact file with a binary that the driver rejects. */
static void disk_cache_replaces_unloadable_binary(void **state)
{
    (void)state;
    begin_disk_cache("no_binary");
    char name[1][64], *bytes, *head;
    size_t size, key, binary;
    assert_int_equal(answer_of_program(TEXT(2), "-D MORE=0", CLLD_CACHE, 1, 0), 2);
    assert_int_equal(stored_programs(name, 1), 1);
    bytes = bytes_of(stored_program_path(name[0]), &size);
    assert_int_equal(sscanf(bytes, "stdcl-program-1 %zu %zu", &key, &binary), 2);
    head = strchr(bytes, '\n') + 1;
    memset(head + key, 'x', binary);
    uint64_t sum = 14695981039346656037u, word; /* the checksum of core/disk_cache.c */
    const char *at = head;
    size_t left = key + binary;
    for (; left >= 8; at += 8, left -= 8) {
        memcpy(&word, at, 8);
        sum = (sum ^ word) * 1099511628211u;
        sum ^= sum >> 32;
    }
    for (; left; left--)
        sum = (sum ^ (unsigned char)*at++) * 1099511628211u;
    FILE *fp = fopen(stored_program_path(name[0]), "wb");
    ready(fp);
    fprintf(fp, "stdcl-program-1 %zu %zu %llx\n", key, binary, (unsigned long long)sum);
    assert_int_equal(fwrite(head, 1, key + binary, fp), key + binary);
    works(fclose(fp));
    free(bytes);
    assert_int_equal(answer_of_program(TEXT(2), "-D MORE=0", CLLD_CACHE, 1, 2),
                     2); /* it was tried before and under the lock */
    assert_int_equal(answer_of_program(TEXT(2), "-D MORE=0", CLLD_CACHE, 0, 1), 2);
}

/* A driver that returns no binary, or accepts none. */
static void disk_cache_survives_driver_refusals(void **state)
{
    (void)state;
    for (int call = 1; call <= 2; call++) {
        begin_disk_cache(call == 1 ? "no_size" : "no_bytes");
        to_refusal = call;
        assert_int_equal(answer_of_program(TEXT(4), "-D MORE=2", CLLD_CACHE, 1, 0), 6);
        assert_int_equal(to_refusal, 0);
        assert_int_equal(stored_programs(NULL, 0), 0);
        assert_int_equal(answer_of_program(TEXT(4), "-D MORE=2", CLLD_CACHE, 1, 0),
                         6); /* nothing more from this process, see below */
        assert_int_equal(stored_programs(NULL, 0), 0);
    }
    begin_disk_cache("not_taken");
    assert_int_equal(answer_of_program(TEXT(4), "-D MORE=2", CLLD_CACHE, 1, 0), 6);
    to_refusal = 1;
    assert_int_equal(answer_of_program(TEXT(4), "-D MORE=2", CLLD_CACHE, 0, 2),
                     6); /* it is tried again under the lock */
    assert_int_equal(to_refusal, 0);
    assert_int_equal(answer_of_program(TEXT(4), "-D MORE=2", CLLD_CACHE, 0, 1), 6);
}

static void disk_cache_skips_programs_with_includes(void **state)
{
    (void)state;
    begin_disk_cache("not");
    put_text(in_folder("more.h"), "#define MORE 1\n");
    char options[PATH_MAX];
    snprintf(options, sizeof options, "-I %s", in_folder(""));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            answer_of_program("#include \"more.h\"\n" TEXT(1), options, CLLD_CACHE, 1, 0), 2);
        assert_int_equal(answer_of_program("#warning of which a binary does not tell\n" TEXT(1),
                                           "-D MORE=0", CLLD_CACHE, 1, 0),
                         1);
    }
    assert_int_equal(stored_programs(NULL, 0), 0);
}

static void disk_cache_switched_off_stores_nothing(void **state)
{
    (void)state;
    begin_disk_cache("off");
    works(setenv("STDCL_CACHE", "0", 1));
    assert_int_equal(answer_of_program(TEXT(1), "-D MORE=5", CLLD_CACHE, 1, 0), 6);
    assert_int_equal(access(getenv("XDG_CACHE_HOME"), F_OK), -1); /* no folder is made */
    works(setenv("STDCL_CACHE", "1", 1));
    assert_int_equal(answer_of_program(TEXT(1), "-D MORE=5", CLLD_CACHE, 1, 0), 6);
    works(setenv("STDCL_CACHE", "0", 1));
    assert_int_equal(answer_of_program(TEXT(1), "-D MORE=5", CLLD_CACHE, 1, 0), 6);
    works(setenv("STDCL_CACHE", "1", 1));
    works(setenv("STDCL_DEBUG", "1", 1)); /* debugging needs programs built from source */
    assert_int_equal(answer_of_program(TEXT(1), "-D MORE=5", CLLD_CACHE, 1, 0), 6);
    works(unsetenv("STDCL_DEBUG"));
    assert_int_equal(answer_of_program(TEXT(1), "-D MORE=5", CLLD_CACHE, 0, 1), 6);
}

static void disk_cache_without_folder_builds(void **state)
{
    (void)state;
    begin_disk_cache("a_file");
    char home[PATH_MAX];
    snprintf(home, sizeof home, "%.2000s", getenv("HOME") ? getenv("HOME") : "");
    put_text(in_folder("a_file"), "no folder");
    for (int i = 0; i < 2; i++)
        assert_int_equal(answer_of_program(TEXT(1), "-D MORE=4", CLLD_CACHE, 1, 0), 5);
    works(setenv("XDG_CACHE_HOME", "/proc/nobody/can/make/this", 1));
    assert_int_equal(answer_of_program(TEXT(1), "-D MORE=4", CLLD_CACHE, 1, 0), 5);
    works(unsetenv("XDG_CACHE_HOME"));
    works(unsetenv("HOME"));
    assert_int_equal(answer_of_program(TEXT(1), "-D MORE=4", CLLD_CACHE, 1, 0), 5);
    if (home[0])
        works(setenv("HOME", home, 1));
}

/* The cache keeps at most 64 files and evicts the oldest. */
static void disk_cache_evicts_oldest(void **state)
{
    (void)state;
    begin_disk_cache("oldest");
    char name[80][64], first[64];
    assert_int_equal(answer_of_program(TEXT(1), "-D MORE=6", CLLD_CACHE, 1, 0), 7);
    assert_int_equal(stored_programs(name, 1), 1);
    snprintf(first, sizeof first, "%s", name[0]);
    for (int i = 0; i < 70; i++) {
        char old[32];
        snprintf(old, sizeof old, "%016x.program", i);
        put_text(stored_program_path(old), "old");
        works(utimensat(AT_FDCWD, stored_program_path(old),
                        (struct timespec[]){{.tv_sec = 1000 + i}, {.tv_sec = 1000 + i}}, 0));
    }
    works(utimensat(AT_FDCWD, stored_program_path(first),
                    (struct timespec[]){{.tv_sec = 1}, {.tv_sec = 1}}, 0));
    assert_int_equal(answer_of_program(TEXT(1), "-D MORE=6", CLLD_CACHE, 0, 1),
                     7); /* used again, so it is the newest */
    assert_int_equal(answer_of_program(TEXT(1), "-D MORE=7", CLLD_CACHE, 1, 0), 8);
    assert_int_equal(stored_programs(name, 80), 64);
    assert_int_equal(access(stored_program_path(first), F_OK), 0);
    assert_int_equal(access(stored_program_path("0000000000000045.program"), F_OK),
                     0); /* the newest of those */
    assert_int_equal(access(stored_program_path("0000000000000007.program"), F_OK), -1);
}

/* ---- With a second process, simulated by a descriptor of its own. The second test is the last:
 * afterwards this process has built programs without storing them, and stores nothing more. ---- */

static int open_lock(void)
{
    const int fd = open(stored_program_path("lock"), O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static void *give_back(void *fd)
{
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    works(flock(*(int *)fd, LOCK_UN));
    return NULL;
}

static void disk_cache_waits_for_other_process(void **state)
{
    (void)state;
    pthread_t thread;
    begin_disk_cache("another");
    assert_int_equal(answer_of_program(TEXT(1), "-D MORE=8", CLLD_CACHE, 1, 0), 9);
    int fd = open_lock();
    works(flock(fd, LOCK_EX | LOCK_NB));
    assert_int_equal(answer_of_program(TEXT(1), "-D MORE=8", CLLD_CACHE, 0, 1),
                     9); /* a stored program needs no lock */
    works(pthread_create(&thread, NULL, give_back, &fd));
    assert_int_equal(answer_of_program(TEXT(1), "-D MORE=9", CLLD_CACHE, 1, 0),
                     10); /* has waited */
    works(pthread_join(thread, NULL));
    assert_int_equal(answer_of_program(TEXT(1), "-D MORE=9", CLLD_CACHE, 0, 1), 10);
    works(close(fd));
}

static void disk_cache_builds_after_other_process_fails(void **state)
{
    (void)state;
    begin_disk_cache("beside");
    assert_int_equal(answer_of_program(TEXT(2), "-D MORE=8", CLLD_CACHE, 1, 0), 10);
    int fd = open_lock();
    works(flock(fd, LOCK_SH | LOCK_NB));
    assert_int_equal(answer_of_program(TEXT(2), "-D MORE=9", CLLD_CACHE, 1, 0), 11);
    assert_int_equal(stored_programs(NULL, 0), 1);
    works(close(fd));
    fd = open_lock();
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), -1); /* this process holds it now */
    assert_int_equal(answer_of_program(TEXT(2), "-D MORE=9", CLLD_CACHE, 1, 0), 11);
    assert_int_equal(answer_of_program(TEXT(2), "-D MORE=8", CLLD_CACHE, 0, 1), 10);
    assert_int_equal(stored_programs(NULL, 0), 1);
    works(close(fd));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(disk_cache_stores_and_loads_program),
        cmocka_unit_test(disk_cache_loaded_program_equals_built),
        cmocka_unit_test(disk_cache_replaces_corrupt_file),
        cmocka_unit_test(disk_cache_replaces_unloadable_binary),
        cmocka_unit_test(disk_cache_survives_driver_refusals),
        cmocka_unit_test(disk_cache_skips_programs_with_includes),
        cmocka_unit_test(disk_cache_switched_off_stores_nothing),
        cmocka_unit_test(disk_cache_without_folder_builds),
        cmocka_unit_test(disk_cache_evicts_oldest),
        cmocka_unit_test(disk_cache_waits_for_other_process),
        cmocka_unit_test(disk_cache_builds_after_other_process_fails),
    };
    unsetenv("STDCL_DEBUG");
    if (!find_device())
        return print_message("PoCL is not installed\n"), 77;
    return cmocka_run_group_tests(tests, files_create, files_remove);
}
