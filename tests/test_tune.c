/* test_tune.c - the store of kernel shapes: choice of the entry, invalid files, concurrent
 * writers.
 *
 * With arguments, the program is a child of its own test, which adds entries to the store.
 * SPDX-License-Identifier: MIT
 */
#include "tune/tune.h" /* before cmocka, which has a `fail` of its own */

#include "child.h"
#include "files.h"

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

static CLCONTEXT *cp;
static struct cldev_info info[16];

/* Give each test a cache folder of its own. */
static int use_tune_cache(void **unused)
{
    static int number;
    char folder[64];
    (void)unused;
    snprintf(folder, sizeof folder, "cache%d", number++);
    return setenv("XDG_CACHE_HOME", in_folder(folder), 1) == 0 &&
                   mkdir(in_folder(folder), 0755) == 0
               ? 0
               : -1;
}

static int no_cache(void **unused)
{
    (void)unused;
    return unsetenv("XDG_CACHE_HOME");
}

/* Return the path of a name in this test's $XDG_CACHE_HOME/stdcl. */
static const char *in_cache(const char *name)
{
    static char path[2][PATH_MAX];
    static unsigned next;
    char *p = path[next++ % 2];
    snprintf(p, PATH_MAX, "%.1000s/stdcl/%.1000s", getenv("XDG_CACHE_HOME"), name);
    return p;
}

static void put_user_file(const void *bytes, size_t size)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%.1000s/stdcl", getenv("XDG_CACHE_HOME"));
    mkdir(folder, 0755);
    put_bytes(in_cache("tune.json"), bytes, size);
}

static struct cltune_row find_entry(const char *kernel, size_t size)
{
    struct cltune_row row;
    works(cltune_find(cp, 0, kernel, size, &row));
    return row;
}

static void found(const char *kernel, size_t size, const char *shape)
{
    struct cltune_row row = find_entry(kernel, size);
    if (strcmp(row.shape, shape) != 0)
        fail_msg("%s for size %zu: \"%s\" instead of \"%s\"; %s", kernel, size, row.shape, shape,
                 row.source);
}

/* ---- Which row fits. ---- */

static json_t *tune_entry_of(const char *kernel, const char *device, const char *driver,
                             long long size, const char *shape)
{
    json_t *row = json_pack("{s:s, s:s, s:s, s:I, s:s}", "kernel", kernel, "device", device,
                            "driver", driver, "size", (json_int_t)size, "shape", shape);
    ready(row);
    return row;
}

static const char *chosen(const json_t *user, const json_t *shipped, const struct tune_device *d,
                          size_t size, int *rank)
{
    const json_t *row = tune_choose(user, shipped, d, "k", size, rank);
    return row ? json_string_value(json_object_get(row, "shape")) : "none";
}

/* Hopper is NVIDIA's name for GPUs of compute capability 9.x, such as the H100 and H200. */
static void tune_knows_gpu_families(void **unused)
{
    (void)unused;
    static const struct {
        const char *vendor;
        cl_uint capability;
        const char *families;
    } gpu[] = {
        {"NVIDIA Corporation", 9, "family:hopper family:nvidia family:gpu "},
        {"NVIDIA Corporation", 8, "family:nvidia family:gpu "},
        {"NVIDIA Corporation", 0, "family:nvidia family:gpu "},
        {"Advanced Micro Devices, Inc.", 9, "family:amd family:gpu "},
        {"Intel(R) Corporation", 9, "family:gpu "},
    };
    for (size_t k = 0; k < sizeof gpu / sizeof *gpu; k++) {
        const char *family[TUNE_MAX_FAMILIES + 1];
        char all[256] = "";
        tune_families(CL_DEVICE_TYPE_GPU, gpu[k].vendor, gpu[k].capability, family);
        for (int i = 0; family[i]; i++)
            snprintf(all + strlen(all), sizeof all - strlen(all), "%s ", family[i]);
        assert_string_equal(all, gpu[k].families);
    }
}

/* Of all sources of an entry, the first in the documented order wins; each is then removed. */
static void tune_sources_have_order(void **unused)
{
    (void)unused;
    static const struct tune_device device = {
        "NVIDIA H200", "570.1", {"family:a", "family:b", "family:gpu", NULL}};
    static const struct {
        bool user;
        const char *device, *driver;
        int rank;
    } place[] = {
        {true, "NVIDIA H200", "570.1", TUNE_EXACT},
        {true, "NVIDIA H200", "560.2", TUNE_OTHER_DRIVER},
        {false, "H200", "", TUNE_SHIPPED},
        {false, "family:a", "", TUNE_FAMILY},
        {false, "family:b", "", TUNE_FAMILY + 1},
        {false, "family:gpu", "", TUNE_FAMILY + 2},
    };
    enum { PLACES = sizeof place / sizeof *place };
    for (int from = 0; from <= PLACES; from++)
        for (int turn = 0; turn < PLACES; turn++) { /* for every order in the file */
            json_t *user = json_array(), *shipped = json_array();
            int rank;
            for (int i = 0; i < PLACES; i++) {
                int p = (i + turn) % PLACES;
                char shape[16];
                snprintf(shape, sizeof shape, "a=%d", p);
                if (p >= from)
                    json_array_append_new(
                        place[p].user ? user : shipped,
                        tune_entry_of("k", place[p].device, place[p].driver, 1 << (p + 4), shape));
            }
            /* Entries that never match: another kernel, another device, a family or part of a
             * name in the user's file. */
            json_array_append_new(user, tune_entry_of("l", "NVIDIA H200", "570.1", 16, "a=91"));
            json_array_append_new(user, tune_entry_of("k", "NVIDIA H20", "570.1", 16, "a=92"));
            json_array_append_new(user, tune_entry_of("k", "H200", "570.1", 16, "a=93"));
            json_array_append_new(user, tune_entry_of("k", "family:gpu", "570.1", 16, "a=94"));
            json_array_append_new(shipped, tune_entry_of("kk", "H200", "", 16, "a=95"));
            json_array_append_new(shipped, tune_entry_of("k", "H100", "", 16, "a=96"));
            json_array_append_new(shipped, tune_entry_of("k", "family:cpu", "", 16, "a=97"));
            json_array_append_new(shipped, tune_entry_of("k", "family:", "", 16, "a=98"));
            char right[16] = "none";
            if (from < PLACES)
                snprintf(right, sizeof right, "a=%d", from);
            assert_string_equal(chosen(user, shipped, &device, 16, &rank), right);
            assert_int_equal(rank, from < PLACES ? place[from].rank : TUNE_NONE);
            json_decref(user);
            json_decref(shipped);
        }
}

static void tune_takes_nearest_size(void **unused)
{
    (void)unused;
    static const struct tune_device device = {"d", "v", {NULL}};
    static const struct {
        size_t size;
        const char *shape;
    } right[] = {
        {0, "a=1"},     {1, "a=1"},     {1000, "a=1"},    {1024, "a=1"},     {2048, "a=1"},
        {2900, "a=1"},  {3072, "a=2"},  {4096, "a=2"},    {8191, "a=2"},     {16384, "a=2"},
        {24576, "a=3"}, {65536, "a=3"}, {1 << 20, "a=3"}, {SIZE_MAX, "a=3"},
    };
    json_t *rows = json_array();
    int rank;
    json_array_append_new(rows, tune_entry_of("k", "d", "v", 65536, "a=3"));
    json_array_append_new(rows, tune_entry_of("k", "d", "v", 1024, "a=1"));
    json_array_append_new(rows, tune_entry_of("k", "d", "v", 8192, "a=2"));
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        if (strcmp(chosen(rows, NULL, &device, right[i].size, &rank), right[i].shape) != 0)
            fail_msg("size %zu: %s", right[i].size,
                     chosen(rows, NULL, &device, right[i].size, &rank));
    json_decref(rows);
}

/* The nearest power of two; of two equally near the larger. */
static void tune_nearest_power_of_two(void **unused)
{
    (void)unused;
    assert_int_equal(tune_bucket(0), 0);
    for (size_t size = 1; size < 100000; size++) {
        size_t power = (size_t)1 << tune_bucket(size);
        size_t distance = power > size ? power - size : size - power;
        for (int k = 0; k < 20; k++) {
            size_t other = (size_t)1 << k, its = other > size ? other - size : size - other;
            assert_true(its > distance || (its == distance && other <= power));
        }
    }
    assert_int_equal(tune_bucket(SIZE_MAX), 64);
    assert_int_equal(tune_bucket((size_t)1 << 63), 63);
}

static void tune_checks_shapes(void **unused)
{
    (void)unused;
    static const char *const good[] = {"a=1", "group=128 items=4", "a=-3 b=0", "fp64=1 x_y=22"};
    static const char *const bad[] = {"",      " ",     "a",        "a=",      "=1",    "a=b",
                                      "a=1 ",  " a=1",  "a=1  b=2", "a=1,b=2", "a=1.5", "a=1 b",
                                      "a=--1", "a=1\n", "-D A=1",   "ä=1"};
    char longest[600];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!tune_is_shape(good[i]))
            fail_msg("\"%s\"", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (tune_is_shape(bad[i]))
            fail_msg("\"%s\"", bad[i]);
    snprintf(longest, sizeof longest, "a=%0509d", 1);
    assert_true(tune_is_shape(longest)); /* 511 bytes */
    strcat(longest, "1");
    assert_false(tune_is_shape(longest));
}

static void tune_reads_values(void **unused)
{
    (void)unused;
    const char *shape = "group=128 local=0 roup=7 x=-2";
    assert_int_equal(cltune_value(shape, "group", 1), 128);
    assert_int_equal(cltune_value(shape, "roup", 1), 7);
    assert_int_equal(cltune_value(shape, "local", 1), 0);
    assert_int_equal(cltune_value(shape, "x", 1), -2);
    assert_int_equal(cltune_value(shape, "loca", 5), 5);
    assert_int_equal(cltune_value(shape, "items", -9), -9);
    assert_int_equal(cltune_value("", "items", 3), 3);
    assert_int_equal(cltune_value(NULL, "items", 3), 3);
    assert_int_equal(cltune_value(shape, NULL, 3), 3);
    assert_int_equal(cltune_value(shape, "", 3), 3);
    assert_int_equal(cltune_value("a=1 b=2\ta=3 aa=4", "a", 0), 3); /* the last */
}

/* ---- Shipped rows. ---- */

static bool cpu_has(const char *flag)
{
    char line[8192], word[64];
    FILE *fp = fopen("/proc/cpuinfo", "r");
    bool has = false;
    snprintf(word, sizeof word, " %s ", flag);
    while (fp && !has && fgets(line, sizeof line, fp)) {
        line[strcspn(line, "\n")] = ' ';
        has = strncmp(line, "flags", 5) == 0 && strstr(line, word);
    }
    if (fp)
        fclose(fp);
    return has;
}

/* Every shipped file is valid, and a CPU gets the entries of its own family. */
static void tune_shipped_entries_are_sound(void **unused)
{
    (void)unused;
    DIR *dir = opendir("../tuning");
    size_t rows = 0, i;
    bool checked = false;
    const char *family = cpu_has("avx512f") ? "family:cpu-avx512"
                         : cpu_has("avx2")  ? "family:cpu-avx2"
                                            : "family:cpu";
    ready(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        char path[300], why[256] = "";
        json_t *row;
        if (!strstr(e->d_name, ".json"))
            continue;
        snprintf(path, sizeof path, "../tuning/%s", e->d_name);
        json_t *list = tune_read(path, why, sizeof why);
        if (!list)
            fail_msg("%s: %s", path, why);
        json_array_foreach(list, i, row)
        {
            const char *device = json_string_value(json_object_get(row, "device"));
            rows++;
            if (!(info[0].dev_type & CL_DEVICE_TYPE_CPU) || strcmp(device, family) != 0)
                continue;
            const char *kernel = json_string_value(json_object_get(row, "kernel"));
            size_t size = (size_t)json_integer_value(json_object_get(row, "size"));
            found(kernel, size, json_string_value(json_object_get(row, "shape")));
            contains(find_entry(kernel, size).source, "shipped for its family");
            contains(find_entry(kernel, size).source, family);
            checked = true;
        }
        json_decref(list);
    }
    closedir(dir);
    assert_true(rows > 0);
    assert_true(checked || !(info[0].dev_type & CL_DEVICE_TYPE_CPU));
}

static void tune_ignores_other_devices(void **unused)
{
    (void)unused;
    struct cltune_row row = find_entry("no.such.kernel", 1000);
    assert_string_equal(row.shape, "");
    contains(row.source, "no.such.kernel, size 1000: no row for ");
    contains(row.source, info[0].dev_name);
    char name[2000];
    memset(name, 'k', sizeof name - 1);
    name[sizeof name - 1] = 0;
    row = find_entry(name, SIZE_MAX);
    assert_string_equal(row.shape, "");
    assert_null(cltune_warning());
}

/* ---- Storing. ---- */

static void tune_stores_and_finds(void **unused)
{
    (void)unused;
    works(cltune_store(cp, 0, "k", 1024, "a=1 b=2", 1.5e9, "items/s"));
    works(cltune_store(cp, 0, "k", 65536, "a=3", 2.5e9, "items/s"));
    works(cltune_store(cp, 0, "other", 1024, "a=4", 1, "items/s"));
    found("k", 1024, "a=1 b=2");
    found("k", 40, "a=1 b=2");
    found("k", 1 << 20, "a=3");
    contains(find_entry("k", 1024).source, "measured on this device and driver");
    works(cltune_store(cp, 0, "k", 1100, "a=5", 1.6e9, "items/s")); /* the same power of two */
    found("k", 1024, "a=5");
    found("k", 65536, "a=3");
    found("other", 1, "a=4");

    char why[256];
    json_t *rows = tune_read(in_cache("tune.json"), why, sizeof why),
           *row = json_array_get(rows, 0);
    assert_int_equal(json_array_size(rows), 3);
    assert_string_equal(json_string_value(json_object_get(row, "device")), info[0].dev_name);
    assert_string_equal(json_string_value(json_object_get(row, "driver")), info[0].dev_drv_version);
    assert_string_equal(json_string_value(json_object_get(row, "shape")), "a=5");
    assert_string_equal(json_string_value(json_object_get(row, "unit")), "items/s");
    assert_int_equal(json_integer_value(json_object_get(row, "size")), 1100);
    assert_true(fabs(json_number_value(json_object_get(row, "rate")) - 1.6e9) < 1e4);
    json_decref(rows);
    assert_null(cltune_warning());
}

/* A file changed by another process is read again, even if its length and time are unchanged. */
static void tune_sees_entries_of_other_processes(void **unused)
{
    (void)unused;
    char text[1024];
    const struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    for (int i = 0; i < 5; i++) {
        snprintf(
            text, sizeof text,
            "{\"format\": \"stdcl-tuning-1\", \"rows\": [{\"kernel\": \"k\", \"device\": \"%s\", "
            "\"driver\": \"of old\", \"size\": 64, \"shape\": \"b=%d\"}]}",
            info[0].dev_name, i);
        put_user_file("", 0);
        put_bytes(in_cache("other"), text, strlen(text));
        assert_int_equal(utimensat(AT_FDCWD, in_cache("other"), times, 0), 0);
        assert_int_equal(rename(in_cache("other"), in_cache("tune.json")), 0);
        found("k", 64, (char[]){'b', '=', (char)('0' + i), 0});
    }
    for (int i = 0; i < 20; i++) {
        snprintf(
            text, sizeof text,
            "{\"format\": \"stdcl-tuning-1\", \"rows\": [{\"kernel\": \"k\", \"device\": \"%s\", "
            "\"driver\": \"of old\", \"size\": 64, \"shape\": \"a=%d\"}]}",
            info[0].dev_name, i);
        put_user_file("", 0); /* of another length, since clocks may be coarse */
        cltune_warning();
        put_user_file(text, strlen(text));
        found("k", 64,
              (char[]){'a', '=', (char)(i < 10 ? '0' + i : '1'), i < 10 ? 0 : (char)('0' + i - 10),
                       0});
    }
    contains(find_entry("k", 64).source, "measured on this device with another driver");
    assert_int_equal(unlink(in_cache("tune.json")), 0);
    found("k", 64, "");
}

/* All shipped entries of a device's family, among them the one for a size; none if the user has
 * measured. */
static void rows_to_compare(void **unused)
{
    (void)unused;
    struct cltune_row rows[16], one;
    size_t sizes[16];
    static const char kernel[] = "nbody.direct.single";
    const int n = cltune_rows(cp, 0, kernel, rows, sizes, 16);
    assert_in_range(n, 1, 16);
    works(cltune_find(cp, 0, kernel, sizes[n - 1], &one));
    bool among = false;
    for (int i = 0; i < n; i++) {
        contains(rows[i].source, "shipped for");
        among |= strcmp(rows[i].shape, one.shape) == 0;
    }
    assert_true(among);
    assert_int_equal(cltune_rows(cp, 0, kernel, rows, sizes, 1), 1);
    assert_int_equal(cltune_rows(cp, 0, kernel, rows, sizes, 0), 0);
    assert_int_equal(cltune_rows(cp, 0, "no.such.kernel", rows, sizes, 16), 0);
    works(cltune_store(cp, 0, kernel, 64, "a=1", 1, "u"));
    assert_int_equal(cltune_rows(cp, 0, kernel, rows, sizes, 16), 0);
    assert_int_equal(unlink(in_cache("tune.json")), 0);
}

static void tune_rejects_bad_arguments(void **unused)
{
    (void)unused;
    struct cltune_row row;
    fails(EINVAL, cltune_find(NULL, 0, "k", 1, &row));
    fails(EINVAL, cltune_find(cp, clgetndev(cp), "k", 1, &row));
    fails(EINVAL, cltune_find(cp, 0, NULL, 1, &row));
    fails(EINVAL, cltune_find(cp, 0, "k", 1, NULL));
    size_t size;
    fails(EINVAL, cltune_rows(NULL, 0, "k", &row, &size, 1));
    fails(EINVAL, cltune_rows(cp, clgetndev(cp), "k", &row, &size, 1));
    fails(EINVAL, cltune_rows(cp, 0, NULL, &row, &size, 1));
    fails(EINVAL, cltune_rows(cp, 0, "k", NULL, &size, 1));
    fails(EINVAL, cltune_rows(cp, 0, "k", &row, NULL, 1));
    fails(EINVAL, cltune_store(NULL, 0, "k", 1, "a=1", 1, "u"));
    fails(EINVAL, cltune_store(cp, clgetndev(cp), "k", 1, "a=1", 1, "u"));
    fails(EINVAL, cltune_store(cp, 0, NULL, 1, "a=1", 1, "u"));
    fails(EINVAL, cltune_store(cp, 0, "", 1, "a=1", 1, "u"));
    fails(EINVAL, cltune_store(cp, 0, "k", 1, NULL, 1, "u"));
    fails(EINVAL, cltune_store(cp, 0, "k", 1, "no shape", 1, "u"));
    fails(EINVAL, cltune_store(cp, 0, "k", 1, "a=1", NAN, "u"));
    fails(EINVAL, cltune_store(cp, 0, "k", SIZE_MAX, "a=1", 1, "u"));
    fails(EINVAL, cltune_store(cp, 0, "k", 1, "a=1", 1, NULL));
    fails(EINVAL, cltune_store(cp, 0, "no UTF-8: \xff", 1, "a=1", 1, "u"));
    assert_int_equal(access(in_cache("tune.json"), F_OK), -1);
}

/* ---- Files that are not what they should be. ---- */

#define ROW                                                                                        \
    "{\"kernel\": \"k\", \"device\": \"d\", \"driver\": \"v\", \"size\": 64, \"shape\": \"a=1\"}"
#define FILE_OF(rows) "{\"format\": \"stdcl-tuning-1\", \"rows\": [" rows "]}"

/* The file is ignored with a warning; the next store renames it and begins a new one. */
static void is_ignored(const char *what)
{
    const char *warning = cltune_warning();
    if (!warning)
        fail_msg("no warning: %s", what);
    contains(warning, in_cache("tune.json"));
    contains(warning, "is ignored: ");
    assert_null(strchr(warning, '\n'));
    found("k", 64, "");
    works(cltune_store(cp, 0, "k", 64, "a=7", 1, "u"));
    assert_null(cltune_warning());
    found("k", 64, "a=7");
    assert_int_equal(remove(in_cache("tune.json.unreadable")), 0);
    assert_int_equal(unlink(in_cache("tune.json")), 0);
}

static void tune_ignores_corrupt_files(void **unused)
{
    (void)unused;
    static const char *const bad[] = {
        "",
        "\n",
        "{",
        "[]",
        "{}",
        "null",
        "hello",
        "{\"format\": \"stdcl-tuning-1\"}",
        "{\"format\": \"stdcl-tuning-2\", \"rows\": []}",
        "{\"format\": 1, \"rows\": []}",
        "{\"format\": \"stdcl-tuning-1\", \"rows\": {}}",
        "{\"format\": \"stdcl-tuning-1\", \"rows\": []} x",
        "{\"format\": \"stdcl-tuning-1\", \"format\": \"stdcl-tuning-1\", \"rows\": []}",
        FILE_OF("1"),
        FILE_OF("null"),
        FILE_OF("[]"),
        FILE_OF("{}"),
        FILE_OF(ROW ",{}"),
        FILE_OF("{\"kernel\": \"k\", \"device\": \"d\", \"size\": 64}"),
        FILE_OF("{\"kernel\": \"k\", \"device\": \"d\", \"size\": -64, \"shape\": \"a=1\"}"),
        FILE_OF("{\"kernel\": \"k\", \"device\": \"d\", \"size\": 64.5, \"shape\": \"a=1\"}"),
        FILE_OF("{\"kernel\": \"k\", \"device\": \"d\", \"size\": \"64\", \"shape\": \"a=1\"}"),
        FILE_OF(
            "{\"kernel\": \"k\", \"device\": \"d\", \"size\": 99999999999999999999, \"shape\": \"a=1\"}"),
        FILE_OF("{\"kernel\": \"\", \"device\": \"d\", \"size\": 64, \"shape\": \"a=1\"}"),
        FILE_OF("{\"kernel\": \"k\", \"device\": \"d\", \"size\": 64, \"shape\": \"-D BAD\"}"),
        FILE_OF("{\"kernel\": \"k\", \"device\": 5, \"size\": 64, \"shape\": \"a=1\"}"),
        FILE_OF("{\"kernel\": \"\xff\", \"device\": \"d\", \"size\": 64, \"shape\": \"a=1\"}"),
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put_user_file(bad[i], strlen(bad[i]));
        is_ignored(bad[i]);
    }
    put_user_file(FILE_OF(ROW), strlen(FILE_OF(ROW))); /* while this is fine */
    assert_null(cltune_warning());
}

/* A truncated file is ignored, wherever it ends. */
static void tune_ignores_truncated_files(void **unused)
{
    (void)unused;
    static const char whole[] = FILE_OF(ROW);
    char why[256];
    for (size_t size = 0; size < sizeof whole - 1; size++) {
        put_user_file(whole, size);
        json_t *rows = tune_read(in_cache("tune.json"), why, sizeof why);
        if (rows || !*why)
            fail_msg("%zu of %zu bytes are taken", size, sizeof whole - 1);
    }
    json_t *rows = tune_parse(whole, sizeof whole - 1, why, sizeof why);
    assert_int_equal(json_array_size(rows), 1);
    json_decref(rows);
}

/* With one byte changed the file is used or not, but never crashes or yields an invalid entry. */
static void tune_survives_garbage(void **unused)
{
    (void)unused;
    static const char whole[] = FILE_OF(ROW);
    char text[sizeof whole], why[256];
    uint64_t random = 99;
    for (int round = 0; round < 20000; round++) {
        memcpy(text, whole, sizeof text);
        for (int k = 0; k <= round % 3; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            text[(random >> 33) % (sizeof whole - 1)] = (char)(random >> 25);
        }
        json_t *rows = tune_parse(text, sizeof whole - 1, why, sizeof why), *row;
        size_t i;
        assert_true(rows || *why);
        json_array_foreach(rows, i, row)
            assert_true(tune_is_shape(json_string_value(json_object_get(row, "shape"))));
        json_decref(rows);
    }
    for (int round = 0; round < 2000; round++) {
        char noise[256];
        for (size_t k = 0; k < sizeof noise; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            noise[k] = (char)(random >> 40);
        }
        assert_null(tune_parse(noise, sizeof noise, why, sizeof why));
    }
}

static void tune_ignores_huge_and_deep_files(void **unused)
{
    (void)unused;
    const size_t deep = 1000000;
    char *text = malloc(deep);
    ready(text);
    memset(text, '[', deep);
    put_user_file(text, deep);
    is_ignored("a million brackets");
    free(text);
    put_user_file("", 0);
    assert_int_equal(truncate(in_cache("tune.json"), (off_t)100 << 30),
                     0); /* 100 GiB, all of it a hole */
    const double start = seconds_worked();
    is_ignored("100 GiB");
    assert_true(seconds_worked() - start < 2); /* it is not read */
    put_user_file("", 0);
    assert_int_equal(truncate(in_cache("tune.json"), 1000000), 0);
    is_ignored("a million zeros");
    const size_t large = (size_t)17 << 20, length = strlen(FILE_OF(ROW));
    text = malloc(large); /* sound, but for its size */
    ready(text);
    memset(text, ' ', large);
    memcpy(text, FILE_OF(ROW), length);
    put_user_file(text, large);
    is_ignored("17 MiB of blanks");
    free(text);
}

static void tune_ignores_non_files(void **unused)
{
    (void)unused;
    put_user_file("", 0);
    assert_int_equal(unlink(in_cache("tune.json")), 0);
    assert_int_equal(mkdir(in_cache("tune.json"), 0755), 0);
    is_ignored("a folder");
    assert_int_equal(mkfifo(in_cache("tune.json"), 0644), 0); /* no process ever writes to it */
    is_ignored("a pipe");
    assert_int_equal(symlink("/dev/zero", in_cache("tune.json")), 0);
    is_ignored("a device");
    assert_int_equal(symlink("nowhere", in_cache("tune.json")), 0);
    assert_null(cltune_warning()); /* equal to no file */
    works(cltune_store(cp, 0, "k", 64, "a=7", 1, "u"));
    found("k", 64, "a=7");
}

/* ---- Places that cannot be written. ---- */

static void tune_reports_unwritable_store(void **unused)
{
    (void)unused;
    char home[PATH_MAX] = "";
    if (getenv("HOME"))
        snprintf(home, sizeof home, "%s", getenv("HOME"));
    setenv("XDG_CACHE_HOME", "/proc/nobody/can/make/this", 1);
    found("k", 64, "");
    assert_null(cltune_warning());
    fails(ANY_ERROR, cltune_store(cp, 0, "k", 64, "a=1", 1, "u"));
    contains((cltune_store(cp, 0, "k", 64, "a=1", 1, "u"), clerror()),
             "/proc/nobody/can/make/this/stdcl/tune.json: ");
    put_text(in_folder("a_file"), "");
    setenv("XDG_CACHE_HOME", in_folder("a_file"), 1);
    found("k", 64, "");
    fails(ENOTDIR, cltune_store(cp, 0, "k", 64, "a=1", 1, "u"));
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    found("k", 64, "");
    fails(ENOENT, cltune_store(cp, 0, "k", 64, "a=1", 1, "u"));
    assert_null(cltune_file());
    contains((cltune_store(cp, 0, "k", 64, "a=1", 1, "u"), clerror()), "XDG_CACHE_HOME");
    setenv("XDG_CACHE_HOME", "relative/path", 1); /* the standard says: ignore it */
    setenv("HOME", in_folder("home"), 1);
    works(cltune_store(cp, 0, "k", 64, "a=5", 1, "u"));
    assert_int_equal(access(in_folder("home/.cache/stdcl/tune.json"), F_OK), 0);
    assert_string_equal(cltune_file(), in_folder("home/.cache/stdcl/tune.json"));
    found("k", 64, "a=5");
    if (*home)
        setenv("HOME", home, 1);
}

/* A write that fails half-way leaves the old file unchanged, and no temporary file. */
static void tune_full_disk_keeps_store_whole(void **unused)
{
    (void)unused;
    struct rlimit old, small = {.rlim_cur = 100, .rlim_max = RLIM_INFINITY};
    size_t before, after;
    works(cltune_store(cp, 0, "k", 64, "a=1", 1, "u"));
    char *was = bytes_of(in_cache("tune.json"), &before), *is;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small.rlim_max = old.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int status = cltune_store(cp, 0, "k", 128, "a=2", 1, "u");
    int code = clerrno;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(status, -1);
    assert_int_equal(code, EFBIG);
    is = bytes_of(in_cache("tune.json"), &after);
    assert_int_equal(after, before);
    assert_memory_equal(is, was, before);
    free(is);
    free(was);
    found("k", 128, "a=1");
    DIR *dir = opendir(in_cache(""));
    for (struct dirent *e; (e = readdir(dir));)
        assert_null(strstr(e->d_name, ".tmp"));
    closedir(dir);
}

/* ---- Many writers. ---- */

enum { WRITERS = 5, ROWS_EACH = 25 };

/* Add entries as the child `name`, after the parent's signal to begin. */
static int run_tune_child(const char *name)
{
    char kernel[64];
    CLCONTEXT *own = clcontext_create(NULL, (int)CL_DEVICE_TYPE_ALL, 1, NULL, 0);
    printf("ready\n");
    fflush(stdout);
    if (getchar() == EOF) /* all begin together */
        for (int i = 0; i < ROWS_EACH; i++) {
            snprintf(kernel, sizeof kernel, "%s.%d", name, i);
            if (cltune_store(own, 0, kernel, 64, "a=1", 1, "u") != 0) {
                printf("%s\n", clerror());
                return 1;
            }
        }
    return clcontext_destroy(own);
}

static void all_there(size_t count)
{
    char why[256];
    json_t *rows = tune_read(in_cache("tune.json"), why, sizeof why);
    if (!rows)
        fail_msg("%s", why);
    assert_int_equal(json_array_size(rows), count);
    json_decref(rows);
}

/* No process loses an entry, and a concurrent reader sees a valid file that only grows. */
static void tune_processes_lose_nothing(void **unused)
{
    (void)unused;
    struct child writer[WRITERS];
    char name[WRITERS][16], why[256];
    size_t seen = 0;
    for (int i = 0; i < WRITERS; i++) {
        snprintf(name[i], sizeof name[i], "w%d", i);
        const char *const words[] = {name[i], NULL};
        writer[i] = start_child(with_nothing, words);
        assert_string_equal(line_of(&writer[i]), "ready\n");
    }
    for (int i = 0; i < WRITERS; i++)
        close(writer[i].in);
    while (seen < WRITERS * ROWS_EACH) {
        json_t *rows = tune_read(in_cache("tune.json"), why, sizeof why);
        if (!rows)
            fail_msg("a reader meanwhile: %s", why);
        assert_true(json_array_size(rows) >= seen);
        seen = json_array_size(rows);
        json_decref(rows);
    }
    for (int i = 0; i < WRITERS; i++) {
        int status;
        assert_int_equal(waitpid(writer[i].pid, &status, 0), writer[i].pid);
        if (status != 0)
            fail_msg("writer %d: %s", i, line_of(&writer[i]));
        fclose(writer[i].out);
    }
    all_there(WRITERS * ROWS_EACH);
    for (int i = 0; i < WRITERS; i++) {
        char kernel[64];
        snprintf(kernel, sizeof kernel, "%s.%d", name[i], ROWS_EACH - 1);
        found(kernel, 64, "a=1");
    }
}

static void *write_tune_entries(void *number)
{
    char kernel[64];
    intptr_t bad = 0;
    struct cltune_row row;
    for (int i = 0; i < ROWS_EACH; i++) {
        snprintf(kernel, sizeof kernel, "t%d.%d", *(int *)number, i);
        bad += cltune_store(cp, 0, kernel, 64, "a=1", 1, "u") != 0;
        bad += cltune_find(cp, 0, kernel, 64, &row) != 0 || strcmp(row.shape, "a=1") != 0;
        bad += cltune_warning() != NULL;
    }
    return (void *)bad;
}

static void tune_threads_lose_nothing(void **unused)
{
    (void)unused;
    pthread_t thread[4];
    int number[4];
    void *bad;
    for (int i = 0; i < 4; i++) {
        number[i] = i;
        assert_int_equal(pthread_create(&thread[i], NULL, write_tune_entries, &number[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(thread[i], &bad), 0);
        assert_null(bad);
    }
    all_there(4 * ROWS_EACH);
}

static int open_tune_context(void **state)
{
    cp = clcontext_create(NULL, (int)CL_DEVICE_TYPE_ALL, 0, NULL, 0);
    return setup_done(cp && clgetndev(cp) <= 16 && clgetdevinfo(cp, info) == 0) == 0
               ? files_create(state)
               : -1;
}

static int close_tune_context(void **state)
{
    return clcontext_destroy(cp) | files_remove(state);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return run_tune_child(argv[1]);
#define CACHED(test) cmocka_unit_test_setup_teardown(test, use_tune_cache, no_cache)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tune_knows_gpu_families),
        cmocka_unit_test(tune_sources_have_order),
        cmocka_unit_test(tune_takes_nearest_size),
        cmocka_unit_test(tune_nearest_power_of_two),
        cmocka_unit_test(tune_checks_shapes),
        cmocka_unit_test(tune_reads_values),
        CACHED(tune_shipped_entries_are_sound),
        CACHED(tune_ignores_other_devices),
        CACHED(tune_stores_and_finds),
        CACHED(tune_sees_entries_of_other_processes),
        CACHED(rows_to_compare),
        CACHED(tune_rejects_bad_arguments),
        CACHED(tune_ignores_corrupt_files),
        CACHED(tune_ignores_truncated_files),
        CACHED(tune_survives_garbage),
        CACHED(tune_ignores_huge_and_deep_files),
        CACHED(tune_ignores_non_files),
        CACHED(tune_reports_unwritable_store),
        CACHED(tune_full_disk_keeps_store_whole),
        CACHED(tune_processes_lose_nothing),
        CACHED(tune_threads_lose_nothing),
    };
    return cmocka_run_group_tests(tests, open_tune_context, close_tune_context);
}
