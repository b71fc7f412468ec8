/* stream.c - products of host arrays: panels travel while others are multiplied.
 *
 * A GPU computes its share of C in blocks of mb x nb, each as a sum of products of panels, mb x kb
 * of A and kb x nb of B, all as large as fits. Three queues work at once, and there are two of
 * every buffer:
 *
 *     up        panels 1      panels 2      panels 3      panels 4
 *     multiply                panels 1      panels 2      panels 3      panels 4
 *     down                                                              block 1 ...
 *
 * Each device has a thread, since copies from memory that is not pinned block. The first device's
 * thread is the caller's, which also reports the progress. A CPU device, and the host, work on the
 * arrays where they are: in slabs of rows if there is somebody to report to.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"

#include "core/clock.h"
#include "core/progress.h"

#include <math.h>
#include <stdatomic.h>
#include <time.h>

enum { SLOTS = 2 };
static const size_t MOST_BLOCK = 16384;       /* rows or columns of a block of C */
static const size_t DEEP = 4096;              /* depth of a panel */
static const size_t SMALL = (size_t)16 << 20; /* bytes of operands that travel in one piece */
static const double SLAB_WORK = 3e8, SLAB_SECONDS = 0.1;

/* What the threads share. */
struct stream {
    struct matmul *mm;
    const struct host_product *all;
    const struct matmul_feed *feed; /* or NULL */
    double total;                   /* work, in multiply-adds */
    atomic_ullong done;
    atomic_bool stop;
    atomic_uint running; /* threads besides the caller's */
    bool cancelled;      /* by the caller's progress function */
};

/* One device's thread. */
struct worker {
    struct stream *s;
    struct share *p; /* NULL: the host */
    pthread_t thread;
    bool started, telling;
    double counted; /* work of the slab or panel at hand that was told of already; below 0: what
                       will be told again of those before it */
    double work, waited; /* all work that is done, and seconds of waits for panels */
    int status, code, ocl;
    char why[1024];
};

/* Counts work as done and reports it; false when the work is to stop. */
static bool go_on(struct worker *w, double work)
{
    struct stream *s = w->s;
    atomic_fetch_add(&s->done, (unsigned long long)work);
    if (w->telling && !s->cancelled &&
        progress_cancels(s->mm->progress, s->mm->arg, (double)atomic_load(&s->done), s->total)) {
        s->cancelled = true;
        atomic_store(&s->stop, true);
    }
    return !atomic_load(&s->stop);
}

/* The same while a device is at work on a slab or panel, and at its end. */
static int count_part(void *arg, double work)
{
    struct worker *w = arg;
    w->counted += work;
    return go_on(w, fmin(work, fmax(0, w->counted))) ? 0 : -1;
}

/* Of what is still queued then, count_part tells when that is waited for. */
static bool finish_work(struct worker *w, double work)
{
    const double rest = fmax(0, work - fmax(0, w->counted));
    w->counted = w->p ? -w->p->pace.queued : 0;
    w->work += work;
    return go_on(w, rest);
}

/* Waits for panels; 1: there will be none. */
static int take_panels(struct worker *w, size_t panel, struct host_product *from)
{
    const struct matmul_feed *feed = w->s->feed;
    const double start = seconds_now();
    const int status = feed->take(feed->arg, panel, from);
    w->waited += seconds_now() - start;
    return status;
}

/* ---- Where the arrays are. ------------------------------------------------------------------- */

static int run_in_place(struct worker *w, const struct host_product *h)
{
    struct matmul *mm = w->s->mm;
    struct product x;
    if (!w->p)
        return matmul_host_run(mm, h);
    int status = matmul_wrap(mm, w->p, h, &x);
    if (status == 0)
        status = matmul_start(mm, w->p, &x);
    if (clwait(mm->ctx, w->p->dev, CL_KERNEL_EVENT) == (cl_event)-1)
        status = -1;
    pace_waited(&w->p->pace);
    matmul_unwrap(&x);
    return status;
}

/* In slabs of at least 64 rows that take about SLAB_SECONDS; all at once if there is nobody to
 * report to, or if launches are cut so that they take no longer (matmul_fork): B is packed anew for
 * each slab. The host's naive loops gain nothing from many rows, and are slow: they begin with
 * one. */
static int run_slabs(struct worker *w, const struct host_product *h)
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
            matmul_piece(w->s->mm, h, (struct area){i, smaller(rows, h->m - i), 0, h->n});
        if (run_in_place(w, &slab) != 0)
            return -1;
        if (!finish_work(w, (double)slab.m * row_work))
            return 0;
        i += slab.m;
        if (seconds_now() - start < SLAB_SECONDS / 2)
            rows *= 2;
    }
    return 0;
}

/* The same with panels that come one after the other. */
static int run_panels(struct worker *w, struct area area)
{
    const struct matmul_feed *feed = w->s->feed;
    for (size_t q = 0; q < feed->panels && !atomic_load(&w->s->stop); q++) {
        struct host_product from = *w->s->all;
        if (take_panels(w, q, &from) != 0)
            return 0;
        from.beta = q ? 1 : from.beta;
        const struct host_product part = matmul_piece(w->s->mm, &from, area);
        if (run_slabs(w, &part) != 0)
            return -1;
        feed->done(feed->arg, q);
    }
    return 0;
}

/* ---- Through a device's memory. -------------------------------------------------------------- */

/* A device's buffers, and the events that tell when they may be used again. */
struct flow {
    struct matmul *mm;
    struct share *p;
    struct worker *w;
    const struct host_product *h;
    struct area area; /* which is this of the whole */
    size_t mb, nb, kb;
    cl_command_queue up, down;
    struct operand a[SLOTS], b[SLOTS], c[SLOTS];
    cl_event sent_a[SLOTS], sent_b[SLOTS]; /* the panels of a slot are on the device */
    cl_event used[SLOTS];                  /* and were multiplied */
    cl_event sent_c[SLOTS];                /* the block of C that is added to is on the device */
    cl_event fetched[SLOTS];               /* the result is on the host */
    size_t panels, blocks;                 /* so far */
};

static size_t padded(size_t cols, size_t real)
{
    return round_up(cols, 128 / real);
}

/* Bytes of the largest buffer, and of all of them. */
static size_t bytes_of(const struct flow *f, size_t *largest)
{
    const size_t real = f->mm->real, side = f->mb > f->nb ? f->mb : f->nb;
    const size_t c = f->mb * padded(f->nb, real) * real;
    const size_t ab = (padded(f->mb, real) + padded(f->nb, real)) * padded(f->kb, real) * real;
    const size_t panel = padded(side, real) * padded(f->kb, real) * real;
    *largest = c > panel ? c : panel;
    return SLOTS * (c + ab);
}

static size_t halved(size_t n)
{
    return n > 128 ? round_up(n / 2, 64) : divide_up(n, 2);
}

static bool fits(const struct flow *f)
{
    size_t largest;
    return bytes_of(f, &largest) <= matmul_room(f->mm, f->p) &&
           largest <= f->p->info.dev_max_mem_alloc_sz;
}

/* The largest blocks and panels that fit; a block of C gets the greater part of the memory. */
static int choose_sizes(struct flow *f)
{
    const struct host_product *h = f->h;
    const size_t room = matmul_room(f->mm, f->p);
    f->mb = smaller(h->m, MOST_BLOCK);
    f->nb = smaller(h->n, MOST_BLOCK);
    f->kb = (h->m + h->n) * h->k * f->mm->real <= SMALL ? h->k : smaller(h->k, DEEP);
    if (f->w->s->feed) {
        f->mb = h->m;
        f->nb = h->n;
        f->kb = f->w->s->feed->deep;
        return 0;
    }
    while (!fits(f)) {
        if (f->mb == 1 && f->nb == 1 && f->kb == 1)
            return clerror_set(
                ENOMEM, "matmul_multiply: %zu bytes of %s's memory are too few for any product",
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

static bool all_fit(struct matmul *mm, size_t high, size_t wide, size_t deep)
{
    for (cl_uint d = 0; d < mm->ndev; d++) {
        const struct area a = matmul_area(mm, d, high, wide);
        const struct flow f = {
            .mm = mm, .p = &mm->share[d], .mb = a.rows, .nb = a.cols, .kb = deep};
        if (!f.p->in_place && !fits(&f))
            return false;
    }
    return true;
}

int matmul_stream_fit(struct matmul *mm, size_t *high, size_t *wide, size_t *deep)
{
    while (!all_fit(mm, *high, *wide, *deep)) {
        size_t *most = *high >= *wide ? high : wide;
        most = *deep > 2 * *most ? deep : most;
        if (*most == 1)
            return clerror_set(
                ENOMEM, "matmul_multiply: the memory of devices is too small for any product");
        *most = halved(*most);
    }
    return 0;
}

static int make_buffer(struct flow *f, size_t rows, size_t cols, struct operand *o)
{
    o->ld = padded(cols, f->mm->real);
    o->block = matmul_block(f->mm, f->p, rows * o->ld * f->mm->real, CL_MEM_DEVONLY);
    return o->block ? 0 : -1;
}

static int open_flow(struct flow *f)
{
    const bool ta = trans_a(f->h->trans), tb = trans_b(f->h->trans);
    cl_context context = clgetclcontext(f->mm->ctx, f->p->dev);
    cl_device_id device = clgetdevice(f->mm->ctx, f->p->dev);
    if (choose_sizes(f) != 0)
        return -1;
    f->up = clCreateCommandQueue(context, device, 0, NULL);
    f->down = clCreateCommandQueue(context, device, 0, NULL);
    if (!f->up || !f->down)
        return clerror_set(ENOMEM, "matmul_multiply: no command queue on %s", f->p->info.dev_name);
    for (int i = 0; i < SLOTS; i++)
        if (make_buffer(f, ta ? f->kb : f->mb, ta ? f->mb : f->kb, &f->a[i]) != 0 ||
            make_buffer(f, tb ? f->nb : f->kb, tb ? f->kb : f->nb, &f->b[i]) != 0 ||
            make_buffer(f, f->mb, f->nb, &f->c[i]) != 0)
            return -1;
    return 0;
}

static void forget(cl_event *ev)
{
    if (*ev)
        clReleaseEvent(*ev);
    *ev = NULL;
}

static void close_flow(struct flow *f)
{
    cl_command_queue const queues[] = {f->up, f->down};
    for (int i = 0; i < 2; i++)
        if (queues[i])
            clFinish(queues[i]);
    clwait(f->mm->ctx, f->p->dev, CL_ALL_EVENT);
    for (int i = 0; i < SLOTS; i++) {
        cl_event *const events[] = {&f->sent_a[i], &f->sent_b[i], &f->used[i], &f->sent_c[i],
                                    &f->fetched[i]};
        for (int e = 0; e < 5; e++)
            forget(events[e]);
        clfree(f->a[i].block);
        clfree(f->b[i].block);
        clfree(f->c[i].block);
    }
    for (int i = 0; i < 2; i++)
        if (queues[i])
            clReleaseCommandQueue(queues[i]);
}

static int check_cl(const struct flow *f, cl_int err, const char *doing)
{
    if (err == CL_SUCCESS)
        return 0;
    return clerror_set(EIO, "matmul_multiply: %s failed %s (%s)", f->p->info.dev_name, doing,
                       oclerror_str(err));
}

/* Waits for a command and lets go of its event: -1 when it failed. Every event ends here, or a
 * failed copy would go unseen. */
static int settle(const struct flow *f, cl_event *ev, const char *doing)
{
    const cl_int err = *ev ? matmul_await(*ev) : CL_SUCCESS;
    forget(ev);
    return check_cl(f, err, doing);
}

static int settle_panels(struct flow *f, size_t slot)
{
    return settle(f, &f->used[slot], "multiplying") != 0 ||
                   settle(f, &f->sent_a[slot], "sending A") != 0 ||
                   settle(f, &f->sent_b[slot], "sending B") != 0
               ? -1
               : 0;
}

/* Sends rows x cols of a host array as stored, transposed or not, into a slot. */
static int send(struct flow *f, const struct operand *to, bool trans, const void *from, size_t ld,
                size_t rows, size_t cols, cl_event after, cl_event *done)
{
    union {
        const void *in;
        void *out;
    } host = {from};
    return matmul_transfer(f->mm, f->p, f->up, TO_DEVICE, to, host.out, ld, trans ? cols : rows,
                           trans ? rows : cols, after, NULL, done);
}

/* Makes a slot free for the next panels, which also keeps the host from running ahead. */
static int free_slot(struct flow *f)
{
    const struct matmul_feed *feed = f->w->s->feed;
    if (settle_panels(f, f->panels % SLOTS) != 0)
        return -1;
    if (feed && f->panels >= SLOTS)
        feed->done(feed->arg, f->panels - SLOTS);
    return 0;
}

/* Where panels q of a block of C are on the host, and how deep they are; 1: there will be none. */
static int find_panels(struct flow *f, const struct host_product *h, size_t q,
                       struct host_product *from)
{
    const struct matmul_feed *feed = f->w->s->feed;
    const size_t k0 = q * f->kb;
    if (feed) {
        struct host_product whole = *f->w->s->all;
        if (take_panels(f->w, q, &whole) != 0)
            return 1;
        *from = matmul_piece(f->mm, &whole, f->area);
        return 0;
    }
    *from = *h;
    from->k = smaller(f->kb, h->k - k0);
    from->a = (const char *)h->a + place_of(trans_a(h->trans), h->lda, 0, k0) * f->mm->real;
    from->b = (const char *)h->b + place_of(trans_b(h->trans), h->ldb, k0, 0) * f->mm->real;
    return 0;
}

/* Queues the product of one pair of panels; x tells the sizes, `from` where on the host they
 * start. */
static int multiply_panels(struct flow *f, const struct host_product *from, struct product *x,
                           cl_event before)
{
    const size_t slot = f->panels++ % SLOTS;
    cl_command_queue queue = clgetqueue(f->mm->ctx, f->p->dev);
    if (send(f, &f->a[slot], x->trans_a, from->a, from->lda, x->m, x->k, NULL, &f->sent_a[slot]) !=
            0 ||
        send(f, &f->b[slot], x->trans_b, from->b, from->ldb, x->k, x->n, NULL, &f->sent_b[slot]) !=
            0)
        return -1;
    const cl_event wait[2] = {f->sent_b[slot],
                              before}; /* the queue is in order: A is there before B */
    int status = check_cl(f, clFlush(f->up), "sending panels");
    if (status == 0)
        status = check_cl(f, clEnqueueBarrierWithWaitList(queue, before ? 2 : 1, wait, NULL),
                          "waiting for panels");
    x->a = f->a[slot];
    x->b = f->b[slot];
    if (status == 0)
        status = matmul_start(f->mm, f->p, x);
    if (status == 0)
        status =
            check_cl(f, clEnqueueMarkerWithWaitList(queue, 0, NULL, &f->used[slot]), "multiplying");
    return status == 0 ? clflush(f->mm->ctx, f->p->dev, 0) : status;
}

/* One block of C: all panels along the depth, then back to the host. */
static int run_block(struct flow *f, size_t row, size_t col)
{
    const size_t slot = f->blocks++ % SLOTS;
    const struct area area = {row, smaller(f->mb, f->h->m - row), col,
                              smaller(f->nb, f->h->n - col)};
    const struct host_product h = matmul_piece(f->mm, f->h, area);
    const bool ta = trans_a(h.trans), tb = trans_b(h.trans);
    struct product x = {
        .trans_a = ta, .trans_b = tb, .m = h.m, .n = h.n, .alpha = h.alpha, .c = f->c[slot]};
    if (settle(f, &f->sent_c[slot], "sending C") != 0)
        return -1;
    if (h.beta != 0 &&
        send(f, &f->c[slot], false, h.c, h.ldc, h.m, h.n, f->fetched[slot], &f->sent_c[slot]) != 0)
        return -1; /* earlier in the queue than the panels, for which the first product waits */
    const size_t panels = f->w->s->feed ? f->w->s->feed->panels : divide_up(h.k, f->kb);
    for (size_t q = 0; q < panels; q++) {
        struct host_product from;
        if (free_slot(f) != 0)
            return -1;
        if (find_panels(f, &h, q, &from) != 0)
            return 0;
        x.k = from.k;
        x.beta = q ? 1 : h.beta;
        if (multiply_panels(f, &from, &x, q ? NULL : f->fetched[slot]) != 0)
            return -1;
        if (!finish_work(f->w, (double)h.m * (double)h.n * (double)x.k))
            return 0;
    }
    if (settle(f, &f->fetched[slot], "fetching the result") != 0)
        return -1;
    if (matmul_transfer(f->mm, f->p, f->down, TO_HOST, &f->c[slot], h.c, h.ldc, h.m, h.n,
                        f->used[(f->panels - 1) % SLOTS], NULL, &f->fetched[slot]) != 0)
        return -1;
    return check_cl(f, clFlush(f->down), "fetching the result");
}

static int run_flow(struct worker *w, const struct host_product *h, struct area area)
{
    struct flow f = {.mm = w->s->mm, .p = w->p, .w = w, .h = h, .area = area};
    const struct matmul_feed *feed = w->s->feed;
    int status = open_flow(&f);
    for (size_t row = 0; status == 0 && row < h->m; row += f.mb)
        for (size_t col = 0; status == 0 && col < h->n && !atomic_load(&w->s->stop); col += f.nb)
            status = run_block(&f, row, col);
    for (size_t i = 0; status == 0 && i < SLOTS; i++)
        if (settle_panels(&f, i) != 0 || settle(&f, &f.sent_c[i], "sending C") != 0 ||
            settle(&f, &f.fetched[i], "fetching the result") != 0)
            status = -1;
    for (size_t q = f.panels < SLOTS ? 0 : f.panels - SLOTS; status == 0 && feed && q < f.panels;
         q++)
        feed->done(feed->arg, q);
    if (status == 0 && clwait(f.mm->ctx, f.p->dev, CL_KERNEL_EVENT) == (cl_event)-1)
        status = -1;
    close_flow(&f);
    return status;
}

/* ---- Threads. -------------------------------------------------------------------------------- */

static void run_worker(struct worker *w)
{
    struct stream *s = w->s;
    const struct area all = {0, s->all->m, 0, s->all->n},
                      area = w->p ? matmul_area(s->mm, w->p->dev, all.rows, all.cols) : all;
    const bool in_place = !w->p || w->p->in_place;
    const struct host_product h = matmul_piece(s->mm, s->all, area);
    const double start = seconds_now(), built = matmul_seconds_built();
    struct effort *effort = w->p ? &w->p->effort : &s->mm->effort;
    if (w->p)
        matmul_pause_by(s->mm, w->p, count_part, w);
    if (area.rows > 0 && area.cols > 0)
        w->status = !in_place ? run_flow(w, &h, area)
                    : s->feed ? run_panels(w, area)
                              : run_slabs(w, &h);
    if (w->p)
        matmul_pause_by(s->mm, w->p, NULL, NULL);
    effort->work += w->work;
    effort->seconds += seconds_now() - start - w->waited - (matmul_seconds_built() - built);
    if (s->feed && (w->status != 0 || atomic_load(&s->stop)))
        s->feed->give_up(s->feed->arg);
    if (w->status == 0)
        return;
    const char *why = clerror(); /* which is this thread's alone */
    w->code = clerrno;
    w->ocl = oclerrno;
    snprintf(w->why, sizeof w->why, "%s", why ? why : clerror_str(w->code));
    atomic_store(&w->s->stop, true);
}

static void *thread_main(void *arg)
{
    struct worker *w = arg;
    run_worker(w);
    atomic_fetch_sub(&w->s->running, 1);
    return NULL;
}

/* Starts the others, does its own work, and reports the progress until all are done. */
static int run_workers(struct stream *s, struct worker *w, cl_uint count)
{
    for (cl_uint i = 1; i < count; i++) {
        atomic_fetch_add(&s->running, 1);
        w[i].started = pthread_create(&w[i].thread, NULL, thread_main, &w[i]) == 0;
        if (!w[i].started) {
            atomic_fetch_sub(&s->running, 1);
            run_worker(&w[i]); /* then one after the other */
        }
    }
    w[0].telling = true;
    run_worker(&w[0]);
    while (s->mm->progress && atomic_load(&s->running) > 0) {
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        go_on(&w[0], 0);
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

int matmul_stream(struct matmul *mm, const struct host_product *h, const struct matmul_feed *feed)
{
    const cl_uint count = mm->ndev ? mm->ndev : 1;
    struct stream s = {.mm = mm,
                       .all = h,
                       .feed = feed,
                       .total = feed ? feed->total : (double)h->m * (double)h->n * (double)h->k};
    atomic_init(&s.done, feed ? (unsigned long long)feed->before : 0);
    struct worker *w = calloc(count, sizeof *w);
    if (!w)
        return clerror_set(ENOMEM, "matmul_multiply: no memory on the host");
    for (cl_uint d = 0; d < count; d++)
        w[d] = (struct worker){.s = &s, .p = mm->ndev ? &mm->share[d] : NULL};
    const int status = run_workers(&s, w, count);
    free(w);
    return status;
}
