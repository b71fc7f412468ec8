/* stdcl/matmul.h - matrix products on one or several OpenCL devices, on ranks, or on the host.
 *
 *   one call, host arrays:
 *       matmul_double(MATMUL_NN, m, n, k, 1, a, k, b, n, 0, c, n);          C = A B
 *
 *   with an engine:
 *       matmul *mm = matmul_create(&(struct matmul_options){.precision = MATMUL_DOUBLE});
 *       matmul_multiply(mm, MATMUL_TN, m, n, k, 1, a, m, b, n, 0, c, n);    host arrays, blocks
 *       matmul_enqueue(mm, 0, MATMUL_NN, m, n, k, 1, a, k, b, n, 0, c, n);  device memory, async
 *       matmul_free(mm);
 *
 * All functions compute C = alpha op(A) op(B) + beta C, where op(A) is m x k, op(B) is k x n, C is
 * m x n, and op(X) is X or its transpose. Matrices are row-major: element (i, j) of X is x[i * ldx
 * + j]. The leading dimension ldx is at least the length of a stored row (A: k, transposed m; B: n,
 * transposed k; C: n); 0 means exactly that length. A column-major matrix is the transpose of a
 * row-major one: for column-major matrices exchange A and B, and m and n. As in the BLAS standard,
 * C is not read if beta is 0, A and B are not read if alpha is 0, and the padding between rows is
 * not touched. C must not share elements with A or B, but may lie in the padding between their
 * rows.
 *
 * int functions return 0, or -1 with clerrno set and a message in clerror(); pointer functions
 * return NULL likewise. One engine is used by one thread at a time; different engines are
 * independent. A NULL handle gives EINVAL, and the function returns -1, NULL, 0 or "". NULL may be
 * freed.
 *
 * Structs of options may grow in a later version 1 by their reserved words, which must be 0
 * (EINVAL). All other structs are fixed. tests/install/layout.txt lists sizes and offsets.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_MATMUL_H
#define STDCL_MATMUL_H

#include <stddef.h>
#include <stdint.h>
#include <stdcl.h>
#include <stdcl/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The engine. ----------------------------------------------------------------------------- */

typedef struct matmul matmul;

/* Implementations of the product. */
enum matmul_kind {
    MATMUL_TUNED,       /* devices: tuned kernels, shapes from the tuning database */
    MATMUL_NAIVE,       /* devices: one work-item per element of C, global memory */
    MATMUL_BLOCKED,     /* devices: square tiles of A and B in local memory */
    MATMUL_CPU_NAIVE,   /* host: three loops */
    MATMUL_CPU_BLOCKED, /* host: six loops (cache blocking) */
    MATMUL_OPENBLAS,    /* host: OpenBLAS, if installed */
    MATMUL_SYCL,        /* MATMUL_BLOCKED in SYCL, if built with a SYCL compiler */
    MATMUL_CLBLAST,     /* devices: CLBlast, if installed */
    MATMUL_KINDS        /* number of kinds */
};

enum matmul_precision { MATMUL_SINGLE, MATMUL_DOUBLE };

/* Transposition of A and B, in this order: N as stored, T transposed. */
enum matmul_trans { MATMUL_NN, MATMUL_NT, MATMUL_TN, MATMUL_TT };

/* Options of matmul_create. Zero means the default. */
struct matmul_options {
    /* All devices of the context are used. NULL: stdgpu, else stdcpu. Not owned; must outlive the
     * engine. Host kinds need none. */
    CLCONTEXT *ctx;
    enum matmul_kind kind;
    enum matmul_precision precision;
    /* Side of a tile for BLOCKED, CPU_BLOCKED and SYCL; 0 = 16, on the host 64. */
    size_t block;
    /* TUNED: KEY=NUMBER words that override a device's launch shape, see matmul/README.md. */
    const char *shape;
    size_t memory; /* limit of memory use per device, in bytes; 0 = no limit */
    /* Progress callback of matmul_multiply, and on one device of matmul_compute, in the calling
     * thread, with the fraction done. A nonzero return value cancels the call soon, with ECANCELED.
     * May be NULL. */
    int (*progress)(void *arg, double fraction);
    void *arg;
    /* Ranks that compute a product together in matmul_multiply; NULL: alone. Not owned. */
    stdcl_world *world;
    uintptr_t reserved[8]; /* must be 0 */
};

/* Create an engine; the caller frees it with matmul_free. Kernels are built at the first product
 * that needs them, which takes about a second. EINVAL: an invalid option (named; for a block
 * that is too large, with the limit). ENODEV: no device. ENOTSUP: a device lacks double
 * precision, or a library is missing (the message says what to install). ENOMEM. ENOEXEC: a
 * kernel does not build. */
matmul *matmul_create(const struct matmul_options *options);

/* Free the engine and its device memory, after waiting for work in flight. NULL is allowed. */
void matmul_free(matmul *mm);

/* Multiply host arrays. Blocks. Memory from clmalloc transfers fastest to a GPU. Elements have the
 * engine's precision. With several devices, each computes a block of C. A and B are sent to GPUs in
 * double-buffered panels, so they may be larger than device memory. CPUs use the arrays in place,
 * or panels if an array is larger than the device's largest buffer. If all devices are CPUs, TUNED
 * computes products of up to 2^24 multiply-adds on the host, with threads, and compiles no kernel,
 * unless the options have `shape`, `memory` or ranks. Equal calls then give equal bits on all
 * processors with equal vectors (AVX-512, AVX2 or neither), for any number of threads. EINVAL: a
 * leading dimension is too small, a pointer is NULL, or C overlaps A or B. ENOMEM. EIO: a device
 * failed. ECANCELED: `progress` cancelled. After an error C is undefined. */
int matmul_multiply(matmul *mm, enum matmul_trans trans, size_t m, size_t n, size_t k, double alpha,
                    const void *a, size_t lda, const void *b, size_t ldb, double beta, void *c,
                    size_t ldc);

/* Get the slab of rows of rank `rank` in a matrix stored with `rows` rows.
 *
 * With a world of several ranks, matmul_multiply is collective, and so are matmul_load and the
 * functions that use its result; m, n and k are the sizes of the whole product. Each rank holds a
 * slab of rows of A, of B and of C, as stored, and passes the address of its first row of each
 * (NULL: no rows). Ranks form a grid, in which each computes a block of C, or part of a block's sum
 * over k, while panels of A and B travel between ranks. One number of ranks gives one result, to
 * the bit, for any number of devices of one model and any division of the work. */
void matmul_partition(const stdcl_world *world, int rank, size_t rows, size_t *first,
                      size_t *count);

/* Set this rank's load-balancing weight (e.g. FMA/s) for subsequent products, from the next
 * matmul_multiply or matmul_load on. C is divided in proportion to the ranks' weights, and within a
 * rank by measured device speed. Slabs are unchanged. Until all ranks have called it, C is divided
 * by the devices' peaks if models differ, else evenly; with OPENBLAS, SYCL and CLBLAST always
 * evenly. EINVAL: the weight is not a number > 0. */
int matmul_set_weight(matmul *mm, double weight);

/* Return the seconds that this rank's devices have computed products since creation or the last
 * matmul_set_weight, excluding compilation and waits for other ranks' panels. *work: multiply-adds
 * done in that time. */
double matmul_busy_time(const matmul *mm, double *work);

/* An out-of-core matrix, e.g. in a file, with callbacks that read and write packed rows of `cols`
 * elements. Callbacks return 0, or -1 after clerror_set. */
struct matmul_out_of_core {
    int (*read)(void *arg, size_t row, size_t rows, size_t col, size_t cols, void *x);
    int (*write)(void *arg, size_t row, size_t rows, size_t col, size_t cols,
                 const void *x); /* C only */
    void *arg;
};

/* Multiply out-of-core matrices, which may be larger than host memory: parts are read while earlier
 * parts are multiplied, and blocks of C are written when complete. Row and column indices are in
 * the whole matrices as stored. One thread at a time reads A and B; the caller's thread reads (if
 * beta is not 0) and writes C. With a world, each rank reads rows of its slabs of A and B
 * (matmul_partition) and writes one block of C. Host memory: `memory` of the options, else half of
 * the available memory, divided among the ranks of a host. */
int matmul_multiply_out_of_core(matmul *mm, enum matmul_trans trans, size_t m, size_t n, size_t k,
                                double alpha, const struct matmul_out_of_core *a,
                                const struct matmul_out_of_core *b, double beta,
                                const struct matmul_out_of_core *c);

/* Enqueue the product of matrices in the memory of device `dev`. Pointers lie in memory from
 * clmalloc of the engine's context; the device's images are multiplied. Each matrix that is read
 * must hold data there (clmrequire), else EINVAL. Returns when the work is queued; clwait(ctx, dev,
 * CL_KERNEL_EVENT) waits for it. If matmul_multiply would compute a product on the host and its
 * memory has CL_MEM_ZEROCOPY, the call computes it before it returns, after all earlier commands of
 * the device's queue. Errors as matmul_multiply; EFAULT: not from clmalloc; ENOTSUP: a
 * host kind. */
int matmul_enqueue(matmul *mm, cl_uint dev, enum matmul_trans trans, size_t m, size_t n, size_t k,
                   double alpha, const void *a, size_t lda, const void *b, size_t ldb, double beta,
                   void *c, size_t ldc);

/* Enqueue `count` products of one size (strided batch); small matrices in one launch. Product i,
 * from 0, uses A, B and C at i stride_a, i stride_b and i stride_c elements after the given
 * pointers. With stride 0 all products share A, or B; stride_c is at least the (m - 1) ldc + n
 * elements of one C. Multiples of 16 bytes are fastest. Each product has the bits of a batch of 1.
 * On CPUs the host computes small products as in matmul_enqueue. Errors as matmul_enqueue; EINVAL
 * also if A or B overlaps the memory between the first and the last C. (Strided batches as in
 * cuBLAS and batched BLAS: Abdelfattah et al. 2021, doi:10.1145/3431921.) */
int matmul_batch(matmul *mm, cl_uint dev, enum matmul_trans trans, size_t m, size_t n, size_t k,
                 double alpha, const void *a, size_t lda, size_t stride_a, const void *b,
                 size_t ldb, size_t stride_b, double beta, void *c, size_t ldc, size_t stride_c,
                 size_t count);

/* Multiply host arrays in one call, without an engine, on the first GPU, or on a CPU if there is
 * none. Blocks. Thread-safe; concurrent calls are serialised. */
int matmul_single(enum matmul_trans trans, size_t m, size_t n, size_t k, float alpha,
                  const float *a, size_t lda, const float *b, size_t ldb, float beta, float *c,
                  size_t ldc);
int matmul_double(enum matmul_trans trans, size_t m, size_t n, size_t k, double alpha,
                  const double *a, size_t lda, const double *b, size_t ldb, double beta, double *c,
                  size_t ldc);

/* ---- Matrices resident on the devices. ------------------------------------------------------- */

/* Load matrices for matmul_compute: copy to each device the rows of op(A) and the columns of op(B)
 * that its block of C needs, and reserve memory for the block. Replaces matrices loaded before.
 * Blocks. Nothing is copied for host kinds and CPU devices: a and b are used in place and must stay
 * unchanged until the next load or matmul_free. ENOMEM if the matrices do not fit; matmul_multiply
 * does not require them to fit. */
int matmul_load(matmul *mm, enum matmul_trans trans, size_t m, size_t n, size_t k, const void *a,
                size_t lda, const void *b, size_t ldb);

/* Copy C to the devices (c not NULL), or from the devices, after matmul_load. Blocks. */
int matmul_load_result(matmul *mm, const void *c, size_t ldc);
int matmul_result(matmul *mm, void *c, size_t ldc);

/* Multiply the loaded matrices on all devices; the result stays there. Blocks. After ECANCELED C is
 * undefined. beta must be 0 until a C has been loaded or computed. EINVAL: nothing is loaded, or
 * there is no C. */
int matmul_compute(matmul *mm, double alpha, double beta);

/* ---- Queries. -------------------------------------------------------------------------------- */

/* Return the name of a kind ("tuned", "naive", "blocked", "cpu-naive", "cpu-blocked", "openblas",
 * "sycl" or "clblast"); a short description of a kind; the kind of a name, or -1 with EINVAL and
 * the list of names. */
const char *matmul_kind_name(enum matmul_kind kind);
const char *matmul_kind_summary(enum matmul_kind kind);
int matmul_kind_by_name(const char *name);

/* True if a kind computes on the host instead of on OpenCL devices. */
int matmul_kind_is_host(enum matmul_kind kind);

/* Return NULL if a kind is available, else a sentence that says what to install. Static. */
const char *matmul_kind_missing(enum matmul_kind kind);

/* Return the largest `block` that BLOCKED supports on every device of ctx in a precision. */
size_t matmul_block_limit(CLCONTEXT *ctx, enum matmul_precision precision);

/* Return TUNED's launch shape on device `dev` for a product of this size as KEY=NUMBER words, and
 * the reason for its choice; no words for a product on the host. Owned by the engine, valid until
 * its next call. */
const char *matmul_shape(matmul *mm, cl_uint dev, size_t m, size_t n, size_t k);
const char *matmul_explain(matmul *mm, cl_uint dev, size_t m, size_t n, size_t k);

/* Return a device's peak rate in operations per second (clpeak): of multiply-adds, or of tensor
 * cores if it has them for this precision. 0 if unknown. */
double matmul_peak(CLCONTEXT *ctx, cl_uint dev, enum matmul_precision precision);

/* Return the kernels that `stdcl tune` can tune: tiles and skinny products on GPUs, panels on CPUs,
 * in single and double precision. Static; *count entries. */
const struct cltune_kernel *matmul_tune_kernels(size_t *count);

/* ---- Test matrices and error check. ---------------------------------------------------------- */

/* Fill a rows x cols array with numbers uniform in [-1, 1). Element (i, j) depends only on seed,
 * matrix, i and j, and is equal on every machine; single is double, rounded. `matrix` distinguishes
 * A from B. */
void matmul_random(enum matmul_precision precision, uint64_t seed, uint32_t matrix, size_t rows,
                   size_t cols, void *x, size_t ld);

/* Fill rows `first` to first + rows - 1 of the array of matmul_random, starting at x, to fill a
 * large array in pieces. */
void matmul_random_rows(enum matmul_precision precision, uint64_t seed, uint32_t matrix,
                        size_t first, size_t rows, size_t cols, void *x, size_t ld);

/* Return the error of C: || C - R || / || |alpha| |op(A)| |op(B)| + |beta| |before| || (Frobenius
 * norm), where R is the product computed on the host in higher precision (single: double; double:
 * long double) and |X| is the matrix of absolute values. A correct product has a small error even
 * if its sums cancel.
 *   sample   number of rows of C to compare, evenly spaced; 0 = as many as take about a second
 *   before   C before the product, with leading dimension ldc; NULL if beta is 0
 *
 * Correct by definition: NaN where R is NaN; infinity or NaN where a sum of absolute values
 * overflows the precision; differences below the least normal number in each term. The error is NaN
 * if C is NaN where R is not, or R where C is not, and if memory runs out. Elements may be of any
 * magnitude. */
double matmul_error(enum matmul_precision precision, enum matmul_trans trans, size_t m, size_t n,
                    size_t k, double alpha, const void *a, size_t lda, const void *b, size_t ldb,
                    double beta, const void *before, const void *c, size_t ldc, size_t sample);

/* Return the largest error of a correct product: (k / 2 + 4) eps for any matrices and any order of
 * summation, where eps is FLT_EPSILON or DBL_EPSILON. If `random` is not 0, for matrices from
 * matmul_random: 2 eps, which rounding hardly ever exceeds. */
double matmul_tolerance(enum matmul_precision precision, size_t k, int random);

#ifdef __cplusplus
}
#endif
#endif
