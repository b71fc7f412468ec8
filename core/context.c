/* context.c - contexts: lists of devices.
 *
 * Each device has an OpenCL context and an in-order queue of its own. Two devices of one OpenCL
 * context exchange data a thousand times slower than through pinned host memory, and their commands
 * serialize. The devices of an adopted context share the program's OpenCL context.
 * SPDX-License-Identifier: MIT
 */
#include "core/environment.h"
#include "core/recording.h"

/* ---- Numbers that programs are built with. ---- */

enum { MOST_NUMBERED = 64 };
static pthread_mutex_t numbers = PTHREAD_MUTEX_INITIALIZER;
static uint64_t
    taken[MOST_NUMBERED]; /* bit k of [i]: the k-th open context contains the platform's device i */

static cl_uint take_turn(cl_uint device)
{
    cl_uint turn = 0;
    pthread_mutex_lock(&numbers);
    while (turn < 63 && taken[device] >> turn & 1)
        turn++;
    taken[device] |= (uint64_t)1 << turn;
    pthread_mutex_unlock(&numbers);
    return turn;
}

static void give_turn(cl_uint device, cl_uint turn)
{
    pthread_mutex_lock(&numbers);
    taken[device] &= ~((uint64_t)1 << turn);
    pthread_mutex_unlock(&numbers);
}

/* PoCL 5 crashes when two devices (or two contexts of one device) run the same kernel with
 * different sizes (fixed in 6.0). On PoCL 5 each device of each open context therefore builds its
 * programs with a number of its own, which makes them distinct. STDCL_DEVICE_BUILDS=1 enables this
 * on every platform, 0 on none. */
static cl_int number_builds(struct device *d)
{
    cl_device_id all[MOST_NUMBERED];
    cl_uint n = 0, i = 0;
    char version[256] = "";
    const char *wish = getenv("STDCL_DEVICE_BUILDS");
    cl_int err = clGetPlatformInfo(d->platform, CL_PLATFORM_VERSION, sizeof version, version, NULL);
    if (err != CL_SUCCESS || (wish ? strcmp(wish, "1") != 0 : !strstr(version, "PoCL 5.")))
        return err;
    err = clGetDeviceIDs(d->platform, CL_DEVICE_TYPE_ALL, MOST_NUMBERED, all, &n);
    n = n < MOST_NUMBERED ? n : MOST_NUMBERED;
    while (i < n && all[i] != d->id)
        i++;
    if (err != CL_SUCCESS || i == n)
        return err;
    d->numbered = true;
    d->among = n;
    d->number = i + n * take_turn(i);
    return err;
}

/* ---- Devices. ---- */

static void device_close(struct device *d)
{
    if (d->numbered)
        give_turn(d->number % d->among, d->number / d->among);
    program_cache_free(d);
    if (d->queue) {
        event_lists_free(d);
        clReleaseCommandQueue(d->queue);
    }
    side_queues_close(d);
    if (d->context)
        clReleaseContext(d->context);
    pthread_mutex_destroy(&d->lock);
}

/* True for CPUs, but not for Oclgrind: it tracks which bytes were written, and does not see what
 * the host writes to a shared buffer. */
static cl_int shares_memory(struct device *d)
{
    char platform[256] = "";
    const cl_int err =
        clGetPlatformInfo(d->platform, CL_PLATFORM_NAME, sizeof platform, platform, NULL);
    d->shares_memory = (d->type & CL_DEVICE_TYPE_CPU) && strcmp(platform, "Oclgrind") != 0;
    return err;
}

/* COPRTHR_OPENCL_PROFILING_ENABLE in the environment: events have times for
 * clGetEventProfilingInfo. */
static cl_command_queue_properties queue_properties(void)
{
    const char *wish = getenv("COPRTHR_OPENCL_PROFILING_ENABLE");
    return wish && *wish && strcmp(wish, "0") != 0 ? CL_QUEUE_PROFILING_ENABLE : 0;
}

/* The macro that names the platform's vendor to kernels, such as __NVIDIA__. */
static cl_int maker_of(cl_platform_id platform, const char **maker)
{
    static const struct {
        const char *word, *name;
    } makers[] = {{"NVIDIA", "__NVIDIA__"},
                  {"Advanced Micro Devices", "__AMD__"},
                  {"Intel", "__INTEL__"},
                  {"Brown Deer", "__coprthr__"}};
    char vendor[256] = "";
    const cl_int err = clGetPlatformInfo(platform, CL_PLATFORM_VENDOR, sizeof vendor, vendor, NULL);
    for (size_t i = 0; i < sizeof makers / sizeof *makers && !*maker; i++)
        if (strcasestr(vendor, makers[i].word))
            *maker = makers[i].name;
    return err;
}

/* Use a context and queue of the program, each with a reference of our own. */
static cl_int device_adopt(struct device *d, cl_context context, cl_command_queue queue)
{
    cl_int err = clRetainContext(context);
    if (err != CL_SUCCESS)
        return err;
    d->context = context;
    err = clRetainCommandQueue(queue);
    if (err == CL_SUCCESS)
        d->queue = queue;
    return err;
}

static cl_int device_create_queue(struct device *d)
{
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                (cl_context_properties)d->platform, 0};
    cl_int err;
    d->context = clCreateContext(properties, 1, &d->id, NULL, NULL, &err);
    if (err == CL_SUCCESS)
        d->queue = clCreateCommandQueue(d->context, d->id, queue_properties(), &err);
    return err;
}

/* Query the properties of a device. */
static cl_int device_query(struct device *d, cl_device_id id)
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
        {CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof d->largest, &d->largest},
        {CL_DEVICE_LOCAL_MEM_SIZE, sizeof d->local_memory, &d->local_memory},
        {CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof align_bits, &align_bits},
    };
    memset(d, 0, sizeof *d);
    pthread_mutex_init(&d->lock, NULL);
    d->id = id;
    for (size_t i = 0; i < sizeof asked / sizeof *asked && err == CL_SUCCESS; i++)
        err = clGetDeviceInfo(id, asked[i].what, asked[i].size, asked[i].to, NULL);
    if (err == CL_SUCCESS)
        err = number_builds(d);
    if (err == CL_SUCCESS)
        err = shares_memory(d);
    if (err == CL_SUCCESS)
        err = maker_of(d->platform, &d->maker);
    const cl_int named = clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof d->name, d->name, NULL);
    if (named != CL_SUCCESS)
        snprintf(d->name, sizeof d->name, "device");
    if (err == CL_SUCCESS &&
        named != CL_INVALID_VALUE) /* the result for a name longer than our buffer */
        err = named;
    d->start_align = align_bits / 8 ? align_bits / 8 : 1;
    return err;
}

/* ---- Open contexts, by which a destroyed one is told from them. ---- */

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static CLCONTEXT *open_contexts;

static void context_enlist(CLCONTEXT *cp)
{
    pthread_mutex_lock(&open_lock);
    cp->next = open_contexts;
    open_contexts = cp;
    pthread_mutex_unlock(&open_lock);
}

/* False if there is no such context. */
static bool context_unlist(CLCONTEXT *cp)
{
    pthread_mutex_lock(&open_lock);
    CLCONTEXT **link = &open_contexts;
    while (*link && *link != cp)
        link = &(*link)->next;
    const bool found = *link != NULL;
    if (found && !cp->standard)
        *link = cp->next;
    pthread_mutex_unlock(&open_lock);
    return found;
}

/* Allocate a context with room for ndev devices, and none yet; NULL after fail(). */
static CLCONTEXT *context_allocate(size_t ndev, const char *call)
{
    forked_watch();
    if (forked_child(call) || environment_check() != 0)
        return NULL;
    CLCONTEXT *cp = calloc(1, sizeof *cp);
    struct device *dev = calloc(ndev, sizeof *dev);
    if (!cp || !dev) {
        free(cp);
        free(dev);
        return (void)fail(ENOMEM, 0, "%s: out of memory for %zu devices", call, ndev), NULL;
    }
    pthread_mutex_init(&cp->lock, NULL);
    cp->dev = dev;
    context_enlist(cp);
    return cp;
}

/* Open the devices; with queues: of the program's context, on these queues. NULL after fail(). */
static CLCONTEXT *context_open(const cl_device_id *devices, size_t ndev, cl_context context,
                               const cl_command_queue *queues, const char *call)
{
    CLCONTEXT *cp = context_allocate(ndev, call);
    for (; cp && cp->ndev < ndev; cp->ndev++) {
        struct device *d = &cp->dev[cp->ndev];
        cl_int err = device_query(d, devices[cp->ndev]);
        if (err == CL_SUCCESS)
            err = queues ? device_adopt(d, context, queues[cp->ndev]) : device_create_queue(d);
        if (err != CL_SUCCESS) {
            fail(errno_of(err), err, "clcontext: %s cannot be opened", d->name);
            device_close(d);
            clcontext_destroy(cp);
            return NULL;
        }
    }
    return cp;
}

CLCONTEXT *context_unobserved(const cl_device_id *devices, size_t ndev)
{
    if (!devices || ndev == 0)
        return (void)fail(EINVAL, 0, "clcontext_create_from: the list of devices is empty"), NULL;
    return context_open(devices, ndev, NULL, NULL, "clcontext_create_from");
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

/* Find the device of a queue. 0 if the queue is one of the context's and runs in order, else -1
 * after fail(). */
static int adopted_device(cl_context context, size_t i, cl_command_queue queue,
                          cl_device_id *device)
{
    cl_context own = NULL;
    cl_command_queue_properties properties = 0;
    if (clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof own, &own, NULL) != CL_SUCCESS ||
        clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof *device, device, NULL) != CL_SUCCESS ||
        clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL) !=
            CL_SUCCESS)
        return fail(EINVAL, CL_INVALID_COMMAND_QUEUE, "clcontext_adopt: queue %zu is no queue", i);
    if (own != context)
        return fail(EINVAL, CL_INVALID_CONTEXT,
                    "clcontext_adopt: queue %zu belongs to another OpenCL context", i);
    if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
        return fail(
            EINVAL, CL_INVALID_QUEUE_PROPERTIES,
            "clcontext_adopt: queue %zu runs its commands out of order; give a queue without "
            "CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE",
            i);
    return 0;
}

STDCL_API CLCONTEXT *clcontext_adopt(cl_context context, size_t n, const cl_command_queue *queues)
{
    const char *const call = "clcontext_adopt";
    if (!context || !queues || n == 0)
        return (void)fail(EINVAL, 0, "%s: %s", call,
                          context ? "the list of queues is empty" : "the OpenCL context is NULL"),
               NULL;
    if (forked_child(call))
        return NULL;
    cl_device_id *devices = calloc(n, sizeof *devices);
    int status = devices ? 0 : fail(ENOMEM, 0, "%s: out of memory for %zu devices", call, n);
    for (size_t i = 0; i < n && status == 0; i++)
        status = adopted_device(context, i, queues[i], &devices[i]);
    CLCONTEXT *cp = status == 0 ? context_open(devices, n, context, queues, call) : NULL;
    if (cp)
        cp->adopted = true;
    free(devices);
    return cp;
}

bool context_is_adopted(const CLCONTEXT *cp)
{
    return cp->adopted;
}

CLCONTEXT *context_of(const struct candidate **chosen, size_t n, int *claims)
{
    cl_device_id *id = calloc(n, sizeof *id);
    for (size_t i = 0; id && i < n; i++)
        id[i] = chosen[i]->id;
    CLCONTEXT *cp = id ? clcontext_create_from(id, n) : NULL;
    if (!id)
        fail(ENOMEM, 0, "clcontext_create: out of memory on the host");
    free(id);
    if (cp)
        cp->claims = claims;
    else
        device_lock_release(claims, n);
    return cp;
}

static void nothing_chosen(const char *platforms, int devtype)
{
    char *list = enumerate_names();
    const char *has = list ? list : "?";
    const char *kind = (unsigned)devtype == CL_DEVICE_TYPE_ALL ? "device"
                       : devtype == CL_DEVICE_TYPE_CPU         ? "CPU"
                       : devtype == CL_DEVICE_TYPE_GPU         ? "GPU"
                       : devtype == CL_DEVICE_TYPE_ACCELERATOR ? "accelerator"
                                                               : "device of the types asked for";
    if (!platforms || !*platforms)
        fail(ENODEV, 0, "clcontext_create: there is no %s; this machine has: %s", kind, has);
    else if (!platforms[strspn(platforms, ", \t\n")])
        fail(
            ENODEV, 0,
            "clcontext_create: \"%s\" names no device; give part of a name, or NULL for every %s; this machine "
            "has: %s",
            platforms, kind, has);
    else
        fail(ENODEV, 0, "clcontext_create: no %s matches \"%s\"; this machine has: %s", kind,
             platforms, has);
    free(list);
}

STDCL_API CLCONTEXT *clcontext_create(const char *platforms, int devtype, size_t ndevmax,
                                      cl_context_properties *ext, int lock_key)
{
    if (ext && *ext)
        return (void)fail(ENOTSUP, 0, "clcontext_create: context properties are not supported"),
               NULL;
    const struct candidate **chosen = calloc(enumerate_count() + 1, sizeof *chosen);
    if (!chosen)
        return (void)fail(ENOMEM, 0, "clcontext_create: out of memory"), NULL;

    int *claims = NULL;
    CLCONTEXT *cp = NULL;
    size_t n = enumerate_match(platforms, (cl_device_type)(cl_uint)devtype, chosen);
    if (n == 0) {
        nothing_chosen(platforms, devtype);
    } else if (lock_key) {
        n = device_lock_take(chosen, n, ndevmax ? ndevmax : 1, lock_key, &claims);
    } else if (ndevmax && n > ndevmax) {
        n = ndevmax;
    }
    if (n)
        cp = context_of(chosen, n, claims);
    free(chosen);
    return cp;
}

STDCL_API CLCONTEXT *clcontext_create_stdnpu(const char *platforms, int devtype, size_t ndevmax,
                                             cl_context_properties *ext, int lock_key)
{
    return clcontext_create(platforms, devtype, ndevmax, ext, lock_key);
}

STDCL_API int clcontext_destroy(CLCONTEXT *cp)
{
    if (!cp)
        return fail(EINVAL, 0, "clcontext_destroy: the context is NULL");
    if (forked_child("clcontext_destroy"))
        return -1;
    if (!context_unlist(cp))
        return fail(EINVAL, 0, "clcontext_destroy: %p is no context, or was destroyed before",
                    (void *)cp);
    if (cp->standard)
        return fail(EINVAL, 0, "clcontext_destroy: the standard contexts belong to the library");
    for (cl_uint i = 0; i < cp->ndev; i++)
        device_drain(&cp->dev[i]);
    if (context_observed(cp))
        core_observer->context_ends(cp);
    recordings_free(cp);
    memory_free_attached(cp);
    while (cp->programs)
        clclose(cp, cp->programs);
    for (cl_uint i = 0; i < cp->ndev; i++)
        device_close(&cp->dev[i]);
    device_lock_release(cp->claims, cp->ndev);
    failure_drop_saved(&cp->pending_error);
    pthread_mutex_destroy(&cp->lock);
    free(cp->dev);
    free(cp);
    return 0;
}

/* ---- What the observer may do with one. ---- */

void context_collect_all(CLCONTEXT *cp)
{
    for (cl_uint i = 0; i < cp->ndev; i++) {
        event_add_marker(&cp->dev[i], 0);
        device_drain(&cp->dev[i]);
        device_harvest(&cp->dev[i]);
    }
}

cl_command_queue device_replace_queue(CLCONTEXT *cp, cl_uint dev, cl_command_queue queue)
{
    struct device *d = &cp->dev[dev];
    event_add_marker(d, 0);
    device_drain(d);
    device_harvest(d);
    cl_command_queue before = d->queue;
    d->queue = queue;
    return before;
}
