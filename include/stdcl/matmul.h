/* stdcl/matmul.h - matrix products on any OpenCL device, on several at once, or on the host.
 *
 *   matmul_double(MATMUL_NN, m, n, k, 1, a, k, b, n, 0, c, n);          C = A B, one call, host
 *   arrays
 *
 *   matmul *mm = matmul_create(&(struct matmul_options){.precision = MATMUL_DOUBLE});
 *   matmul_multiply(mm, MATMUL_TN, m, n, k, 1, a, m, b, n, 0, c, n);    the same with an engine
 *   that is kept
 *   matmul_enqueue(mm, 0, MATMUL_NN, m, n, k, 1, a, k, b, n, 0, c, n);  in device memory, without
 *   waiting matmul_free(mm);
 *
 * All compute C = alpha op(A) op(B) + beta C, where op(A) is m x k, op(B) is k x n and C is m x n,
 * and op(X) is X or its transpose. Matrices are row-major: element (i, j) of X stands at x[i * ldx
 * + j], and ldx is at least the length of a row as stored (A: k, transposed m; B: n, transposed k;
 * C: n); 0 means exactly that length. A column-major matrix is the transpose of a row-major one:
 * for column-major matrices exchange A and B, and m and n. As in the BLAS standard, C is not read
 * when beta is 0, A and B are not read when alpha is 0, and what lies between rows is not touched.
 * C must not share elements with A or B, but it may lie between their rows. int functions return 0,
 * or -1 with clerrno set and a sentence in clerror(); pointers NULL likewise. One engine is used by
 * one thread at a time; different engines are independent of each other. A struct of options may
 * grow in a later version 1, by its reserved words: they must be 0 (EINVAL). All other structs stay
 * as they are. Their sizes and offsets: tests/install/layout.txt. A handle of NULL, which is what a
 * call that failed returns, is EINVAL: what is given back is -1, NULL, 0 or, of a text, "". It may
 * be freed.
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

/* How the product is computed. */
enum matmul_kind {
    MATMUL_TUNED,     /* on the devices, as fast as they allow; shapes come from the tuning store */
    MATMUL_NAIVE,     /* on the devices, one work-item for each element of C, from global memory */
    MATMUL_BLOCKED,   /* on the devices, square tiles of A and B in local memory */
    MATMUL_CPU_NAIVE, /* on the host, three loops */
    MATMUL_CPU_BLOCKED, /* on the host, six loops */
    MATMUL_OPENBLAS,    /* on the host, OpenBLAS, if it is installed */
    MATMUL_SYCL, /* MATMUL_BLOCKED written in SYCL, if this library was built with a compiler for it
                  */
    MATMUL_CLBLAST, /* on the devices, CLBlast, if it is installed */
    MATMUL_KINDS    /* how many there are */
};

enum matmul_precision { MATMUL_SINGLE, MATMUL_DOUBLE };

/* Which of A and B, in this order, are transposed: N as it is, T transposed. */
enum matmul_trans { MATMUL_NN, MATMUL_NT, MATMUL_TN, MATMUL_TT };

/* Zero means the default, everywhere. */
struct matmul_options {
    CLCONTEXT *ctx; /* the devices; ALL of them are used. NULL: stdgpu, else stdcpu. Not owned; must
                       outlive the engine. Kinds that compute on the host need none */
    enum matmul_kind kind;
    enum matmul_precision precision;
    size_t block; /* BLOCKED, CPU_BLOCKED, SYCL: the side of a block; 0 = 16, on the host 64 */
    const char
        *shape;    /* TUNED: words KEY=NUMBER that change a device's row, see matmul/README.md */
    size_t memory; /* bytes that may be used of each device's memory; 0 = what it has */
    int (*progress)(void *arg, double fraction); /* called by matmul_multiply, and on one device by
                                                    matmul_compute, now and then, in the calling
                                                    thread, with the fraction of the work that is
                                                    done; it returns 0, or something else to stop
                                                    the work soon, with ECANCELED. May be NULL */
    void *arg;
    stdcl_world *world; /* ranks that compute a product together, by matmul_multiply; NULL: alone.
                           Not owned */
    uintptr_t reserved[8]; /* must be 0 */
};

/* Makes an engine. Kernels are built at the first product that needs them, which takes a second.
 * EINVAL: an option is wrong, and the sentence says which (of a block that is too large: the
 * limit); ENODEV: no device; ENOTSUP: a device has no double precision, or a library is missing
 * (the sentence says what to install); ENOMEM; ENOEXEC: a kernel does not build. The caller frees
 * the engine with matmul_free. */
matmul *matmul_create(const struct matmul_options *options);

/* Frees the engine and what it holds on the devices, after work in flight is done. NULL is fine. */
void matmul_free(matmul *mm);

/* The product of host arrays, in any memory; from memory of clmalloc they travel fastest to a GPU.
 * Blocks. With several devices, each computes a block of C. A and B are sent to GPUs in panels, one
 * while another is multiplied, so they may be larger than the devices' memory. Elements have the
 * engine's precision. EINVAL: a leading dimension is too small, a pointer is NULL, or C overlaps A
 * or B; ENOMEM; EIO: a device failed; ECANCELED: `progress` stopped the work. After an error C is
 * undefined. */
int matmul_multiply(matmul *mm, enum matmul_trans trans, size_t m, size_t n, size_t k, double alpha,
                    const void *a, size_t lda, const void *b, size_t ldb, double beta, void *c,
                    size_t ldc);

/* With a world of several ranks matmul_multiply is collective, and so are matmul_load and what
 * follows it; m, n and k are of the whole product. A rank has a slab of rows of A, of B and of C,
 * as these are stored, and gives the first row that it has of each (NULL: none). Ranks form a grid,
 * in which each computes a block of C, or some of the depth of one; panels of A and B travel
 * between them meanwhile. The same number of ranks gives the same bits, whatever devices of one
 * model they have and however the work is divided. The slab of rank `rank` in a matrix that is
 * stored with `rows` rows: */
void matmul_partition(const stdcl_world *world, int rank, size_t rows, size_t *first,
                      size_t *count);

/* How much of C each rank computes, from the next matmul_multiply or matmul_load on: in proportion
 * to what all ranks give as their weights, such as multiply-adds a second; and its devices as they
 * were found to be fast. Slabs stay as they are. Until all ranks have called it: by the devices'
 * peaks where models are unlike, else alike; always alike with OPENBLAS, SYCL and CLBLAST. EINVAL:
 * a weight that is no number > 0. */
int matmul_set_weight(matmul *mm, double weight);

/* For how many seconds this rank's devices have been busy with products since it was made or
 * divided, without waits for panels of other ranks and for compilers; *work: with how many
 * multiply-adds. */
double matmul_busy_time(const matmul *mm, double *work);

/* A matrix that is not in memory, such as one in a file; x is packed rows of `cols` elements. Both
 * return 0, or -1 after clerror_set. */
struct matmul_far {
    int (*read)(void *arg, size_t row, size_t rows, size_t col, size_t cols, void *x);
    int (*write)(void *arg, size_t row, size_t rows, size_t col, size_t cols,
                 const void *x); /* of C only */
    void *arg;
};

/* matmul_multiply of matrices that may be larger than all memory: parts of them are read while
 * others are multiplied, and blocks of C are written when they are done. Places are those of the
 * whole matrices as they are stored. One thread at a time reads A and B, and another, the caller's,
 * reads (if beta is not 0) and writes C. With a world a rank is asked for rows of its slabs of A
 * and B (matmul_partition), and for a block of C. Memory on the host: `memory` of the options, else
 * half of what there is, divided among the ranks of a host. */
int matmul_multiply_out_of_core(matmul *mm, enum matmul_trans trans, size_t m, size_t n, size_t k,
                                double alpha, const struct matmul_far *a,
                                const struct matmul_far *b, double beta,
                                const struct matmul_far *c);

/* The product of matrices in the memory of device `dev`. The pointers lie in memory from clmalloc
 * of the engine's context, and the device's image of it is what is multiplied. Returns when the
 * work is queued; clwait(ctx, dev, CL_KERNEL_EVENT) waits for it. Errors as above; EFAULT: no such
 * memory; ENOTSUP: a kind that computes on the host. */
int matmul_enqueue(matmul *mm, cl_uint dev, enum matmul_trans trans, size_t m, size_t n, size_t k,
                   double alpha, const void *a, size_t lda, const void *b, size_t ldb, double beta,
                   void *c, size_t ldc);

/* `count` products of one size, as matmul_enqueue; those of small matrices by one launch. Product
 * i, from 0 on, takes A, B and C that begin i stride_a, i stride_b and i stride_c elements behind
 * those given. With a stride of 0 all products take the same A, or B; stride_c is at least the (m -
 * 1) ldc + n elements of one C. Multiples of 16 bytes are fastest. Each product has the bits that
 * it has alone in a batch of 1. Not blocking, with the errors of matmul_enqueue; EINVAL too where
 * memory between the first C and the last has A or B. (The strided batch of cuBLAS and of batched
 * BLAS: Abdelfattah et al. 2021, doi:10.1145/3431921.) */
int matmul_batch(matmul *mm, cl_uint dev, enum matmul_trans trans, size_t m, size_t n, size_t k,
                 double alpha, const void *a, size_t lda, size_t stride_a, const void *b,
                 size_t ldb, size_t stride_b, double beta, void *c, size_t ldc, size_t stride_c,
                 size_t count);

/* One call, without making an engine: on the first GPU, or on a CPU if there is none. Blocks. Any
 * thread may call; one call waits for another. */
int matmul_single(enum matmul_trans trans, size_t m, size_t n, size_t k, float alpha,
                  const float *a, size_t lda, const float *b, size_t ldb, float beta, float *c,
                  size_t ldc);
int matmul_double(enum matmul_trans trans, size_t m, size_t n, size_t k, double alpha,
                  const double *a, size_t lda, const double *b, size_t ldb, double beta, double *c,
                  size_t ldc);

/* ---- Matrices that stay on the devices. ------------------------------------------------------ */

/* Gives each device the rows of op(A) and the columns of op(B) that its block of C needs, and room
 * for that block; what was loaded before is dropped. Blocks. On the host and on CPU devices nothing
 * is copied: a and b are used where they are, and must stay unchanged until the next load or
 * matmul_free. ENOMEM when they do not fit; matmul_multiply does not need them to fit. */
int matmul_load(matmul *mm, enum matmul_trans trans, size_t m, size_t n, size_t k, const void *a,
                size_t lda, const void *b, size_t ldb);

/* Copies C to the devices (c not NULL), or from them, between load and the next load. Block. */
int matmul_load_result(matmul *mm, const void *c, size_t ldc);
int matmul_result(matmul *mm, void *c, size_t ldc);

/* The product of what was loaded, on all devices; the result stays there. Blocks. After ECANCELED C
 * is undefined. There is no C at first: beta must be 0 until one was loaded or computed. EINVAL:
 * nothing is loaded, or there is no C. */
int matmul_compute(matmul *mm, double alpha, double beta);

/* ---- Questions. ------------------------------------------------------------------------------ */

/* The name of a kind: "tuned", "naive", "blocked", "cpu-naive", "cpu-blocked", "openblas", "sycl"
 * or "clblast". A phrase that says what it is. The kind of a name, or -1 with EINVAL and the list
 * of names. */
const char *matmul_kind_name(enum matmul_kind kind);
const char *matmul_kind_summary(enum matmul_kind kind);
int matmul_kind_by_name(const char *name);

/* Whether a kind computes on the host instead of on OpenCL devices. */
int matmul_kind_is_host(enum matmul_kind kind);

/* NULL when a kind can be used here; else a sentence that says what to install. Static memory. */
const char *matmul_kind_missing(enum matmul_kind kind);

/* The largest block that BLOCKED can take on every device of ctx in a precision. */
size_t matmul_block_limit(CLCONTEXT *ctx, enum matmul_precision precision);

/* Of TUNED on device `dev` for a product of this size: the launch shape as words KEY=NUMBER, and a
 * sentence that says which row of the tuning store that is and why. Owned by the engine, until its
 * next call. */
const char *matmul_shape(matmul *mm, cl_uint dev, size_t m, size_t n, size_t k);
const char *matmul_explain(matmul *mm, cl_uint dev, size_t m, size_t n, size_t k);

/* What a device can do at best, operations a second (clpeak): multiply-adds, or those of the tensor
 * cores where it has them for this precision. 0 when it cannot be told. */
double matmul_peak(CLCONTEXT *ctx, cl_uint dev, enum matmul_precision precision);

/* What `stdcl tune` searches: tiles and few vectors for GPUs and panels for CPUs, in single and
 * double precision. */
const struct cltune_kernel *matmul_tune_kernels(size_t *count);

/* ---- Matrices to multiply, and the right answer. --------------------------------------------- */

/* Fills an array of rows x columns with numbers uniform in [-1, 1): element (i, j) depends on seed,
 * matrix, i and j only, and is the same on every machine; single is double, rounded. `matrix` tells
 * A from B. */
void matmul_random(enum matmul_precision precision, uint64_t seed, uint32_t matrix, size_t rows,
                   size_t cols, void *x, size_t ld);

/* The same of some rows, from row `first` on, which x begins with: a large array piece by piece. */
void matmul_random_rows(enum matmul_precision precision, uint64_t seed, uint32_t matrix,
                        size_t first, size_t rows, size_t cols, void *x, size_t ld);

/* The error of C: || C - R || / || |alpha| |op(A)| |op(B)| + |beta| |before| || (Frobenius), where
 * R is the same product computed on the host in higher precision (single: double; double: long
 * double) and |X| has the absolute values of X, so that a right product has a small error even
 * where the terms of its sums cancel. `sample`: how many rows of C are compared, spread over it; 0
 * = as many as take about a second. `before`: C as it was, with rows of ldc; NULL when beta is 0.
 * These count as right: NaN where R is NaN; an infinity or NaN where a sum of absolute values is
 * too large for the precision; differences below its least normal number in each term. NaN is the
 * error of a C that is NaN where R is not, or the other way round, and when there is no memory.
 * Numbers of any size may be compared. */
double matmul_error(enum matmul_precision precision, enum matmul_trans trans, size_t m, size_t n,
                    size_t k, double alpha, const void *a, size_t lda, const void *b, size_t ldb,
                    double beta, const void *before, const void *c, size_t ldc, size_t sample);

/* The largest error that a right product can have: (k / 2 + 4) eps for any matrices and any order
 * of the sums, where eps is FLT_EPSILON or DBL_EPSILON. With `random` not 0, for matrices of
 * matmul_random: 2 eps, which rounding hardly ever exceeds. */
double matmul_tolerance(enum matmul_precision precision, size_t k, int random);

#ifdef __cplusplus
}
#endif
#endif
