/* peak.c - clpeak: a device's best rates, measured once by the kernels of peak.cl.
 *
 * The limits by which a profile judges a kernel are measured, not read from a data sheet. Each figure is
 * the best of a few runs that together take some tens of milliseconds.
 */
#include "internal.h"

#include <time.h>

extern const unsigned char stdcl_kernel_layer_peak_cl[];
extern const unsigned long stdcl_kernel_layer_peak_cl_size;

enum { RUNS = 5 };

static pthread_mutex_t measuring = PTHREAD_MUTEX_INITIALIZER;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A context of its own, so that measuring stays out of the caller's profile and lists. */
struct bench {
    CLCONTEXT *cp;
    bool gpu;
    cl_uint units;
};

/* Work-items enough to fill the device, and the shortest of RUNS times of one launch; < 0 on failure. */
static double best_time(struct bench *b, cl_kernel k, size_t items, size_t group)
{
    clndrange_t ndr = clndrange_init1d(0, items, group);
    double best = -1;
    for (int i = 0; i < RUNS + 1; i++) { /* the first warms up */
        double t = seconds();
        if (clfork(b->cp, 0, k, &ndr, CL_EVENT_WAIT) == CL_FAILED)
            return -1;
        t = seconds() - t;
        if (i > 0 && (best < 0 || t < best))
            best = t;
    }
    return best;
}

static cl_kernel open_kernel(struct bench *b, const char *name, const char *options)
{
    void *h = clopen_named(b->cp, "layer/peak.cl", (const char *)stdcl_kernel_layer_peak_cl,
                           stdcl_kernel_layer_peak_cl_size, options, CLLD_NOW);
    return h ? clsym(b->cp, h, name, 0) : NULL;
}

/* Multiply-adds per second x 2, of vectors of `width` elements of `element` bytes. */
static double measure_flops(struct bench *b, const char *options, size_t width, size_t element)
{
    const size_t items = b->gpu ? (size_t)b->units * 2048 : b->units, group = b->gpu ? 256 : 1;
    const int chains = 16;
    cl_kernel k = open_kernel(b, "multiply_add", options);
    void *out = k ? clmalloc(b->cp, items * width * element, CL_MEM_DEVONLY) : NULL;
    unsigned char a[128] = {0}; /* zeros of any type: the rate does not depend on the values */
    if (!out || stdcl_arg_value(k, 2, width * element, a, NULL) ||
        stdcl_arg_value(k, 3, width * element, a, NULL))
        return 0;
    clarg_set_global(k, 0, out);

    /* Enough rounds for some milliseconds, found by doubling. */
    double t = 0;
    cl_int rounds = 1024;
    for (; rounds < 1 << 28; rounds *= 4) {
        clarg_set(k, 1, rounds);
        t = best_time(b, k, items, group);
        if (t < 0 || t > 4e-3)
            break;
    }
    clfree(out);
    return t > 0 ? 2.0 * chains * rounds * (double)width * (double)items / t : 0;
}

/* Bytes read plus bytes written per second, by copies of 1 GiB, or what an eighth of the memory allows. */
static double measure_copy(struct bench *b, const char *options, size_t vector_bytes)
{
    size_t bytes = (size_t)1 << 30;
    cl_kernel k = open_kernel(b, "copy", options);
    while (bytes > b->cp->dev[0].memory / 8)
        bytes /= 2;
    void *from = clmalloc(b->cp, bytes, CL_MEM_DEVONLY), *to = clmalloc(b->cp, bytes, CL_MEM_DEVONLY);
    double t = -1;
    if (k && from && to) {
        cl_ulong n = bytes / vector_bytes;
        clarg_set_global(k, 0, from);
        clarg_set_global(k, 1, to);
        clarg_set(k, 2, n);
        t = b->gpu ? best_time(b, k, n, 256) : best_time(b, k, 64 * (size_t)b->units, 1);
    }
    clfree(from);
    clfree(to);
    return t > 0 ? 2.0 * (double)bytes / t : 0;
}

static int measure(struct device *d, struct clpeak_info *peak)
{
    cl_uint doubles = 0;
    struct bench b = {.gpu = !(d->type & CL_DEVICE_TYPE_CPU), .units = 1};
    memset(peak, 0, sizeof *peak);
    b.cp = context_open(&d->id, 1, false);
    if (!b.cp)
        return -1;
    clGetDeviceInfo(d->id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof b.units, &b.units, NULL);
    clGetDeviceInfo(d->id, CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, sizeof doubles, &doubles, NULL);
    peak->flops_single = b.gpu ? measure_flops(&b, "-DV=float", 1, 4) : measure_flops(&b, "-DV=float16", 16, 4);
    if (doubles)
        peak->flops_double = b.gpu ? measure_flops(&b, "-DV=double -DDOUBLES", 1, 8)
                                   : measure_flops(&b, "-DV=double8 -DDOUBLES", 8, 8);
    peak->bytes_per_s = b.gpu ? measure_copy(&b, "-DV=float4", 16) : measure_copy(&b, "-DV=float16", 64);
    clcontext_destroy(b.cp);
    return peak->flops_single > 0 && peak->bytes_per_s > 0 ? 0 : -1;
}

STDCL_API int clpeak(CLCONTEXT *cp, cl_uint dev, struct clpeak_info *peak)
{
    struct device *d = device_of(cp, dev, "clpeak");
    if (!d)
        return -1;
    if (!peak)
        return fail(EINVAL, 0, "clpeak: the result is NULL");
    int status = 0;
    pthread_mutex_lock(&measuring);
    if (d->peak.flops_single <= 0)
        status = measure(d, &d->peak);
    *peak = d->peak;
    pthread_mutex_unlock(&measuring);
    return status;
}
