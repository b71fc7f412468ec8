/* stdcl/arrays.h - reductions of arrays on one or several OpenCL devices; prefix sums (scans) and
 * radix sort of unsigned integers on one device.
 *
 *   arrays *a = arrays_create(&(struct arrays_options){.ctx = cp, .type = ARRAYS_DOUBLE});
 *   arrays_upload(a, x, n);            copy each device's partition from the host
 *   arrays_sum(a, x, n, &total);       also dot, min, max, mean, variance
 *   arrays_free(a);
 *
 * Order of additions: fixed, and dependent on n only (arrays/fixed_reduce.h). Equal numbers give
 * equal bits in every run, on every device, on any number of devices and for every work-group size.
 * Two exceptions: the order of ARRAYS_TREE depends on its shape, and devices without double
 * precision add in pairs of floats. If all devices are CPUs, CL_MEM_ZEROCOPY arrays of up to four
 * million elements are reduced on the host without a kernel launch.
 *
 * int functions return 0, or -1 with clerrno set and a message in clerror(); pointer functions
 * return NULL likewise. All functions block, except those whose names end in _start. One
 * object is used by one thread at a time; different objects are independent. A NULL handle gives
 * EINVAL, and the function returns -1, NULL, 0 or "". NULL may be freed.
 *
 * Structs of options may grow in a later version 1 by their reserved words, which must be 0
 * (EINVAL). All other structs are fixed. tests/install/layout.txt lists sizes and offsets.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_ARRAYS_H
#define STDCL_ARRAYS_H

#include <stddef.h>
#include <stdint.h>
#include <stdcl.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Making. --------------------------------------------------------------------------------- */

/* Element types: float, double, int32_t, int64_t. */
enum arrays_type { ARRAYS_FLOAT, ARRAYS_DOUBLE, ARRAYS_INT, ARRAYS_LONG };

/* Accumulators of floating-point sums. Integers are always summed exactly.
 *   ARRAYS_WIDE         double. The error of a sum of floats is about one unit in a double's last
 *                       place of the sum of |x|. The error of a sum of doubles is at most 41 +
 *                       log2(n / 32768) rounding errors of the sum of |x|, since no number passes
 *                       through more additions. Devices without double precision use compensated
 *                       summation for floats
 *   ARRAYS_COMPENSATED  pairs of value and rounding error in the element's type (Knuth's TwoSum;
 *                       products by TwoProduct: Ogita, Rump & Oishi 2005, doi:10.1137/030601818),
 *                       as if in twice the precision: 1 + 1e100 + 1 - 1e100 gives 2. Products of
 *                       floats are added in pairs of doubles, if the devices have double precision
 */
enum arrays_accumulator { ARRAYS_WIDE, ARRAYS_COMPENSATED };

/* Reduction algorithms.
 *   ARRAYS_TUNED  the fixed order, vectorised, one work-group per 32,768 elements, one launch
 *   ARRAYS_TREE   the classic tutorial's algorithm, for comparison: work-items stride over the
 *                 input, work-groups halve their partial sums in local memory, and the host adds
 *                 the groups' sums. Needs LuaJIT (else ENOTSUP), and the whole array on every
 *                 device
 */
enum arrays_method { ARRAYS_TUNED, ARRAYS_TREE };

/* Reduction kernels for one element type on all devices of a context. */
typedef struct arrays arrays;

/* Options of arrays_create. Zero means the default. */
struct arrays_options {
    /* NULL: stdgpu, else stdcpu. Not owned; must outlive the object. */
    CLCONTEXT *ctx;
    enum arrays_type type;
    enum arrays_accumulator accumulator;
    enum arrays_method method;
    /* KEY=NUMBER words that override the device's launch shape, see arrays/README.md. */
    const char *shape;
    /* Progress callback of long sums, with the number of elements done. A nonzero return value
     * cancels the call soon, with ECANCELED. Not called by ARRAYS_TREE, which is one launch. May be
     * NULL. */
    int (*progress)(void *arg, uint64_t done);
    void *arg;
    /* Devices of the context that are used: `devices` of them, from number `first_device` on. 0:
     * all from there on. */
    cl_uint first_device, devices;
    uintptr_t reserved[8]; /* must be 0 */
};

/* Create the reduction kernels; the caller frees the object. Kernels are built at first use.
 * EINVAL; ENODEV; ENOTSUP: double on a device without double precision. */
arrays *arrays_create(const struct arrays_options *options);
void arrays_free(arrays *a);

/* Copy each device's partition of x from the host; get the partition of a device. x is memory from
 * clmalloc for the object's context, or an element inside it: its offset in the block is a multiple
 * of the element's size (EINVAL). Arrays that start at multiples of 4096 bytes are read fastest;
 * ARRAYS_TREE takes only these. Device d of the context reads elements *first ... *first + *count -
 * 1 of its own image; *count = 0 for devices that the object does not use. Partitions depend on n.
 * An array written by the host needs
 * arrays_upload only. If one device has written the array, its image is copied to each device that
 * holds no data of it; EINVAL if no device or several devices hold data (clmrequire). */
int arrays_upload(arrays *a, const void *x, size_t n);
void arrays_partition(const arrays *a, size_t n, cl_uint dev, size_t *first, size_t *count);

/* ---- Sums. ----------------------------------------------------------------------------------- */

/* Compute the sum of n elements; 0 for n = 0. Integers: exact, then rounded to double. */
int arrays_sum(arrays *a, const void *x, size_t n, double *sum);

/* Compute the exact sum of integers. ERANGE if 64 bits overflow; EINVAL for float and double. */
int arrays_sum_integer(arrays *a, const void *x, size_t n, int64_t *sum);

/* Compute the dot product, the sum of x[i] y[i]. Products are exact for floats in ARRAYS_WIDE,
 * fused for doubles. EINVAL for integers. */
int arrays_dot(arrays *a, const void *x, const void *y, size_t n, double *dot);

/* Compute the sum of x[i]^2 + y[i]^2 + z[i]^2 in one pass: the squared lengths of n vectors stored
 * as three arrays. EINVAL for integers. */
int arrays_sum_squares(arrays *a, const void *x, const void *y, const void *z, size_t n,
                       double *squares);

/* Compute the minimum or maximum; NaN if any element is NaN. EINVAL for n = 0. ARRAYS_LONG: rounded
 * to double. */
int arrays_min(arrays *a, const void *x, size_t n, double *min);
int arrays_max(arrays *a, const void *x, size_t n, double *max);

/* Find the first element that is the minimum or maximum: x[*index]. If elements are NaN, the first
 * NaN; -0 and 0 are equal. Integers are compared exactly. EINVAL for n = 0. */
int arrays_argmin(arrays *a, const void *x, size_t n, size_t *index);
int arrays_argmax(arrays *a, const void *x, size_t n, size_t *index);

/* Enqueue a sum, dot product, minimum or maximum and return; nothing is read back. The object uses
 * one device (devices = 1; else EINVAL), and the result, with the bits of the functions above, is
 * written to this device's image of *result: memory from clmalloc, or an address inside it at a
 * multiple of 8 bytes. It is a double (a float, if the device has no doubles), or for integers a
 * long, modulo 2^64. Kernels that are launched later on the device read it without waiting;
 * clwait(ctx, first_device, CL_KERNEL_EVENT) waits for it. The object's memory for partial sums, up
 * to n / 600 bytes, grows when a call needs more, and then the call blocks. One launch sums all
 * elements, without progress and cancelling. EINVAL and EFAULT as above. */
int arrays_sum_start(arrays *a, const void *x, size_t n, void *result);
int arrays_dot_start(arrays *a, const void *x, const void *y, size_t n, void *result);
int arrays_min_start(arrays *a, const void *x, size_t n, void *result);
int arrays_max_start(arrays *a, const void *x, size_t n, void *result);

/* Compute the mean, and the sample variance sum (x - mean)^2 / (n - 1); `mean` may be NULL. The
 * variance takes two passes over x. If the rounding of the mean would show in the result, as in
 * 1e16 + small numbers, it takes two more with a mean of twice the digits. EINVAL for n = 0, and
 * for the variance if n = 1. */
int arrays_mean(arrays *a, const void *x, size_t n, double *mean);
int arrays_variance(arrays *a, const void *x, size_t n, double *mean, double *variance);

/* ---- Prefix sums and sorting, on one device. ------------------------------------------------- */

/* Arrays are memory from clmalloc for the sorter's context, or elements inside it: offsets in the
 * block are multiples of the element's size. Only a workspace must begin at a multiple of 128 bytes
 * (of the device's CL_DEVICE_MEM_BASE_ADDR_ALIGN, if that is less). Arrays are read and written on
 * the sorter's device: input must hold data there, else the image of the only other device that
 * holds data is copied, or the call fails with EINVAL. The caller syncs results to the host.
 * Results but prefix sums of floats are exact: equal on every device, for every launch shape.
 *
 *   arrays_sorter *s = arrays_sorter_create(&(struct arrays_sorter_options){.ctx = cp, .dev = 0});
 *   struct arrays_sort_job job = {.keys = keys, .values = values, .most = n, .bytes = 8};
 *   arrays_sort(s, &job);
 *   arrays_sorter_free(s);
 */

/* Scan and sort kernels on one device of a context. */
typedef struct arrays_sorter arrays_sorter;

struct arrays_sorter_options {
    CLCONTEXT *ctx; /* as in arrays_options */
    cl_uint dev;    /* device of the context */
    /* KEY=NUMBER words that override the device's launch shapes, see arrays/README.md. */
    const char *shape;
    uintptr_t reserved[8]; /* must be 0 */
};

/* Create the scan and sort kernels; the caller frees the object. Kernels are built at first use.
 * arrays_sorter_free waits for work in flight. EINVAL; ENODEV. */
arrays_sorter *arrays_sorter_create(const struct arrays_sorter_options *options);
void arrays_sorter_free(arrays_sorter *s);

/* Prefix sums, exclusive: sums[i] = x[0] + ... + x[i - 1], so sums[0] = 0; or inclusive: sums[i] =
 * x[0] + ... + x[i]. Integers, signed or not, wrap around. Kernels add floats in an order that
 * depends on the launch shape and `most`: equal bits on one device, not on every device. The host
 * (see arrays_scan) adds them in an order that depends on the number of elements only: equal bits
 * on every CPU, for every number of threads. ENOTSUP: doubles on a device without them. */
struct arrays_scan_job {
    const void *x; /* input: `most` numbers */
    void *sums;    /* output: `most` numbers; may be x */
    void *total;   /* output: one number, the sum of all; or NULL */
    int bytes;     /* per number: 4 or 8 */
    int floating;  /* 0: integers; 1: floats or doubles */
    int inclusive; /* 0: exclusive; 1: inclusive */
    size_t most;   /* 0 to 2^31 */
    /* Device memory with the actual number of elements, if below `most`; or NULL. */
    const cl_uint *count;
    /* Workspace of at least arrays_scan_workspace(s, job) bytes; NULL: the sorter's own. */
    void *work;
    uintptr_t reserved[8]; /* must be 0 */
};

/* How keys compare. Floating-point numbers: -0 before 0, and NaN last, also in a descending
 * sort. */
enum arrays_order { ARRAYS_UNSIGNED, ARRAYS_SIGNED, ARRAYS_FLOATING };

/* A sort in place, stable: equal keys keep their order, also in a descending sort. Radix sort,
 * least significant digit first, 8 bits a pass (Knuth, The Art of Computer Programming 3, 5.2.5),
 * each pass by counting, a scan and a scatter (Merrill & Grimshaw 2011,
 * doi:10.1142/S0129626411000187): ceil(bits / 8) passes. */
struct arrays_sort_job {
    void *keys;      /* `most` numbers */
    void *values;    /* payload moved with each key; or NULL */
    int bytes;       /* per key: 4 or 8 */
    int value_bytes; /* per value: 4 or 8; 0: 4 */
    enum arrays_order order;
    int descending; /* 1: greatest first */
    /* Compare bits first_bit to first_bit + bits - 1 only; bits = 0: all from first_bit on. Signed
     * and floating-point keys count as the unsigned numbers that compare as the keys do. */
    int first_bit, bits;
    size_t most; /* 0 to 2^31 */
    /* Device memory with the actual number of elements, if below `most`; or NULL. */
    const cl_uint *count;
    /* Workspace of at least arrays_sort_workspace(s, job) bytes; NULL: the sorter's own. */
    void *work;
    uintptr_t reserved[8]; /* must be 0 */
};

/* Enqueue a scan or a sort and return. clwait(ctx, dev, CL_KERNEL_EVENT), or any other call that
 * waits for the device, waits for the job. Nothing is read back: with `count` the host need not
 * know the number of elements. Elements beyond it are unchanged. The sorter's own workspace serves
 * one job after another; it grows when a job needs more, and then the call blocks. EINVAL:
 * inconsistent sizes, a workspace too small, or memory of the job that overlaps; EFAULT: not from
 * clmalloc. */
int arrays_scan_start(arrays_sorter *s, const struct arrays_scan_job *job);
int arrays_sort_start(arrays_sorter *s, const struct arrays_sort_job *job);

/* Run a scan or a sort and block until it is complete. Otherwise as arrays_scan_start and
 * arrays_sort_start. On a CPU the host scans and sorts memory with CL_MEM_ZEROCOPY, with threads,
 * after all earlier commands of the device's queue, and uses no kernel; for a sort it allocates
 * memory of the size of the arrays (ENOMEM). A `shape` in the options keeps to kernels. */
int arrays_scan(arrays_sorter *s, const struct arrays_scan_job *job);
int arrays_sort(arrays_sorter *s, const struct arrays_sort_job *job);

/* ---- Compaction, sums of segments, histograms, on one device. -------------------------------- */

/* As scans and sorts: functions with _start enqueue the job, those without block; arrays start at
 * any element, may not overlap, and stay as they are beyond their results. Workspaces are the
 * sorter's own. On a CPU the blocking functions work on the host like arrays_scan, with equal
 * results. Semantics are those of DeviceSelect, DeviceReduce::ReduceByKey,
 * DeviceSegmentedReduce and DeviceHistogram of NVIDIA's CUB. EINVAL, EFAULT as arrays_scan_start;
 * ENOTSUP: doubles on a device without them. */

/* The elements of x whose flag is not 0, in order (arrays_select), or the first element of each run
 * of equal neighbours (arrays_unique; sort first for all different ones). Elements are compared as
 * bits: -0 differs from 0. */
struct arrays_select_job {
    const void *x;         /* input: `most` elements */
    const cl_uchar *flags; /* input of arrays_select: `most` bytes. arrays_unique ignores it */
    void *out;             /* output: room for `most` elements */
    cl_uint *selected;     /* output: the number of elements in `out` */
    int bytes;             /* per element: 4 or 8 */
    size_t most;           /* 0 to 2^31 */
    const cl_uint *count;  /* as in arrays_scan_job */
    uintptr_t reserved[8]; /* must be 0 */
};
int arrays_select_start(arrays_sorter *s, const struct arrays_select_job *job);
int arrays_select(arrays_sorter *s, const struct arrays_select_job *job);
int arrays_unique_start(arrays_sorter *s, const struct arrays_select_job *job);
int arrays_unique(arrays_sorter *s, const struct arrays_select_job *job);

/* The sum of the values of each run of equal keys. Floats are added in doubles, if the device has
 * doubles, and rounded once; the order of additions depends on the run's length only. Integers wrap
 * around. */
struct arrays_by_key_job {
    const void *keys;      /* input: `most` keys, compared as bits */
    const void *values;    /* input: `most` elements of `type` */
    void *unique;          /* output: the key of each run; room for `most` */
    void *sums;            /* output: the sum of each run; room for `most` elements of `type` */
    cl_uint *runs;         /* output: the number of runs */
    int bytes;             /* per key: 4 or 8 */
    enum arrays_type type; /* of values and sums */
    size_t most;           /* 0 to 2^31 */
    const cl_uint *count;  /* as in arrays_scan_job */
    uintptr_t reserved[8]; /* must be 0 */
};
int arrays_reduce_by_key_start(arrays_sorter *s, const struct arrays_by_key_job *job);
int arrays_reduce_by_key(arrays_sorter *s, const struct arrays_by_key_job *job);

/* The sum of each segment: sums[i] = x[offsets[i]] + ... + x[offsets[i + 1] - 1], 0 for an empty
 * one; additions as in arrays_reduce_by_key. Offsets beyond `most` count as `most`. */
struct arrays_segments_job {
    const void *x;          /* input: `most` elements of `type` */
    const cl_uint *offsets; /* input: segments + 1 numbers */
    void *sums;             /* output: `segments` elements of `type` */
    enum arrays_type type;
    size_t most, segments; /* 0 to 2^31 each */
    uintptr_t reserved[8]; /* must be 0 */
};
int arrays_segmented_sum_start(arrays_sorter *s, const struct arrays_segments_job *job);
int arrays_segmented_sum(arrays_sorter *s, const struct arrays_segments_job *job);

/* The number of elements in each of nbins bins of equal width: bins[b] counts x with lower + b w <=
 * x < lower + (b + 1) w, w = (upper - lower) / nbins. Elements outside [lower, upper) and NaN are
 * not counted. Integers are assigned exactly. Floats and doubles are assigned to the last bin with
 * b w <= x - lower and lower + b w <= x, where w and each operation are rounded in their type; from
 * 2^20 floats' bins on, some elements are assigned to earlier bins. Elements are compared with the
 * ends as given, in doubles. The ends are finite. Ends for integers are whole and within 2^53, and
 * (upper - lower) nbins is at most 2^63; the range of floats has at least two floats (EINVAL). */
struct arrays_histogram_job {
    const void *x; /* input: `most` elements of `type`, or bytes */
    cl_uint *bins; /* output: nbins numbers */
    enum arrays_type type;
    int of_bytes; /* 1: x has unsigned bytes, and `type` is ignored */
    double lower, upper;
    cl_uint nbins;         /* 1 to 2^31 */
    size_t most;           /* 0 to 2^31 */
    const cl_uint *count;  /* as in arrays_scan_job */
    uintptr_t reserved[8]; /* must be 0 */
};
int arrays_histogram_start(arrays_sorter *s, const struct arrays_histogram_job *job);
int arrays_histogram(arrays_sorter *s, const struct arrays_histogram_job *job);

/* ---- Workspaces and shapes. ------------------------------------------------------------------ */

/* Return the workspace of a scan or sort in bytes. It depends only on `most`, `bytes` and the size
 * of values.
 *   scan   8 bytes per work-group: about 10 KiB
 *   sort   most (bytes + value_bytes) with values, most bytes without; plus counts: 1 KiB per
 *          work-group, on GPUs also 1 KiB per tile (4096 elements in the shipped shapes for large
 *          n: most / 4 bytes)
 *
 * Each array is rounded up to 4096 bytes. A sort first rounds sizes up by at most 1/32, so that
 * jobs of nearly equal size place their arrays at equal offsets. 0 with EINVAL for a job that
 * arrays_scan or arrays_sort refuses, too. */
size_t arrays_scan_workspace(arrays_sorter *s, const struct arrays_scan_job *job);
size_t arrays_sort_workspace(arrays_sorter *s, const struct arrays_sort_job *job);

/* Return the launch shape of the last job by kernels as KEY=NUMBER words, and the reason for its
 * choice; "" before the first one. Owned by s. */
const char *arrays_sorter_shape(const arrays_sorter *s);
const char *arrays_sorter_explain(const arrays_sorter *s);

/* ---- How it runs. ---------------------------------------------------------------------------- */

/* Return the launch shape on a device as KEY=NUMBER words, and the reason for its choice. Owned by
 * a. */
const char *arrays_shape(const arrays *a, cl_uint dev);
const char *arrays_explain(const arrays *a, cl_uint dev);

/* Return the kernels that `stdcl tune` can tune. Static; *count entries. */
const struct cltune_kernel *arrays_tune_kernels(size_t *count);

#ifdef __cplusplus
}
#endif
#endif
