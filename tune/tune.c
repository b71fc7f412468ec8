/* tune.c - the store of launch shapes: entries shipped with the library, and entries measured by
 * the user.
 *
 * A user's entry names its device exactly. A shipped entry names a part of the device's name, or a
 * family as "family:NAME". Shipped files are read once. The user's file is read again when it has
 * changed, so that a long-running program sees the results of `stdcl tune`.
 * SPDX-License-Identifier: MIT
 */
#include "tune/tune.h"

#include "core/device_info.h"

#include <math.h>
#include <sys/stat.h>

/* ---- What was read. ---- */

static pthread_mutex_t store_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    json_t *shipped, *user; /* arrays of rows, or NULL */
    char path[4096];        /* the user's file; "" if there is no place for it */
    struct stat status;     /* of the file when it was read */
    const char *warning;
} store;

/* The shipped files, embedded by cmake. */
struct tuning_file {
    const char *name;
    const unsigned char *data;
    const unsigned long *size;
};
extern const struct tuning_file stdcl_tuning_files[];

static json_t *read_shipped(void)
{
    json_t *all = json_array();
    for (const struct tuning_file *f = stdcl_tuning_files; f->name; f++) {
        char why[256];
        json_t *rows = tune_parse((const char *)f->data, *f->size, why, sizeof why);
        json_array_extend(all, rows);
        json_decref(rows);
    }
    return all;
}

/* Intern a text that is returned to callers; there are few different ones. Call with store_lock
 * held. */
static const char *tune_intern_text(const char *text)
{
    static struct cached_program {
        struct cached_program *next;
        char text[];
    } * all;
    for (const struct cached_program *k = all; k; k = k->next)
        if (strcmp(k->text, text) == 0)
            return k->text;
    struct cached_program *k = malloc(sizeof *k + strlen(text) + 1);
    if (!k)
        return "out of memory on the host for the name of the file of measured kernel shapes";
    strcpy(k->text, text);
    k->next = all;
    return (all = k)->text;
}

static const char *warn(const char *path, const char *why)
{
    char text[4500];
    snprintf(text, sizeof text, "%s is ignored: %s; delete it, or run stdcl tune again", path, why);
    return tune_intern_text(text);
}

static bool has_changed(const char *path, const struct stat *now)
{
    const struct stat *then = &store.status;
    return strcmp(path, store.path) != 0 || now->st_ino != then->st_ino ||
           now->st_dev != then->st_dev || now->st_size != then->st_size ||
           now->st_mode != then->st_mode || now->st_mtim.tv_sec != then->st_mtim.tv_sec ||
           now->st_mtim.tv_nsec != then->st_mtim.tv_nsec;
}

/* Call with store_lock held. */
static void tune_load_files(void)
{
    char path[sizeof store.path] = "", why[256];
    struct stat now;
    if (!store.shipped)
        store.shipped = read_shipped();
    if (!tune_path(path, sizeof path, "") || stat(path, &now) != 0)
        memset(&now, 0, sizeof now);
    if (store.user && !has_changed(path, &now))
        return;
    json_decref(store.user);
    store.user = *path ? tune_read(path, why, sizeof why) : json_array();
    store.warning = store.user ? NULL : warn(path, why);
    if (!store.user)
        store.user = json_array();
    store.status = now;
    memcpy(store.path, path, sizeof path);
}

STDCL_API const char *cltune_warning(void)
{
    pthread_mutex_lock(&store_lock);
    tune_load_files();
    const char *warning = store.warning;
    pthread_mutex_unlock(&store_lock);
    return warning;
}

STDCL_API const char *cltune_file(void)
{
    char path[sizeof store.path];
    if (!tune_path(path, sizeof path, ""))
        return NULL;
    pthread_mutex_lock(&store_lock);
    const char *kept = tune_intern_text(path);
    pthread_mutex_unlock(&store_lock);
    return kept;
}

/* ---- Which rows fit a device. ---- */

void tune_families(cl_device_type type, const char *vendor, cl_uint capability,
                   const char *family[TUNE_MAX_FAMILIES + 1])
{
    size_t n = 0;
    if (type & CL_DEVICE_TYPE_CPU) {
#if defined(__x86_64__) || defined(__i386__)
        if (__builtin_cpu_supports("avx512f"))
            family[n++] = "family:cpu-avx512";
        if (__builtin_cpu_supports("avx2"))
            family[n++] = "family:cpu-avx2";
#endif
        family[n++] = "family:cpu";
    } else {
        if (vendor_is_nvidia(vendor)) {
            if (capability == 9)
                family[n++] = "family:hopper";
            family[n++] = "family:nvidia";
        } else if (strcasestr(vendor, "amd") || strcasestr(vendor, "advanced micro"))
            family[n++] = "family:amd";
        family[n++] = "family:gpu";
    }
    family[n] = NULL;
}

static cl_int families_of(cl_device_id id, cl_device_type type,
                          const char *family[TUNE_MAX_FAMILIES + 1])
{
    char vendor[256] = "";
    cl_uint capability = 0;
    cl_int err = clGetDeviceInfo(id, CL_DEVICE_VENDOR, sizeof vendor, vendor, NULL);
    if (err == CL_SUCCESS && type & CL_DEVICE_TYPE_GPU && vendor_is_nvidia(vendor))
        err = device_compute_capability(id, &capability);
    if (err == CL_INVALID_VALUE) /* an NVIDIA GPU under another driver */
        err = CL_SUCCESS;
    tune_families(type, vendor, capability / 10, family);
    return err;
}

static const char *tune_row_text(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

static int rank_user(const json_t *row, const struct tune_device *d)
{
    if (strcmp(tune_row_text(row, "device"), d->name) != 0)
        return TUNE_NONE;
    return strcmp(tune_row_text(row, "driver"), d->driver) == 0 ? TUNE_EXACT : TUNE_OTHER_DRIVER;
}

static int rank_named(const char *device, const struct tune_device *d)
{
    for (int i = 0; d->family[i]; i++)
        if (strcmp(device, d->family[i]) == 0)
            return TUNE_FAMILY + i;
    return strncmp(device, "family:", 7) != 0 && strstr(d->name, device) ? TUNE_SHIPPED : TUNE_NONE;
}

static int rank_shipped(const json_t *row, const struct tune_device *d)
{
    return rank_named(tune_row_text(row, "device"), d);
}

struct choice {
    const json_t *row;
    int rank;
    int distance; /* in powers of two of the size */
    json_int_t size;
};

static void consider(struct choice *best, const json_t *row, int rank, const char *kernel,
                     size_t size)
{
    if (rank == TUNE_NONE || strcmp(tune_row_text(row, "kernel"), kernel) != 0)
        return;
    const json_int_t its = json_integer_value(json_object_get(row, "size"));
    const struct choice c = {row, rank, abs(tune_bucket((size_t)its) - tune_bucket(size)), its};
    const int better = c.rank != best->rank ? best->rank - c.rank
                       : c.distance != best->distance
                           ? best->distance - c.distance
                           : (best->size > c.size) - (best->size < c.size);
    if (!best->row || better > 0)
        *best = c;
}

const json_t *tune_choose(const json_t *user, const json_t *shipped,
                          const struct tune_device *device, const char *kernel, size_t size,
                          int *rank)
{
    struct choice best = {.rank = TUNE_NONE};
    size_t i;
    json_t *row;
    json_array_foreach(user, i, row) consider(&best, row, rank_user(row, device), kernel, size);
    json_array_foreach(shipped, i, row)
        consider(&best, row, rank_shipped(row, device), kernel, size);
    *rank = best.rank;
    return best.row;
}

/* ---- Lookups. ---- */

static const char *reason_of(int rank, const struct tune_device *d)
{
    switch (rank) {
    case TUNE_EXACT:
        return "measured on this device and driver";
    case TUNE_OTHER_DRIVER:
        return "measured on this device with another driver";
    case TUNE_SHIPPED:
        return "shipped for this device";
    default:
        return d->family[rank - TUNE_FAMILY + 1] ? "shipped for its family"
                                                 : "shipped for any such device";
    }
}

static void tune_fill_row(struct cltune_row *out, const json_t *row, int rank,
                          const struct tune_device *d, const char *kernel, size_t size)
{
    memset(out, 0, sizeof *out);
    if (!row) {
        snprintf(out->source, sizeof out->source,
                 "%.60s, size %zu: no row for %.90s, the kernel's own defaults", kernel, size,
                 d->name);
        return;
    }
    snprintf(out->shape, sizeof out->shape, "%s", tune_row_text(row, "shape"));
    snprintf(out->source, sizeof out->source, "%.60s, size %zu: the row of %.90s for size %lld, %s",
             kernel, size, tune_row_text(row, "device"),
             (long long)json_integer_value(json_object_get(row, "size")), reason_of(rank, d));
}

/* Fill in the keys that entries are matched by; d->driver has 256 bytes. -1 after fail(). */
static int tune_describe_device(CLCONTEXT *cp, cl_uint dev, struct tune_device *d, char *driver,
                                const char *call)
{
    cl_device_id id = device_id(cp, dev, call);
    if (!id)
        return -1;
    *d = (struct tune_device){.name = device_name(cp, dev), .driver = driver};
    cl_int err = families_of(id, device_type(cp, dev), d->family);
    if (err == CL_SUCCESS)
        err = clGetDeviceInfo(id, CL_DRIVER_VERSION, 256, driver, NULL);
    return err == CL_SUCCESS ? 0
                             : fail(errno_of(err), err, "%s: %s does not tell its maker and driver",
                                    call, d->name);
}

static int find_entry(CLCONTEXT *cp, cl_uint dev, const char *kernel, size_t size, bool measured,
                      struct cltune_row *row)
{
    char driver[256] = "";
    struct tune_device device;
    int rank;
    if (device_id(cp, dev, "cltune_find") && (!kernel || !row))
        return fail(EINVAL, 0, "cltune_find: the kernel's name or the result is NULL");
    if (tune_describe_device(cp, dev, &device, driver, "cltune_find") != 0)
        return -1;
    pthread_mutex_lock(&store_lock);
    tune_load_files();
    const json_t *best =
        tune_choose(measured ? store.user : NULL, store.shipped, &device, kernel, size, &rank);
    tune_fill_row(row, best, rank, &device, kernel, size);
    pthread_mutex_unlock(&store_lock);
    return 0;
}

STDCL_API int cltune_find(CLCONTEXT *cp, cl_uint dev, const char *kernel, size_t size,
                          struct cltune_row *row)
{
    return find_entry(cp, dev, kernel, size, true, row);
}

int tune_find_shipped(CLCONTEXT *cp, cl_uint dev, const char *kernel, size_t size,
                      struct cltune_row *row)
{
    return find_entry(cp, dev, kernel, size, false, row);
}

STDCL_API int cltune_rows(CLCONTEXT *cp, cl_uint dev, const char *kernel, struct cltune_row *rows,
                          size_t *sizes, size_t most)
{
    char driver[256] = "";
    struct tune_device device;
    int rank;
    size_t n = 0, i;
    json_t *row;
    if (device_id(cp, dev, "cltune_rows") && (!kernel || !rows || !sizes))
        return fail(EINVAL, 0, "cltune_rows: the kernel's name or a result is NULL");
    if (tune_describe_device(cp, dev, &device, driver, "cltune_rows") != 0)
        return -1;
    pthread_mutex_lock(&store_lock);
    tune_load_files();
    tune_choose(store.user, store.shipped, &device, kernel, 1, &rank);
    json_array_foreach(store.shipped, i, row)
    {
        if (n >= most || rank == TUNE_NONE || rank_shipped(row, &device) != rank ||
            strcmp(tune_row_text(row, "kernel"), kernel) != 0)
            continue;
        sizes[n] = (size_t)json_integer_value(json_object_get(row, "size"));
        tune_fill_row(rows + n, row, rank, &device, kernel, sizes[n]);
        n++;
    }
    pthread_mutex_unlock(&store_lock);
    return (int)n;
}

STDCL_API int cltune_fits(CLCONTEXT *cp, cl_uint dev, const char *device)
{
    cl_device_id id = device_id(cp, dev, "cltune_fits");
    char families[256] = "";
    if (!id)
        return -1;
    if (!device)
        return fail(EINVAL, 0, "cltune_fits: the name is NULL");
    struct tune_device own = {.name = device_name(cp, dev)};
    const cl_int err = families_of(id, device_type(cp, dev), own.family);
    if (err != CL_SUCCESS)
        return fail(errno_of(err), err, "cltune_fits: %s does not tell its maker", own.name);
    if (*device && rank_named(device, &own) != TUNE_NONE)
        return 0;
    for (int i = 0; own.family[i]; i++)
        snprintf(families + strlen(families), sizeof families - strlen(families), "%s%s",
                 i == 0              ? ""
                 : own.family[i + 1] ? ", "
                                     : " or ",
                 own.family[i]);
    return fail(
        EINVAL, 0,
        "no device would use rows of '%s' that were measured on %s; give part of that name, or %s",
        device, own.name, families);
}

/* ---- Adding a row. ---- */

STDCL_API int cltune_store(CLCONTEXT *cp, cl_uint dev, const char *kernel, size_t size,
                           const char *shape, double rate, const char *unit)
{
    cl_device_id id = device_id(cp, dev, "cltune_store");
    char path[sizeof store.path], driver[256] = "";
    if (!id)
        return -1;
    if (!kernel || !*kernel || !shape || !unit)
        return fail(EINVAL, 0, "cltune_store: the kernel's name, the shape or the unit is missing");
    if (!tune_is_shape(shape))
        return fail(
            EINVAL, 0,
            "cltune_store: \"%.100s\" is no shape; that is words KEY=NUMBER, in all less than "
            "%zu bytes",
            shape, sizeof((struct cltune_row *)0)->shape);
    if (!isfinite(rate) || size > INT64_MAX)
        return fail(
            EINVAL, 0,
            "cltune_store: a rate of %g for a size of %zu; the rate must be finite, and the size less than 2^63",
            rate, size);
    if (!tune_path(path, sizeof path, ""))
        return fail(ENOENT, 0,
                    "cltune_store: neither XDG_CACHE_HOME nor HOME says where to keep tune.json");
    const cl_int err = clGetDeviceInfo(id, CL_DRIVER_VERSION, sizeof driver, driver, NULL);
    if (err != CL_SUCCESS)
        return fail(errno_of(err), err, "cltune_store: %s does not tell its driver",
                    device_name(cp, dev));
    json_t *row = json_pack("{s:s, s:s, s:s, s:I, s:s, s:f, s:s}", "kernel", kernel, "device",
                            device_name(cp, dev), "driver", driver, "size", (json_int_t)size,
                            "shape", shape, "rate", rate, "unit", unit);
    if (!row)
        return fail(EINVAL, 0, "cltune_store: a text is not UTF-8");
    pthread_mutex_lock(&store_lock); /* one thread at a time: all use the same temporary file */
    int status = tune_put(path, row);
    pthread_mutex_unlock(&store_lock);
    json_decref(row);
    return status;
}
