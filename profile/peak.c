/* peak.c - clpeak: a device's best rates, measured once by the kernels of peak.cl.
 *
 * The limits by which a profile judges a kernel are measured, not read from a data sheet; that of tensor cores alone is
 * twice a measured one. Each figure is the best of a few runs that together take some tens of milliseconds.
 * SPDX-License-Identifier: MIT
 */
#include "profile/profile.h"

#include "core/clock.h"
#include "core/embedded.h"

#include <CL/cl_ext.h>

#include <math.h>

EMBEDDED(kernels, "profile/peak.cl", profile_peak_cl);

enum { RUNS = 5, MAX_WIDTH = 16 };

/* A context of its own, so that measuring stays out of the caller's profile and lists. */
struct bench {
    CLCONTEXT *cp;
    bool gpu;
    cl_uint units;
    cl_ulong memory; /* bytes */
};

/* The elements that a device computes at once: one a work-item on a GPU; on a CPU a SIMD register, of
 * which 12 sums hide the latency and fit the registers of any of them. */
struct vector {
    const char *type; /* "float" or "double" */
    size_t width, element;
    int chains;
};

static struct vector vector_of(const struct bench *b, bool doubles)
{
    struct vector v = {doubles ? "double" : "float", 1, doubles ? 8 : 4, 16};
    cl_uint width = 1;
    if (b->gpu)
        return v;
    clGetDeviceInfo(clgetdevice(b->cp, 0),
                    doubles ? CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE : CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT,
                    sizeof width, &width, NULL);
    while (2 * v.width <= width && v.width < MAX_WIDTH)
        v.width *= 2;
    v.chains = 12;
    return v;
}

static cl_kernel open_kernel(const struct bench *b, const char *name, const struct vector *v)
{
    char options[128], width[24] = "";
    if (v->width > 1)
        snprintf(width, sizeof width, "%zu", v->width);
    snprintf(options, sizeof options, "-D V=%s%s -D CHAINS=%d%s", v->type, width, v->chains,
             v->element == 8 ? " -D DOUBLES" : "");
    void *h = embedded_open(b->cp, options, &kernels, 0, NULL);
    return h ? clsym(b->cp, h, name, 0) : NULL;
}

/* The shortest of RUNS times of one launch; < 0 on failure. */
static double best_time(const struct bench *b, cl_kernel k, size_t items, size_t group)
{
    clndrange_t ndr = clndrange_init1d(0, items, group);
    double best = -1;
    for (int i = 0; i < RUNS + 1; i++) { /* the first warms up */
        double t = seconds_now();
        if (clfork(b->cp, 0, k, &ndr, CL_EVENT_WAIT) == CL_FAILED)
            return -1;
        t = seconds_now() - t;
        if (i > 0 && (best < 0 || t < best))
            best = t;
    }
    return best;
}

/* Multiply-adds per second x 2. */
static double measure_flops(const struct bench *b, bool doubles)
{
    const struct vector v = vector_of(b, doubles);
    const size_t items = b->gpu ? (size_t)b->units * 2048 : b->units, group = b->gpu ? 256 : 1;
    static const unsigned char zero[MAX_WIDTH * 8]; /* of any type: the rate does not depend on the values */
    cl_kernel k = open_kernel(b, "multiply_add", &v);
    void *out = k ? clmalloc(b->cp, items * v.width * v.element, CL_MEM_DEVONLY) : NULL;
    double best = 0;
    int long_enough = 0;
    if (!out || stdcl_arg_value(k, 2, v.width * v.element, zero, NULL) != 0 ||
        stdcl_arg_value(k, 3, v.width * v.element, zero, NULL) != 0)
        return 0;
    clarg_set_pointer(k, 0, out);
    /* Until a launch takes some milliseconds, and once more: on a busy machine a short one may seem long. */
    for (cl_int rounds = 1024; rounds < 1 << 28 && long_enough < 2; rounds *= 4) {
        clarg_set(k, 1, rounds);
        const double t = best_time(b, k, items, group);
        if (t <= 0)
            break;
        best = fmax(best, 2.0 * v.chains * rounds * (double)v.width * (double)items / t);
        long_enough += t > 4e-3;
    }
    clfree(out);
    return best;
}

/* Bytes read plus bytes written per second, by copies of 1 GiB (CPU: 256 MiB, beyond any cache), or of what
 * an eighth of the memory allows. */
static double measure_copy(const struct bench *b)
{
    struct vector v = vector_of(b, false);
    size_t bytes = (size_t)1 << (b->gpu ? 30 : 28);
    double t = -1, moved = 0;
    v.width = b->gpu ? 4 : v.width;
    cl_kernel k = open_kernel(b, "copy", &v);
    while (bytes > b->memory / 8)
        bytes /= 2;
    void *from = clmalloc(b->cp, bytes, CL_MEM_DEVONLY), *to = clmalloc(b->cp, bytes, CL_MEM_DEVONLY);
    if (k && from && to) {
        const size_t vectors = bytes / (v.width * v.element);
        const size_t items = b->gpu ? vectors : 16 * (size_t)b->units;
        const cl_ulong piece = vectors / items;
        clarg_set_pointer(k, 0, from);
        clarg_set_pointer(k, 1, to);
        clarg_set(k, 2, piece);
        t = best_time(b, k, items, b->gpu ? 256 : 1);
        moved = 2.0 * (double)(piece * items * v.width * v.element);
    }
    clfree(from);
    clfree(to);
    return t > 0 ? moved / t : 0;
}

/* Tensor cores of compute capability 9.0 take twice the multiply-adds in double precision that the ordinary units take,
 * at the same clock. Others have none for it, or no faster ones than those. */
static double tensor_flops(cl_device_id id, double flops_double)
{
    char vendor[128] = "";
    cl_uint major = 0, minor = 0;
    clGetDeviceInfo(id, CL_DEVICE_VENDOR, sizeof vendor - 1, vendor, NULL);
    if (!strstr(vendor, "NVIDIA"))
        return 0;
    clGetDeviceInfo(id, CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV, sizeof major, &major, NULL);
    clGetDeviceInfo(id, CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV, sizeof minor, &minor, NULL);
    return major == 9 && minor == 0 ? 2 * flops_double : 0;
}

static int measure(cl_device_id id, struct clpeak_info *peak)
{
    cl_uint doubles = 0;
    struct bench b = {.cp = context_unobserved(&id, 1), .units = 1};
    memset(peak, 0, sizeof *peak);
    if (!b.cp)
        return -1;
    b.gpu = !(device_type(b.cp, 0) & CL_DEVICE_TYPE_CPU);
    clGetDeviceInfo(id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof b.units, &b.units, NULL);
    clGetDeviceInfo(id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof b.memory, &b.memory, NULL);
    clGetDeviceInfo(id, CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, sizeof doubles, &doubles, NULL);
    peak->flops_single = measure_flops(&b, false);
    peak->flops_double = doubles ? measure_flops(&b, true) : 0;
    peak->bytes_per_s = measure_copy(&b);
    peak->flops_tensor = tensor_flops(id, peak->flops_double);
    clcontext_destroy(b.cp);
    return peak->flops_single > 0 && peak->bytes_per_s > 0 ? 0 : -1;
}

/* ---- What was measured, for the rest of the process. ---- */

static struct known {
    struct known *next;
    cl_device_id id;
    struct clpeak_info peak;
} * all_known;
static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t measuring = PTHREAD_MUTEX_INITIALIZER; /* taken first; held while kernels run */

static bool find_known(cl_device_id id, struct clpeak_info *peak)
{
    pthread_mutex_lock(&known_lock);
    const struct known *k = all_known;
    while (k && k->id != id)
        k = k->next;
    if (k)
        *peak = k->peak;
    pthread_mutex_unlock(&known_lock);
    return k != NULL;
}

static void remember(cl_device_id id, const struct clpeak_info *peak)
{
    struct known *k = calloc(1, sizeof *k);
    if (!k)
        return;
    k->id = id;
    k->peak = *peak;
    pthread_mutex_lock(&known_lock);
    k->next = all_known;
    all_known = k;
    pthread_mutex_unlock(&known_lock);
}

bool peak_known(CLCONTEXT *cp, cl_uint dev, struct clpeak_info *peak)
{
    return find_known(clgetdevice(cp, dev), peak);
}

/* Oclgrind takes minutes, and gigabytes, for what a device does in milliseconds. */
static bool is_emulator(cl_device_id id)
{
    char name[256] = "";
    clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
    return strstr(name, "Oclgrind") != NULL;
}

STDCL_API int clpeak(CLCONTEXT *cp, cl_uint dev, struct clpeak_info *peak)
{
    cl_device_id id = device_id(cp, dev, "clpeak");
    if (!id)
        return -1;
    if (!peak)
        return fail(EINVAL, 0, "clpeak: the result is NULL");
    if (is_emulator(id))
        return fail(ENOTSUP, 0, "clpeak: %s runs kernels to check them, and has no speed to measure", device_name(cp, dev));
    int status = 0;
    pthread_mutex_lock(&measuring);
    if (!find_known(id, peak)) {
        status = measure(id, peak);
        if (status == 0)
            remember(id, peak);
    }
    pthread_mutex_unlock(&measuring);
    return status;
}
