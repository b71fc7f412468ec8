/* matmul.c - making and freeing an engine; products of host arrays and of device memory.
 *
 * What is asked for is checked here, once; the files behind (see engine.h) take it as right.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"

#include "core/device_info.h"
#include "core/handle.h"
#include "core/reserved.h"

/* ---- Making. ------------------------------------------------------------------------------ */

static int check_options(const struct matmul_options *o)
{
    if ((unsigned)o->kind >= MATMUL_KINDS || (unsigned)o->precision > MATMUL_DOUBLE)
        return clerror_set(EINVAL,
                           "matmul_create: kind %d, precision %d: one of them does not exist",
                           (int)o->kind, (int)o->precision);
    const char *missing = matmul_kind_missing(o->kind);
    if (missing)
        return clerror_set(ENOTSUP, "matmul_create: no engine \"%s\": %s",
                           matmul_kind_name(o->kind), missing);
    if (o->block > 65536)
        return clerror_set(EINVAL, "matmul_create: a block of %zu; blocks go up to 65536",
                           o->block);
    return reserved_check("matmul_create", o->reserved);
}

/* Devices of one model share alike, others by what they can do at best. */
static void weigh(struct matmul *mm)
{
    bool alike = true;
    for (cl_uint d = 0; d < mm->ndev; d++) {
        mm->share[d].weight = 1;
        alike = alike && strcmp(mm->share[d].info.dev_name, mm->share[0].info.dev_name) == 0;
    }
    for (cl_uint d = 0; !alike && d < mm->ndev; d++) {
        const double peak = matmul_peak(mm->ctx, d, mm->precision);
        mm->share[d].weight = peak > 0 ? peak : 1;
    }
}

/* NVIDIA's compute capability, which says what PTX a device takes. */
static int find_capability(const struct matmul *mm, struct share *p)
{
    cl_uint capability = 0;
    cl_int err = CL_SUCCESS;
    if (vendor_is_nvidia(p->info.dev_vendor))
        err = device_compute_capability(clgetdevice(mm->ctx, p->dev), &capability);
    p->capability = (int)capability;
    return device_answered(err, p->dev, "matmul_create");
}

static int check_device(const struct matmul *mm, const struct share *p)
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
            EINVAL, "matmul_create: a block of %zu x %zu; the device takes at most %zu x %zu",
            mm->block, mm->block, most, most);
    return 0;
}

static int open_devices(struct matmul *mm)
{
    struct cldev_info *info = calloc(mm->ndev, sizeof *info);
    mm->share = calloc(mm->ndev, sizeof *mm->share);
    int status =
        info && mm->share ? 0 : clerror_set(ENOMEM, "matmul_create: no memory on the host");
    if (status == 0)
        status = clgetdevinfo(mm->ctx, info);
    for (cl_uint d = 0; status == 0 && d < mm->ndev; d++) {
        struct share *p = &mm->share[d];
        p->dev = d;
        p->info = info[d];
        p->is_cpu = info[d].dev_type & CL_DEVICE_TYPE_CPU;
        p->pace = pace_of(1e8);
        p->in_place = p->is_cpu && !mm->memory;
        status = find_capability(mm, p) == 0 ? check_device(mm, p) : -1;
    }
    free(info);
    if (status == 0)
        weigh(mm);
    return status == 0 ? check_block(mm) : -1;
}

/* Words that no device's row could be changed by are told now, not at the first product. */
static int check_words(struct matmul *mm)
{
    for (cl_uint d = 0; mm->kind == MATMUL_TUNED && mm->words && d < mm->ndev; d++)
        if (matmul_shape_choose(mm, &mm->share[d], 1024, 1024, 1024, LIE_WELL) != 0)
            return -1;
    return 0;
}

matmul *matmul_create(const struct matmul_options *o)
{
    o = o ? o : &(const struct matmul_options){.ctx = NULL};
    if (check_options(o) != 0)
        return NULL;
    const bool host = matmul_kind_is_host(o->kind);
    CLCONTEXT *ctx = host ? NULL : o->ctx ? o->ctx : stdgpu ? stdgpu : stdcpu;
    if (!host && clgetndev(ctx) == 0)
        return clerror_set(ENODEV, "matmul_create: there is no OpenCL device"), NULL;
    struct matmul *mm = calloc(1, sizeof *mm);
    if (!mm)
        return clerror_set(ENOMEM, "matmul_create: no memory on the host"), NULL;
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
        mm->block = smaller(mm->block, matmul_block_limit(ctx, mm->precision));
    mm->words = o->shape && *o->shape ? strdup(o->shape) : NULL;
    if (o->shape && *o->shape && !mm->words)
        clerror_set(ENOMEM, "matmul_create: no memory on the host");
    else if (!mm->ndev || (open_devices(mm) == 0 && check_words(mm) == 0))
        return mm;
    matmul_free(mm);
    return NULL;
}

void matmul_free(matmul *mm)
{
    if (!mm)
        return;
    if (mm->share || !mm->ndev)
        matmul_unload(mm);
    for (cl_uint d = 0; mm->share && d < mm->ndev; d++)
        for (int i = 0; i < SCRATCHES; i++)
            clfree(mm->share[d].scratch[i].block);
    matmul_programs_close(mm);
    if (mm->kind == MATMUL_CLBLAST)
        matmul_clblast_forget();
    pthread_mutex_destroy(&mm->lock);
    free(mm->words);
    free(mm->share);
    free(mm);
}

/* ---- Products. ---------------------------------------------------------------------------- */

int matmul_multiply(matmul *mm, enum matmul_trans trans, size_t m, size_t n, size_t k, double alpha,
                    const void *a, size_t lda, const void *b, size_t ldb, double beta, void *c,
                    size_t ldc)
{
    if (no_handle(mm, __func__))
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
    return matmul_stream(mm, &p, NULL);
}

int matmul_multiply_out_of_core(matmul *mm, enum matmul_trans trans, size_t m, size_t n, size_t k,
                                double alpha, const struct matmul_far *a,
                                const struct matmul_far *b, double beta, const struct matmul_far *c)
{
    if (no_handle(mm, __func__))
        return -1;
    const struct host_product p = {
        .trans = trans, .m = m, .n = n, .k = k, .alpha = alpha, .beta = beta};
    const struct matmul_far *const far[3] = {a, b, c};
    return matmul_ranks_multiply_far(mm, &p, far);
}

size_t matmul_extent(const struct matrices *s)
{
    return (s->count - 1) * s->stride + (s->rows - 1) * s->ld + s->cols;
}

int matmul_operand(const struct matmul *mm, const struct matrices *s, struct operand *o)
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
    if (at % mm->real || at + matmul_extent(s) * mm->real > size)
        return clerror_set(
            EINVAL,
            "%s: %s, %zu times %zu rows of %zu elements from byte %zu on, does not fit into its %zu "
            "bytes",
            s->call, s->name, s->count, s->rows, s->ld, at, size);
    *o = (struct operand){.block = base, .offset = at / mm->real, .ld = s->ld};
    return 0;
}

int matmul_enqueue(matmul *mm, cl_uint dev, enum matmul_trans trans, size_t m, size_t n, size_t k,
                   double alpha, const void *a, size_t lda, const void *b, size_t ldb, double beta,
                   void *c, size_t ldc)
{
    if (no_handle(mm, __func__))
        return -1;
    struct host_product h = {trans, m, n, k, alpha, beta, a, b, c, lda, ldb, ldc};
    const bool ta = trans_a(trans), tb = trans_b(trans);
    struct product x = {
        .trans_a = ta, .trans_b = tb, .m = m, .n = n, .k = k, .alpha = alpha, .beta = beta};
    if (mm->ndev == 0)
        return clerror_set(ENOTSUP, "matmul_enqueue: engine \"%s\" computes on the host",
                           matmul_kind_name(mm->kind));
    if (dev >= mm->ndev)
        return clerror_set(EINVAL, "matmul_enqueue: there is no device %u; the context has %u", dev,
                           mm->ndev);
    if (matmul_check("matmul_enqueue", mm->real, &h) != 0)
        return -1;
    if (m == 0 || n == 0)
        return 0;
    const struct matrices sc = {"matmul_enqueue", "C", c, m, n, h.ldc, 0, 1},
                          sa = {"matmul_enqueue", "A", a, ta ? k : m, ta ? m : k, h.lda, 0, 1},
                          sb = {"matmul_enqueue", "B", b, tb ? n : k, tb ? k : n, h.ldb, 0, 1};
    if (matmul_operand(mm, &sc, &x.c) != 0 ||
        (k > 0 && alpha != 0 &&
         (matmul_operand(mm, &sa, &x.a) != 0 || matmul_operand(mm, &sb, &x.b) != 0)))
        return -1;
    return matmul_start(mm, &mm->share[dev], &x);
}

/* ---- One call. ---------------------------------------------------------------------------- */

static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;
static matmul *shared[2]; /* by precision; kept until the program ends */

static int run_shared(enum matmul_precision precision, enum matmul_trans trans, size_t m, size_t n,
                      size_t k, double alpha, const void *a, size_t lda, const void *b, size_t ldb,
                      double beta, void *c, size_t ldc)
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
    return run_shared(MATMUL_SINGLE, trans, m, n, k, (double)alpha, a, lda, b, ldb, (double)beta, c,
                      ldc);
}

int matmul_double(enum matmul_trans trans, size_t m, size_t n, size_t k, double alpha,
                  const double *a, size_t lda, const double *b, size_t ldb, double beta, double *c,
                  size_t ldc)
{
    return run_shared(MATMUL_DOUBLE, trans, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

/* ---- Questions. --------------------------------------------------------------------------- */

static const struct share *share_for(matmul *mm, cl_uint dev, size_t m, size_t n, size_t k)
{
    if (mm->kind != MATMUL_TUNED || dev >= mm->ndev || m == 0 || n == 0 || k == 0)
        return NULL;
    const struct product x = {
        .m = m,
        .n = n,
        .k = k,
        .a = {.ld = k},
        .b = {.ld = n},
        .c = {.ld = n}}; /* rows one behind the other, of A and B as they are */
    return matmul_shape_choose(mm, &mm->share[dev], m, n, k, matmul_gpu_lie(mm, &x)) == 0
               ? &mm->share[dev]
               : NULL;
}

const char *matmul_shape(matmul *mm, cl_uint dev, size_t m, size_t n, size_t k)
{
    if (no_handle(mm, __func__))
        return "";
    const struct share *p = share_for(mm, dev, m, n, k);
    return p ? p->row.shape : "";
}

const char *matmul_explain(matmul *mm, cl_uint dev, size_t m, size_t n, size_t k)
{
    if (no_handle(mm, __func__))
        return "";
    const struct share *p = share_for(mm, dev, m, n, k);
    return p ? p->row.source : "";
}
