/* place.c - matrices that stay on the devices.
 *
 * In a GPU's memory a row begins at a multiple of 128 bytes, whatever the leading dimension on the
 * host. A CPU device uses A and B where they are.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"

#include "core/clock.h"
#include "core/handle.h"
#include "core/progress.h"

/* ---- Copies under way. ----------------------------------------------------------------------- */

static bool is_busy(const struct share *p)
{
    return p->area.rows && p->area.cols;
}

static void forget_copies(struct share *p)
{
    for (int i = 0; i < 2; i++) {
        if (p->copy[i])
            clReleaseEvent(p->copy[i]);
        p->copy[i] = NULL;
    }
}

/* Waits for the copies, and for kernels before them: -1 when any of them failed. */
static int finish(struct matmul *mm, struct share *p)
{
    cl_int err = CL_SUCCESS;
    for (int i = 0; err == CL_SUCCESS && i < 2; i++)
        err = p->copy[i] ? matmul_await(p->copy[i]) : CL_SUCCESS;
    forget_copies(p);
    if (err != CL_SUCCESS)
        return clerror_set(EIO, "matmul: a copy on %s failed (%s)", p->info.dev_name,
                           oclerror_str(err));
    return clwait(mm->ctx, p->dev, CL_KERNEL_EVENT) == (cl_event)-1 ? -1 : 0;
}

static int finish_all(struct matmul *mm)
{
    int status = 0;
    for (struct share *p = mm->share; p < mm->share + mm->ndev; p++)
        if (is_busy(p) && finish(mm, p) != 0)
            status = -1;
    return status;
}

/* ---- Loading. -------------------------------------------------------------------------------- */

static void drop(struct share *p)
{
    struct operand *const o[] = {&p->a, &p->b, &p->c};
    forget_copies(p);
    for (int i = 0; i < 3; i++) {
        clfree(o[i]->block);
        matmul_release(o[i]);
        *o[i] = (struct operand){0};
    }
    p->bytes = 0;
    p->area = (struct area){0};
}

void matmul_unload(struct matmul *mm)
{
    for (cl_uint d = 0; d < mm->ndev; d++)
        drop(&mm->share[d]);
    if (mm->ndev == 0)
        free(mm->held.c);
    matmul_ranks_unload(mm);
    mm->held = (struct host_product){0};
    mm->loaded = mm->has_result = false;
}

/* Room for rows x cols elements on a share's device. */
static int place(struct matmul *mm, struct share *p, size_t rows, size_t cols, const char *name,
                 struct operand *o)
{
    const size_t ld = round_up(cols, 128 / mm->real), bytes = rows * ld * mm->real;
    *o = (struct operand){.ld = ld};
    if (bytes > matmul_room(mm, p) || bytes > p->info.dev_max_mem_alloc_sz)
        return clerror_set(
            ENOMEM, "matmul_load: %s needs %zu bytes on %s, of which %zu may be used", name, bytes,
            p->info.dev_name, smaller(matmul_room(mm, p), p->info.dev_max_mem_alloc_sz));
    o->block = matmul_block(mm, p, bytes, p->in_place ? CL_MEM_ZEROCOPY : CL_MEM_DEVONLY);
    if (!o->block)
        return -1;
    p->bytes += bytes;
    return 0;
}

static int load_copies(struct matmul *mm, struct share *p, const struct host_product *h)
{
    const bool ta = trans_a(h->trans), tb = trans_b(h->trans);
    const size_t ra = ta ? h->k : h->m, ca = ta ? h->m : h->k, rb = tb ? h->n : h->k,
                 cb = tb ? h->k : h->n;
    cl_command_queue queue = clgetqueue(mm->ctx, p->dev);
    union {
        const void *in;
        void *out;
    } a = {h->a}, b = {h->b};
    if (place(mm, p, ra, ca, "A", &p->a) != 0 || place(mm, p, rb, cb, "B", &p->b) != 0)
        return -1;
    if (matmul_transfer(mm, p, queue, TO_DEVICE, &p->a, a.out, h->lda, ra, ca, NULL, NULL,
                        &p->copy[0]) != 0)
        return -1;
    return matmul_transfer(mm, p, queue, TO_DEVICE, &p->b, b.out, h->ldb, rb, cb, NULL, NULL,
                           &p->copy[1]);
}

static int load_share(struct matmul *mm, struct share *p)
{
    const struct host_product h = matmul_piece(mm, &mm->held, p->area);
    if (place(mm, p, h.m, h.n, "C", &p->c) != 0)
        return -1;
    if (h.k == 0)
        return 0;
    if (!p->in_place)
        return load_copies(mm, p, &h);
    struct product x;
    int status = matmul_wrap(mm, p, &h, &x);
    p->a = x.a;
    p->b = x.b;
    return status;
}

static int load_devices(struct matmul *mm)
{
    for (struct share *p = mm->share; p < mm->share + mm->ndev; p++) {
        p->area = matmul_area(mm, p->dev, mm->held.m, mm->held.n);
        if (is_busy(p) && load_share(mm, p) != 0)
            return -1;
    }
    return finish_all(mm);
}

/* The host multiplies from the caller's arrays into its own C. */
static int load_host(struct matmul *mm)
{
    mm->held.ldc = mm->held.n;
    mm->held.c = calloc(mm->held.m * mm->held.n + 1, mm->real);
    return mm->held.c
               ? 0
               : clerror_set(ENOMEM, "matmul_load: no memory on the host for a C of %zu x %zu",
                             mm->held.m, mm->held.n);
}

static bool any_in_place(const struct matmul *mm)
{
    for (cl_uint d = 0; d < mm->ndev; d++)
        if (mm->share[d].in_place)
            return true;
    return false;
}

int matmul_load(matmul *mm, enum matmul_trans trans, size_t m, size_t n, size_t k, const void *a,
                size_t lda, const void *b, size_t ldb)
{
    if (no_handle(mm, __func__))
        return -1;
    struct host_product h = {
        .trans = trans, .m = m, .n = n, .k = k, .alpha = 1, .a = a, .b = b, .lda = lda, .ldb = ldb};
    double any; /* for the check, which wants a C */
    h.c = &any;
    if (k == 0)
        h.alpha = 0;
    matmul_unload(mm);
    if (mm->world ? matmul_ranks_load(mm, &h) != 0 : matmul_check("matmul_load", mm->real, &h) != 0)
        return matmul_unload(mm), -1;
    h.c = NULL;
    mm->held = h;
    if (world_reduce_status(mm->world, mm->ndev ? load_devices(mm) : load_host(mm)) != 0)
        return matmul_unload(mm), -1;
    if (mm->world && mm->ndev && !any_in_place(mm))
        matmul_ranks_forget(mm);
    mm->loaded = true;
    return 0;
}

/* ---- What was loaded. ------------------------------------------------------------------------ */

static void copy_rows(char *to, size_t to_ld, const char *from, size_t from_ld, size_t rows,
                      size_t bytes)
{
    for (size_t i = 0; i < rows; i++)
        memcpy(to + i * to_ld, from + i * from_ld, bytes);
}

static int check_result(const struct matmul *mm, const char *call, const void *c, size_t *ldc)
{
    if (!mm->loaded)
        return clerror_set(EINVAL, "%s: nothing is loaded; call matmul_load first", call);
    if (mm->world) /* see matmul_ranks_result */
        return 0;
    *ldc = *ldc ? *ldc : mm->held.n;
    if (*ldc < mm->held.n)
        return clerror_set(EINVAL,
                           "%s: the leading dimension of C is %zu, but its rows have %zu elements",
                           call, *ldc, mm->held.n);
    return c || mm->held.m == 0 || mm->held.n == 0 ? 0 : clerror_set(EINVAL, "%s: C is NULL", call);
}

/* Copies C between the devices and host rows of ldc. */
static int transfer_result(struct matmul *mm, enum direction direction, char *c, size_t ldc)
{
    int status = 0;
    for (struct share *p = mm->share; status == 0 && p < mm->share + mm->ndev; p++)
        if (is_busy(p))
            status = matmul_transfer(mm, p, clgetqueue(mm->ctx, p->dev), direction, &p->c,
                                     c + (p->area.row * ldc + p->area.col) * mm->real, ldc,
                                     p->area.rows, p->area.cols, NULL, NULL, &p->copy[0]);
    return finish_all(mm) == 0 ? status : -1;
}

/* Between the host and the devices, or the host's own C. */
static int put_result(struct matmul *mm, void *c, size_t ldc)
{
    if (mm->ndev)
        return transfer_result(mm, TO_DEVICE, c, ldc);
    copy_rows(mm->held.c, mm->held.n * mm->real, c, ldc * mm->real, mm->held.m,
              mm->held.n * mm->real);
    return 0;
}

static int get_result(struct matmul *mm, void *c, size_t ldc)
{
    if (mm->ndev)
        return transfer_result(mm, TO_HOST, c, ldc);
    copy_rows(c, ldc * mm->real, mm->held.c, mm->held.n * mm->real, mm->held.m,
              mm->held.n * mm->real);
    return 0;
}

int matmul_load_result(matmul *mm, const void *c, size_t ldc)
{
    if (no_handle(mm, __func__))
        return -1;
    union {
        const void *in;
        void *out;
    } host = {c};
    if (check_result(mm, "matmul_load_result", c, &ldc) != 0)
        return -1;
    if ((mm->world ? matmul_ranks_result(mm, host.out, ldc, true, put_result)
                   : put_result(mm, host.out, ldc)) != 0)
        return -1;
    mm->has_result = true;
    return 0;
}

int matmul_result(matmul *mm, void *c, size_t ldc)
{
    if (no_handle(mm, __func__))
        return -1;
    if (check_result(mm, "matmul_result", c, &ldc) != 0)
        return -1;
    if (!mm->has_result)
        return clerror_set(EINVAL,
                           "matmul_result: nothing was computed; call matmul_compute first");
    return mm->world ? matmul_ranks_result(mm, c, ldc, false, get_result) : get_result(mm, c, ldc);
}

/* Of a product on one device its caller is told. */
struct telling {
    struct matmul *mm;
    double total, done;
};

static int tell(void *arg, double work)
{
    struct telling *t = arg;
    t->done += work;
    return progress_cancels(t->mm->progress, t->mm->arg, t->done, t->total);
}

static int compute_devices(struct matmul *mm, double alpha, double beta)
{
    const struct host_product *h = &mm->held;
    struct telling telling = {mm, (double)h->m * (double)h->n * (double)h->k, 0};
    int status = 0;
    if (mm->ndev == 1)
        matmul_pause_by(mm, &mm->share[0], tell, &telling);
    for (struct share *p = mm->share; status == 0 && p < mm->share + mm->ndev; p++) {
        const struct product x = {.trans_a = trans_a(h->trans),
                                  .trans_b = trans_b(h->trans),
                                  .m = p->area.rows,
                                  .n = p->area.cols,
                                  .k = h->k,
                                  .alpha = alpha,
                                  .beta = beta,
                                  .a = p->a,
                                  .b = p->b,
                                  .c = p->c};
        if (is_busy(p))
            status = matmul_start(mm, p, &x);
        if (is_busy(p) && status == 0)
            status = clflush(mm->ctx, p->dev, 0);
    }
    for (cl_uint d = 0; d < mm->ndev; d++)
        if (clwait(mm->ctx, d, CL_KERNEL_EVENT) == (cl_event)-1)
            status = -1;
    pace_waited(&mm->share[0].pace);
    matmul_pause_by(mm, &mm->share[0], NULL, NULL);
    return status;
}

/* And for how long; devices are waited for together. */
static int compute_busy(struct matmul *mm, double alpha, double beta)
{
    const double start = seconds_now(), built = matmul_seconds_built();
    if (mm->world)
        matmul_ranks_shape(mm, true);
    const int status = mm->ndev ? compute_devices(mm, alpha, beta) : matmul_host_run(mm, &mm->held);
    if (mm->world)
        matmul_ranks_shape(mm, false);
    mm->effort.work += (double)mm->held.m * (double)mm->held.n * (double)mm->held.k;
    mm->effort.seconds += seconds_now() - start - (matmul_seconds_built() - built);
    return status;
}

int matmul_compute(matmul *mm, double alpha, double beta)
{
    if (no_handle(mm, __func__))
        return -1;
    if (!mm->loaded)
        return clerror_set(EINVAL, "matmul_compute: nothing is loaded; call matmul_load first");
    if (beta != 0 && !mm->has_result)
        return clerror_set(
            EINVAL,
            "matmul_compute: beta is %g, but there is no C yet; call matmul_load_result first",
            beta);
    mm->held.alpha = alpha;
    mm->held.beta = beta;
    if (world_reduce_status(
            mm->world, mm->held.m > 0 && mm->held.n > 0 ? compute_busy(mm, alpha, beta) : 0) != 0)
        return -1;
    mm->has_result = true;
    return 0;
}
