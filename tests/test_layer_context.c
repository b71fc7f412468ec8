/* test_layer_context.c - contexts: the standard ones and the environment variables that
 * configure them, clcontext_create and clcontext_destroy, device information, and locks between
 * processes.
 *
 * What depends on the environment runs in tests/layer_child.c, in a process of its own.
 * SPDX-License-Identifier: MIT
 */
#include "child.h"
#include "decimal_comma.h"
#include "core/clock.h"
#include "pocl.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>

static CLCONTEXT *cp;
static int key; /* lock key; no other run of this test uses it */

/* The environment that makes PoCL offer two devices, and two devices of different names; NULL if
 * PoCL is not installed. Other platforms may add devices: PoCL's are selected by their platform. */
static const char *two_devices, *two_kinds;
static char pocl[256], stdcpu_is_pocl[300], stddev_is_pocl[300];

/* ---- Set-up. ---- */

struct counts {
    unsigned dev, cpu, gpu, acc, npu, rpu;
    char null[8]; /* 1 for each context that is NULL */
    int after_start, after_use;
    int warnings; /* printed before that */
};

static struct counts counts_with(const char *const *env)
{
    struct counts c;
    memset(&c, 0, sizeof c);
    struct child child = start_child(env, with("counts"));
    const char *line = line_of(&child);
    for (; strncmp(line, "stdcl: STD", 10) == 0; line = line_of(&child))
        c.warnings++;
    int n = sscanf(line, "dev %u cpu %u gpu %u acc %u npu %u rpu %u null %7s clerrno %d %d", &c.dev,
                   &c.cpu, &c.gpu, &c.acc, &c.npu, &c.rpu, c.null, &c.after_start, &c.after_use);
    if (n != 9)
        print_error("not an answer to counts: %s\n", line);
    assert_int_equal(n, 9);
    assert_int_equal(end_child(&child), 0);
    return c;
}

static int context_setup(void **state)
{
    (void)state;
    const int version = pocl_version(pocl);
    cp = stddev;
    key = 100000 + 16 * (int)getpid();
    if (version) {
        two_devices = pocl_twice(version);
        two_kinds = pocl_kinds(version);
    }
    snprintf(stdcpu_is_pocl, sizeof stdcpu_is_pocl, "STDCPU_PLATFORM_NAME=%s", pocl);
    snprintf(stddev_is_pocl, sizeof stddev_is_pocl, "STDDEV_PLATFORM_NAME=%s", pocl);
    return setup_done(cp);
}

#define need(what)                                                                                 \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            print_message("needs " #what "\n");                                                    \
            skip();                                                                                \
        }                                                                                          \
    } while (0)

static const char *key_text(int number)
{
    static char text[4][16];
    static int next;
    char *t = text[next++ % 4];
    snprintf(t, sizeof text[0], "%d", number);
    return t;
}

/* ---- Standard contexts. ---- */

static cl_uint count_devices(cl_device_type type, bool first_platform_only)
{
    cl_platform_id platform[16];
    cl_uint nplatforms = 0, total = 0;
    assert_int_equal(clGetPlatformIDs(16, platform, &nplatforms), CL_SUCCESS);
    for (cl_uint p = 0; p < nplatforms; p++) {
        cl_uint n = 0;
        if (clGetDeviceIDs(platform[p], type, 0, NULL, &n) == CL_SUCCESS)
            total += n;
        if (n > 0 && first_platform_only)
            break;
    }
    return total;
}

static void test_standard_contexts(void **state)
{
    (void)state;
    assert_int_equal(clgetndev(stddev), count_devices(CL_DEVICE_TYPE_ALL, false));
    assert_int_equal(clgetndev(stdnpu), clgetndev(stddev));
    assert_int_equal(clgetndev(stdcpu), count_devices(CL_DEVICE_TYPE_CPU, true));
    assert_int_equal(clgetndev(stdgpu), count_devices(CL_DEVICE_TYPE_GPU, false));
    assert_int_equal(clgetndev(stdacc), count_devices(CL_DEVICE_TYPE_ACCELERATOR, false));
    assert_int_equal(clgetndev(NULL), 0);
    assert_null(stdrpu);
    CLCONTEXT *again = stddev;
    assert_ptr_equal(again, cp); /* always the same */
    const CLCONTEXT *all[] = {stddev, stdcpu, stdgpu, stdacc};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(all[i] == NULL, clgetndev((CLCONTEXT *)(uintptr_t)all[i]) == 0);
}

static void test_start_up_leaves_no_error(void **state)
{
    (void)state;
    struct counts c = counts_with(with_nothing);
    assert_int_equal(c.after_start, 0);
    assert_int_equal(c.after_use, 0);
    assert_int_equal(c.null[5], '1');
    assert_int_equal(c.npu, c.dev);
}

static void test_environment_disables(void **state)
{
    (void)state;
    struct counts all = counts_with(with_nothing);
    struct counts c = counts_with(with("STDCPU=0"));
    assert_int_equal(c.cpu, 0);
    assert_int_equal(c.null[1], '1');
    assert_int_equal(c.dev, all.dev);
    c = counts_with(with("STDDEV=0", "STDNPU=0"));
    assert_int_equal(c.dev + c.npu, 0);
    assert_int_equal(c.cpu, all.cpu);
    c = counts_with(with("STDGPU=0", "STDACC=0"));
    assert_int_equal(c.gpu + c.acc, 0);
    assert_int_equal(c.dev, all.dev);
    assert_int_equal(c.after_use, 0); /* disabled is no error */
    c = counts_with(with("STDCPU=1", "STDDEV=1"));
    assert_int_equal(c.cpu, all.cpu);
    assert_int_equal(c.dev, all.dev);
}

static void test_environment_names_platforms(void **state)
{
    (void)state;
    struct counts all = counts_with(with_nothing);
    char platform[256] = "", variable[512];
    cl_platform_id id = NULL;
    clGetDeviceInfo(clgetdevice(cp, 0), CL_DEVICE_PLATFORM, sizeof id, &id, NULL);
    clGetPlatformInfo(id, CL_PLATFORM_NAME, sizeof platform, platform, NULL);
    snprintf(variable, sizeof variable, "STDDEV_PLATFORM_NAME=no-such-thing,%s", platform);
    struct counts c = counts_with(with(variable));
    assert_true(c.dev >= 1 && c.dev <= all.dev);
    assert_int_equal(all.warnings + c.warnings, 0);
    c = counts_with(with("STDDEV_PLATFORM_NAME=no-such-thing", "STDCPU_PLATFORM_NAME=nor-this"));
    assert_int_equal(c.warnings, 1 + (all.cpu > 0)); /* and names the available values */
    assert_int_equal(c.dev, all.dev);
    assert_int_equal(c.cpu, all.cpu);
    assert_int_equal(c.after_use, 0);
    assert_int_equal(c.npu, all.npu);
    assert_int_equal(c.after_use, 0); /* a context that is not there is NULL, not a failure */
}

static void test_environment_limits_devices(void **state)
{
    (void)state;
    need(two_devices);
    struct counts c =
        counts_with(with(two_devices, stdcpu_is_pocl, "STDCPU_MAX_NDEV=1", "STDDEV_MAX_NDEV=2"));
    assert_int_equal(c.cpu, 1); /* without a lock, too */
    assert_int_equal(c.dev, 2);
    c = counts_with(with(two_devices, stdcpu_is_pocl, "STDCPU_MAX_NDEV=100"));
    assert_int_equal(c.cpu, 2);
}

static void test_environment_claims_one_device_by_default(void **state)
{
    (void)state;
    need(two_devices);
    char lock[64];
    snprintf(lock, sizeof lock, "STDCPU_LOCK=%d", key);
    assert_int_equal(counts_with(with(two_devices, stdcpu_is_pocl, lock)).cpu, 1);
    assert_int_equal(counts_with(with(two_devices, stdcpu_is_pocl, lock, "STDCPU_MAX_NDEV=2")).cpu,
                     2);
}

/* Numbers have decimal points whatever locale the program has chosen. */
static void test_environment_in_a_locale(void **state)
{
    (void)state;
    if (!enter_decimal_commas())
        skip();
    const double timed = strtod("0.5", NULL); /* by that locale there is a 0, and then a rest */
    setenv("STDCL_TIMED", "0.25", 1);
    CLCONTEXT *point = clcontext_create(NULL, (int)CL_DEVICE_TYPE_ALL, 0, NULL, 0);
    const double half = seconds_timed(1);
    setenv("STDCL_TIMED", "0,25", 1);
    CLCONTEXT *comma = clcontext_create(NULL, (int)CL_DEVICE_TYPE_ALL, 0, NULL, 0);
    setlocale(LC_NUMERIC, "C");
    unsetenv("STDCL_TIMED");
    assert_true(timed == 0 && half == 0.25);
    assert_non_null(point);
    assert_null(comma);
    contains(clerror(), "STDCL_TIMED is \"0,25\"");
    works(clcontext_destroy(point));
}

/* An invalid value is an error, not ignored. */
static void test_environment_of_no_meaning(void **state)
{
    (void)state;
    static const char *const standard[][2] = {
        {"STDDEV=no", "STDDEV is \"no\"; give a whole number, 0 to 1"},
        {"STDDEV_MAX_NDEV=two", "STDDEV_MAX_NDEV is \"two\"; give a whole number, 0 to "},
        {"STDDEV_MAX_NDEV=-3", "STDDEV_MAX_NDEV is \"-3\""},
        {"STDDEV_LOCK=mine", "STDDEV_LOCK is \"mine\"; give a whole number, "}};
    static const char *const any[][3] = {
        {"STDCL_DEBUG", "3", "allowed values: 0 1 2"},
        {"STDCL_ARG_INFO", "sources", "allowed values: source"},
        {"STDCL_ARG_INFO", "our", "allowed values: source"},
        {"STDCL_DEVICE_BUILDS", "0 1", "allowed values: 0 1"},
        {"STDCL_KERNEL_PATH", "/proc/nonexistent", "which is no folder"},
        {"STDCL_KERNEL_PATH", "/dev/null", "which is no folder"},
        {"STDCL_INCLUDE", "/proc", "there is no stdcl.h in that folder"},
        {"STDCL_SLICE", "1s", "give a number of seconds above 0"},
        {"STDCL_TIMED", "inf", "give a number of seconds above 0"}};
    for (size_t i = 0; i < sizeof standard / sizeof *standard; i++) {
        struct child child =
            start_child(with(standard[i][0]), (const char *const[]){"standard-claim", NULL});
        contains(line_of(&child), standard[i][1]);
        end_child(&child);
    }
    for (size_t i = 0; i < sizeof any / sizeof *any; i++) {
        char start[128];
        const char *kept = getenv(any[i][0]);
        char *before = kept ? strdup(kept) : NULL;
        setenv(any[i][0], any[i][1], 1);
        assert_null(clcontext_create(NULL, (int)CL_DEVICE_TYPE_ALL, 0, NULL, 0));
        assert_int_equal(clerrno, EINVAL);
        const char *sentence = clerror();
        snprintf(start, sizeof start, "clcontext: %s is \"%s\"", any[i][0], any[i][1]);
        contains(sentence, start);
        contains(sentence, any[i][2]);
        if (before)
            setenv(any[i][0], before, 1);
        else
            unsetenv(any[i][0]);
        free(before);
    }
}

static void test_no_platform_at_all(void **state)
{
    (void)state;
    const char *const *env = with(NO_DRIVERS, "OCL_ICD_FILENAMES=");
    struct counts c = counts_with(env);
    assert_int_equal(c.dev + c.cpu + c.gpu + c.acc + c.npu + c.rpu, 0);
    assert_string_equal(c.null, "111111");
    assert_int_equal(c.after_start, 0);
    assert_int_equal(c.after_use, 0);
    assert_string_equal(answer_of(env, "calls"), "wrong 0\n");
}

/* ---- clcontext_create. ---- */

static void test_create_by_pattern(void **state)
{
    (void)state;
    char name[256] = "", upper[256] = "", list[600];
    clGetDeviceInfo(clgetdevice(cp, 0), CL_DEVICE_NAME, sizeof name, name, NULL);
    for (size_t i = 0; name[i] && name[i] != ',' && i < 8; i++)
        upper[i] = (char)(name[i] >= 'a' && name[i] <= 'z' ? name[i] - 'a' + 'A' : name[i]);
    snprintf(list, sizeof list, "no-such-thing,%s", upper); /* part of the name, in capitals */
    const char *patterns[] = {NULL, "", upper, list};
    for (size_t p = 0; p < 4; p++) {
        CLCONTEXT *made = clcontext_create(patterns[p], (int)CL_DEVICE_TYPE_ALL, 0, NULL, 0);
        ready(made);
        assert_true(clgetndev(made) >= 1);
        if (p < 2)
            assert_int_equal(clgetndev(made), clgetndev(cp));
        works(clcontext_destroy(made));
    }
    cl_platform_id platform = NULL;
    clGetDeviceInfo(clgetdevice(cp, 0), CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    clGetPlatformInfo(platform, CL_PLATFORM_VENDOR, sizeof name, name, NULL);
    CLCONTEXT *made = clcontext_create(name, (int)CL_DEVICE_TYPE_ALL, 1, NULL, 0);
    ready(made);
    assert_int_equal(clgetndev(made), 1); /* and at most ndevmax */
    works(clcontext_destroy(made));
}

/* Read the numbers of two devices, and the first words of their names if requested, from a
 * child. */
static void two_of(const char *patterns, int number[2], char name[2][16])
{
    char ignored[2][16];
    const char *line = answer_of(with(two_kinds), "create", patterns, "2", "2");
    name = name ? name : ignored;
    if (sscanf(line, "2 %d:%15s %d:%15s", &number[0], name[0], &number[1], name[1]) != 4)
        fail_msg("not two devices: %s", line);
}

/* The order of the patterns decides, not the order of the devices. */
static void test_create_by_priority(void **state)
{
    (void)state;
    need(two_kinds);
    char name[2][16], forward[40], backward[40];
    int number[2], again[2];
    two_of(pocl, number, name);
    assert_true(number[0] < number[1]);
    if (strstr(name[0], name[1]) || strstr(name[1], name[0]))
        fail_msg("PoCL's two kinds of devices are both called %s", name[0]);
    snprintf(forward, sizeof forward, "%s,%s", name[0], name[1]);
    snprintf(backward, sizeof backward, "%s,%s", name[1], name[0]);
    two_of(forward, again, NULL);
    assert_true(again[0] == number[0] && again[1] == number[1]);
    two_of(backward, again, NULL);
    assert_true(again[0] == number[1] && again[1] == number[0]);
    const char *line = answer_of(with(two_kinds), "create", backward, "2", "1");
    assert_int_equal(sscanf(line, "1 %d:", &again[0]), 1);
    assert_int_equal(again[0], number[1]);
}

static void test_create_that_matches_nothing(void **state)
{
    (void)state;
    char name[256] = "";
    clGetDeviceInfo(clgetdevice(cp, 0), CL_DEVICE_NAME, sizeof name, name, NULL);
    fails_null(ENODEV, clcontext_create("no-such-thing", (int)CL_DEVICE_TYPE_ALL, 0, NULL, 0));
    assert_null(clcontext_create("no-such-thing", (int)CL_DEVICE_TYPE_ALL, 0, NULL, 0));
    const char *sentence = clerror();
    contains(sentence, "no-such-thing");
    contains(sentence, name); /* the available names */
    const char *const empty[] = {NULL, "", ", "};
    for (int i = 0; i < 3; i++) {
        fails_null(ENODEV, clcontext_create(empty[i], CL_DEVICE_TYPE_CUSTOM, 0, NULL, 0));
        assert_null(clcontext_create(empty[i], CL_DEVICE_TYPE_CUSTOM, 0, NULL, 0));
        contains(sentence = clerror(),
                 i < 2 ? "there is no device of the types asked for" : "\", \" names no device");
        assert_null(strstr(sentence, "\"\""));
    }
}

static void test_create_with_properties(void **state)
{
    (void)state;
    cl_context_properties none[] = {0};
    cl_context_properties some[] = {CL_CONTEXT_PLATFORM, 1, 0};
    CLCONTEXT *made = clcontext_create(NULL, (int)CL_DEVICE_TYPE_ALL, 1, none, 0);
    ready(made);
    works(clcontext_destroy(made));
    fails_null(ENOTSUP, clcontext_create(NULL, (int)CL_DEVICE_TYPE_ALL, 1, some, 0));
}

static void test_create_from_devices(void **state)
{
    (void)state;
    cl_uint n = clgetndev(cp);
    cl_device_id devices[64];
    assert_true(n <= 64);
    for (cl_uint i = 0; i < n; i++)
        devices[i] = clgetdevice(cp, n - 1 - i);
    CLCONTEXT *made = clcontext_create_from(devices, n);
    ready(made);
    assert_int_equal(clgetndev(made), n);
    for (cl_uint i = 0; i < n; i++) {
        assert_ptr_equal(clgetdevice(made, i), devices[i]); /* in this order */
        ready(clgetclcontext(made, i));
        ready(clgetqueue(made, i));
        assert_ptr_not_equal(clgetclcontext(made, i), clgetclcontext(cp, n - 1 - i));
    }
    assert_null(clgetdevice(made, n));
    assert_null(clgetclcontext(made, n));
    assert_null(clgetqueue(made, n));
    works(clcontext_destroy(made));
    fails_null(EINVAL, clcontext_create_from(NULL, 1));
    fails_null(EINVAL, clcontext_create_from(devices, 0));
}

/* Devices never share an OpenCL context or a queue. */
static void test_a_context_and_queue_for_each_device(void **state)
{
    (void)state;
    for (cl_uint i = 0; i < clgetndev(cp); i++) {
        cl_device_id device = NULL;
        assert_int_equal(
            clGetCommandQueueInfo(clgetqueue(cp, i), CL_QUEUE_DEVICE, sizeof device, &device, NULL),
            CL_SUCCESS);
        assert_ptr_equal(device, clgetdevice(cp, i));
        for (cl_uint k = 0; k < i; k++) {
            assert_ptr_not_equal(clgetclcontext(cp, i), clgetclcontext(cp, k));
            assert_ptr_not_equal(clgetqueue(cp, i), clgetqueue(cp, k));
        }
    }
}

/* ---- clcontext_destroy. ---- */

static void test_destroy_frees_all(void **state)
{
    (void)state;
    cl_device_id device = clgetdevice(cp, 0);
    CLCONTEXT *made = clcontext_create_from(&device, 1);
    ready(made);
    cl_uint *x = clmalloc(made, 64, 0), *unused = clmalloc(made, 64, 0);
    ready(x);
    ready(unused);
    void *program = clopen(made, BASIC_CL, CLLD_NOW), *lazy = clopen(made, BASIC_CL, CLLD_LAZY);
    ready(program);
    ready(lazy);
    cl_kernel slow = clsym(made, program, "slow", 0);
    ready(slow);
    clndrange_t ndr = clndrange_init1d(0, 16, 16);
    done(clmsync(made, 0, x, CL_MEM_DEVICE));
    cl_event running =
        started(clforka(made, 0, slow, &ndr, CL_EVENT_NOWAIT | CL_EVENT_OWN, x, 12000000));
    works(clcontext_destroy(made));
    assert_int_equal(event_status(running), CL_COMPLETE); /* it has waited */
    clReleaseEvent(running);
    fails_0(EFAULT, clsizeofmem(x));
    fails(EFAULT, clfree(unused));
}

static void test_destroy_refuses_what_is_not_the_callers(void **state)
{
    (void)state;
    fails(EINVAL, clcontext_destroy(NULL));
    CLCONTEXT *twice = clcontext_create(NULL, (int)CL_DEVICE_TYPE_ALL, 1, NULL, 0);
    ready(twice);
    works(clcontext_destroy(twice));
    fails(EINVAL, clcontext_destroy(twice));
    fails(EINVAL, clcontext_destroy(stddev));
    fails(EINVAL, clcontext_destroy(stdcpu));
    assert_true(clgetndev(stddev) > 0);
    int *x = clmalloc(stddev, 100, 0); /* and it still works */
    ready(x);
    done(clmsync(stddev, 0, x, CL_MEM_DEVICE));
    works(clfree(x));
}

static size_t open_descriptors(void)
{
    size_t n = 0;
    DIR *d = opendir("/proc/self/fd");
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* A hundred contexts one after the other leak no descriptors; a driver may open some with the
 * first ones. */
static void test_contexts_come_and_go(void **state)
{
    (void)state;
    cl_device_id device = clgetdevice(cp, 0);
    size_t after_some = 0;
    for (int round = 0; round < 100; round++) {
        after_some = round == 10 ? open_descriptors() : after_some;
        CLCONTEXT *made = round % 2 ? clcontext_create_from(&device, 1)
                                    : clcontext_create(NULL, (int)CL_DEVICE_TYPE_ALL, 1, NULL, key);
        ready(made);
        void *x = clmalloc(made, 100000, 0);
        ready(x);
        done(clmsync(made, 0, x, CL_MEM_DEVICE));
        works(clcontext_destroy(made));
    }
    assert_in_range(open_descriptors(), 1, after_some);
}

/* ---- What is told about devices. ---- */

static void test_device_info(void **state)
{
    (void)state;
    cl_uint n = clgetndev(cp);
    struct cldev_info *info = calloc(n, sizeof *info);
    works(clgetdevinfo(cp, info));
    for (cl_uint i = 0; i < n; i++) {
        cl_device_id id = clgetdevice(cp, i);
        const struct cldev_info *d = &info[i];
#define same(param, field)                                                                         \
    do {                                                                                           \
        unsigned char raw_[sizeof d->field] = {0};                                                 \
        assert_int_equal(clGetDeviceInfo(id, param, sizeof raw_, raw_, NULL), CL_SUCCESS);         \
        assert_memory_equal(raw_, &d->field, sizeof raw_);                                         \
    } while (0)
        same(CL_DEVICE_TYPE, dev_type);
        same(CL_DEVICE_VENDOR_ID, dev_vendor_id);
        same(CL_DEVICE_MAX_COMPUTE_UNITS, dev_max_core);
        same(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, dev_max_wi_dim);
        same(CL_DEVICE_MAX_WORK_GROUP_SIZE, dev_max_wg_sz);
        same(CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, dev_pref_vec_char);
        same(CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, dev_pref_vec_short);
        same(CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, dev_pref_vec_int);
        same(CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, dev_pref_vec_long);
        same(CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, dev_pref_vec_float);
        same(CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, dev_pref_vec_double);
        same(CL_DEVICE_MAX_CLOCK_FREQUENCY, dev_max_freq);
        same(CL_DEVICE_GLOBAL_MEM_SIZE, dev_global_mem_sz);
        same(CL_DEVICE_MAX_MEM_ALLOC_SIZE, dev_max_mem_alloc_sz);
        same(CL_DEVICE_LOCAL_MEM_SIZE, dev_local_mem_sz);
        same(CL_DEVICE_IMAGE_SUPPORT, dev_img_sup);
        same(CL_DEVICE_MAX_READ_IMAGE_ARGS, dev_max_img_args_r);
        same(CL_DEVICE_MAX_WRITE_IMAGE_ARGS, dev_max_img_args_w);
        same(CL_DEVICE_IMAGE2D_MAX_WIDTH, dev_img2d_max_width);
        same(CL_DEVICE_IMAGE2D_MAX_HEIGHT, dev_img2d_max_height);
        same(CL_DEVICE_IMAGE3D_MAX_WIDTH, dev_img3d_max_width);
        same(CL_DEVICE_IMAGE3D_MAX_HEIGHT, dev_img3d_max_height);
        same(CL_DEVICE_IMAGE3D_MAX_DEPTH, dev_img3d_max_depth);
        same(CL_DEVICE_MAX_SAMPLERS, dev_max_samplers);
        same(CL_DEVICE_MAX_PARAMETER_SIZE, dev_max_param_sz);
        same(CL_DEVICE_MEM_BASE_ADDR_ALIGN, dev_mem_base_addr_align);
        char text[1024] = "";
        size_t sizes[16] = {0};
        clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof text, text, NULL);
        text[255] = 0; /* the capacity of the field */
        assert_string_equal(d->dev_name, text);
        clGetDeviceInfo(id, CL_DEVICE_VENDOR, sizeof text, text, NULL);
        assert_string_equal(d->dev_vendor, text);
        clGetDeviceInfo(id, CL_DEVICE_VERSION, sizeof text, text, NULL);
        assert_string_equal(d->dev_version, text);
        clGetDeviceInfo(id, CL_DRIVER_VERSION, sizeof text, text, NULL);
        assert_string_equal(d->dev_drv_version, text);
        clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, NULL);
        assert_memory_equal(d->dev_max_wi_sz, sizes, 3 * sizeof *sizes);
    }

    FILE *fp = tmpfile();
    clfreport_devinfo(fp, n, info);
    rewind(fp);
    char line[1024];
    int lines = 0, with_name = 0;
    while (fgets(line, sizeof line, fp)) {
        lines += strchr(line, '=') != NULL;
        with_name += strstr(line, info[0].dev_name) != NULL;
    }
    fclose(fp);
    assert_true(lines >= 20 * (int)n);
    assert_true(with_name >= 1);
    free(info);
    struct cldev_info none;
    fails(EINVAL, clgetdevinfo(NULL, &none));
    fails(EINVAL, clgetdevinfo(cp, NULL));
}

static void test_status(void **state)
{
    (void)state;
    cl_device_id device = clgetdevice(cp, 0);
    CLCONTEXT *made = clcontext_create_from(&device, 1);
    ready(made);
    struct clstat_info info;
    memset(&info, 0xff, sizeof info);
    works(clstat(made, &info));
    assert_int_equal(info.impid, 0);
    assert_int_equal(info.ndev, 1);
    assert_int_equal(info.nprg, 0);
    assert_int_equal(info.nkrn, 0);
    void *a = clopen(made, BASIC_CL, CLLD_NOW), *b = clsopen(made, "__kernel void k(void) {}", 0);
    ready(a);
    ready(b);
    ready(clsym(made, a, "add", 0));
    ready(clsym(made, a, "fill", 0));
    ready(clsym(made, a, "add", 0)); /* the same again */
    ready(clsym(made, b, "k", 0));
    works(clstat(made, &info));
    assert_int_equal(info.nprg, 2);
    assert_int_equal(info.nkrn, 3);
    works(clclose(made, a));
    works(clstat(made, &info));
    assert_int_equal(info.nprg, 1);
    assert_int_equal(info.nkrn, 1);
    works(clcontext_destroy(made));
    fails(EINVAL, clstat(NULL, &info));
    fails(EINVAL, clstat(cp, NULL));
}

/* ---- Locks between processes. ---- */

static struct child start_claim(int lock, const char *max)
{
    return start_child(with(two_devices),
                       (const char *const[]){"claim", pocl, key_text(lock), max, NULL});
}

/* Return the number of the only device that a child claims; -1 for none, with clerrno EBUSY. */
static int claimed(struct child *child)
{
    int number = -1, code = 0;
    const char *line = line_of(child);
    if (sscanf(line, "1 %d:", &number) == 1)
        return number;
    if (sscanf(line, "none %d", &code) != 1 || code != EBUSY)
        fail_msg("not an answer to claim: %s", line);
    return -1;
}

static void test_processes_claim_different_devices(void **state)
{
    (void)state;
    need(two_devices);
    struct child a = start_claim(key, "1"), b = start_claim(key, "0"); /* 0 claims one as well */
    int of_a = claimed(&a), of_b = claimed(&b);
    assert_true(of_a >= 0 && of_b >= 0 && of_a != of_b);
    struct child c = start_claim(key, "1");
    assert_int_equal(claimed(&c), -1); /* none is left */
    assert_int_equal(end_child(&c), 0);

    assert_int_equal(end_child(&a), 0); /* a process that ends gives its device back */
    c = start_claim(key, "1");
    assert_int_equal(claimed(&c), of_a);

    kill(b.pid, SIGKILL); /* however it ends */
    assert_int_equal(end_child(&b), -SIGKILL);
    b = start_claim(key, "1");
    assert_int_equal(claimed(&b), of_b);
    assert_int_equal(end_child(&b), 0);
    assert_int_equal(end_child(&c), 0);
}

static void test_keys_are_independent(void **state)
{
    (void)state;
    need(two_devices);
    struct child a = start_claim(key + 1, "1"), b = start_claim(key + 2, "1");
    int of_a = claimed(&a), of_b = claimed(&b);
    assert_int_equal(of_a, of_b); /* the first free one, of each key */
    assert_int_equal(end_child(&a), 0);
    assert_int_equal(end_child(&b), 0);
}

static void test_claims_are_all_or_nothing(void **state)
{
    (void)state;
    need(two_devices);
    struct child a = start_claim(key + 3, "1");
    int of_a = claimed(&a);
    assert_true(of_a >= 0);
    struct child both = start_claim(key + 3, "2");
    assert_int_equal(claimed(&both), -1);
    struct child b = start_claim(key + 3, "1"); /* `both` keeps nothing although it lives */
    int of_b = claimed(&b);
    assert_true(of_b >= 0 && of_b != of_a);
    assert_int_equal(end_child(&both), 0);
    assert_int_equal(end_child(&a), 0);
    assert_int_equal(end_child(&b), 0);
    both = start_claim(key + 3, "2");
    int first = -1, second = -1;
    assert_int_equal(sscanf(line_of(&both), "2 %d:%*s %d:", &first, &second), 2);
    assert_int_equal(first + second, of_a + of_b);
    assert_int_equal(end_child(&both), 0);
}

static void test_destroying_gives_back(void **state)
{
    (void)state;
    need(two_devices);
    struct child child = start_child(
        with(two_devices), (const char *const[]){"reclaim", pocl, key_text(key + 4), "2", NULL});
    for (int round = 0; round < 3; round++)
        assert_int_equal(line_of(&child)[0], '2');
    assert_int_equal(end_child(&child), 0);
}

static void test_standard_contexts_claim(void **state)
{
    (void)state;
    need(two_devices);
    char lock[64];
    snprintf(lock, sizeof lock, "STDDEV_LOCK=%d", key + 5);
    const char *const question[] = {"standard-claim", NULL};
    struct child a = start_child(with(two_devices, stddev_is_pocl, lock), question);
    struct child b = start_child(with(two_devices, stddev_is_pocl, lock), question);
    int of_a = claimed(&a), of_b = claimed(&b);
    assert_true(of_a >= 0 && of_b >= 0 && of_a != of_b);
    struct child c = start_child(with(two_devices, stddev_is_pocl, lock), question);
    contains(line_of(&c), "none");
    struct child d = start_claim(key + 5, "1"); /* one key, two ways to say it */
    assert_int_equal(claimed(&d), -1);
    assert_int_equal(end_child(&a), 0);
    assert_int_equal(end_child(&b), 0);
    assert_int_equal(end_child(&c), 0);
    assert_int_equal(end_child(&d), 0);
}

/* Headers of a prefix with a blank in its name. */
static void test_include_folder_with_a_blank(void **state)
{
    (void)state;
    char folder[] = "/tmp/stdcl test XXXXXX", command[512], file[64], variable[64];
    ready(mkdtemp(folder));
    snprintf(command, sizeof command,
             "ln -s \"$PWD/../include/stdcl.h\" \"$PWD/../include/stdcl\" '%s'", folder);
    assert_int_equal(system(command), 0);
    snprintf(file, sizeof file, "%s/random.cl", folder);
    snprintf(variable, sizeof variable, "STDCL_INCLUDE=%s", folder);
    FILE *fp = fopen(file, "w");
    ready(fp);
    fputs("#include <stdcl.h>\n#include <stdcl/philox.h>\n"
          "kernel void draw(global uint *x) { philox4 c = {0, 0, 0, 0};"
          " x[0] = philox4x32_10(c, 1, 2).x; }\n",
          fp);
    fclose(fp);
    assert_string_equal(answer_of(with(variable), "build", file), "built\n");
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

/* stddev and stdcpu have one device under one key. */
static void test_contexts_of_one_process_share_locks(void **state)
{
    char dev[64], cpu[64];
    (void)state;
    need(*pocl);
    snprintf(dev, sizeof dev, "STDDEV_LOCK=%d", key + 6);
    snprintf(cpu, sizeof cpu, "STDCPU_LOCK=%d", key + 6);
    struct counts c = counts_with(with(stddev_is_pocl, stdcpu_is_pocl, dev, cpu));
    assert_int_equal(c.dev, 1);
    assert_int_equal(c.cpu, 1);
    assert_int_equal(c.after_use, 0);
}

/* Claim a device with locks in a folder; return the child's answer. */
static const char *claim_in(const char *folder)
{
    static char answer[256], variable[300];
    snprintf(variable, sizeof variable, "STDCL_LOCK_DIR=%s", folder);
    struct child child = start_child(
        with(variable), (const char *const[]){"claim", pocl, key_text(key + 7), "1", NULL});
    snprintf(answer, sizeof answer, "%s", line_of(&child));
    assert_int_equal(end_child(&child), 0);
    return answer;
}

/* A lock is a plain file with one name: what somebody plants there is neither followed nor
 * changed. */
static void test_lock_file_is_checked(void **state)
{
    char folder[] = "/tmp/stdcl_test.XXXXXX", lock[400], victim[64];
    struct stat info;
    (void)state;
    need(*pocl);
    ready(mkdtemp(folder));
    snprintf(victim, sizeof victim, "%s/victim", folder);
    assert_int_equal(claim_in(folder)[0], '1');
    DIR *dir = opendir(folder);
    for (const struct dirent *e; (e = readdir(dir));)
        if (e->d_name[0] != '.')
            snprintf(lock, sizeof lock, "%s/%s", folder, e->d_name);
    closedir(dir);
    assert_int_equal(stat(lock, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600); /* as the folder's */
    assert_int_equal(link(lock, victim), 0);
    assert_non_null(strstr(claim_in(folder), "none "));
    assert_int_equal(unlink(lock), 0);
    assert_int_equal(symlink(victim, lock), 0);
    assert_non_null(strstr(claim_in(folder), "none "));
    assert_int_equal(stat(victim, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(unlink(lock), 0);
    assert_int_equal(claim_in(folder)[0], '1');
    assert_int_equal(unlink(lock) | unlink(victim) | rmdir(folder), 0);
    assert_non_null(strstr(claim_in(folder), "none ")); /* without the folder */
}

/* PoCL without a home would share compiled code with everybody. */
static void test_pocl_without_home_has_private_folder(void **state)
{
    char folder[64];
    struct stat info;
    (void)state;
    need(*pocl);
    snprintf(folder, sizeof folder, "/tmp/stdcl-pocl-%u", (unsigned)geteuid());
    counts_with(with("HOME=", "XDG_CACHE_HOME=", "POCL_CACHE_DIR="));
    assert_int_equal(lstat(folder, &info), 0);
    assert_true(S_ISDIR(info.st_mode) && info.st_uid == geteuid());
    assert_int_equal(info.st_mode & 077, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_standard_contexts),
        cmocka_unit_test(test_start_up_leaves_no_error),
        cmocka_unit_test(test_environment_disables),
        cmocka_unit_test(test_environment_names_platforms),
        cmocka_unit_test(test_environment_limits_devices),
        cmocka_unit_test(test_environment_claims_one_device_by_default),
        cmocka_unit_test(test_environment_in_a_locale),
        cmocka_unit_test(test_environment_of_no_meaning),
        cmocka_unit_test(test_no_platform_at_all),
        cmocka_unit_test(test_create_by_pattern),
        cmocka_unit_test(test_create_by_priority),
        cmocka_unit_test(test_create_that_matches_nothing),
        cmocka_unit_test(test_create_with_properties),
        cmocka_unit_test(test_create_from_devices),
        cmocka_unit_test(test_a_context_and_queue_for_each_device),
        cmocka_unit_test(test_destroy_frees_all),
        cmocka_unit_test(test_destroy_refuses_what_is_not_the_callers),
        cmocka_unit_test(test_contexts_come_and_go),
        cmocka_unit_test(test_device_info),
        cmocka_unit_test(test_status),
        cmocka_unit_test(test_processes_claim_different_devices),
        cmocka_unit_test(test_keys_are_independent),
        cmocka_unit_test(test_claims_are_all_or_nothing),
        cmocka_unit_test(test_destroying_gives_back),
        cmocka_unit_test(test_standard_contexts_claim),
        cmocka_unit_test(test_include_folder_with_a_blank),
        cmocka_unit_test(test_contexts_of_one_process_share_locks),
        cmocka_unit_test(test_lock_file_is_checked),
        cmocka_unit_test(test_pocl_without_home_has_private_folder),
    };
    return cmocka_run_group_tests(tests, context_setup, NULL);
}
