/* place.c - matrices that stay on the devices: matmul_load, matmul_compute, matmul_result.
 *
 * In a GPU's memory a row starts at a multiple of 128 bytes, whatever the leading dimension on the
 * host. A CPU device reads A and B in place.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"
#include "matmul/partition.h"
#include "matmul/program.h"
#include "matmul/ranks.h"
#include "matmul/small.h"
#include "matmul/start.h"

#include "core/clock.h"
#include "core/progress.h"

/* ---- Transfers in flight. -------------------------------------------------------------------- */

static bool has_block(const struct matmul_device *p)
{
    return p->area.rows && p->area.cols;
}

static void release_copies(struct matmul_device *p)
{
    for (int i = 0; i < 2; i++) {
        if (p->copies[i])
            clReleaseEvent(p->copies[i]);
        p->copies[i] = NULL;
    }
}

/* Block until the copies, and the kernels before them, are complete. Return -1 if any of them
 * failed. */
static int finish_copies(struct matmul *mm, struct matmul_device *p)
{
    cl_int err = CL_SUCCESS;
    for (int i = 0; err == CL_SUCCESS && i < 2; i++)
        err = p->copies[i] ? matmul_wait_event(p->copies[i]) : CL_SUCCESS;
    release_copies(p);
    if (err != CL_SUCCESS)
        return clerror_set(EIO, "matmul: a copy on %s failed (%s)", p->info.dev_name,
                           oclerror_str(err));
    return clwait(mm->ctx, p->dev, CL_KERNEL_EVENT) == (cl_event)-1 ? -1 : 0;
}

static int finish_all_copies(struct matmul *mm)
{
    int status = 0;
    for (struct matmul_device *p = mm->device; p < mm->device + mm->ndev; p++)
        if (has_block(p) && finish_copies(mm, p) != 0)
            status = -1;
    return status;
}

/* ---- Load. ----------------------------------------------------------------------------------- */

static void device_unload(struct matmul_device *p)
{
    struct operand *const o[] = {&p->a, &p->b, &p->c};
    release_copies(p);
    for (int i = 0; i < 3; i++) {
        clfree(o[i]->block);
        matmul_release_operand(o[i]);
        *o[i] = (struct operand){0};
    }
    p->loaded_bytes = 0;
    p->area = (struct area){0};
}

void matmul_unload(struct matmul *mm)
{
    for (cl_uint d = 0; d < mm->ndev; d++)
        device_unload(&mm->device[d]);
    if (mm->ndev == 0)
        free(mm->resident.c);
    matmul_ranks_unload(mm);
    mm->resident = (struct host_product){0};
    mm->loaded = mm->has_result = false;
}

/* Allocate rows x cols elements on a device. */
static int operand_alloc(struct matmul *mm, struct matmul_device *p, size_t rows, size_t cols,
                         const char *name, struct operand *o)
{
    const size_t ld = round_up(cols, 128 / mm->real), bytes = rows * ld * mm->real;
    *o = (struct operand){.ld = ld};
    if (bytes > matmul_memory_left(mm, p) || bytes > p->info.dev_max_mem_alloc_sz)
        return clerror_set(
            ENOMEM, "matmul_load: %s needs %zu bytes on %s, of which %zu may be used", name, bytes,
            p->info.dev_name, min_size(matmul_memory_left(mm, p), p->info.dev_max_mem_alloc_sz));
    o->block = matmul_device_alloc(mm, p, bytes, p->in_place ? CL_MEM_ZEROCOPY : CL_MEM_DEVONLY);
    if (!o->block)
        return -1;
    p->loaded_bytes += bytes;
    return 0;
}

static int device_upload(struct matmul *mm, struct matmul_device *p, const struct host_product *h)
{
    const bool ta = is_trans_a(h->trans), tb = is_trans_b(h->trans);
    const size_t ra = ta ? h->k : h->m, ca = ta ? h->m : h->k, rb = tb ? h->n : h->k,
                 cb = tb ? h->k : h->n;
    cl_command_queue queue = clgetqueue(mm->ctx, p->dev);
    union {
        const void *in;
        void *out;
    } a = {h->a}, b = {h->b};
    if (operand_alloc(mm, p, ra, ca, "A", &p->a) != 0 ||
        operand_alloc(mm, p, rb, cb, "B", &p->b) != 0)
        return -1;
    if (matmul_transfer(mm, p, queue, TO_DEVICE, &p->a, a.out, h->lda, ra, ca, NULL, NULL,
                        &p->copies[0]) != 0)
        return -1;
    return matmul_transfer(mm, p, queue, TO_DEVICE, &p->b, b.out, h->ldb, rb, cb, NULL, NULL,
                           &p->copies[1]);
}

static int device_load(struct matmul *mm, struct matmul_device *p)
{
    const struct host_product h = matmul_subproduct(mm, &mm->resident, p->area);
    if (operand_alloc(mm, p, h.m, h.n, "C", &p->c) != 0)
        return -1;
    if (h.k == 0)
        return 0;
    if (!matmul_fits_in_place(mm, p, &h))
        return device_upload(mm, p, &h);
    struct product x;
    int status = matmul_wrap_host(mm, p, &h, &x);
    p->a = x.a;
    p->b = x.b;
    return status;
}

static int load_devices(struct matmul *mm)
{
    for (struct matmul_device *p = mm->device; p < mm->device + mm->ndev; p++) {
        p->area = matmul_area(mm, p->dev, mm->resident.m, mm->resident.n);
        if (has_block(p) && device_load(mm, p) != 0)
            return -1;
    }
    return finish_all_copies(mm);
}

/* The host multiplies from the caller's arrays into its own C. */
static int load_host(struct matmul *mm)
{
    mm->resident.ldc = mm->resident.n;
    mm->resident.c = calloc(mm->resident.m * mm->resident.n + 1, mm->real);
    return mm->resident.c
               ? 0
               : clerror_set(ENOMEM, "matmul_load: out of memory on the host for a C of %zu x %zu",
                             mm->resident.m, mm->resident.n);
}

static bool any_in_place(const struct matmul *mm)
{
    for (cl_uint d = 0; d < mm->ndev; d++)
        if (mm->device[d].in_place)
            return true;
    return false;
}

int matmul_load(matmul *mm, enum matmul_trans trans, size_t m, size_t n, size_t k, const void *a,
                size_t lda, const void *b, size_t ldb)
{
    if (matmul_unusable(mm, __func__))
        return -1;
    struct host_product h = {
        .trans = trans, .m = m, .n = n, .k = k, .alpha = 1, .a = a, .b = b, .lda = lda, .ldb = ldb};
    double any; /* matmul_check requires a C */
    h.c = &any;
    if (k == 0)
        h.alpha = 0;
    matmul_unload(mm);
    if (mm->world ? matmul_ranks_load(mm, &h) != 0 : matmul_check("matmul_load", mm->real, &h) != 0)
        return matmul_unload(mm), -1;
    h.c = NULL;
    mm->resident = h;
    if (world_reduce_status(mm->world, mm->ndev ? load_devices(mm) : load_host(mm)) != 0)
        return matmul_unload(mm), -1;
    if (mm->world && mm->ndev && !any_in_place(mm))
        matmul_ranks_release_host(mm);
    mm->loaded = true;
    return 0;
}

/* ---- Loaded matrices. ------------------------------------------------------------------------ */

static void result_copy_rows(char *to, size_t to_ld, const char *from, size_t from_ld, size_t rows,
                             size_t bytes)
{
    for (size_t i = 0; i < rows; i++)
        memcpy(to + i * to_ld, from + i * from_ld, bytes);
}

static int check_result(const struct matmul *mm, const char *call, const void *c, size_t *ldc)
{
    if (!mm->loaded)
        return clerror_set(EINVAL, "%s: nothing is loaded; call matmul_load first", call);
    if (mm->world) /* matmul_ranks_result checks it */
        return 0;
    *ldc = *ldc ? *ldc : mm->resident.n;
    if (*ldc < mm->resident.n)
        return clerror_set(EINVAL,
                           "%s: the leading dimension of C is %zu, but its rows have %zu elements",
                           call, *ldc, mm->resident.n);
    return c || mm->resident.m == 0 || mm->resident.n == 0
               ? 0
               : clerror_set(EINVAL, "%s: C is NULL", call);
}

/* Transfer C between the devices and host rows of leading dimension ldc. */
static int transfer_result(struct matmul *mm, enum direction direction, char *c, size_t ldc)
{
    int status = 0;
    for (struct matmul_device *p = mm->device; status == 0 && p < mm->device + mm->ndev; p++)
        if (has_block(p))
            status = matmul_transfer(mm, p, clgetqueue(mm->ctx, p->dev), direction, &p->c,
                                     c + (p->area.row * ldc + p->area.col) * mm->real, ldc,
                                     p->area.rows, p->area.cols, NULL, NULL, &p->copies[0]);
    return finish_all_copies(mm) == 0 ? status : -1;
}

/* Transfer C from the caller to the devices, or to the host's own C; and back. */
static int result_upload(struct matmul *mm, void *c, size_t ldc)
{
    if (mm->ndev)
        return transfer_result(mm, TO_DEVICE, c, ldc);
    result_copy_rows(mm->resident.c, mm->resident.n * mm->real, c, ldc * mm->real, mm->resident.m,
                     mm->resident.n * mm->real);
    return 0;
}

static int result_download(struct matmul *mm, void *c, size_t ldc)
{
    if (mm->ndev)
        return transfer_result(mm, TO_HOST, c, ldc);
    result_copy_rows(c, ldc * mm->real, mm->resident.c, mm->resident.n * mm->real, mm->resident.m,
                     mm->resident.n * mm->real);
    return 0;
}

int matmul_load_result(matmul *mm, const void *c, size_t ldc)
{
    if (matmul_unusable(mm, __func__))
        return -1;
    union {
        const void *in;
        void *out;
    } host = {c};
    if (check_result(mm, "matmul_load_result", c, &ldc) != 0)
        return -1;
    if ((mm->world ? matmul_ranks_result(mm, host.out, ldc, true, result_upload)
                   : result_upload(mm, host.out, ldc)) != 0)
        return -1;
    mm->has_result = true;
    return 0;
}

int matmul_result(matmul *mm, void *c, size_t ldc)
{
    if (matmul_unusable(mm, __func__))
        return -1;
    if (check_result(mm, "matmul_result", c, &ldc) != 0)
        return -1;
    if (!mm->has_result)
        return clerror_set(EINVAL,
                           "matmul_result: nothing was computed; call matmul_compute first");
    return mm->world ? matmul_ranks_result(mm, c, ldc, false, result_download)
                     : result_download(mm, c, ldc);
}

/* Progress of a product on one device. */
struct compute_progress {
    struct matmul *mm;
    double total, done;
};

static int compute_report(void *arg, double work)
{
    struct compute_progress *t = arg;
    t->done += work;
    return progress_cancels(t->mm->progress, t->mm->arg, t->done, t->total);
}

/* Compute a small product on the host, where matrices are in place. */
static int compute_small(struct matmul *mm, double alpha, double beta)
{
    for (struct matmul_device *p = mm->device; p < mm->device + mm->ndev; p++) {
        struct host_product h = matmul_subproduct(mm, &mm->resident, p->area);
        h.alpha = alpha;
        h.beta = beta;
        h.c = p->c.block;
        h.ldc = p->c.ld;
        if (has_block(p))
            matmul_small_run(mm, &h);
    }
    return progress_cancels(mm->progress, mm->arg, 1, 1) ? progress_cancelled("matmul_compute") : 0;
}

/* True if the host should compute the loaded product. */
static bool is_small(const struct matmul *mm, double alpha)
{
    const struct host_product *h = &mm->resident;
    bool in_place = alpha != 0 && h->k > 0 && matmul_small_fits(mm, h->m, h->n, h->k);
    for (cl_uint d = 0; in_place && d < mm->ndev; d++)
        in_place = mm->device[d].in_place && !mm->device[d].a.block;
    return in_place;
}

static int compute_devices(struct matmul *mm, double alpha, double beta)
{
    const struct host_product *h = &mm->resident;
    struct compute_progress progress = {mm, (double)h->m * (double)h->n * (double)h->k, 0};
    int status = 0;
    if (mm->ndev == 1)
        matmul_set_report(mm, &mm->device[0], compute_report, &progress);
    for (struct matmul_device *p = mm->device; status == 0 && p < mm->device + mm->ndev; p++) {
        const struct product x = {.trans_a = is_trans_a(h->trans),
                                  .trans_b = is_trans_b(h->trans),
                                  .m = p->area.rows,
                                  .n = p->area.cols,
                                  .k = h->k,
                                  .alpha = alpha,
                                  .beta = beta,
                                  .a = p->a,
                                  .b = p->b,
                                  .c = p->c};
        if (has_block(p))
            status = matmul_start(mm, p, &x);
        if (has_block(p) && status == 0)
            status = clflush(mm->ctx, p->dev, 0);
    }
    for (cl_uint d = 0; d < mm->ndev; d++)
        if (clwait(mm->ctx, d, CL_KERNEL_EVENT) == (cl_event)-1)
            status = -1;
    pace_waited(&mm->device[0].pace);
    matmul_set_report(mm, &mm->device[0], NULL, NULL);
    return status;
}

/* Compute, and add the time to mm->work_time: the devices are awaited together. */
static int compute_timed(struct matmul *mm, double alpha, double beta)
{
    const double start = seconds_now(), built = matmul_build_seconds();
    if (mm->world)
        matmul_ranks_fix_shape(mm, true);
    const int status = is_small(mm, alpha) ? compute_small(mm, alpha, beta)
                       : mm->ndev          ? compute_devices(mm, alpha, beta)
                                           : matmul_host_run(mm, &mm->resident);
    if (mm->world)
        matmul_ranks_fix_shape(mm, false);
    mm->work_time.work += (double)mm->resident.m * (double)mm->resident.n * (double)mm->resident.k;
    mm->work_time.seconds += seconds_now() - start - (matmul_build_seconds() - built);
    return status;
}

int matmul_compute(matmul *mm, double alpha, double beta)
{
    if (matmul_unusable(mm, __func__))
        return -1;
    if (!mm->loaded)
        return clerror_set(EINVAL, "matmul_compute: nothing is loaded; call matmul_load first");
    if (beta != 0 && !mm->has_result)
        return clerror_set(
            EINVAL,
            "matmul_compute: beta is %g, but there is no C yet; call matmul_load_result first",
            beta);
    mm->resident.alpha = alpha;
    mm->resident.beta = beta;
    if (world_reduce_status(mm->world, mm->resident.m > 0 && mm->resident.n > 0
                                           ? compute_timed(mm, alpha, beta)
                                           : 0) != 0)
        return -1;
    mm->has_result = true;
    return 0;
}
