/* peak.c - clpeak: a device's peak rates, measured once by the kernels of peak.cl.
 *
 * Profiles compare kernels with measured limits, not with data sheets; only the rate of tensor
 * cores is twice a measured one. Each figure is the best of several runs that take tens of
 * milliseconds together, on a GPU tenths of a second, because its clock rises under load. A figure
 * is measured when it is first needed.
 * SPDX-License-Identifier: MIT
 */
#include "profile/profile.h"

#include "core/clock.h"
#include "core/device_info.h"
#include "core/embedded.h"

#include <math.h>

EMBEDDED(kernels, "profile/peak.cl", profile_peak_cl);

enum { RUNS = 5, MAX_WIDTH = 16 };

/* Measured rates of a device. */
struct known {
    struct known *next;
    cl_device_id id;
    unsigned parts; /* of enum peak_part */
    struct clpeak_info peak;
};

/* A context of its own, so that measuring stays out of the caller's profile and lists. */
struct bench {
    CLCONTEXT *cp;
    bool gpu;
    cl_uint units;
    cl_ulong memory; /* bytes */
};

/* Elements that a device computes at once. A GPU: one per work-item. A CPU: a SIMD register; 12
 * sums hide the latency and fit the registers of every CPU. */
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
                    doubles ? CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE
                            : CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT,
                    sizeof width, &width, NULL);
    while (2 * v.width <= width && v.width < MAX_WIDTH)
        v.width *= 2;
    v.chains = 12;
    return v;
}

static cl_kernel peak_open_kernel(const struct bench *b, const char *name, const struct vector *v)
{
    char options[128], width[24] = "";
    if (v->width > 1)
        snprintf(width, sizeof width, "%zu", v->width);
    snprintf(options, sizeof options, "-D V=%s%s -D CHAINS=%d%s", v->type, width, v->chains,
             v->element == 8 ? " -D DOUBLES" : "");
    void *h = embedded_open_as(CLLD_CACHE, b->cp, options, &kernels, 0, NULL);
    return h ? clsym(b->cp, h, name, 0) : NULL;
}

/* The shortest time of several launches, after a warm-up launch; < 0 on failure. */
static double peak_best_time(const struct bench *b, cl_kernel k, size_t items, size_t group,
                             int runs)
{
    clndrange_t ndr = clndrange_init1d(0, items, group);
    double best = -1;
    for (int i = 0; i < runs + 1; i++) {
        double t = seconds_now();
        if (clfork(b->cp, 0, k, &ndr, CL_EVENT_WAIT) == CL_FAILED)
            return -1;
        t = seconds_now() - t;
        if (i > 0 && (best < 0 || t < best))
            best = t;
    }
    return best;
}

/* Rounds per second. The number of rounds grows until a launch takes `enough` seconds; that launch
 * is measured RUNS times, because a short launch may seem long on a busy machine. */
static double rounds_per_second(const struct bench *b, cl_kernel k, size_t items, size_t group,
                                double enough)
{
    double best = 0;
    int runs = 1;
    for (cl_int rounds = 1024; rounds < 1 << 28; rounds *= runs == 1 ? 4 : 1) {
        clarg_set(k, 1, rounds);
        const double t = peak_best_time(b, k, items, group, runs);
        if (t <= 0)
            break;
        best = fmax(best, rounds / t);
        if (t > enough && runs == RUNS)
            break;
        runs = t > enough ? RUNS : 1;
    }
    return best;
}

/* FLOP/s: a multiply-add counts 2. A GPU gets longer launches, because its clock rises under load.
 */
static double measure_flops(const struct bench *b, bool doubles)
{
    const struct vector v = vector_of(b, doubles);
    const size_t items = b->gpu ? (size_t)b->units * 2048 : b->units, group = b->gpu ? 256 : 1;
    static const unsigned char
        zero[MAX_WIDTH * 8]; /* of any type: the rate does not depend on the values */
    cl_kernel k = peak_open_kernel(b, "multiply_add", &v);
    void *out = k ? clmalloc(b->cp, items * v.width * v.element, CL_MEM_DEVONLY) : NULL;
    if (!out || stdcl_arg_value(k, 2, v.width * v.element, zero, NULL) != 0 ||
        stdcl_arg_value(k, 3, v.width * v.element, zero, NULL) != 0)
        return 0;
    clarg_set_pointer(k, 0, out);
    const double rounds = rounds_per_second(b, k, items, group, b->gpu ? 16e-3 : 2e-3);
    clfree(out);
    return 2.0 * v.chains * rounds * (double)v.width * (double)items;
}

/* Bytes read plus bytes written per second, by copies of 1 GiB (CPU: 256 MiB, beyond any cache) or
 * an eighth of the memory if that is less. */
static double measure_copy(const struct bench *b)
{
    struct vector v = vector_of(b, false);
    size_t bytes = (size_t)1 << (b->gpu ? 30 : 28);
    double t = -1, moved = 0;
    v.width = b->gpu ? 4 : v.width;
    cl_kernel k = peak_open_kernel(b, "copy", &v);
    while (bytes > b->memory / 8)
        bytes /= 2;
    void *from = clmalloc(b->cp, bytes, CL_MEM_DEVONLY),
         *to = clmalloc(b->cp, bytes, CL_MEM_DEVONLY);
    if (k && from && to) {
        const size_t vectors = bytes / (v.width * v.element);
        const size_t items = b->gpu ? vectors : 16 * (size_t)b->units;
        const cl_ulong piece = vectors / items;
        clarg_set_pointer(k, 0, from);
        clarg_set_pointer(k, 1, to);
        clarg_set(k, 2, piece);
        t = peak_best_time(b, k, items, b->gpu ? 256 : 1, RUNS);
        moved = 2.0 * (double)(piece * items * v.width * v.element);
    }
    clfree(from);
    clfree(to);
    return t > 0 ? moved / t : 0;
}

/* Tensor cores of compute capability 9.0 do twice the FP64 multiply-adds of the ordinary units at
 * the same clock. Other GPUs have no FP64 tensor cores or no faster ones. */
static double tensor_flops(cl_device_id id, double flops_double)
{
    char vendor[128] = "";
    cl_uint capability = 0;
    clGetDeviceInfo(id, CL_DEVICE_VENDOR, sizeof vendor - 1, vendor, NULL);
    if (vendor_is_nvidia(vendor))
        device_compute_capability(id, &capability);
    return capability == 90 ? 2 * flops_double : 0;
}

/* Measure the requested parts that are not known yet. */
static int peak_measure_parts(struct known *known, unsigned parts)
{
    struct clpeak_info *peak = &known->peak;
    cl_uint doubles = 0;
    struct bench b = {.cp = context_unobserved(&known->id, 1), .units = 1};
    if (!b.cp)
        return -1;
    b.gpu = !(device_type(b.cp, 0) & CL_DEVICE_TYPE_CPU);
    clGetDeviceInfo(known->id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof b.units, &b.units, NULL);
    clGetDeviceInfo(known->id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof b.memory, &b.memory, NULL);
    clGetDeviceInfo(known->id, CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, sizeof doubles, &doubles,
                    NULL);
    parts &= ~known->parts;
    if (parts & PEAK_SINGLE)
        peak->flops_single = measure_flops(&b, false);
    if (parts & PEAK_DOUBLE && doubles) {
        peak->flops_double = measure_flops(&b, true);
        peak->flops_tensor = tensor_flops(known->id, peak->flops_double);
    }
    if (parts & PEAK_COPY)
        peak->bytes_per_s = measure_copy(&b);
    clcontext_destroy(b.cp);
    if ((parts & PEAK_SINGLE && peak->flops_single <= 0) ||
        (parts & PEAK_COPY && peak->bytes_per_s <= 0))
        return -1;
    known->parts |= parts;
    return 0;
}

/* ---- What was measured, for the rest of the process. ---- */

static struct known *all_known;
static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t measuring =
    PTHREAD_MUTEX_INITIALIZER; /* taken first; held while kernels run */

/* Known rates of a device; `parts` is 0 if none. */
static struct known find_known(cl_device_id id)
{
    struct known found = {.id = id};
    pthread_mutex_lock(&known_lock);
    for (const struct known *k = all_known; k; k = k->next)
        if (k->id == id)
            found = *k;
    pthread_mutex_unlock(&known_lock);
    return found;
}

static void peak_remember(const struct known *now)
{
    pthread_mutex_lock(&known_lock);
    struct known *k = all_known;
    while (k && k->id != now->id)
        k = k->next;
    if (k) {
        k->parts = now->parts;
        k->peak = now->peak;
    } else if ((k = malloc(sizeof *k))) {
        *k = *now;
        k->next = all_known;
        all_known = k;
    }
    pthread_mutex_unlock(&known_lock);
}

bool peak_known(CLCONTEXT *cp, cl_uint dev, unsigned parts, struct clpeak_info *peak)
{
    const struct known k = find_known(clgetdevice(cp, dev));
    *peak = k.peak;
    return (parts & ~k.parts) == 0;
}

unsigned peak_parts(double flops, double bytes, int precision)
{
    const unsigned operations = precision == CLPROF_SINGLE ? PEAK_SINGLE : PEAK_DOUBLE;
    return (flops > 0 ? operations : 0) | (bytes > 0 ? PEAK_COPY : 0);
}

double peak_flops(const struct clpeak_info *peak, int precision)
{
    if (precision == CLPROF_TENSOR && peak->flops_tensor > 0)
        return peak->flops_tensor;
    return precision == CLPROF_SINGLE ? peak->flops_single : peak->flops_double;
}

/* True for Oclgrind, which would need minutes and gigabytes. */
static bool is_emulator(cl_device_id id)
{
    char name[256] = "";
    clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
    return name_is_oclgrind(name);
}

int peak_measure(CLCONTEXT *cp, cl_uint dev, unsigned parts, struct clpeak_info *peak)
{
    cl_device_id id = device_id(cp, dev, "clpeak");
    if (!id)
        return -1;
    if (is_emulator(id))
        return fail(ENOTSUP, 0,
                    "clpeak: %s runs kernels to check them, and has no speed to measure",
                    device_name(cp, dev));
    int status = 0;
    pthread_mutex_lock(&measuring);
    struct known k = find_known(id);
    if (parts & ~k.parts) {
        status = peak_measure_parts(&k, parts);
        if (status == 0)
            peak_remember(&k);
    }
    *peak = k.peak;
    pthread_mutex_unlock(&measuring);
    return status;
}

STDCL_API int clpeak(CLCONTEXT *cp, cl_uint dev, struct clpeak_info *peak)
{
    if (!device_id(cp, dev, "clpeak"))
        return -1;
    if (!peak)
        return fail(EINVAL, 0, "clpeak: the result is NULL");
    return peak_measure(cp, dev, PEAK_SINGLE | PEAK_DOUBLE | PEAK_COPY, peak);
}

STDCL_API double clpeak_flops(CLCONTEXT *cp, cl_uint dev, int precision)
{
    struct clpeak_info peak;
    if ((unsigned)precision > CLPROF_TENSOR) {
        fail(EINVAL, 0, "clpeak_flops: there is no precision %d", precision);
        return 0;
    }
    return peak_measure(cp, dev, peak_parts(1, 0, precision), &peak) == 0
               ? peak_flops(&peak, precision)
               : 0;
}
