/* stream.c - products of host arrays, as a pipeline: panels are transferred while others are
 * multiplied.
 *
 * A GPU computes its block of C in blocks of mb x nb, each as a sum of products of panels, mb x kb
 * of A and kb x nb of B, as large as fits. Three queues work concurrently, and all buffers are
 * double-buffered:
 *
 *     upload      panels 1      panels 2      panels 3      panels 4
 *     multiply                  panels 1      panels 2      panels 3      panels 4
 *     download                                                            block 1 ...
 *
 * Each device has a host thread, since copies from memory that is not pinned block. The caller's
 * thread serves the first device and reports the progress. The host works on the arrays in place,
 * and so do CPU devices if no array is larger than a buffer may be, in slabs of rows if there is a
 * progress function.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"
#include "matmul/partition.h"
#include "matmul/program.h"
#include "matmul/start.h"
#include "matmul/stream.h"

#include "core/clock.h"
#include "core/progress.h"

#include <math.h>
#include <stdatomic.h>
#include <time.h>

enum { SLOTS = 2 };
static const size_t BLOCK_SIDE_MAX = 16384;         /* rows or columns of a block of C */
static const size_t PANEL_DEPTH = 4096;             /* depth of a panel */
static const size_t SMALL_BYTES = (size_t)16 << 20; /* operands of fewer bytes are one panel */
static const double SLAB_WORK = 3e8, SLAB_SECONDS = 0.1;

/* State that the threads share. */
struct stream {
    struct matmul *mm;
    const struct host_product *all;
    const struct matmul_panel_source *source; /* or NULL */
    double total;                             /* multiply-adds */
    atomic_ullong done;
    atomic_bool stop;
    atomic_uint running; /* threads besides the caller's */
    bool cancelled;      /* by the caller's progress function */
};

/* The thread of one device. */
struct worker {
    struct stream *s;
    struct matmul_device *p; /* NULL: the host */
    pthread_t thread;
    bool started, reports;
    /* Work of the current slab or panel that was already reported. Negative: reported work of
     * earlier panels whose kernels are still queued. */
    double counted;
    double work, waited; /* work done, and seconds of waits for panels */
    int status, code, ocl;
    char why[1024];
};

/* Count work as done and report it. Return false if the product is cancelled. */
static bool stream_report(struct worker *w, double work)
{
    struct stream *s = w->s;
    atomic_fetch_add(&s->done, (unsigned long long)work);
    if (w->reports && !s->cancelled &&
        progress_cancels(s->mm->progress, s->mm->arg, (double)atomic_load(&s->done), s->total)) {
        s->cancelled = true;
        atomic_store(&s->stop, true);
    }
    return !atomic_load(&s->stop);
}

/* Report work while a device computes a slab or panel (matmul_device.report). */
static int stream_count_part(void *arg, double work)
{
    struct worker *w = arg;
    w->counted += work;
    return stream_report(w, fmin(work, fmax(0, w->counted))) ? 0 : -1;
}

/* Report the remainder of a finished slab or panel. Work that is still queued then is reported by
 * stream_count_part when it completes, and is not counted twice. */
static bool stream_finish_part(struct worker *w, double work)
{
    const double rest = fmax(0, work - fmax(0, w->counted));
    w->counted = w->p ? -w->p->pace.queued : 0;
    w->work += work;
    return stream_report(w, rest);
}

/* Block until a panel is there. Return 1 if the product ends. */
static int stream_wait_panels(struct worker *w, size_t panel, struct host_product *from)
{
    const struct matmul_panel_source *source = w->s->source;
    const double start = seconds_now();
    const int status = source->wait(source->arg, panel, from);
    w->waited += seconds_now() - start;
    return status;
}

/* ---- In place. ------------------------------------------------------------------------------- */

static int run_in_place(struct worker *w, const struct host_product *h)
{
    struct matmul *mm = w->s->mm;
    struct product x;
    if (!w->p)
        return matmul_host_run(mm, h);
    int status = matmul_wrap_host(mm, w->p, h, &x);
    if (status == 0)
        status = matmul_start(mm, w->p, &x);
    if (clwait(mm->ctx, w->p->dev, CL_KERNEL_EVENT) == (cl_event)-1)
        status = -1;
    pace_waited(&w->p->pace);
    matmul_unwrap_host(&x);
    return status;
}

/* Compute in slabs of at least 64 rows that take about SLAB_SECONDS. Without a progress function,
 * or if matmul_launch cuts launches itself, compute all rows at once: B is packed again for each
 * slab. The host's naive loops are slow and gain nothing from many rows, so they start with one. */
static int stream_run_slabs(struct worker *w, const struct host_product *h)
{
    const struct matmul *mm = w->s->mm;
    const double row_work = (double)h->n * (double)h->k;
    const bool cut = w->p && mm->kind == MATMUL_TUNED;
    size_t rows = mm->progress && !cut ? (size_t)(SLAB_WORK / row_work) / 64 * 64 + 64 : h->m;
    if (mm->progress && mm->kind == MATMUL_CPU_NAIVE)
        rows = 1;
    for (size_t i = 0; i < h->m;) {
        const double start = seconds_now();
        const struct host_product slab =
            matmul_subproduct(w->s->mm, h, (struct area){i, min_size(rows, h->m - i), 0, h->n});
        if (run_in_place(w, &slab) != 0)
            return -1;
        if (!stream_finish_part(w, (double)slab.m * row_work))
            return 0;
        i += slab.m;
        if (seconds_now() - start < SLAB_SECONDS / 2)
            rows *= 2;
    }
    return 0;
}

/* Compute an area from panels that arrive one after the other. */
static int stream_run_panels(struct worker *w, struct area area)
{
    const struct matmul_panel_source *source = w->s->source;
    for (size_t q = 0; q < source->panels && !atomic_load(&w->s->stop); q++) {
        struct host_product from = *w->s->all;
        if (stream_wait_panels(w, q, &from) != 0)
            return 0;
        from.beta = q ? 1 : from.beta;
        const struct host_product part = matmul_subproduct(w->s->mm, &from, area);
        if (stream_run_slabs(w, &part) != 0)
            return -1;
        source->release(source->arg, q);
    }
    return 0;
}

/* ---- Through a device's memory. -------------------------------------------------------------- */

/* Buffers and events of one device. An event tells when its buffer may be reused. */
struct pipeline {
    struct matmul *mm;
    struct matmul_device *p;
    struct worker *w;
    const struct host_product *h;
    struct area area; /* the device's block of C */
    size_t mb, nb, kb;
    cl_command_queue up, down;
    struct operand a[SLOTS], b[SLOTS], c[SLOTS];
    cl_event uploaded_a[SLOTS], uploaded_b[SLOTS]; /* the panels of a slot are on the device */
    cl_event multiplied[SLOTS];                    /* the panels are multiplied */
    cl_event uploaded_c[SLOTS];                    /* the block of C for beta is on the device */
    cl_event downloaded[SLOTS];                    /* the result is on the host */
    size_t panels, blocks;                         /* enqueued so far */
};

static size_t padded_ld(size_t cols, size_t real)
{
    return round_up(cols, 128 / real);
}

/* Return the bytes of all buffers, and set *largest to those of the largest one. */
static size_t pipeline_bytes(const struct pipeline *f, size_t *largest)
{
    const size_t real = f->mm->real, side = f->mb > f->nb ? f->mb : f->nb;
    const size_t c = f->mb * padded_ld(f->nb, real) * real;
    const size_t ab =
        (padded_ld(f->mb, real) + padded_ld(f->nb, real)) * padded_ld(f->kb, real) * real;
    const size_t panel = padded_ld(side, real) * padded_ld(f->kb, real) * real;
    *largest = c > panel ? c : panel;
    return SLOTS * (c + ab);
}

static size_t halved(size_t n)
{
    return n > 128 ? round_up(n / 2, 64) : divide_up(n, 2);
}

static bool pipeline_fits(const struct pipeline *f)
{
    size_t largest;
    return pipeline_bytes(f, &largest) <= matmul_memory_left(f->mm, f->p) &&
           largest <= f->p->info.dev_max_mem_alloc_sz;
}

/* Choose the largest blocks and panels that fit. A block of C gets the greater part of the memory.
 */
static int pipeline_choose_sizes(struct pipeline *f)
{
    const struct host_product *h = f->h;
    const size_t room = matmul_memory_left(f->mm, f->p);
    f->mb = min_size(h->m, BLOCK_SIDE_MAX);
    f->nb = min_size(h->n, BLOCK_SIDE_MAX);
    f->kb = (h->m + h->n) * h->k * f->mm->real <= SMALL_BYTES ? h->k : min_size(h->k, PANEL_DEPTH);
    if (f->w->s->source) {
        f->mb = h->m;
        f->nb = h->n;
        f->kb = f->w->s->source->depth;
        return 0;
    }
    while (!pipeline_fits(f)) {
        if (f->mb == 1 && f->nb == 1 && f->kb == 1)
            return clerror_set(
                ENOMEM, "matmul_multiply: %zu bytes of memory on %s are too few for any product",
                room, f->p->info.dev_name);
        if ((f->kb > 2 * f->mb && f->kb > 2 * f->nb) || (f->mb == 1 && f->nb == 1))
            f->kb = halved(f->kb);
        else if (f->mb >= f->nb)
            f->mb = halved(f->mb);
        else
            f->nb = halved(f->nb);
        if (f->kb > 256 && f->kb > f->mb && f->kb > f->nb)
            f->kb = halved(f->kb);
    }
    return 0;
}

static bool all_devices_fit(struct matmul *mm, size_t area_rows, size_t area_cols,
                            size_t panel_depth)
{
    for (cl_uint d = 0; d < mm->ndev; d++) {
        const struct area a = matmul_area(mm, d, area_rows, area_cols);
        const struct pipeline f = {
            .mm = mm, .p = &mm->device[d], .mb = a.rows, .nb = a.cols, .kb = panel_depth};
        size_t largest;
        pipeline_bytes(&f, &largest);
        if (f.p->in_place ? largest > f.p->info.dev_max_mem_alloc_sz : !pipeline_fits(&f))
            return false;
    }
    return true;
}

int matmul_stream_fit(struct matmul *mm, size_t *area_rows, size_t *area_cols, size_t *panel_depth)
{
    while (!all_devices_fit(mm, *area_rows, *area_cols, *panel_depth)) {
        size_t *most = *area_rows >= *area_cols ? area_rows : area_cols;
        most = *panel_depth > 2 * *most ? panel_depth : most;
        if (*most == 1)
            return clerror_set(
                ENOMEM, "matmul_multiply: the memory of devices is too small for any product");
        *most = halved(*most);
    }
    return 0;
}

static int pipeline_alloc(struct pipeline *f, size_t rows, size_t cols, struct operand *o)
{
    o->ld = padded_ld(cols, f->mm->real);
    o->block = matmul_device_alloc(f->mm, f->p, rows * o->ld * f->mm->real, CL_MEM_DEVONLY);
    return o->block ? 0 : -1;
}

static int pipeline_open(struct pipeline *f)
{
    const bool ta = is_trans_a(f->h->trans), tb = is_trans_b(f->h->trans);
    cl_context context = clgetclcontext(f->mm->ctx, f->p->dev);
    cl_device_id device = clgetdevice(f->mm->ctx, f->p->dev);
    if (pipeline_choose_sizes(f) != 0)
        return -1;
    f->up = clCreateCommandQueue(context, device, 0, NULL);
    f->down = clCreateCommandQueue(context, device, 0, NULL);
    if (!f->up || !f->down)
        return clerror_set(ENOMEM, "matmul_multiply: no command queue on %s", f->p->info.dev_name);
    for (int i = 0; i < SLOTS; i++)
        if (pipeline_alloc(f, ta ? f->kb : f->mb, ta ? f->mb : f->kb, &f->a[i]) != 0 ||
            pipeline_alloc(f, tb ? f->nb : f->kb, tb ? f->kb : f->nb, &f->b[i]) != 0 ||
            pipeline_alloc(f, f->mb, f->nb, &f->c[i]) != 0)
            return -1;
    return 0;
}

static void release_event(cl_event *ev)
{
    if (*ev)
        clReleaseEvent(*ev);
    *ev = NULL;
}

static void pipeline_close(struct pipeline *f)
{
    cl_command_queue const queues[] = {f->up, f->down};
    for (int i = 0; i < 2; i++)
        if (queues[i])
            clFinish(queues[i]);
    clwait(f->mm->ctx, f->p->dev, CL_ALL_EVENT);
    for (int i = 0; i < SLOTS; i++) {
        cl_event *const events[] = {&f->uploaded_a[i], &f->uploaded_b[i], &f->multiplied[i],
                                    &f->uploaded_c[i], &f->downloaded[i]};
        for (int e = 0; e < 5; e++)
            release_event(events[e]);
        clfree(f->a[i].block);
        clfree(f->b[i].block);
        clfree(f->c[i].block);
    }
    for (int i = 0; i < 2; i++)
        if (queues[i])
            clReleaseCommandQueue(queues[i]);
}

static int pipeline_check(const struct pipeline *f, cl_int err, const char *doing)
{
    if (err == CL_SUCCESS)
        return 0;
    return clerror_set(EIO, "matmul_multiply: %s failed %s (%s)", f->p->info.dev_name, doing,
                       oclerror_str(err));
}

/* Block until a command is complete and release its event. Return -1 if it failed. Every event
 * must pass through here, or a failed copy goes unnoticed. */
static int pipeline_wait(const struct pipeline *f, cl_event *ev, const char *doing)
{
    const cl_int err = *ev ? matmul_wait_event(*ev) : CL_SUCCESS;
    release_event(ev);
    return pipeline_check(f, err, doing);
}

static int pipeline_wait_slot(struct pipeline *f, size_t slot)
{
    if (pipeline_wait(f, &f->multiplied[slot], "multiplying") != 0)
        return -1;
    if (pipeline_wait(f, &f->uploaded_a[slot], "sending A") != 0)
        return -1;
    return pipeline_wait(f, &f->uploaded_b[slot], "sending B");
}

/* Upload rows x cols of a host array, as stored, into a slot. */
static int pipeline_upload(struct pipeline *f, const struct operand *to, bool trans,
                           const void *from, size_t ld, size_t rows, size_t cols, cl_event after,
                           cl_event *done)
{
    union {
        const void *in;
        void *out;
    } host = {from};
    return matmul_transfer(f->mm, f->p, f->up, TO_DEVICE, to, host.out, ld, trans ? cols : rows,
                           trans ? rows : cols, after, NULL, done);
}

/* Wait until a slot is free for the next panels. This also limits how far the host runs ahead. */
static int pipeline_free_slot(struct pipeline *f)
{
    const struct matmul_panel_source *source = f->w->s->source;
    if (pipeline_wait_slot(f, f->panels % SLOTS) != 0)
        return -1;
    if (source && f->panels >= SLOTS)
        source->release(source->arg, f->panels - SLOTS);
    return 0;
}

/* Find panels q of a block of C on the host, and their depth. Return 1 if the product ends. */
static int pipeline_find_panels(struct pipeline *f, const struct host_product *h, size_t q,
                                struct host_product *from)
{
    const struct matmul_panel_source *source = f->w->s->source;
    const size_t k0 = q * f->kb;
    if (source) {
        struct host_product whole = *f->w->s->all;
        if (stream_wait_panels(f->w, q, &whole) != 0)
            return 1;
        *from = matmul_subproduct(f->mm, &whole, f->area);
        return 0;
    }
    *from = *h;
    from->k = min_size(f->kb, h->k - k0);
    from->a =
        (const char *)h->a + element_offset(is_trans_a(h->trans), h->lda, 0, k0) * f->mm->real;
    from->b =
        (const char *)h->b + element_offset(is_trans_b(h->trans), h->ldb, k0, 0) * f->mm->real;
    return 0;
}

/* Enqueue the product of one pair of panels. x has the sizes, `from` their addresses on the host.
 */
static int pipeline_multiply(struct pipeline *f, const struct host_product *from, struct product *x,
                             cl_event before)
{
    const size_t slot = f->panels++ % SLOTS;
    cl_command_queue queue = clgetqueue(f->mm->ctx, f->p->dev);
    if (pipeline_upload(f, &f->a[slot], x->trans_a, from->a, from->lda, x->m, x->k, NULL,
                        &f->uploaded_a[slot]) != 0)
        return -1;
    if (pipeline_upload(f, &f->b[slot], x->trans_b, from->b, from->ldb, x->k, x->n, NULL,
                        &f->uploaded_b[slot]) != 0)
        return -1;
    if (pipeline_check(f, clFlush(f->up), "sending panels") != 0)
        return -1;
    /* The upload queue is in order: when B is there, so is A. */
    const cl_event wait[2] = {f->uploaded_b[slot], before};
    const cl_int err = clEnqueueBarrierWithWaitList(queue, before ? 2 : 1, wait, NULL);
    if (pipeline_check(f, err, "waiting for panels") != 0)
        return -1;
    x->a = f->a[slot];
    x->b = f->b[slot];
    const int status = matmul_start(f->mm, f->p, x);
    if (status != 0)
        return status;
    const cl_int marked = clEnqueueMarkerWithWaitList(queue, 0, NULL, &f->multiplied[slot]);
    if (pipeline_check(f, marked, "multiplying") != 0)
        return -1;
    return clflush(f->mm->ctx, f->p->dev, 0);
}

/* Compute one block of C: all panels along the depth, then the download. */
static int pipeline_run_block(struct pipeline *f, size_t row, size_t col)
{
    const size_t slot = f->blocks++ % SLOTS;
    const struct area area = {row, min_size(f->mb, f->h->m - row), col,
                              min_size(f->nb, f->h->n - col)};
    const struct host_product h = matmul_subproduct(f->mm, f->h, area);
    const bool ta = is_trans_a(h.trans), tb = is_trans_b(h.trans);
    struct product x = {
        .trans_a = ta, .trans_b = tb, .m = h.m, .n = h.n, .alpha = h.alpha, .c = f->c[slot]};
    if (pipeline_wait(f, &f->uploaded_c[slot], "sending C") != 0)
        return -1;
    /* C precedes the panels in the queue, and the first product waits for those panels. */
    if (h.beta != 0 && pipeline_upload(f, &f->c[slot], false, h.c, h.ldc, h.m, h.n,
                                       f->downloaded[slot], &f->uploaded_c[slot]) != 0)
        return -1;
    const size_t panels = f->w->s->source ? f->w->s->source->panels : divide_up(h.k, f->kb);
    for (size_t q = 0; q < panels; q++) {
        struct host_product from;
        if (pipeline_free_slot(f) != 0)
            return -1;
        if (pipeline_find_panels(f, &h, q, &from) != 0)
            return 0;
        x.k = from.k;
        x.beta = q ? 1 : h.beta;
        if (pipeline_multiply(f, &from, &x, q ? NULL : f->downloaded[slot]) != 0)
            return -1;
        if (!stream_finish_part(f->w, (double)h.m * (double)h.n * (double)x.k))
            return 0;
    }
    if (pipeline_wait(f, &f->downloaded[slot], "fetching the result") != 0)
        return -1;
    if (matmul_transfer(f->mm, f->p, f->down, TO_HOST, &f->c[slot], h.c, h.ldc, h.m, h.n,
                        f->multiplied[(f->panels - 1) % SLOTS], NULL, &f->downloaded[slot]) != 0)
        return -1;
    return pipeline_check(f, clFlush(f->down), "fetching the result");
}

static int pipeline_run(struct worker *w, const struct host_product *h, struct area area)
{
    struct pipeline f = {.mm = w->s->mm, .p = w->p, .w = w, .h = h, .area = area};
    const struct matmul_panel_source *source = w->s->source;
    int status = pipeline_open(&f);
    for (size_t row = 0; status == 0 && row < h->m; row += f.mb)
        for (size_t col = 0; status == 0 && col < h->n && !atomic_load(&w->s->stop); col += f.nb)
            status = pipeline_run_block(&f, row, col);
    for (size_t i = 0; status == 0 && i < SLOTS; i++)
        if (pipeline_wait_slot(&f, i) != 0 ||
            pipeline_wait(&f, &f.uploaded_c[i], "sending C") != 0 ||
            pipeline_wait(&f, &f.downloaded[i], "fetching the result") != 0)
            status = -1;
    for (size_t q = f.panels < SLOTS ? 0 : f.panels - SLOTS; status == 0 && source && q < f.panels;
         q++)
        source->release(source->arg, q);
    if (status == 0 && clwait(f.mm->ctx, f.p->dev, CL_KERNEL_EVENT) == (cl_event)-1)
        status = -1;
    pipeline_close(&f);
    return status;
}

/* ---- Threads. -------------------------------------------------------------------------------- */

static void worker_run(struct worker *w)
{
    struct stream *s = w->s;
    const struct area all = {0, s->all->m, 0, s->all->n},
                      area = w->p ? matmul_area(s->mm, w->p->dev, all.rows, all.cols) : all;
    const struct host_product h = matmul_subproduct(s->mm, s->all, area);
    struct host_product at_a_time = h; /* a panel, or the product */
    if (s->source)
        at_a_time.k = min_size(h.k, s->source->depth);
    const bool in_place = !w->p || matmul_fits_in_place(s->mm, w->p, &at_a_time);
    const double start = seconds_now(), built = matmul_build_seconds();
    struct work_time *work_time = w->p ? &w->p->work_time : &s->mm->work_time;
    if (w->p)
        matmul_set_report(s->mm, w->p, stream_count_part, w);
    if (area.rows > 0 && area.cols > 0)
        w->status = !in_place   ? pipeline_run(w, &h, area)
                    : s->source ? stream_run_panels(w, area)
                                : stream_run_slabs(w, &h);
    if (w->p)
        matmul_set_report(s->mm, w->p, NULL, NULL);
    work_time->work += w->work;
    work_time->seconds += seconds_now() - start - w->waited - (matmul_build_seconds() - built);
    if (s->source && (w->status != 0 || atomic_load(&s->stop)))
        s->source->abort(s->source->arg);
    if (w->status == 0)
        return;
    const char *why = clerror(); /* the error is per thread */
    w->code = clerrno;
    w->ocl = oclerrno;
    snprintf(w->why, sizeof w->why, "%s", why ? why : clerror_str(w->code));
    atomic_store(&w->s->stop, true);
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    worker_run(w);
    atomic_fetch_sub(&w->s->running, 1);
    return NULL;
}

/* Start the other devices' threads, serve the first device, and report progress until all are
 * done. */
static int workers_run(struct stream *s, struct worker *w, cl_uint count)
{
    for (cl_uint i = 1; i < count; i++) {
        atomic_fetch_add(&s->running, 1);
        w[i].started = pthread_create(&w[i].thread, NULL, worker_main, &w[i]) == 0;
        if (!w[i].started) {
            atomic_fetch_sub(&s->running, 1);
            worker_run(&w[i]); /* no thread: serve this device now */
        }
    }
    w[0].reports = true;
    worker_run(&w[0]);
    while (s->mm->progress && atomic_load(&s->running) > 0) {
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        stream_report(&w[0], 0);
    }
    int status = 0;
    for (cl_uint i = 0; i < count; i++) {
        if (w[i].started)
            pthread_join(w[i].thread, NULL);
        if (w[i].status != 0 && status == 0) {
            status = clerror_set(w[i].code ? w[i].code : EIO, "%s", w[i].why);
            oclerrno = w[i].ocl;
        }
    }
    if (status == 0 && s->cancelled)
        status = progress_cancelled("matmul_multiply");
    return status;
}

int matmul_stream(struct matmul *mm, const struct host_product *h,
                  const struct matmul_panel_source *source)
{
    const cl_uint count = mm->ndev ? mm->ndev : 1;
    struct stream s = {.mm = mm,
                       .all = h,
                       .source = source,
                       .total = source ? source->work_total
                                       : (double)h->m * (double)h->n * (double)h->k};
    atomic_init(&s.done, source ? (unsigned long long)source->work_before : 0);
    struct worker *w = calloc(count, sizeof *w);
    if (!w)
        return clerror_set(ENOMEM, "matmul_multiply: out of memory on the host");
    for (cl_uint d = 0; d < count; d++)
        w[d] = (struct worker){.s = &s, .p = mm->ndev ? &mm->device[d] : NULL};
    const int status = workers_run(&s, w, count);
    free(w);
    return status;
}
