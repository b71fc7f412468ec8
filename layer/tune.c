/* tune.c - the store of kernel shapes: rows that come with the library, and rows measured by the user.
 *
 * Both are JSON: {"format": "stdcl-tuning-1", "rows": [{"kernel", "device", "driver", "size", "shape",
 * "rate", "unit"}]}. The user's rows name a device exactly. Shipped rows name it by a part of its name, or a
 * family by "family:NAME". The files are read once; the user's again after a write.
 */
#include "internal.h"

#include <jansson.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORMAT "stdcl-tuning-1"

/* What a row may match by, best first. */
enum rank { USER_EXACT, USER_OTHER_DRIVER, SHIPPED_DEVICE, SHIPPED_FAMILY, SHIPPED_GENERIC, NO_MATCH };

static pthread_mutex_t store_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    bool loaded;
    json_t *shipped, *user; /* arrays of rows, or NULL */
    char warning[1024];
} store;

/* The shipped files, embedded by cmake. */
struct tuning_file {
    const char *name;
    const unsigned char *data;
    const unsigned long *size;
};
extern const struct tuning_file stdcl_tuning_files[];

/* ---- Reading. ---- */

static bool user_path(char *path, size_t size, const char *suffix)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = cache && *cache == '/' ? snprintf(path, size, "%s/stdcl/tune.json%s", cache, suffix)
            : home && *home        ? snprintf(path, size, "%s/.cache/stdcl/tune.json%s", home, suffix)
                                   : -1;
    return n > 0 && (size_t)n < size;
}

static bool row_is_sound(const json_t *row)
{
    return json_is_string(json_object_get(row, "kernel")) && json_is_string(json_object_get(row, "device")) &&
           json_is_string(json_object_get(row, "shape")) && json_is_integer(json_object_get(row, "size"));
}

/* The rows of a parsed file, or NULL with *why. Takes `root` over. */
static json_t *rows_of(json_t *root, const char **why)
{
    const char *format = json_string_value(json_object_get(root, "format"));
    json_t *rows = json_object_get(root, "rows");
    size_t i;
    json_t *row;
    *why = !format || strcmp(format, FORMAT) != 0 ? "it is not a file of format " FORMAT
           : !json_is_array(rows)                 ? "it has no list of rows"
                                                  : NULL;
    if (!*why) {
        json_array_foreach(rows, i, row) {
            if (!row_is_sound(row))
                *why = "a row lacks kernel, device, size or shape";
        }
    }
    rows = *why ? NULL : json_incref(rows);
    json_decref(root);
    return rows;
}

/* The user's rows; an empty array when there is no file, NULL with store.warning when it is unusable. */
static json_t *read_user(void)
{
    char path[4096];
    json_error_t error;
    const char *why = NULL;
    store.warning[0] = '\0';
    if (!user_path(path, sizeof path, "") || access(path, F_OK) != 0)
        return json_array();
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    json_t *rows = root ? rows_of(root, &why) : NULL;
    if (!rows)
        snprintf(store.warning, sizeof store.warning, "%.700s is ignored: %.200s; delete it, or run stdcl tune again",
                 path, root ? why : error.text);
    return rows;
}

static json_t *read_shipped(void)
{
    json_t *all = json_array();
    for (const struct tuning_file *f = stdcl_tuning_files; f->name; f++) {
        json_error_t error;
        const char *why = NULL;
        json_t *root = json_loadb((const char *)f->data, *f->size, 0, &error);
        json_t *rows = root ? rows_of(root, &why) : NULL;
        if (rows)
            json_array_extend(all, rows);
        json_decref(rows);
    }
    return all;
}

/* store_lock is held. */
static void load(void)
{
    if (store.loaded)
        return;
    store.shipped = read_shipped();
    store.user = read_user();
    store.loaded = true;
}

/* ---- Which rows fit a device. ---- */

/* The families a device belongs to, most special first, NULL at the end. */
static void families_of(const struct device *d, const char *family[4])
{
    char vendor[256] = "";
    size_t n = 0;
    clGetDeviceInfo(d->id, CL_DEVICE_VENDOR, sizeof vendor, vendor, NULL);
    if (d->type & CL_DEVICE_TYPE_CPU) {
#if defined(__x86_64__) || defined(__i386__)
        if (__builtin_cpu_supports("avx512f"))
            family[n++] = "family:cpu-avx512";
        else if (__builtin_cpu_supports("avx2"))
            family[n++] = "family:cpu-avx2";
#endif
        family[n++] = "family:cpu";
    } else {
        if (strcasestr(vendor, "nvidia"))
            family[n++] = "family:nvidia";
        else if (strcasestr(vendor, "amd") || strcasestr(vendor, "advanced micro"))
            family[n++] = "family:amd";
        family[n++] = "family:gpu";
    }
    family[n] = NULL;
}

static enum rank rank_shipped(const json_t *row, const struct device *d, const char *const family[4])
{
    const char *device = json_string_value(json_object_get(row, "device"));
    for (int i = 0; family[i]; i++)
        if (strcmp(device, family[i]) == 0)
            return family[i + 1] ? SHIPPED_FAMILY : SHIPPED_GENERIC;
    return strncmp(device, "family:", 7) != 0 && strstr(d->name, device) ? SHIPPED_DEVICE : NO_MATCH;
}

static enum rank rank_user(const json_t *row, const struct device *d, const char *driver)
{
    const char *measured = json_string_value(json_object_get(row, "driver"));
    if (strcmp(json_string_value(json_object_get(row, "device")), d->name) != 0)
        return NO_MATCH;
    return measured && strcmp(measured, driver) == 0 ? USER_EXACT : USER_OTHER_DRIVER;
}

/* The power of two that a size is nearest to. */
static int bucket(size_t size)
{
    int power = 0;
    while (size >> power > 1)
        power++;
    return power > 0 && size >> (power - 1) & 1 ? power + 1 : power;
}

struct choice {
    const json_t *row;
    enum rank rank;
    int distance; /* in powers of two of the size */
};

static void consider(struct choice *best, const json_t *row, enum rank rank, const char *kernel, size_t size)
{
    if (rank == NO_MATCH || strcmp(json_string_value(json_object_get(row, "kernel")), kernel) != 0)
        return;
    int distance = abs(bucket((size_t)json_integer_value(json_object_get(row, "size"))) - bucket(size));
    if (rank < best->rank || (rank == best->rank && distance < best->distance))
        *best = (struct choice){row, rank, distance};
}

static void explain(const struct choice *c, const struct device *d, const char *kernel, size_t size,
                    struct cltune_row *out)
{
    static const char *const why[] = {"measured on this device and driver", "measured on this device with another driver",
                                      "shipped for this device", "shipped for its family",
                                      "shipped for any such device"};
    if (!c->row) {
        snprintf(out->source, sizeof out->source, "%s: no row on %.100s, the kernel's own defaults", kernel, d->name);
        return;
    }
    snprintf(out->shape, sizeof out->shape, "%s", json_string_value(json_object_get(c->row, "shape")));
    snprintf(out->source, sizeof out->source, "%s, size %zu: row of %.100s, size %lld: %s", kernel, size,
             json_string_value(json_object_get(c->row, "device")),
             (long long)json_integer_value(json_object_get(c->row, "size")), why[c->rank]);
}

STDCL_API int cltune_find(CLCONTEXT *cp, cl_uint dev, const char *kernel, size_t size, struct cltune_row *row)
{
    struct device *d = device_of(cp, dev, "cltune_find");
    struct choice best = {.rank = NO_MATCH};
    const char *family[4];
    char driver[256] = "";
    size_t i;
    json_t *r;
    if (!d)
        return -1;
    if (!kernel || !row)
        return fail(EINVAL, 0, "cltune_find: the kernel's name or the result is NULL");
    memset(row, 0, sizeof *row);
    families_of(d, family);
    clGetDeviceInfo(d->id, CL_DRIVER_VERSION, sizeof driver, driver, NULL);
    pthread_mutex_lock(&store_lock);
    load();
    json_array_foreach(store.user, i, r)
        consider(&best, r, rank_user(r, d, driver), kernel, size);
    json_array_foreach(store.shipped, i, r)
        consider(&best, r, rank_shipped(r, d, family), kernel, size);
    explain(&best, d, kernel, size, row);
    pthread_mutex_unlock(&store_lock);
    return 0;
}

STDCL_API const char *cltune_warning(void)
{
    pthread_mutex_lock(&store_lock);
    load();
    const char *warning = store.warning[0] ? store.warning : NULL;
    pthread_mutex_unlock(&store_lock);
    return warning;
}

STDCL_API long cltune_value(const char *shape, const char *key, long missing)
{
    size_t length = key ? strlen(key) : 0;
    for (const char *word = shape; word && *word && length; word += strcspn(word, " ")) {
        word += strspn(word, " ");
        if (strncmp(word, key, length) == 0 && word[length] == '=')
            return strtol(word + length + 1, NULL, 10);
    }
    return missing;
}

/* ---- Writing. ---- */

static bool same_place(const json_t *a, const json_t *b)
{
    static const char *const keys[] = {"kernel", "device", "driver"};
    for (int i = 0; i < 3; i++)
        if (!json_equal(json_object_get(a, keys[i]), json_object_get(b, keys[i])))
            return false;
    return bucket((size_t)json_integer_value(json_object_get(a, "size"))) ==
           bucket((size_t)json_integer_value(json_object_get(b, "size")));
}

static void make_folders(char *path)
{
    for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
        *p = '\0';
        mkdir(path, 0777);
        *p = '/';
    }
}

/* Puts `row` into the rows of the file and replaces the file. The lock file is held. */
static int replace_file(const char *path, json_t *row)
{
    char temporary[4200];
    size_t i;
    json_t *old, *rows = json_array(), *user = read_user();
    if (!user) { /* not ours, or spoilt: keep it aside */
        snprintf(temporary, sizeof temporary, "%s.unreadable", path);
        rename(path, temporary);
    }
    json_array_foreach(user, i, old)
        if (!same_place(old, row))
            json_array_append(rows, old);
    json_array_append(rows, row);
    json_decref(user);
    json_t *root = json_pack("{s:s, s:o}", "format", FORMAT, "rows", rows);
    snprintf(temporary, sizeof temporary, "%s.tmp%ld", path, (long)getpid());
    bool ok = json_dump_file(root, temporary, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) == 0 &&
              rename(temporary, path) == 0;
    int status = ok ? 0 : fail(errno ? errno : EIO, 0, "cltune_store: %s: %s", path, strerror(errno));
    if (!ok)
        unlink(temporary);
    json_decref(root);
    return status;
}

STDCL_API int cltune_store(CLCONTEXT *cp, cl_uint dev, const char *kernel, size_t size, const char *shape,
                           double rate, const char *unit)
{
    struct device *d = device_of(cp, dev, "cltune_store");
    char path[4096], lock_path[4096], driver[256] = "";
    if (!d)
        return -1;
    if (!kernel || !shape || !unit)
        return fail(EINVAL, 0, "cltune_store: the kernel's name, the shape or the unit is NULL");
    if (!user_path(path, sizeof path, "") || !user_path(lock_path, sizeof lock_path, ".lock"))
        return fail(ENOENT, 0, "cltune_store: neither XDG_CACHE_HOME nor HOME says where to keep tune.json");
    make_folders(path);
    clGetDeviceInfo(d->id, CL_DRIVER_VERSION, sizeof driver, driver, NULL);
    int fd = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || flock(fd, LOCK_EX) != 0) {
        if (fd >= 0)
            close(fd);
        return fail(errno, 0, "cltune_store: %s: %s", lock_path, strerror(errno));
    }
    json_t *row = json_pack("{s:s, s:s, s:s, s:I, s:s, s:f, s:s}", "kernel", kernel, "device", d->name, "driver",
                            driver, "size", (json_int_t)size, "shape", shape, "rate", rate, "unit", unit);
    pthread_mutex_lock(&store_lock);
    load();
    int status = row ? replace_file(path, row) : fail(EINVAL, 0, "cltune_store: a text is not UTF-8");
    json_decref(store.user);
    store.user = read_user();
    pthread_mutex_unlock(&store_lock);
    json_decref(row);
    close(fd);
    return status;
}
