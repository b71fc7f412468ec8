/* engine.h - what the files of the matrix engine share.
 *
 *   matmul.c     making and freeing an engine; products of host arrays and of device memory
 *   kinds.c      the kinds of engine: names, what they need
 *   check.c      what a product may be: leading dimensions, overlap, sizes
 *   batch.c      many products of one size by one launch
 *   start.c      a product on one device: which kernels compute it
 *   partition.c      who computes which block of C, and copies between the host and a device
 *   place.c      matrices that stay on the devices
 *   stream.c     matrices that do not: panels travel while others are multiplied
 *   ranks.c      many ranks: panels travel between them; grid.c: which rank computes what; block.c:
 *                its block of C
 *   balance.c     how much a rank computes: by how fast it is
 *   shape.c      how kernels are launched on a device: rows of data
 *   program.c    kernels, built when first asked for and then kept
 *   gpu.c        TUNED on GPUs: tiles          cpu.c      TUNED on CPUs: panels
 *   skinny.c       TUNED on GPUs: a matrix times a few vectors
 *   baseline.c     NAIVE and BLOCKED             clblast.c  CLBlast
 *   host.c       CPU_NAIVE, CPU_BLOCKED, OPENBLAS      sycl.cpp   SYCL
 *   reference.c  random matrices, and the right answer
 *   tune.c       what a search for better shapes needs
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_MATMUL_ENGINE_H
#define STDCL_MATMUL_ENGINE_H

#include <pthread.h>
#include <stdbool.h>

#include "core/args.h"
#include "core/embedded.h"
#include "core/pace.h"
#include "core/round.h"
#include "stdcl/matmul.h"

/* ---- Products. ------------------------------------------------------------------------------- */

/* A matrix in a device's memory: an allocation of clmalloc's, or (block NULL) a buffer on a host
 * array, whose address is `skew` bytes behind a multiple of 64. Offset and leading dimension are
 * counted in elements. */
struct operand {
    void *block;
    cl_mem buffer;
    size_t offset, ld, skew;
};

/* Matrices in memory from clmalloc, as a caller gives them: `count` of them, `stride` elements
 * apart. */
struct matrices {
    const char *call, *name; /* for messages */
    const void *x;
    size_t rows, cols, ld, stride, count;
};

/* What a device computes. m, n and k are never 0, and alpha is never 0. */
struct product {
    bool trans_a, trans_b;
    size_t m, n, k;
    double alpha, beta;
    struct operand a, b, c;
    size_t count, step_a, step_b,
        step_c; /* of a batch, else 0: how many, and how far apart their operands are */
};

/* What the host computes, or is to be computed from its arrays. */
struct host_product {
    enum matmul_trans trans;
    size_t m, n, k;
    double alpha, beta;
    const void *a, *b;
    void *c;
    size_t lda, ldb, ldc;
};

static inline bool trans_a(enum matmul_trans trans)
{
    return trans == MATMUL_TN || trans == MATMUL_TT;
}
static inline bool trans_b(enum matmul_trans trans)
{
    return trans == MATMUL_NT || trans == MATMUL_TT;
}

/* Element (i, j) of op(X), when X is stored with leading dimension ld, is at this place. */
static inline size_t place_of(bool trans, size_t ld, size_t i, size_t j)
{
    return trans ? j * ld + i : i * ld + j;
}

static inline size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- Kernels and shapes. --------------------------------------------------------------------- */

/* How a product is computed: the key `path`. */
enum matmul_path {
    PATH_TILES =
        1, /* by tiles of C, from slices of A and B in local memory: GPUs (fma.cl, mma.cl) */
    PATH_PANELS = 2, /* by vectors, from panels of B in caches: CPUs (cpu.cl) */
    PATH_THIN = 3 /* a matrix, read once, times a few vectors in local memory: GPUs (skinny.cl) */
};
enum {
    OF_TILES = 1 << PATH_TILES,
    OF_PANELS = 1 << PATH_PANELS,
    OF_THIN = 1 << PATH_THIN,
    OF_ALL = OF_TILES | OF_PANELS | OF_THIN
};
enum {
    THIN_VECTORS = 16,   /* columns or rows of C that skinny.cl computes at a time, at most */
    THIN_ROWS = 5,       /* rows of the tuning store for it: of 1, 2, 4, 8 and 16 */
    TILES_SIDE = 1 << 21 /* rows and columns of what one launch of tiles computes, so that packed
                            operands stay below that, too */
};

/* The numbers that shape the launches on a device: X(key, of which path, least, most, default, what
 * it means). They are -D options of the kernels, launch sizes of the host, and the label of a
 * benchmark, all at once. The defaults hold when the store knows nothing of a device: small enough
 * for any. */
#define MATMUL_SHAPE_KEYS(X)                                                                                          \
    X(path, OF_ALL, 1, 3, 0, "1: tiles; 2: panels; 3: a matrix times a few vectors")                                  \
    X(bm, OF_TILES, 1, 256, 32, "rows of C a work-group computes")                                                    \
    X(bn, OF_TILES, 1, 256, 32, "columns of C a work-group computes")                                                 \
    X(bk, OF_TILES, 1, 64, 8, "depth of a slice in local memory, a multiple of 8")                                    \
    X(wm, OF_TILES, 1, 256, 32, "rows of C that 32 work-items compute")                                               \
    X(wn, OF_TILES, 1, 256, 16, "columns of C that 32 work-items compute")                                            \
    X(sets, OF_TILES, 1, 4, 1,                                                                                        \
      "2 or 4: so many times as many work-items, in sets that multiply a part of every slice each")                   \
    X(along, OF_TILES, 2, 8, 8,                                                                                       \
      "of neighbouring work-items, how many at least copy k of one row: 2, 4 or 8; mma=0")                            \
    X(order, OF_TILES, 0, 2, 0,                                                                                       \
      "of multiply-adds: 0: row by row; 1: four rows at a time, column by column; 2: eight columns at a time; mma=0") \
    X(early, OF_TILES, 0, 1, 0,                                                                                       \
      "1: with ahead=1, copies start before registers are filled from the next slice; mma=0")                         \
    X(stages, OF_TILES, 2, 8, 2, "slices in local memory")                                                            \
    X(ahead, OF_TILES, 0, 1, 0, "1: registers of the next step are filled during this one")                           \
    X(lanes, OF_TILES, 0, 2, 0, "how 32 work-items lie over their rows and columns: 0, 1 or 2")                       \
    X(raster, OF_TILES, 1, 1 << 20, 8, "rows of tiles that are walked together")                                      \
    X(mma, OF_TILES, 0, 1, 0,                                                                                         \
      "1: tensor cores, by PTX; double on NVIDIA from compute capability 9")                                          \
    X(async, OF_TILES, 0, 1, 0, "1: cp.async, by PTX; NVIDIA from compute capability 8")                              \
    X(pack, OF_TILES, 0, 1 << 20, 256,                                                                                \
      "operands without 16-byte alignment are copied if the other one has at least so many rows; 0: never")           \
    X(fill, OF_TILES, 1, 1 << 20, 8,                                                                                  \
      "work-groups that a compute unit has at a time: the depth is split to get them")                                \
    X(span, OF_TILES, 0, 1 << 20, 0, "the shortest part of a depth that is split; 0: never split")                    \
    X(rate, OF_TILES, 0, 100, 0,                                                                                      \
      "percent of its peak that a compute unit reaches with `fill` groups; 0: unknown")                               \
    X(alone, OF_TILES, 1, 100, 100,                                                                                   \
      "and with one; where `rate` is known, the row of least predicted time is used")                                 \
    X(narrow, OF_TILES, 1, 100, 100,                                                                                  \
      "percent of that where rows of A or B begin anywhere, and are not copied")                                      \
    X(width, OF_PANELS, 2, 16, 4, "elements of a vector")                                                             \
    X(rows, OF_PANELS, 1, 32, 6, "rows of C that a work-item holds in registers, at most")                            \
    X(vectors, OF_PANELS, 1, 8, 2, "vectors a row")                                                                   \
    X(depth, OF_PANELS, 1, 1 << 20, 256, "depth of a block, a multiple of width")                                     \
    X(high, OF_PANELS, 1, 1 << 20, 16,                                                                                \
      "a block of A, which the second-level cache holds, has at most `high` times `rows` rows")                       \
    X(unroll, OF_PANELS, 1, 64, 1, "steps of the inner loop written out")                                             \
    X(few, OF_THIN, 0, THIN_VECTORS, 8,                                                                               \
      "rows or columns of C at most, with which this path is taken; 0: never")                                        \
    X(items, OF_THIN, 32, 1024, 256, "work-items of a group, a power of two")                                         \
    X(line, OF_THIN, 16, 4096, 128,                                                                                   \
      "bytes of a row along the depth that neighbouring items read together, a power of two")                         \
    X(each, OF_THIN, 1, 8, 2, "rows along the depth that an item adds up")                                            \
    X(beside, OF_THIN, 1, 256, 32,                                                                                    \
      "items side by side where rows lie across the depth, a power of two")                                           \
    X(steps, OF_THIN, 1, 16, 4, "loads of an item, of each row, that are on their way together")                      \
    X(groups, OF_THIN, 1, 1 << 20, 512,                                                                               \
      "groups that there shall be: the depth is split to get them")                                                   \
    X(part, OF_THIN, 0, 1 << 20, 0,                                                                                   \
      "the shortest part of a depth that is split; 0: none is, as OpenCL 1.2 orders no memory between groups")        \
    X(byte, OF_THIN, 1, 1000, 9,                                                                                      \
      "multiply-adds that the device could do while it reads a byte of memory")

struct matmul_shape {
#define X(key, paths, least, most, value, text) int key;
    MATMUL_SHAPE_KEYS(X)
#undef X
};

/* A row of the tuning store for a device that can be compared with others. */
struct matmul_row {
    size_t size;
    struct matmul_shape shape;
    char line[512]; /* the same as words */
};
enum { MOST_ROWS = 16 };

/* A block of C. None: rows or cols are 0. */
struct area {
    size_t row, rows, col, cols;
};

/* Programs are built for a source and a line of options, when first asked for. */
enum matmul_source {
    SOURCE_FMA,
    SOURCE_MMA,
    SOURCE_PACK,
    SOURCE_CPU,
    SOURCE_LADDER,
    SOURCE_THIN,
    SOURCES
};
struct program {
    enum matmul_source source;
    char *options;
    void *handle;
    struct program *next;
};

/* Scratch memory on one device that grows as needed. */
struct scratch {
    void *block;
    size_t size;
};
enum { SCRATCH_PACK, SCRATCH_SPLIT, SCRATCHES };

/* Multiply-adds of products of many ranks, and for how long they kept a device, or the host,
 * busy. */
struct effort {
    double work, seconds;
};

/* How rows of A and B begin: at multiples of 32 bytes, as far as that matters; in double precision
 * those of both at multiples of 16 only; or those of one anywhere. */
enum lie { LIE_WELL, LIE_BESIDE, LIE_ANYWHERE };

/* What the plan for a product depends on. */
struct extent {
    size_t m, n, k, real; /* real: bytes of an element */
    enum lie lie;
    bool divisible; /* several groups may share a tile */
};

/* One device's share of the work. */
struct share {
    cl_uint dev;
    struct cldev_info info;
    bool is_cpu;
    int capability;       /* of NVIDIA's, 90 for 9.0; 0: another vendor's device */
    bool in_place;        /* host arrays are used where they are */
    double weight;        /* in the division of the work */
    struct effort effort; /* since that is its weight */
    struct scratch scratch[SCRATCHES];
    struct area area;       /* its block of the C that is loaded */
    struct operand a, b, c; /* what is loaded; of host arrays that a CPU device uses: buffers */
    cl_event copy[2]; /* copies that are queued, of which it is not known yet whether they fail */
    size_t bytes;     /* of device memory that is loaded */
    struct matmul_shape shape;         /* the last one chosen */
    struct cltune_row row;             /* the same as a line of words, and where it comes from */
    size_t row_size;                   /* the size of problem it was chosen for */
    bool row_batch;                    /* and whether for a batch */
    struct extent extent;              /* of the last product for which rows were compared */
    struct matmul_row rows[MOST_ROWS]; /* those that can be compared */
    size_t nrows;
    bool knows_rows;                   /* they were looked for */
    struct matmul_row thin[THIN_ROWS]; /* of few rows or columns; `size` 0: not looked for yet */
    size_t rest_rows,
        rest_cols; /* of the last product by tiles: the last ones of C, which skinny.cl computes */
    /* Called, while the device's kernels take long, with how many multiply-adds more are done;
     * non-zero ends the product. NULL: nobody is to be told, and kernels are launched whole and
     * without waiting. */
    int (*pause)(void *arg, double work);
    void *pause_arg;
    struct pace pace; /* of launches, while there is somebody to tell */
};

struct matmul {
    CLCONTEXT *ctx; /* NULL when the host computes */
    enum matmul_kind kind;
    enum matmul_precision precision;
    size_t real; /* bytes of an element */
    size_t block, memory;
    char *words; /* the caller's changes to a shape, or NULL */
    int (*progress)(void *arg, double fraction);
    void *arg;
    stdcl_world *world;         /* the ranks, or NULL */
    struct matmul_ranks *ranks; /* what they have loaded together (ranks.c), or NULL */
    double weight;              /* of this rank, as matmul_set_weight was told; 0: it was not */
    double peak;                /* of its devices, or 0: not asked for yet */
    struct effort effort;       /* of the host, and of devices together */
    size_t as[3]; /* m, n and k that shapes are chosen for, while ranks multiply; 0: those of the
                     product at hand */
    cl_uint ndev;
    struct share *share;
    pthread_mutex_t lock; /* of programs: devices are served by a thread each */
    struct program *programs;
    bool loaded, has_result;  /* between matmul_load and the next */
    struct host_product held; /* what was loaded; c: own memory when the host computes */
};

static inline struct stdcl_arg operand_arg(const struct operand *o)
{
    return o->block ? ARG_AT(o->block) : ARG_AT(o->buffer);
}

/* ---- check.c --------------------------------------------------------------------------------- */

/* Fills in leading dimensions that are 0; -1 with EINVAL when the product makes no sense. `call` is
 * the name of the public function, for messages. */
int matmul_check(const char *call, size_t real, struct host_product *p);

/* ---- kinds.c --------------------------------------------------------------------------------- */

/* The libraries that are opened when they are there; NULL when they are not. */
void *matmul_openblas(void);
void *matmul_clblast(void);

/* ---- shape.c --------------------------------------------------------------------------------- */

/* The shape of TUNED on a share's device for a product, left in share->shape, label and reason. */
int matmul_shape_choose(struct matmul *mm, struct share *p, size_t m, size_t n, size_t k,
                        enum lie lie);

/* The shape of skinny.cl for so many vectors, THIN_VECTORS at most. */
const struct matmul_row *matmul_shape_thin(struct matmul *mm, struct share *p, size_t vectors);

/* Compute units of its device. */
size_t matmul_units(const struct share *p);

/* The same for many products of that size by one launch. */
int matmul_shape_choose_batch(struct matmul *mm, struct share *p, size_t m, size_t n, size_t k);

/* ---- plan.c ---------------------------------------------------------------------------------- */

/* The first `whole` tiles are computed by a group each, the others by `splits`. */
struct tile_plan {
    size_t tiles, whole, splits;
    bool later;  /* a kernel of its own adds up their parts */
    double cost; /* multiply-adds that a compute unit could do meanwhile */
};
enum { PLAN_SHARED = 1 << 14 }; /* parts of tiles that are shared, at most */

/* Of least cost, on so many compute units. */
struct tile_plan matmul_plan(const struct matmul_shape *s, size_t units, const struct extent *e);

/* Of some rows, in ascending order of sizes, that of least cost; of several such the last one that
 * is not for more. NULL: there are none. */
const struct matmul_row *matmul_plan_row(const struct matmul_row *rows, size_t count, size_t units,
                                         const struct extent *e);

/* For how many vectors skinny.cl is built: 1, 2, 4, 8 or 16, which is the size of its rows. And the
 * row's `line`, or less where a row of X has so few bytes. */
size_t matmul_thin_vectors(size_t few);
size_t matmul_thin_line(const struct matmul_shape *s, size_t deep);

/* The cost of a product by skinny.cl, of `thin` a row of PATH_THIN; and what the same product costs
 * at least by tiles, as memory sets the pace. */
double matmul_plan_thin(const struct matmul_shape *thin, size_t units, const struct extent *e);
double matmul_plan_memory(const struct matmul_shape *thin, size_t units, const struct extent *e);

/* Of a product's rows, and of its columns: those that are whole tiles, if the others are few enough
 * for skinny.cl; else all of them. */
struct extent matmul_plan_inner(const struct matmul_shape *s, const struct extent *e);

/* The cost of the product where tiles compute the inner part, and skinny.cl rows below it, by the
 * row `below`, and columns beside it. */
double matmul_plan_with_rest(const struct matmul_shape *s, const struct matmul_shape *below,
                             const struct matmul_shape *beside, size_t units,
                             const struct extent *e);

/* ---- program.c ------------------------------------------------------------------------------- */

/* The kernel `name` of a source, built with these options for all devices. */
cl_kernel matmul_kernel(struct matmul *mm, enum matmul_source source, const char *options,
                        const char *name);

/* Seconds that this thread has spent in that. */
double matmul_seconds_built(void);

/* Fills a block on a share's device with words. Waits. */
int matmul_fill(struct matmul *mm, const struct share *p, void *block, cl_uint value, size_t bytes);

/* Memory that is made on a share's device, or NULL. Rows are padded there, and kernels multiply and
 * then drop what lies behind them. With $STDCL_DEBUG that is NaN: a result that it reached would
 * show it. */
void *matmul_block(struct matmul *mm, const struct share *p, size_t size, int flags);

/* At least `size` bytes of scratch memory of a share, made on its device; the old content is
 * lost. */
void *matmul_scratch(struct matmul *mm, struct share *p, int which, size_t size);

/* Scratch memory for partial sums of groups: PLAN_SHARED counters, which are 0 whenever no kernel
 * runs, then so many elements. */
void *matmul_partials(struct matmul *mm, struct share *p, size_t elements);

/* Queues a kernel that does `work` multiply-adds (0: it ends soon anyway): 0, or -1. With p->pause
 * a launch that would take long is cut into ranges of its groups, so kernels number groups by their
 * global id; ECANCELED when that ends it. */
int matmul_fork(struct matmul *mm, struct share *p, cl_kernel kernel, const clndrange_t *ndr,
                double work, cl_uint nargs, const struct stdcl_arg *args);

/* Tells a share's pause function of a product from now on, if the engine has a progress function;
 * NULL: no more. */
void matmul_pause_by(struct matmul *mm, struct share *p, int (*pause)(void *arg, double work),
                     void *arg);

/* C = beta C on a device. */
int matmul_scale(struct matmul *mm, struct share *p, size_t m, size_t n, double beta,
                 const struct operand *c);

void matmul_programs_close(struct matmul *mm);

/* ---- What computes. -------------------------------------------------------------------------- */

/* How rows of A and B begin. */
enum lie matmul_gpu_lie(const struct matmul *mm, const struct product *x);

/* Queue a product on a share's device. */
int matmul_gpu_start(struct matmul *mm, struct share *p, const struct product *x);
int matmul_cpu_start(struct matmul *mm, struct share *p, const struct product *x);
int matmul_thin_start(struct matmul *mm, struct share *p, const struct matmul_shape *s,
                      const struct product *x);
int matmul_gpu_batch(struct matmul *mm, struct share *p,
                     const struct product *x); /* x->count of them */
int matmul_cpu_batch(struct matmul *mm, struct share *p, const struct product *x);
int matmul_ladder_start(struct matmul *mm, struct share *p, const struct product *x);
int matmul_clblast_start(struct matmul *mm, struct share *p, const struct product *x);
void matmul_clblast_forget(void); /* CLBlast keeps programs, which must go before the drivers do */

/* Where matrices lie, that are in the engine's context and fit into their memory; and elements from
 * the first to behind the last. */
int matmul_operand(const struct matmul *mm, const struct matrices *s, struct operand *o);
size_t matmul_extent(const struct matrices *s);

/* Any of them, by kind and device; takes products with k or alpha 0 as well. */
int matmul_start(struct matmul *mm, struct share *p, const struct product *x);

/* Compute a product of host arrays; C = beta C, which is all there is to do when k or alpha is
 * 0. */
void matmul_host_scale(const struct matmul *mm, const struct host_product *p);
int matmul_host_run(struct matmul *mm, const struct host_product *p);

/* ---- partition.c
 * --------------------------------------------------------------------------------- */

/* The block of an m x n matrix C that is the share of device d: C is cut into a grid, by the
 * devices' weights. */
struct area matmul_area(const struct matmul *mm, cl_uint d, size_t m, size_t n);

/* The product of host arrays that computes one block of C. */
struct host_product matmul_piece(const struct matmul *mm, const struct host_product *p,
                                 struct area area);

/* Lets a CPU device use host arrays where they are: fills in the operands of x, whose buffers the
 * caller releases by matmul_unwrap. */
int matmul_wrap(struct matmul *mm, const struct share *p, const struct host_product *h,
                struct product *x);
void matmul_unwrap(struct product *x);
void matmul_release(struct operand *o);

/* Waits for a command: CL_SUCCESS, or why it failed, which NVIDIA's driver tells by its status
 * alone. */
cl_int matmul_await(cl_event ev);

/* Bytes of a share's device that products of host arrays may still use. */
size_t matmul_room(const struct matmul *mm, const struct share *p);

/* Queues a copy of rows x cols elements between the host and an operand on a device. The copy waits
 * for up to two events (NULL: none). If `done` is not NULL it receives the copy's event. */
enum direction { TO_DEVICE, TO_HOST };
int matmul_transfer(struct matmul *mm, const struct share *p, cl_command_queue queue,
                    enum direction direction, const struct operand *o, void *host, size_t ld,
                    size_t rows, size_t cols, cl_event wait1, cl_event wait2, cl_event *done);

/* ---- place.c --------------------------------------------------------------------------------- */

/* Lets go of what was loaded. */
void matmul_unload(struct matmul *mm);

/* ---- stream.c -------------------------------------------------------------------------------- */

/* Where panels of the depth come from, if they are not all in the caller's arrays (ranks.c). Called
 * by devices' threads. */
struct matmul_feed {
    void *arg;
    size_t panels, deep;  /* of the product at hand; the depth of a panel, at most */
    double total, before; /* work of all products of the call, and of those before this */
    /* Waits until a panel is there: fills in k, a, lda, b and ldb, of all of C. 1: the product is
     * to end. */
    int (*take)(void *arg, size_t panel, struct host_product *from);
    void (*done)(void *arg, size_t panel); /* the device does not read it any more */
    void (*give_up)(void *arg);            /* a device ends before the product does */
};

/* Computes a product of host arrays on all devices, or on the host. Blocks. `feed` may be NULL;
 * else k is that of panels, and all of C is added up at once, for which there must be room. */
int matmul_stream(struct matmul *mm, const struct host_product *p, const struct matmul_feed *feed);

/* Makes a block of C and the depth of panels so small that all devices have room for it. */
int matmul_stream_fit(struct matmul *mm, size_t *high, size_t *wide, size_t *deep);

/* ---- ranks.c --------------------------------------------------------------------------------- */

/* Collective: the product of matrices whose slabs of rows ranks have. */
int matmul_ranks_multiply(struct matmul *mm, const struct host_product *p);

/* The same of matrices that are not in memory: A, B, C. */
int matmul_ranks_multiply_far(struct matmul *mm, const struct host_product *p,
                              const struct matmul_far *const far[3]);

/* Collective: gathers what this rank's block of C needs; *h becomes the product that computes it,
 * from arrays that stay until matmul_ranks_unload, or matmul_ranks_forget where devices have
 * copies. */
int matmul_ranks_load(struct matmul *mm, struct host_product *h);
void matmul_ranks_forget(struct matmul *mm);
void matmul_ranks_shape(struct matmul *mm,
                        bool on); /* around a product of what is loaded: mm->as */
void matmul_ranks_unload(struct matmul *mm);
/* Collective: moves C from slabs to the blocks that are loaded, or back; `copy` is between devices
 * and a block on the host. */
int matmul_ranks_result(struct matmul *mm, void *c, size_t ldc, bool to_blocks,
                        int (*copy)(struct matmul *mm, void *c, size_t ldc));

#endif
