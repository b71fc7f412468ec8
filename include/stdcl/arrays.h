/* stdcl/arrays.h - sums of arrays in the memory of OpenCL devices, of one device or of several;
 * and, on one device, prefix sums and sorting of unsigned integers.
 *
 *   arrays *a = arrays_create(&(struct arrays_options){.ctx = cp, .type = ARRAYS_DOUBLE});
 *   arrays_upload(a, x, n);                                            host to devices, each its
 *   share
 *   arrays_sum(a, x, n, &total);                                      also dot, min, max, mean,
 *   variance arrays_free(a);
 *
 * Order: everything is added up in one fixed order, that of arrays/fixed_reduce.h, which depends on
 * the number of elements and nothing else. The same numbers give the same bits in every run, on
 * every device, on any number of devices and for every work-group size. (Two exceptions:
 * ARRAYS_TREE has an order of its own, which depends on its shape; and devices without double
 * precision add in pairs of floats.) Where all devices are CPUs, arrays of CL_MEM_ZEROCOPY of up to
 * four million elements are added up on the host, without a launch and without a kernel that must
 * be built. int functions return 0, or -1 with clerrno set and a sentence in clerror(); pointers
 * NULL likewise. All block, but for arrays_scan_start and arrays_sort_start. One object is used by
 * one thread at a time; different ones are independent of each other. A struct of options may grow
 * in a later version 1, by its reserved words: they must be 0 (EINVAL). All other structs stay as
 * they are. Their sizes and offsets: tests/install/layout.txt. A handle of NULL, which is what a
 * call that failed returns, is EINVAL: what is given back is -1, NULL, 0 or, of a text, "". It may
 * be freed. SPDX-License-Identifier: MIT
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

/* Elements: float, double, int32_t, int64_t. */
enum arrays_type { ARRAYS_FLOAT, ARRAYS_DOUBLE, ARRAYS_INT, ARRAYS_LONG };

/* What floating-point elements are added up in. Integers are always added exactly.
 *   ARRAYS_WIDE         double. A sum of floats is then right to about one unit in a double's last
 *                       place. A sum of
 *                       doubles is off by at most 41 + log2(n / 32768) roundings of the sum of |x|,
 *                       since no number passes through more additions. On a device without double
 *                       precision floats are compensated instead.
 *   ARRAYS_COMPENSATED  pairs of the element's type, value and rounding error (Knuth's TwoSum;
 *                       products by
 *                       TwoProduct: Ogita, Rump & Oishi 2005, doi:10.1137/030601818), as if in
 *                       twice the precision: 1 + 1e100 + 1 - 1e100 is 2. */
enum arrays_accumulator { ARRAYS_WIDE, ARRAYS_COMPENSATED };

/* How sums are computed. ARRAYS_TUNED: in the fixed order, with vectors, a work-group for each
 * 32,768 elements, in one launch. ARRAYS_TREE: as the classic tutorial does, for comparison:
 * work-items stride over the input, work-groups halve their partial sums in local memory, the host
 * adds up the groups' sums. It needs LuaJIT (ENOTSUP otherwise), and the whole array on every
 * device. */
enum arrays_method { ARRAYS_TUNED, ARRAYS_TREE };

/* Kernels for arrays of one type, on all devices of a context. */
typedef struct arrays arrays;

/* Zero means the default. */
struct arrays_options {
    CLCONTEXT *
        ctx; /* ALL its devices are used. NULL: stdgpu, else stdcpu. Not owned; must outlive this */
    enum arrays_type type;
    enum arrays_accumulator accumulator;
    enum arrays_method method;
    const char *shape; /* words KEY=NUMBER that change the device's own row, see arrays/README.md */
    /* Called with the number of elements that are done, now and then during sums that take long. It
     * returns 0, or something else to end the call soon, with ECANCELED. (Not during sums of
     * ARRAYS_TREE, which are one launch.) May be NULL. */
    int (*progress)(void *arg, uint64_t done);
    void *arg;
    uintptr_t reserved[8]; /* must be 0 */
};

/* The caller frees it. Kernels are built at first use. EINVAL; ENODEV; ENOTSUP: doubles on a device
 * that has none. */
arrays *arrays_create(const struct arrays_options *options);
void arrays_free(arrays *a);

/* x is memory from clmalloc for the same context, or a place inside it at which every device can
 * start a buffer (4096 bytes are enough). Its n elements are read on the devices: device d reads
 * elements *first ... *first + *count - 1, which must be current there; shares depend on n.
 * arrays_upload copies each device's share from the host, and an array that the host has written
 * needs nothing else. */
int arrays_upload(arrays *a, const void *x, size_t n);
void arrays_partition(const arrays *a, size_t n, cl_uint dev, size_t *first, size_t *count);

/* ---- Sums. ----------------------------------------------------------------------------------- */

/* The sum of n elements; of none, 0. Integers: exact, then rounded to double. */
int arrays_sum(arrays *a, const void *x, size_t n, double *sum);

/* The exact sum of integers; ERANGE when 64 bits do not hold it, EINVAL for types that are no
 * integers. */
int arrays_sum_integer(arrays *a, const void *x, size_t n, int64_t *sum);

/* The sum of x[i] y[i]. Products are exact for floats in ARRAYS_WIDE, fused for doubles. Integers:
 * EINVAL. */
int arrays_dot(arrays *a, const void *x, const void *y, size_t n, double *dot);

/* The sum of x[i]^2 + y[i]^2 + z[i]^2 in one pass: of the squared lengths of n vectors that are
 * stored as three arrays. Integers: EINVAL. */
int arrays_sum_squares(arrays *a, const void *x, const void *y, const void *z, size_t n,
                       double *squares);

/* The smallest and the largest element; NaN if one is NaN. EINVAL for n = 0. ARRAYS_LONG: rounded
 * to double. */
int arrays_min(arrays *a, const void *x, size_t n, double *min);
int arrays_max(arrays *a, const void *x, size_t n, double *max);

/* The mean, and the variance of a sample, sum (x - mean)^2 / (n - 1), in two passes; `mean` may be
 * NULL. EINVAL for n = 0, and n = 1 for the variance. */
int arrays_mean(arrays *a, const void *x, size_t n, double *mean);
int arrays_variance(arrays *a, const void *x, size_t n, double *mean, double *variance);

/* ---- Prefix sums and sorting, on one device. --------------------------------------------------
 *
 *   arrays_sorter *s = arrays_sorter_create(&(struct arrays_sorter_options){.ctx = cp, .dev = 0});
 *   arrays_sort(s, &(struct arrays_sort_job){.keys = keys, .values = values, .most = n, .bytes = 8,
 *   .bits = 63}); arrays_sorter_free(s);
 *
 * Arrays are memory from clmalloc for the same context, or places inside it that are aligned to
 * 4096 bytes, and are read and written on that device: they must be current there, and the caller
 * syncs what the host wants to see. Results are exact: the same on every device and for every
 * shape. */

/* Kernels that scan and sort on one device of a context. */
typedef struct arrays_sorter arrays_sorter;

struct arrays_sorter_options {
    CLCONTEXT *ctx; /* as in arrays_options */
    cl_uint dev;    /* the device of it that is used */
    const char
        *shape; /* words KEY=NUMBER that change the device's own rows, see arrays/README.md */
    uintptr_t reserved[8]; /* must be 0 */
};

/* The caller frees it; freeing waits for work in flight. Kernels are built at first use. EINVAL;
 * ENODEV. */
arrays_sorter *arrays_sorter_create(const struct arrays_sorter_options *options);
void arrays_sorter_free(arrays_sorter *s);

/* What is scanned: sums[i] = x[0] + ... + x[i - 1], so that sums[0] = 0 (the exclusive scan),
 * modulo 2^32 or 2^64. */
struct arrays_scan_job {
    const void *x; /* `most` unsigned integers of `bytes` bytes, 4 or 8 */
    void *sums;    /* the same; may be x */
    void *total;   /* one more: becomes the sum of all; or NULL */
    int bytes;
    size_t most;          /* 0 to 2^31 */
    const cl_uint *count; /* memory of the device: how many there are, when that is less than
                             `most`; or NULL */
    void *work; /* arrays_scan_workspace(s, job) bytes at least; NULL: memory of the sorter's own */
    uintptr_t reserved[8]; /* must be 0 */
};

/* What is sorted, in place, ascending and stable: of equal keys the one that came first stays
 * first. A radix sort, least significant digit first, 8 bits a pass (Knuth, The Art of Computer
 * Programming 3, 5.2.5), each pass by counting, a scan and a scatter (Merrill & Grimshaw 2011,
 * doi:10.1142/S0129626411000187): ceil(bits / 8) passes. */
struct arrays_sort_job {
    void *keys;      /* `most` unsigned integers of `bytes` bytes, 4 or 8 */
    cl_uint *values; /* what goes along with each key; or NULL */
    int bytes;
    int bits;             /* keys are compared by these low bits alone, 1 to 8 * bytes; 0: by all */
    size_t most;          /* 0 to 2^31 */
    const cl_uint *count; /* memory of the device: how many there are, when that is less than
                             `most`; or NULL */
    void *work; /* arrays_sort_workspace(s, job) bytes at least; NULL: memory of the sorter's own */
    uintptr_t reserved[8]; /* must be 0 */
};

/* Start a job and return; clwait(ctx, dev, CL_KERNEL_EVENT), or whatever else waits for the device,
 * waits for it. Nothing is read back: with `count` the host need not know how many elements there
 * are. What lies beyond them stays as it is. Work memory of the sorter's own serves one job after
 * the other; it is allocated when a job needs more than those before, and then the call blocks.
 * EINVAL, with a sentence: sizes that do not go together, too little memory; EFAULT: not from
 * clmalloc. */
int arrays_scan_start(arrays_sorter *s, const struct arrays_scan_job *job);
int arrays_sort_start(arrays_sorter *s, const struct arrays_sort_job *job);

/* The same, and wait for it. */
int arrays_scan(arrays_sorter *s, const struct arrays_scan_job *job);
int arrays_sort(arrays_sorter *s, const struct arrays_sort_job *job);

/* Bytes of work memory that a job takes; `most`, `bytes` and whether there are values matter, and
 * nothing else.
 *   a scan   8 bytes a work-group: some 10 KiB
 *   a sort   most (bytes + 4) with values, most bytes without; and counts: 1 KiB a work-group, on
 *            GPUs also 1 KiB a
 *            tile (of 4096 elements in the shipped rows for many: most / 4 bytes)
 * each array rounded up to 4096 bytes, and of a sort by up to a thirty-second before, so that jobs
 * of nearly the same size have their arrays at the same places. 0 with EINVAL for a job that
 * arrays_scan or arrays_sort refuses too. */
size_t arrays_scan_workspace(arrays_sorter *s, const struct arrays_scan_job *job);
size_t arrays_sort_workspace(arrays_sorter *s, const struct arrays_sort_job *job);

/* The launch shape of the last job, as words KEY=NUMBER, and why that one; "" before the first.
 * Owned by s. */
const char *arrays_sorter_shape(const arrays_sorter *s);
const char *arrays_sorter_explain(const arrays_sorter *s);

/* ---- How it runs. ---------------------------------------------------------------------------- */

/* The launch shape on a device as words KEY=NUMBER, and why that one. Owned by a. */
const char *arrays_shape(const arrays *a, cl_uint dev);
const char *arrays_explain(const arrays *a, cl_uint dev);

/* What `stdcl tune` searches. Static; *count of them. */
const struct cltune_kernel *arrays_tune_kernels(size_t *count);

#ifdef __cplusplus
}
#endif
#endif
