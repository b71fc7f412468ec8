/* matmul.c - create and free an engine; products of host arrays and of device memory.
 *
 * The public functions check their arguments here, once. Internal functions rely on the checks.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"
#include "matmul/partition.h"
#include "matmul/program.h"
#include "matmul/ranks.h"
#include "matmul/small.h"
#include "matmul/start.h"
#include "matmul/stream.h"

#include "core/device_info.h"
#include "core/no_device.h"
#include "core/progress.h"
#include "core/reserved.h"

/* ---- Create and free. ------------------------------------------------------------------------ */

static int engine_check_options(const struct matmul_options *o)
{
    if ((unsigned)o->kind >= MATMUL_KINDS || (unsigned)o->precision > MATMUL_DOUBLE)
        return clerror_set(EINVAL, "matmul_create: kind %d or precision %d does not exist",
                           (int)o->kind, (int)o->precision);
    const char *missing = matmul_kind_missing(o->kind);
    if (missing)
        return clerror_set(ENOTSUP, "matmul_create: no engine \"%s\": %s",
                           matmul_kind_name(o->kind), missing);
    if (o->block > 65536)
        return clerror_set(EINVAL, "matmul_create: block %zu is too large; the maximum is 65536",
                           o->block);
    return reserved_check("matmul_create", o->reserved);
}

/* Weight the devices: equally if all are of one model, else by their peaks. */
static void weigh_devices(struct matmul *mm)
{
    bool alike = true;
    for (cl_uint d = 0; d < mm->ndev; d++) {
        mm->device[d].weight = 1;
        alike = alike && strcmp(mm->device[d].info.dev_name, mm->device[0].info.dev_name) == 0;
    }
    for (cl_uint d = 0; !alike && d < mm->ndev; d++) {
        const double peak = matmul_peak(mm->ctx, d, mm->precision);
        mm->device[d].weight = peak > 0 ? peak : 1;
    }
}

/* Find NVIDIA's compute capability, which decides what PTX a device takes. */
static int find_capability(const struct matmul *mm, struct matmul_device *p)
{
    cl_uint capability = 0;
    cl_int err = CL_SUCCESS;
    if (vendor_is_nvidia(p->info.dev_vendor))
        err = device_compute_capability(clgetdevice(mm->ctx, p->dev), &capability);
    p->capability = (int)capability;
    return device_answered(err, p->dev, "matmul_create");
}

static int engine_check_device(const struct matmul *mm, const struct matmul_device *p)
{
    if (mm->precision == MATMUL_DOUBLE && !p->info.dev_pref_vec_double)
        return clerror_set(ENOTSUP, "matmul_create: %s has no double precision", p->info.dev_name);
    return 0;
}

static int check_block(const struct matmul *mm)
{
    const size_t most = matmul_block_limit(mm->ctx, mm->precision);
    if (mm->kind == MATMUL_BLOCKED && mm->block > most)
        return clerror_set(
            EINVAL,
            "matmul_create: block %zu x %zu is too large for the device; the maximum is %zu x %zu",
            mm->block, mm->block, most, most);
    return 0;
}

static int engine_open_devices(struct matmul *mm)
{
    struct cldev_info *info = calloc(mm->ndev, sizeof *info);
    mm->device = calloc(mm->ndev, sizeof *mm->device);
    int status =
        info && mm->device ? 0 : clerror_set(ENOMEM, "matmul_create: out of memory on the host");
    if (status == 0)
        status = clgetdevinfo(mm->ctx, info);
    for (cl_uint d = 0; status == 0 && d < mm->ndev; d++) {
        struct matmul_device *p = &mm->device[d];
        p->dev = d;
        p->info = info[d];
        p->is_cpu = info[d].dev_type & CL_DEVICE_TYPE_CPU;
        p->pace = pace_of(1e8);
        p->in_place = p->is_cpu && !mm->memory;
        status = find_capability(mm, p) == 0 ? engine_check_device(mm, p) : -1;
    }
    free(info);
    if (status == 0)
        weigh_devices(mm);
    return status == 0 ? check_block(mm) : -1;
}

/* Report words that fit no entry of a device at creation, not at the first product. */
static int engine_check_shape_words(struct matmul *mm)
{
    for (cl_uint d = 0; mm->kind == MATMUL_TUNED && mm->shape_words && d < mm->ndev; d++)
        if (matmul_shape_choose(mm, &mm->device[d], 1024, 1024, 1024, ALIGN_32) != 0)
            return -1;
    return 0;
}

matmul *matmul_create(const struct matmul_options *o)
{
    o = o ? o : &(const struct matmul_options){.ctx = NULL};
    if (engine_check_options(o) != 0)
        return NULL;
    const bool host = matmul_kind_is_host(o->kind);
    CLCONTEXT *ctx = host ? NULL : o->ctx ? o->ctx : stdgpu ? stdgpu : stdcpu;
    if (!host && clgetndev(ctx) == 0)
        return clerror_set(ENODEV, "matmul_create: there is no OpenCL device; " NO_DEVICE_REMEDY),
               NULL;
    struct matmul *mm = calloc(1, sizeof *mm);
    if (!mm)
        return clerror_set(ENOMEM, "matmul_create: out of memory on the host"), NULL;
    *mm = (struct matmul){.ctx = ctx,
                          .kind = o->kind,
                          .precision = o->precision,
                          .real = o->precision == MATMUL_DOUBLE ? sizeof(double) : sizeof(float),
                          .block = o->block                        ? o->block
                                   : o->kind == MATMUL_CPU_BLOCKED ? 64
                                                                   : 16,
                          .memory = o->memory,
                          .progress = o->progress,
                          .arg = o->arg,
                          .world = world_size(o->world) > 1 ? o->world : NULL,
                          .ndev = clgetndev(ctx)};
    pthread_mutex_init(&mm->lock, NULL);
    if (!o->block && o->kind == MATMUL_BLOCKED)
        mm->block = min_size(mm->block, matmul_block_limit(ctx, mm->precision));
    mm->shape_words = o->shape && *o->shape ? strdup(o->shape) : NULL;
    if (o->shape && *o->shape && !mm->shape_words)
        clerror_set(ENOMEM, "matmul_create: out of memory on the host");
    else if (!mm->ndev || (engine_open_devices(mm) == 0 && engine_check_shape_words(mm) == 0)) {
        mm->small = matmul_small_usable(mm) ? matmul_small_kernels() : NULL;
        return mm;
    }
    matmul_free(mm);
    return NULL;
}

void matmul_free(matmul *mm)
{
    if (!mm)
        return;
    if (mm->device || !mm->ndev)
        matmul_unload(mm);
    for (cl_uint d = 0; mm->device && d < mm->ndev; d++)
        for (int i = 0; i < WORKSPACES; i++)
            clfree(mm->device[d].workspace[i].block);
    matmul_programs_close(mm);
    matmul_small_free(mm);
    if (mm->kind == MATMUL_CLBLAST)
        matmul_clblast_clear_cache();
    pthread_mutex_destroy(&mm->lock);
    free(mm->shape_words);
    free(mm->device);
    free(mm);
}

/* ---- Products. ---------------------------------------------------------------------------- */

static int multiply_small(struct matmul *mm, const struct host_product *p)
{
    matmul_small_run(mm, p);
    return progress_cancels(mm->progress, mm->arg, 1, 1) ? progress_cancelled("matmul_multiply")
                                                         : 0;
}

int matmul_multiply(matmul *mm, enum matmul_trans trans, size_t m, size_t n, size_t k, double alpha,
                    const void *a, size_t lda, const void *b, size_t ldb, double beta, void *c,
                    size_t ldc)
{
    if (matmul_unusable(mm, __func__))
        return -1;
    struct host_product p = {trans, m, n, k, alpha, beta, a, b, c, lda, ldb, ldc};
    if (mm->world)
        return matmul_ranks_multiply(mm, &p);
    if (matmul_check("matmul_multiply", mm->real, &p) != 0)
        return -1;
    if (m == 0 || n == 0)
        return 0;
    if (k == 0 || alpha == 0)
        return matmul_host_scale(mm, &p), 0;
    return matmul_small_fits(mm, m, n, k) ? multiply_small(mm, &p) : matmul_stream(mm, &p, NULL);
}

int matmul_multiply_out_of_core(matmul *mm, enum matmul_trans trans, size_t m, size_t n, size_t k,
                                double alpha, const struct matmul_out_of_core *a,
                                const struct matmul_out_of_core *b, double beta,
                                const struct matmul_out_of_core *c)
{
    if (matmul_unusable(mm, __func__))
        return -1;
    const struct host_product p = {
        .trans = trans, .m = m, .n = n, .k = k, .alpha = alpha, .beta = beta};
    const struct matmul_out_of_core *const matrices[3] = {a, b, c};
    return matmul_ranks_multiply_out_of_core(mm, &p, matrices);
}

size_t matmul_footprint(const struct matrices *s)
{
    return (s->count - 1) * s->stride + (s->rows - 1) * s->ld + s->cols;
}

static int operand_of(const struct matmul *mm, const struct matrices *s, struct operand *o)
{
    if (s->count > 1 && s->stride > SIZE_MAX / mm->real / 2 / s->count)
        return clerror_set(EINVAL,
                           "%s: %zu matrices %s, %zu elements apart, are larger than any memory",
                           s->call, s->count, s->name, s->stride);
    union {
        const void *in;
        void *out;
    } ptr = {s->x};
    void *base = clmemptr(mm->ctx, ptr.out);
    if (!base)
        return -1;
    const size_t at = (size_t)((const char *)s->x - (const char *)base), size = clsizeofmem(base);
    if (at % mm->real || at + matmul_footprint(s) * mm->real > size)
        return clerror_set(
            EINVAL,
            "%s: %s, %zu times %zu rows of %zu elements from byte %zu on, does not fit into its %zu "
            "bytes",
            s->call, s->name, s->count, s->rows, s->ld, at, size);
    *o = (struct operand){.block = base, .offset = at / mm->real, .ld = s->ld};
    return 0;
}

int matmul_operands_of(const struct matmul *mm, cl_uint dev, const struct matrices *a,
                       const struct matrices *b, const struct matrices *c, struct product *x)
{
    const bool reads = x->k > 0 && x->alpha != 0;
    if (operand_of(mm, c, &x->c) != 0)
        return -1;
    if (reads && (operand_of(mm, a, &x->a) != 0 || operand_of(mm, b, &x->b) != 0))
        return -1;
    if (reads && (clmrequire(mm->ctx, dev, a->x, a->call) != 0 ||
                  clmrequire(mm->ctx, dev, b->x, b->call) != 0))
        return -1;
    return x->beta != 0 ? clmrequire(mm->ctx, dev, c->x, c->call) : 0;
}

int matmul_enqueue(matmul *mm, cl_uint dev, enum matmul_trans trans, size_t m, size_t n, size_t k,
                   double alpha, const void *a, size_t lda, const void *b, size_t ldb, double beta,
                   void *c, size_t ldc)
{
    if (no_handle(mm, __func__))
        return -1;
    struct host_product h = {trans, m, n, k, alpha, beta, a, b, c, lda, ldb, ldc};
    const bool ta = is_trans_a(trans), tb = is_trans_b(trans);
    struct product x = {
        .trans_a = ta, .trans_b = tb, .m = m, .n = n, .k = k, .alpha = alpha, .beta = beta};
    if (mm->ndev == 0)
        return clerror_set(ENOTSUP, "matmul_enqueue: engine \"%s\" computes on the host",
                           matmul_kind_name(mm->kind));
    if (dev >= mm->ndev)
        return clerror_set(EINVAL, "matmul_enqueue: device %u does not exist; the context has %u",
                           dev, mm->ndev);
    if (matmul_check("matmul_enqueue", mm->real, &h) != 0)
        return -1;
    if (m == 0 || n == 0)
        return 0;
    const struct matrices sc = {"matmul_enqueue", "C", c, m, n, h.ldc, 0, 1},
                          sa = {"matmul_enqueue", "A", a, ta ? k : m, ta ? m : k, h.lda, 0, 1},
                          sb = {"matmul_enqueue", "B", b, tb ? n : k, tb ? k : n, h.ldb, 0, 1};
    if (matmul_operands_of(mm, dev, &sa, &sb, &sc, &x) != 0)
        return -1;
    if (matmul_small_fits_enqueued(mm, &x))
        return matmul_small_enqueued(mm, dev, "matmul_enqueue", &h, &x);
    return matmul_start(mm, &mm->device[dev], &x);
}

/* ---- matmul_single, matmul_double. ----------------------------------------------------------- */

static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;
static matmul *shared[2]; /* by precision; kept until the process ends */

static int multiply_shared(enum matmul_precision precision, enum matmul_trans trans, size_t m,
                           size_t n, size_t k, double alpha, const void *a, size_t lda,
                           const void *b, size_t ldb, double beta, void *c, size_t ldc)
{
    pthread_mutex_lock(&shared_lock);
    if (!shared[precision]) {
        CLCONTEXT *all = stdgpu ? stdgpu : stdcpu;
        const cl_device_id first = clgetdevice(all, 0);
        CLCONTEXT *one = first ? clcontext_create_from(&first, 1) : all;
        shared[precision] =
            matmul_create(&(struct matmul_options){.ctx = one, .precision = precision});
    }
    const int status = shared[precision] ? matmul_multiply(shared[precision], trans, m, n, k, alpha,
                                                           a, lda, b, ldb, beta, c, ldc)
                                         : -1;
    pthread_mutex_unlock(&shared_lock);
    return status;
}

int matmul_single(enum matmul_trans trans, size_t m, size_t n, size_t k, float alpha,
                  const float *a, size_t lda, const float *b, size_t ldb, float beta, float *c,
                  size_t ldc)
{
    return multiply_shared(MATMUL_SINGLE, trans, m, n, k, (double)alpha, a, lda, b, ldb,
                           (double)beta, c, ldc);
}

int matmul_double(enum matmul_trans trans, size_t m, size_t n, size_t k, double alpha,
                  const double *a, size_t lda, const double *b, size_t ldb, double beta, double *c,
                  size_t ldc)
{
    return multiply_shared(MATMUL_DOUBLE, trans, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

/* ---- Shape and its source. ------------------------------------------------------------------- */

static const struct matmul_device *device_with_shape(matmul *mm, cl_uint dev, size_t m, size_t n,
                                                     size_t k)
{
    if (mm->kind != MATMUL_TUNED || dev >= mm->ndev || m == 0 || n == 0 || k == 0)
        return NULL;
    const struct product x = {.m = m,
                              .n = n,
                              .k = k,
                              .a = {.ld = k},
                              .b = {.ld = n},
                              .c = {.ld = n}}; /* contiguous rows, A and B not transposed */
    return matmul_shape_choose(mm, &mm->device[dev], m, n, k, matmul_gpu_alignment(mm, &x)) == 0
               ? &mm->device[dev]
               : NULL;
}

const char *matmul_shape(matmul *mm, cl_uint dev, size_t m, size_t n, size_t k)
{
    if (no_handle(mm, __func__))
        return "";
    const struct matmul_device *p =
        matmul_small_fits(mm, m, n, k) ? NULL : device_with_shape(mm, dev, m, n, k);
    return p ? p->entry.shape : "";
}

const char *matmul_explain(matmul *mm, cl_uint dev, size_t m, size_t n, size_t k)
{
    if (no_handle(mm, __func__))
        return "";
    if (matmul_small_fits(mm, m, n, k))
        return "a small product on CPUs: computed by the host, without a kernel";
    const struct matmul_device *p = device_with_shape(mm, dev, m, n, k);
    return p ? p->entry.source : "";
}
