/* context.c - contexts: which devices there are, and lists of them.
 *
 * Platforms are asked once, at first use. A context is a list of devices, each with an OpenCL context and
 * an in-order queue of its own: two devices of one OpenCL context were measured to exchange data a
 * thousand times slower than through pinned host memory, and they wait for each other.
 * SPDX-License-Identifier: MIT
 */
#include "core/internal.h"

#include <ctype.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- What this machine has. ---- */

struct candidate {
    cl_platform_id platform;
    cl_device_id id;
    cl_device_type type;
    char words[4][256]; /* platform name and vendor, device name and vendor */
    char key[80];       /* names the device to every process of the node */
};

static struct {
    struct candidate *device;
    size_t count;
} machine;

static pthread_once_t machine_once = PTHREAD_ONCE_INIT;

#ifndef CL_DEVICE_UUID_KHR
#define CL_DEVICE_UUID_KHR 0x106A
#endif

static bool has_extension(cl_device_id id, const char *name)
{
    size_t size = 0;
    clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, 0, NULL, &size);
    char *all = calloc(size + 1, 1);
    const bool has = all && clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, size, all, NULL) == CL_SUCCESS && strstr(all, name);
    free(all);
    return has;
}

/* key = the device's UUID where it tells one, else platform and device name; then its number among the
 * devices of the same key so far, so that keys are unique. */
static void make_key(struct candidate *c)
{
    unsigned char uuid[16];
    if (has_extension(c->id, "cl_khr_device_uuid") &&
        clGetDeviceInfo(c->id, CL_DEVICE_UUID_KHR, sizeof uuid, uuid, NULL) == CL_SUCCESS) {
        for (int i = 0; i < 16; i++)
            snprintf(c->key + 2 * i, 3, "%02x", uuid[i]);
    } else {
        snprintf(c->key, 64, "%.31s.%.31s", c->words[0], c->words[2]);
    }
    for (char *p = c->key; *p; p++)
        if (!isalnum((unsigned char)*p))
            *p = '_';
    size_t twins = 0, length = strlen(c->key);
    for (size_t i = 0; i < machine.count; i++)
        if (strncmp(machine.device[i].key, c->key, length) == 0 && machine.device[i].key[length] == '-')
            twins++;
    snprintf(c->key + length, sizeof c->key - length, "-%zu", twins);
}

static void add_candidates(cl_platform_id platform)
{
    cl_uint n = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &n) != CL_SUCCESS || n == 0)
        return;
    cl_device_id *id = calloc(n, sizeof *id);
    struct candidate *more = realloc(machine.device, (machine.count + n) * sizeof *more);
    if (more)
        machine.device = more;
    if (!id || !more || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, n, id, NULL) != CL_SUCCESS)
        n = 0;
    for (cl_uint i = 0; i < n; i++) {
        struct candidate *c = &machine.device[machine.count];
        memset(c, 0, sizeof *c);
        c->platform = platform;
        c->id = id[i];
        clGetDeviceInfo(id[i], CL_DEVICE_TYPE, sizeof c->type, &c->type, NULL);
        clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof c->words[0], c->words[0], NULL);
        clGetPlatformInfo(platform, CL_PLATFORM_VENDOR, sizeof c->words[1], c->words[1], NULL);
        clGetDeviceInfo(id[i], CL_DEVICE_NAME, sizeof c->words[2], c->words[2], NULL);
        clGetDeviceInfo(id[i], CL_DEVICE_VENDOR, sizeof c->words[3], c->words[3], NULL);
        make_key(c);
        machine.count++;
    }
    free(id);
}

static void ask_platforms(void)
{
    cl_uint n = 0;
    if (clGetPlatformIDs(0, NULL, &n) != CL_SUCCESS || n == 0)
        return;
    cl_platform_id *platform = calloc(n, sizeof *platform);
    if (platform && clGetPlatformIDs(n, platform, NULL) == CL_SUCCESS)
        for (cl_uint i = 0; i < n; i++)
            add_candidates(platform[i]);
    free(platform);
}

/* ---- Choosing devices. ---- */

static bool contains(const char *text, const char *word, size_t length)
{
    for (; *text; text++)
        if (strncasecmp(text, word, length) == 0)
            return true;
    return length == 0;
}

static bool matches(const struct candidate *c, const char *word, size_t length)
{
    for (int i = 0; i < 4; i++)
        if (contains(c->words[i], word, length))
            return true;
    return false;
}

/* Fills chosen[] (room for machine.count) with the devices of `type` that match `patterns`, those of the
 * first pattern first. Returns how many. */
static size_t choose(const char *patterns, cl_device_type type, const struct candidate **chosen)
{
    size_t n = 0;
    const char *word = patterns ? patterns : "";
    bool more;
    do {
        size_t length = strcspn(word, ",");
        const char *next = word + length;
        more = *next == ',';
        while (length && isspace((unsigned char)*word))
            word++, length--;
        while (length && isspace((unsigned char)word[length - 1]))
            length--;
        for (size_t i = 0; i < machine.count && (length || !patterns || !*patterns); i++) {
            const struct candidate *c = &machine.device[i];
            bool taken = !(c->type & type) || !matches(c, word, length);
            for (size_t k = 0; k < n && !taken; k++)
                taken = chosen[k] == c;
            if (!taken)
                chosen[n++] = c;
        }
        word = next + 1;
    } while (more);
    return n;
}

/* "NAME, NAME" of all devices, for messages; the caller frees it. */
static char *list_devices(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *fp = open_memstream(&text, &size);
    if (!fp)
        return NULL;
    for (size_t i = 0; i < machine.count; i++)
        fprintf(fp, "%s%s (%s)", i ? ", " : "", machine.device[i].words[2], machine.device[i].words[0]);
    if (machine.count == 0)
        fputs("none: no OpenCL platform is installed", fp);
    fclose(fp);
    return text;
}

/* ---- Claims: devices shared out between processes. ---- */

/* A claim is an flock on a file that names key and device. The kernel drops it when the process ends,
 * however it ends. Returns the descriptor, -1 when another holds it, -2 when locks cannot be made. */
static int claim(const struct candidate *c, int key)
{
    char path[160];
    snprintf(path, sizeof path, "/tmp/stdcl-lock-%x-%s", (unsigned)key, c->key);
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return -2;
    fchmod(fd, 0666); /* other users take part; fails harmlessly when the file is not ours */
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    close(fd);
    return -1;
}

static void release_claims(int *claims, size_t n)
{
    for (size_t i = 0; claims && i < n; i++)
        close(claims[i]);
    free(claims);
}

/* Keeps of chosen[0..n) the first `want` that nobody else has claimed, with their descriptors in
 * *claims. Returns how many, or 0 after fail(). */
static size_t claim_devices(const struct candidate **chosen, size_t n, size_t want, int key, int **claims)
{
    size_t got = 0;
    *claims = calloc(want, sizeof **claims);
    if (!*claims)
        return (void)fail(ENOMEM, 0, "clcontext_create: no memory"), 0;
    for (size_t i = 0; i < n && got < want; i++) {
        int fd = claim(chosen[i], key);
        if (fd == -2) {
            fail(errno, 0, "clcontext_create: cannot make the lock file of %s in /tmp: %s",
                 chosen[i]->words[2], strerror(errno));
            release_claims(*claims, got);
            return 0;
        }
        if (fd >= 0) {
            (*claims)[got] = fd;
            chosen[got++] = chosen[i];
        }
    }
    if (got == want)
        return got;
    release_claims(*claims, got);
    fail(EBUSY, 0, "clcontext_create: %zu of %zu devices are free under lock key %d, but %zu are wanted",
         got, n, key, want);
    return 0;
}

/* ---- Making and destroying contexts. ---- */

static void device_close(struct device *d)
{
    if (d->queue) {
        event_lists_free(d);
        clReleaseCommandQueue(d->queue);
    }
    if (d->context)
        clReleaseContext(d->context);
    pthread_mutex_destroy(&d->lock);
}

/* PoCL 5 ends the program when two of its devices run the same kernel with different sizes (mended in 6.0). There
 * programs are built with the device's number, which makes them different ones. STDCL_DEVICE_BUILDS=1 in the
 * environment does so on every platform, 0 on none. */
static cl_uint number_of_builds(cl_platform_id platform, cl_device_id id)
{
    enum { MOST = 64 };
    cl_device_id all[MOST];
    cl_uint n = 0, number = 0;
    char version[256] = "";
    const char *wish = getenv("STDCL_DEVICE_BUILDS");
    clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof version, version, NULL);
    if (wish ? strcmp(wish, "1") != 0 : !strstr(version, "PoCL 5."))
        return 0;
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MOST, all, &n);
    while (number < n && number < MOST && all[number] != id)
        number++;
    return number;
}

static cl_int device_open(struct device *d, cl_device_id id)
{
    cl_int err = CL_SUCCESS;
    cl_uint align_bits = 0;
    const struct {
        cl_device_info what;
        size_t size;
        void *to;
    } asked[] = {
        {CL_DEVICE_PLATFORM, sizeof d->platform, &d->platform},
        {CL_DEVICE_TYPE, sizeof d->type, &d->type},
        {CL_DEVICE_GLOBAL_MEM_SIZE, sizeof d->memory, &d->memory},
        {CL_DEVICE_LOCAL_MEM_SIZE, sizeof d->local_memory, &d->local_memory},
        {CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof align_bits, &align_bits},
    };
    memset(d, 0, sizeof *d);
    pthread_mutex_init(&d->lock, NULL);
    d->id = id;
    for (size_t i = 0; i < sizeof asked / sizeof *asked && err == CL_SUCCESS; i++)
        err = clGetDeviceInfo(id, asked[i].what, asked[i].size, asked[i].to, NULL);
    if (err == CL_SUCCESS)
        d->number = number_of_builds(d->platform, id);
    if (clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof d->name, d->name, NULL) != CL_SUCCESS)
        snprintf(d->name, sizeof d->name, "device");
    d->start_align = align_bits / 8 ? align_bits / 8 : 1;
    if (err != CL_SUCCESS)
        return err;
    cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)d->platform, 0};
    d->context = clCreateContext(properties, 1, &id, NULL, NULL, &err);
    if (err == CL_SUCCESS)
        d->queue = clCreateCommandQueue(d->context, id, 0, &err);
    return err;
}

CLCONTEXT *context_unobserved(const cl_device_id *devices, size_t ndev)
{
    if (!devices || ndev == 0)
        return (void)fail(EINVAL, 0, "clcontext_create_from: the list of devices is empty"), NULL;
    CLCONTEXT *cp = calloc(1, sizeof *cp);
    struct device *dev = calloc(ndev, sizeof *dev);
    if (!cp || !dev) {
        free(cp);
        free(dev);
        return (void)fail(ENOMEM, 0, "clcontext_create_from: no memory for %zu devices", ndev), NULL;
    }
    pthread_mutex_init(&cp->lock, NULL);
    cp->dev = dev;
    for (cp->ndev = 0; cp->ndev < ndev; cp->ndev++) {
        struct device *d = &dev[cp->ndev];
        cl_int err = device_open(d, devices[cp->ndev]);
        if (err != CL_SUCCESS) {
            fail(errno_of(err), err, "clcontext: %s cannot be opened", d->name);
            device_close(d);
            clcontext_destroy(cp);
            return NULL;
        }
    }
    return cp;
}

STDCL_API CLCONTEXT *clcontext_create_from(const cl_device_id *devices, size_t ndev)
{
    CLCONTEXT *cp = context_unobserved(devices, ndev);
    if (cp && core_observer && core_observer->context_begins(cp) != 0) {
        clcontext_destroy(cp);
        return NULL;
    }
    return cp;
}

/* Makes a context of candidates; takes over `claims`. */
static CLCONTEXT *context_of(const struct candidate **chosen, size_t n, int *claims)
{
    cl_device_id *id = calloc(n, sizeof *id);
    for (size_t i = 0; id && i < n; i++)
        id[i] = chosen[i]->id;
    CLCONTEXT *cp = id ? clcontext_create_from(id, n) : NULL;
    free(id);
    if (cp)
        cp->claims = claims;
    else
        release_claims(claims, n);
    return cp;
}

STDCL_API CLCONTEXT *clcontext_create(const char *platforms, int devtype, size_t ndevmax,
                                      cl_context_properties *ext, int lock_key)
{
    if (ext && *ext)
        return (void)fail(ENOTSUP, 0, "clcontext_create: context properties are not supported"), NULL;
    pthread_once(&machine_once, ask_platforms);
    const struct candidate **chosen = calloc(machine.count + 1, sizeof *chosen);
    if (!chosen)
        return (void)fail(ENOMEM, 0, "clcontext_create: no memory"), NULL;

    int *claims = NULL;
    CLCONTEXT *cp = NULL;
    size_t n = choose(platforms, (cl_device_type)(cl_uint)devtype, chosen);
    if (n == 0) {
        char *list = list_devices();
        const char *kind = (unsigned)devtype == CL_DEVICE_TYPE_ALL ? "device"
                           : devtype == CL_DEVICE_TYPE_CPU         ? "CPU"
                           : devtype == CL_DEVICE_TYPE_GPU         ? "GPU"
                           : devtype == CL_DEVICE_TYPE_ACCELERATOR ? "accelerator"
                                                                   : "device of the types asked for";
        fail(ENODEV, 0, "clcontext_create: no %s matches \"%s\"; there are: %s", kind, platforms ? platforms : "",
             list ? list : "?");
        free(list);
    } else if (lock_key) {
        n = claim_devices(chosen, n, ndevmax ? ndevmax : 1, lock_key, &claims);
    } else if (ndevmax && n > ndevmax) {
        n = ndevmax;
    }
    if (n)
        cp = context_of(chosen, n, claims);
    free(chosen);
    return cp;
}

STDCL_API int clcontext_destroy(CLCONTEXT *cp)
{
    if (!cp)
        return fail(EINVAL, 0, "clcontext_destroy: the context is NULL");
    if (cp->standard)
        return fail(EINVAL, 0, "clcontext_destroy: the standard contexts belong to the library");
    for (cl_uint i = 0; i < cp->ndev; i++)
        device_drain(&cp->dev[i]);
    if (context_observed(cp))
        core_observer->context_ends(cp);
    memory_free_attached(cp);
    while (cp->programs)
        clclose(cp, cp->programs);
    for (cl_uint i = 0; i < cp->ndev; i++)
        device_close(&cp->dev[i]);
    release_claims(cp->claims, cp->ndev);
    pthread_mutex_destroy(&cp->lock);
    free(cp->dev);
    free(cp);
    return 0;
}

/* ---- The standard contexts. ---- */

static const struct {
    const char *name; /* of the environment variables */
    cl_device_type type;
} standards[] = {
    {"STDDEV", CL_DEVICE_TYPE_ALL},         {"STDCPU", CL_DEVICE_TYPE_CPU},
    {"STDGPU", CL_DEVICE_TYPE_GPU},         {"STDACC", CL_DEVICE_TYPE_ACCELERATOR},
    {"STDNPU", CL_DEVICE_TYPE_ALL},
};
enum { STANDARDS = sizeof standards / sizeof *standards };

static CLCONTEXT *standard[STANDARDS];
static pthread_once_t standard_once = PTHREAD_ONCE_INIT;

static const char *variable(const char *name, const char *suffix)
{
    char whole[64];
    snprintf(whole, sizeof whole, "%s%s", name, suffix);
    const char *value = getenv(whole);
    return value && *value ? value : NULL;
}

/* A CPU that two platforms drive is one CPU: keep the first platform's devices. */
static size_t keep_first_platform(const struct candidate **chosen, size_t n)
{
    size_t kept = 0;
    while (kept < n && chosen[kept]->platform == chosen[0]->platform)
        kept++;
    return kept;
}

static CLCONTEXT *make_standard(const char *name, cl_device_type type)
{
    const char *enabled = variable(name, ""), *max = variable(name, "_MAX_NDEV");
    const char *lock = variable(name, "_LOCK");
    if ((enabled && strcmp(enabled, "0") == 0) || machine.count == 0)
        return NULL;
    const struct candidate **chosen = calloc(machine.count, sizeof *chosen);
    if (!chosen)
        return NULL;

    int *claims = NULL;
    CLCONTEXT *cp = NULL;
    size_t n = choose(variable(name, "_PLATFORM_NAME"), type, chosen);
    size_t limit = max ? strtoul(max, NULL, 10) : 0;
    int key = lock ? (int)strtol(lock, NULL, 0) : 0;
    if (type == CL_DEVICE_TYPE_CPU)
        n = keep_first_platform(chosen, n);
    if (n && key)
        n = claim_devices(chosen, n, limit ? limit : 1, key, &claims);
    else if (limit && n > limit)
        n = limit;
    if (n)
        cp = context_of(chosen, n, claims);
    if (cp)
        cp->standard = true;
    free(chosen);
    return cp;
}

static void make_standards(void)
{
    struct failure before;
    failure_set_aside(&before);
    pthread_once(&machine_once, ask_platforms);
    for (int i = 0; i < STANDARDS; i++)
        standard[i] = make_standard(standards[i].name, standards[i].type);
    failure_restore(&before); /* no device of some kind is no error */
}

STDCL_API void stdcl_init(void) { pthread_once(&standard_once, make_standards); }

STDCL_API CLCONTEXT *stdcl_standard_context(int which)
{
    stdcl_init();
    return which >= 0 && which < STANDARDS ? standard[which] : NULL;
}

/* ---- Asking. ---- */

struct device *device_of(CLCONTEXT *cp, cl_uint dev, const char *call)
{
    if (!cp) {
        fail(EINVAL, 0, "%s: the context is NULL", call);
        return NULL;
    }
    if (dev >= cp->ndev) {
        fail(EINVAL, 0, "%s: the context has no device %u, only 0 to %u", call, dev, cp->ndev - 1);
        return NULL;
    }
    return &cp->dev[dev];
}

cl_device_id device_id(CLCONTEXT *cp, cl_uint dev, const char *call)
{
    const struct device *d = device_of(cp, dev, call);
    return d ? d->id : NULL;
}

cl_device_type device_type(const CLCONTEXT *cp, cl_uint dev) { return cp->dev[dev].type; }

const char *device_name(const CLCONTEXT *cp, cl_uint dev) { return cp->dev[dev].name; }

STDCL_API cl_uint clgetndev(CLCONTEXT *cp) { return cp ? cp->ndev : 0; }

STDCL_API cl_device_id clgetdevice(CLCONTEXT *cp, cl_uint dev) { return device_id(cp, dev, "clgetdevice"); }

STDCL_API cl_context clgetclcontext(CLCONTEXT *cp, cl_uint dev)
{
    struct device *d = device_of(cp, dev, "clgetclcontext");
    return d ? d->context : NULL;
}

STDCL_API cl_command_queue clgetqueue(CLCONTEXT *cp, cl_uint dev)
{
    struct device *d = device_of(cp, dev, "clgetqueue");
    return d ? d->queue : NULL;
}

STDCL_API int clstat(CLCONTEXT *cp, struct clstat_info *info)
{
    if (!cp || !info)
        return fail(EINVAL, 0, "clstat: the context or the result is NULL");
    memset(info, 0, sizeof *info);
    info->ndev = cp->ndev;
    pthread_mutex_lock(&cp->lock);
    for (struct program *p = cp->programs; p; p = p->next) {
        info->nprg++;
        pthread_mutex_lock(&p->lock);
        for (struct kernel *k = p->kernels; k; k = k->next)
            info->nkrn++;
        pthread_mutex_unlock(&p->lock);
    }
    pthread_mutex_unlock(&cp->lock);
    return 0;
}

/* Each field of struct cldev_info with the query that fills it. */
#define DEVICE_FIELDS(X)                                                                           \
    X(dev_type, CL_DEVICE_TYPE)                                                                    \
    X(dev_vendor_id, CL_DEVICE_VENDOR_ID)                                                          \
    X(dev_max_core, CL_DEVICE_MAX_COMPUTE_UNITS)                                                   \
    X(dev_max_wi_dim, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS)                                          \
    X(dev_max_wg_sz, CL_DEVICE_MAX_WORK_GROUP_SIZE)                                                \
    X(dev_pref_vec_char, CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR)                                    \
    X(dev_pref_vec_short, CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT)                                  \
    X(dev_pref_vec_int, CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT)                                      \
    X(dev_pref_vec_long, CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG)                                    \
    X(dev_pref_vec_float, CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT)                                  \
    X(dev_pref_vec_double, CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE)                                \
    X(dev_max_freq, CL_DEVICE_MAX_CLOCK_FREQUENCY)                                                 \
    X(dev_global_mem_sz, CL_DEVICE_GLOBAL_MEM_SIZE)                                                \
    X(dev_max_mem_alloc_sz, CL_DEVICE_MAX_MEM_ALLOC_SIZE)                                          \
    X(dev_img_sup, CL_DEVICE_IMAGE_SUPPORT)                                                        \
    X(dev_max_img_args_r, CL_DEVICE_MAX_READ_IMAGE_ARGS)                                           \
    X(dev_max_img_args_w, CL_DEVICE_MAX_WRITE_IMAGE_ARGS)                                          \
    X(dev_img2d_max_width, CL_DEVICE_IMAGE2D_MAX_WIDTH)                                            \
    X(dev_img2d_max_height, CL_DEVICE_IMAGE2D_MAX_HEIGHT)                                          \
    X(dev_img3d_max_width, CL_DEVICE_IMAGE3D_MAX_WIDTH)                                            \
    X(dev_img3d_max_height, CL_DEVICE_IMAGE3D_MAX_HEIGHT)                                          \
    X(dev_img3d_max_depth, CL_DEVICE_IMAGE3D_MAX_DEPTH)                                            \
    X(dev_max_samplers, CL_DEVICE_MAX_SAMPLERS)                                                    \
    X(dev_max_param_sz, CL_DEVICE_MAX_PARAMETER_SIZE)                                              \
    X(dev_mem_base_addr_align, CL_DEVICE_MEM_BASE_ADDR_ALIGN)                                      \
    X(dev_local_mem_sz, CL_DEVICE_LOCAL_MEM_SIZE)

static void fill_devinfo(cl_device_id id, struct cldev_info *info)
{
    cl_uint address_bits = 0;
    memset(info, 0, sizeof *info);
#define X(field, query) clGetDeviceInfo(id, query, sizeof info->field, &info->field, NULL);
    DEVICE_FIELDS(X)
#undef X
    clGetDeviceInfo(id, CL_DEVICE_ADDRESS_BITS, sizeof address_bits, &address_bits, NULL);
    info->dev_addr_bits = address_bits;
    clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof info->dev_max_wi_sz,
                    info->dev_max_wi_sz, NULL);
    info->dev_max_wi_sz_is_symmetric = 1;
    for (cl_uint i = 1; i < info->dev_max_wi_dim && i < 4; i++)
        if (info->dev_max_wi_sz[i] != info->dev_max_wi_sz[0])
            info->dev_max_wi_sz_is_symmetric = 0;
    clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof info->dev_name, info->dev_name, NULL);
    clGetDeviceInfo(id, CL_DEVICE_VENDOR, sizeof info->dev_vendor, info->dev_vendor, NULL);
    clGetDeviceInfo(id, CL_DEVICE_VERSION, sizeof info->dev_version, info->dev_version, NULL);
    clGetDeviceInfo(id, CL_DRIVER_VERSION, sizeof info->dev_drv_version, info->dev_drv_version, NULL);
}

STDCL_API int clgetdevinfo(CLCONTEXT *cp, struct cldev_info *info)
{
    if (!cp || !info)
        return fail(EINVAL, 0, "clgetdevinfo: the context or the result is NULL");
    for (cl_uint i = 0; i < cp->ndev; i++)
        fill_devinfo(cp->dev[i].id, &info[i]);
    return 0;
}

STDCL_API void clfreport_devinfo(FILE *fp, size_t ndev, struct cldev_info *info)
{
    for (size_t i = 0; fp && info && i < ndev; i++) {
        const struct cldev_info *d = &info[i];
        fprintf(fp, "device %zu\n", i);
#define X(field, query) fprintf(fp, "%s=%llu\n", #query, (unsigned long long)d->field);
        DEVICE_FIELDS(X)
#undef X
        fprintf(fp, "CL_DEVICE_MAX_WORK_ITEM_SIZES=");
        for (cl_uint k = 0; k < d->dev_max_wi_dim && k < 4; k++)
            fprintf(fp, "%s%zu", k ? "," : "", d->dev_max_wi_sz[k]);
        fprintf(fp, "\nCL_DEVICE_ADDRESS_BITS=%llu\n", (unsigned long long)d->dev_addr_bits);
        fprintf(fp, "CL_DEVICE_NAME=%s\nCL_DEVICE_VENDOR=%s\n", d->dev_name, d->dev_vendor);
        fprintf(fp, "CL_DEVICE_VERSION=%s\nCL_DRIVER_VERSION=%s\n", d->dev_version, d->dev_drv_version);
    }
}
