/* ranks.c - products of several ranks: panels are exchanged while others are multiplied.
 *
 * Each rank has an exchange thread besides its devices' threads. For each step it receives the
 * panels that its rank needs, and sends the panels that other ranks need for the same step. There
 * are three sets of panels: one is multiplied, two are in flight. So no rank is more than a few
 * steps ahead of another, and no cycle of waits can arise.
 *
 *     step        0         1         2         3
 *     exchange    0 1       2         3         4
 *     multiply              0         1         2
 *
 * Blocks of C are transferred from and to the slabs before and after (block.c).
 *
 * A panel inside the rank's own slab is multiplied in place. The exchange thread reads matrices
 * that are not in memory panel by panel, and each area of C is written when it is complete. To
 * stop, the ranks vote every VOTE_STEPS steps and all stop after the same step, so that no request
 * is left unmatched.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/grid.h"
#include "matmul/partition.h"
#include "matmul/ranks.h"
#include "matmul/start.h"
#include "matmul/stream.h"

enum { SLOTS = 3, STEPS_AHEAD = 2, VOTE_STEPS = 4 };
static const size_t AREA_SIDE_MAX = 65536, PANEL_DEPTH = 4096;

/* Panels and requests of one step. */
struct slot {
    void *memory[OPERANDS];
    const char *at[OPERANDS]; /* in `memory`, or in this rank's slab */
    size_t ld[OPERANDS];
    world_request **requests; /* receives, then sends */
    char **packed;            /* copies of rows to send that are not contiguous */
    size_t nreceives, nsends, npacked;
    unsigned users, done; /* devices that read the panels, and that have */
};

struct exchange {
    struct matmul *mm;
    const struct matmul_grid *g;
    const struct rank_plan *own;
    struct slot slot[SLOTS];
    size_t depth; /* maximum of a panel */
    pthread_t thread;
    pthread_mutex_t lock; /* guards all below, and slots' users and done */
    pthread_cond_t changed;
    size_t ready;                 /* steps whose panels are there */
    size_t first;                 /* first step of the current area */
    bool stop_requested, stopped; /* by this rank; by all ranks */
    int status, code, ocl;
    char why[1024];
};

/* ---- Panels. --------------------------------------------------------------------------------- */

/* Return the address of rows and columns of an operand in this rank's slab. */
static const char *slab_address(const struct matmul_grid *g, int operand, struct range rows,
                                struct range cols, size_t *ld)
{
    const struct range slab = matmul_grid_slab(g, operand, g->rank);
    *ld = operand == OF_A ? g->h.lda : g->h.ldb;
    return (const char *)(operand == OF_A ? g->h.a : g->h.b) +
           ((rows.first - slab.first) * *ld + cols.first) * g->mm->real;
}

static void exchange_request_stop(void *exchange)
{
    struct exchange *t = exchange;
    pthread_mutex_lock(&t->lock);
    t->stop_requested = true;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

static void exchange_record_error(struct exchange *t)
{
    const char *why = clerror(); /* the error is per thread */
    if (t->status == 0) {
        t->status = -1; /* read after the thread is joined */
        t->code = clerrno;
        t->ocl = oclerrno;
        snprintf(t->why, sizeof t->why, "%s", why ? why : "panels did not arrive");
    }
}

/* Read part of a panel. If the read fails, send zeros until all ranks have voted to stop: they
 * wait for the panel. */
static void panel_read_out_of_core(struct exchange *t, int operand, struct range rows,
                                   struct range cols, char *to)
{
    if (!t->status && matmul_out_of_core_read(t->g, operand, (struct region){rows, cols}, to) == 0)
        return;
    exchange_record_error(t);
    memset(to, 0, rows.count * cols.count * t->mm->real);
    exchange_request_stop(t);
}

static size_t panel_bytes(const struct exchange *t, int operand)
{
    return (operand == OF_A ? t->own->area_rows : t->own->area_cols) * t->depth * t->mm->real;
}

static int panel_receive(struct exchange *t, struct slot *s, size_t step, int operand)
{
    const struct matmul_grid *g = t->g;
    const struct region r = matmul_grid_region(g, t->own, step, operand);
    const size_t real = t->mm->real, row = r.cols.count * real;
    size_t ld;
    if (!g->out_of_core &&
        matmul_intersect(matmul_grid_slab(g, operand, g->rank), r.rows).count == r.rows.count) {
        s->at[operand] = slab_address(g, operand, r.rows, r.cols, &s->ld[operand]);
        return 0;
    }
    if (!s->memory[operand] &&
        !(s->memory[operand] = matmul_host_alloc(t->mm, panel_bytes(t, operand))))
        return -1;
    s->at[operand] = s->memory[operand];
    s->ld[operand] = r.cols.count;
    for (int k = 0; k < g->ranks; k++) {
        const struct range rows = matmul_intersect(matmul_grid_slab(g, operand, k), r.rows);
        char *place = (char *)s->memory[operand] + (rows.first - r.rows.first) * row;
        if (rows.count && k == g->rank && g->out_of_core) {
            panel_read_out_of_core(t, operand, rows, r.cols, place);
        } else if (rows.count && k == g->rank) {
            const char *from = slab_address(g, operand, rows, r.cols, &ld);
            matmul_copy_rows(place, row, from, ld * real, rows.count, row);
        } else if (rows.count && !(s->requests[s->nreceives++] =
                                       world_receive(t->mm->world, k, TAG_PANEL + operand, place,
                                                     rows.count * row))) {
            return -1;
        }
    }
    return 0;
}

/* Send the part of a panel that rank `to` needs for a step and this rank's slab has. */
static int panel_send(struct exchange *t, struct slot *s, int to, size_t step, int operand)
{
    const struct matmul_grid *g = t->g;
    const struct region r = matmul_grid_region(g, &g->plan[to], step, operand);
    const struct range rows = matmul_intersect(matmul_grid_slab(g, operand, g->rank), r.rows);
    const size_t row = r.cols.count * t->mm->real;
    size_t ld;
    if (rows.count == 0)
        return 0;
    const char *from = g->out_of_core ? NULL : slab_address(g, operand, rows, r.cols, &ld);
    if (g->out_of_core || (ld != r.cols.count && rows.count > 1)) {
        char *packed = malloc(rows.count * row);
        if (!packed)
            return clerror_set(ENOMEM, "matmul_multiply: out of memory on the host for %zu bytes",
                               rows.count * row);
        s->packed[s->npacked++] = packed;
        if (from)
            matmul_copy_rows(packed, row, from, ld * t->mm->real, rows.count, row);
        else
            panel_read_out_of_core(t, operand, rows, r.cols, packed);
        from = packed;
    }
    world_request *request =
        world_send(t->mm->world, to, TAG_PANEL + operand, from, rows.count * row);
    if (request)
        s->requests[s->nreceives + s->nsends++] = request;
    return request ? 0 : -1;
}

static int slot_wait_receives(const struct exchange *t, struct slot *s)
{
    const size_t nreceives = s->nreceives;
    const int status = world_wait(t->mm->world, s->requests, nreceives);
    memmove(s->requests, s->requests + nreceives, s->nsends * sizeof *s->requests);
    s->nreceives = 0;
    return status;
}

static int slot_wait_sends(const struct exchange *t, struct slot *s)
{
    const int status = world_wait(t->mm->world, s->requests, s->nsends);
    s->nsends = 0;
    for (size_t i = 0; i < s->npacked; i++)
        free(s->packed[i]);
    s->npacked = 0;
    return status;
}

/* Number of devices that compute a part of a step's area; the host counts as one. */
static unsigned step_count_users(const struct exchange *t, size_t step)
{
    const struct area a = matmul_grid_area(t->g, t->own, step / (t->own->steps / t->own->areas));
    unsigned n = 0;
    for (cl_uint d = 0; d < t->mm->ndev; d++) {
        const struct area of_device = matmul_area(t->mm, d, a.rows, a.cols);
        n += of_device.rows && of_device.cols;
    }
    return t->mm->ndev ? n : 1;
}

/* Post the receives and sends of a step. All earlier requests of its slot are complete. */
static int exchange_start_step(struct exchange *t, size_t step)
{
    const struct matmul_grid *g = t->g;
    struct slot *s = &t->slot[step % SLOTS];
    pthread_mutex_lock(&t->lock);
    s->users = step < t->own->steps ? step_count_users(t, step) : 0;
    s->done = 0;
    pthread_mutex_unlock(&t->lock);
    for (int operand = 0; operand < OPERANDS && step < t->own->steps; operand++)
        if (panel_receive(t, s, step, operand) != 0)
            return -1;
    for (int k = 0; k < g->ranks; k++)
        for (int operand = 0; operand < OPERANDS && k != g->rank && step < g->plan[k].steps;
             operand++)
            if (panel_send(t, s, k, step, operand) != 0)
                return -1;
    return 0;
}

/* ---- Exchange thread. ------------------------------------------------------------------------ */

/* Block until the devices have read a slot's panels, or this rank stops, and its sends are
 * complete. */
static int slot_wait_free(struct exchange *t, struct slot *s)
{
    pthread_mutex_lock(&t->lock);
    while (s->done < s->users && !t->stop_requested)
        pthread_cond_wait(&t->changed, &t->lock);
    pthread_mutex_unlock(&t->lock);
    return slot_wait_sends(t, s);
}

static int exchange_publish(struct exchange *t, size_t steps, bool stopped)
{
    pthread_mutex_lock(&t->lock);
    t->ready = steps;
    t->stopped |= stopped;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    return 0;
}

/* Vote: *end becomes true if any rank requests a stop. */
static int exchange_vote_stop(struct exchange *t, bool *end)
{
    pthread_mutex_lock(&t->lock);
    uint64_t wanted = t->stop_requested;
    pthread_mutex_unlock(&t->lock);
    if (world_add(t->mm->world, &wanted, 1) != 0)
        return -1;
    *end = wanted > 0;
    return 0;
}

static int exchange_run(struct exchange *t)
{
    const size_t steps = t->g->steps;
    bool end = false;
    for (size_t step = 0; step < STEPS_AHEAD && step < steps; step++)
        if (exchange_start_step(t, step) != 0)
            return -1;
    for (size_t step = 0; step < steps; step++) {
        struct slot *s = &t->slot[(step + STEPS_AHEAD) % SLOTS];
        if (step % VOTE_STEPS == 0 && (exchange_vote_stop(t, &end) != 0 || end))
            break;
        if (slot_wait_receives(t, &t->slot[step % SLOTS]) != 0 ||
            exchange_publish(t, step + 1, false) != 0)
            return -1;
        if (step + STEPS_AHEAD < steps &&
            (slot_wait_free(t, s) != 0 || exchange_start_step(t, step + STEPS_AHEAD) != 0))
            return -1;
    }
    int status = 0;
    for (int i = 0; i < SLOTS; i++)
        if (slot_wait_receives(t, &t->slot[i]) != 0 || slot_wait_sends(t, &t->slot[i]) != 0)
            status = -1;
    return status == 0 && end ? exchange_publish(t, t->ready, true) : status;
}

static void *exchange_thread_main(void *exchange)
{
    struct exchange *t = exchange;
    if (exchange_run(t) == 0)
        return NULL;
    exchange_record_error(t);
    exchange_publish(t, t->ready, true);
    return NULL;
}

/* ---- Panel source of the devices' threads. --------------------------------------------------- */

static int panel_wait(void *exchange, size_t panel, struct host_product *from)
{
    struct exchange *t = exchange;
    const size_t step = t->first + panel;
    const struct slot *s = &t->slot[step % SLOTS];
    pthread_mutex_lock(&t->lock);
    while (t->ready <= step && !t->stop_requested && !t->stopped)
        pthread_cond_wait(&t->changed, &t->lock);
    const bool stop = t->stop_requested || t->stopped;
    pthread_mutex_unlock(&t->lock);
    if (stop)
        return 1;
    from->a = s->at[OF_A];
    from->b = s->at[OF_B];
    from->lda = s->ld[OF_A];
    from->ldb = s->ld[OF_B];
    from->k = matmul_grid_panel(t->g, t->own, step).count;
    return 0;
}

static void panel_release(void *exchange, size_t panel)
{
    struct exchange *t = exchange;
    pthread_mutex_lock(&t->lock);
    t->slot[(t->first + panel) % SLOTS].done++;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

/* ---- The product. ---------------------------------------------------------------------------- */

/* Position of an area in C. */
static struct region area_region(const struct rank_plan *p, const struct area *a)
{
    return (struct region){{p->rows.first + a->row, a->rows}, {p->cols.first + a->col, a->cols}};
}

/* Write an area of C that is not in memory, unless the product was stopped. */
static int area_write(struct exchange *t, const struct area *a, const void *c)
{
    pthread_mutex_lock(&t->lock);
    const bool whole = !t->stopped && !t->stop_requested;
    pthread_mutex_unlock(&t->lock);
    return whole ? matmul_out_of_core_write(t->g, area_region(t->own, a), c) : 0;
}

/* Compute the areas one after the other, on all devices. A stop for another rank's sake is no
 * failure of this rank. */
static int exchange_run_areas(struct exchange *t, const struct matmul_block *b)
{
    const struct host_product *h = &t->g->h;
    const struct rank_plan *p = t->own;
    const size_t panels = p->areas ? p->steps / p->areas : 0;
    const double total = (double)p->rows.count * (double)p->cols.count *
                         (double)matmul_range(h->k, p->l < 0 ? 0 : p->l, t->g->pk).count;
    struct matmul_panel_source source = {.arg = t,
                                         .wait = panel_wait,
                                         .release = panel_release,
                                         .abort = exchange_request_stop,
                                         .panels = panels,
                                         .depth = t->depth,
                                         .work_total = total};
    for (size_t i = 0; i < p->areas; i++) {
        const struct area a = matmul_grid_area(t->g, p, i);
        struct host_product x = *h;
        x.m = a.rows;
        x.n = a.cols;
        x.beta = p->l == 0 ? h->beta : 0;
        x.c = t->g->out_of_core ? b->c : b->c + (a.row * b->ld + a.col) * t->mm->real;
        x.ldc = t->g->out_of_core ? a.cols : b->ld;
        if (t->g->out_of_core && h->beta != 0 &&
            matmul_out_of_core_read(t->g, OPERANDS, area_region(p, &a), x.c) != 0)
            return -1;
        x.a = x.b = x.c;       /* until panels arrive */
        t->first = i * panels; /* no device is working */
        if (matmul_stream(t->mm, &x, &source) != 0 ||
            (t->g->out_of_core && area_write(t, &a, x.c) != 0))
            return -1;
        source.work_before +=
            (double)a.rows * (double)a.cols * (double)matmul_range(h->k, p->l, t->g->pk).count;
    }
    return 0;
}

static int exchange_make_slots(struct exchange *t)
{
    for (int i = 0; i < SLOTS; i++) {
        t->slot[i].requests = calloc(4 * (size_t)t->g->ranks, sizeof *t->slot[i].requests);
        t->slot[i].packed = calloc(2 * (size_t)t->g->ranks, sizeof *t->slot[i].packed);
        if (!t->slot[i].requests || !t->slot[i].packed)
            return clerror_set(ENOMEM, "matmul_multiply: out of memory on the host");
    }
    return 0;
}

static void exchange_free_slots(struct exchange *t)
{
    for (int i = 0; i < SLOTS; i++) {
        for (int operand = 0; operand < OPERANDS; operand++)
            matmul_host_free(t->mm, t->slot[i].memory[operand]);
        free(t->slot[i].requests);
        free(t->slot[i].packed);
    }
}

/* Run the exchange thread and the devices until all ranks are done or stop. */
static int exchange_multiply(struct exchange *t, const struct matmul_block *b)
{
    int status = exchange_make_slots(t);
    if (world_reduce_status(t->mm->world, status) != 0)
        return -1;
    if (pthread_create(&t->thread, NULL, exchange_thread_main, t) != 0)
        return clerror_set(EAGAIN, "matmul_multiply: cannot create a thread");
    matmul_grid_shape(t->g, t->depth, true);
    status = exchange_run_areas(t, b);
    matmul_grid_shape(t->g, t->depth, false);
    const int code = clerrno, ocl = oclerrno;
    const char *sentence = status != 0 ? clerror() : NULL;
    char *why = sentence ? strdup(sentence) : NULL;
    if (status != 0)
        exchange_request_stop(t);
    pthread_join(t->thread, NULL);
    if (t->status != 0)
        clerror_set(t->code ? t->code : EPROTO, "%s", t->why);
    else if (status != 0)
        clerror_set(code, "%s", why ? why : "matmul_multiply: a device failed");
    if (t->status != 0 || status != 0)
        oclerrno = t->status != 0 ? t->ocl : ocl; /* an error in OpenCL is not the options' fault */
    free(why);
    return status != 0 || t->status != 0 ? -1 : 0;
}

/* Allocate one area of C. */
static int area_alloc(const struct matmul_grid *g, const struct rank_plan *p,
                      struct matmul_block *b)
{
    *b = (struct matmul_block){.own = true};
    b->c = p->areas ? matmul_host_alloc(g->mm, p->area_rows * p->area_cols * g->mm->real) : NULL;
    return b->c || !p->areas ? 0 : -1;
}

/* Compute this rank's part of a block of C: transfer C for beta, then multiply. */
static int grid_compute_part(struct exchange *t, struct matmul_block *b)
{
    const struct matmul_grid *g = t->g;
    const int status = world_reduce_status(
        g->mm->world, g->out_of_core ? area_alloc(g, t->own, b) : matmul_block_make(g, t->own, b));
    if (status != 0)
        return status;
    if (g->h.beta != 0 && !g->out_of_core && matmul_block_move(g, b, true) != 0)
        return -1;
    return exchange_multiply(t, b);
}

/* Compute all parts, reduce them, and transfer the results to the slabs. */
static int grid_compute(struct exchange *t, struct matmul_block *b)
{
    const int status = world_reduce_status(t->mm->world, grid_compute_part(t, b));
    if (status != 0 || t->g->out_of_core)
        return status;
    if (matmul_block_add(t->g, b) != 0)
        return -1;
    return matmul_block_move(t->g, b, false);
}

static int grid_multiply(struct matmul_grid *g, size_t panel_depth)
{
    struct matmul_block b = {0};
    struct exchange t = {.mm = g->mm, .g = g, .own = &g->plan[g->rank], .depth = panel_depth};
    pthread_mutex_init(&t.lock, NULL);
    pthread_cond_init(&t.changed, NULL);
    const int status = grid_compute(&t, &b);
    exchange_free_slots(&t);
    if (b.own)
        matmul_host_free(g->mm, b.c);
    pthread_cond_destroy(&t.changed);
    pthread_mutex_destroy(&t.lock);
    return status;
}

/* Check the caller's slabs of the first n of A, B and C. */
static int ranks_check_slabs(struct matmul_grid *g, int n)
{
    struct host_product *h = &g->h;
    const size_t cols[3] = {is_trans_a(h->trans) ? h->m : h->k, is_trans_b(h->trans) ? h->k : h->n,
                            h->n};
    const struct range slab[3] = {matmul_grid_slab(g, OF_A, g->rank),
                                  matmul_grid_slab(g, OF_B, g->rank), matmul_slab_of_c(g, g->rank)};
    const void *const x[3] = {h->a, h->b, h->c};
    size_t *const ld[3] = {&h->lda, &h->ldb, &h->ldc};
    for (int i = 0; i < n; i++) {
        *ld[i] = *ld[i] ? *ld[i] : cols[i];
        if (*ld[i] < cols[i])
            return clerror_set(
                EINVAL,
                "matmul_multiply: the leading dimension of %c is %zu, but its rows have %zu elements",
                "ABC"[i], *ld[i], cols[i]);
        if (!x[i] && slab[i].count)
            return clerror_set(EINVAL, "matmul_multiply: %c is NULL", "ABC"[i]);
    }
    return 0;
}

/* Shrink areas of a block and panels until they fit in memory. */
static int grid_fit_block(const struct matmul_grid *g, struct rank_plan p, size_t *area_rows,
                          size_t *area_cols, size_t *panel_depth)
{
    *area_rows = min_size(p.i < 0 || !p.rows.count ? 1 : p.rows.count, AREA_SIDE_MAX);
    *area_cols = min_size(p.i < 0 || !p.cols.count ? 1 : p.cols.count, AREA_SIDE_MAX);
    if (g->out_of_core)
        matmul_out_of_core_fit(g->mm, area_rows, area_cols, panel_depth);
    return matmul_stream_fit(g->mm, area_rows, area_cols, panel_depth);
}

/* Choose areas and panels. The depth of panels must not depend on weights, since bits depend on
 * it. */
static int grid_fit(struct matmul_grid *g, size_t *area_rows, size_t *area_cols,
                    size_t *panel_depth)
{
    double *weight = g->weight;
    size_t depth;
    *panel_depth = min_size(g->h.k, PANEL_DEPTH);
    g->weight = NULL;
    int status =
        grid_fit_block(g, matmul_grid_place(g, g->rank), area_rows, area_cols, panel_depth);
    g->weight = weight;
    if (status == 0 && weight) {
        const size_t rows = *area_rows, cols = *area_cols;
        depth = *panel_depth;
        status = grid_fit_block(g, matmul_grid_place(g, g->rank), area_rows, area_cols, &depth);
        if (depth < *panel_depth) {
            *area_rows = rows;
            *area_cols = cols;
        }
    }
    return world_reduce_status(g->mm->world, status);
}

static int grid_plan_and_multiply(struct matmul_grid *g)
{
    size_t area_rows, area_cols, panel_depth;
    int status = matmul_balance(g);
    if (status != 0)
        return status;
    status = grid_fit(g, &area_rows, &area_cols, &panel_depth);
    if (status != 0)
        return status;
    status = matmul_grid_make(g, area_rows, area_cols, panel_depth);
    if (status != 0)
        return status;
    return grid_multiply(g, panel_depth);
}

/* Compute a product. The caller has set the grid's engine, product and ranks. */
static int ranks_multiply_on_grid(struct matmul_grid *g)
{
    const struct host_product *h = &g->h;
    matmul_grid_choose(g->ranks, h->m, h->n, h->k, g->mm->real, g->out_of_core ? 1 : g->ranks,
                       &g->pm, &g->pn, &g->pk);
    const int status = grid_plan_and_multiply(g);
    matmul_grid_free(g);
    return status;
}

int matmul_ranks_multiply(struct matmul *mm, const struct host_product *h)
{
    struct matmul_grid g = {
        .mm = mm, .h = *h, .ranks = world_size(mm->world), .rank = world_rank(mm->world)};
    if (world_reduce_status(mm->world, ranks_check_slabs(&g, 3)) != 0)
        return -1;
    if (h->m == 0 || h->n == 0)
        return 0;
    if (h->k == 0 || h->alpha == 0) {
        g.h.m = matmul_slab_of_c(&g, g.rank).count;
        return matmul_host_scale(mm, &g.h), 0;
    }
    return ranks_multiply_on_grid(&g);
}

int matmul_ranks_multiply_out_of_core(struct matmul *mm, const struct host_product *h,
                                      const struct matmul_out_of_core *const matrices[3])
{
    struct matmul_grid g = {.mm = mm,
                            .h = *h,
                            .out_of_core = matrices,
                            .ranks = world_size(mm->world),
                            .rank = world_rank(mm->world)};
    if (world_reduce_status(mm->world, matmul_out_of_core_check(&g)) != 0)
        return -1;
    if (h->m == 0 || h->n == 0)
        return 0;
    return h->k == 0 || h->alpha == 0 ? matmul_out_of_core_scale(&g) : ranks_multiply_on_grid(&g);
}

/* ---- Matrices that stay on the devices. ------------------------------------------------------ */

/* Matrices gathered by a load: the rows of op(A) and the columns of op(B) of this rank's block of
 * C. */
struct matmul_ranks {
    struct matmul_grid g;
    struct exchange t;
};

void matmul_ranks_unload(struct matmul *mm)
{
    struct matmul_ranks *r = mm->ranks;
    if (!r)
        return;
    exchange_free_slots(&r->t);
    pthread_cond_destroy(&r->t.changed);
    pthread_mutex_destroy(&r->t.lock);
    matmul_grid_free(&r->g);
    free(r);
    mm->ranks = NULL;
}

void matmul_ranks_release_host(struct matmul *mm)
{
    for (int operand = 0; operand < OPERANDS; operand++) {
        matmul_host_free(mm, mm->ranks->t.slot[0].memory[operand]);
        mm->ranks->t.slot[0].memory[operand] = NULL;
    }
}

/* Gather the whole depth in one step. */
static int ranks_gather(struct matmul_ranks *r)
{
    struct exchange *t = &r->t;
    struct slot *s = &t->slot[0];
    int status = world_reduce_status(t->mm->world, exchange_make_slots(t));
    if (status == 0 && r->g.steps > 0)
        status = exchange_start_step(t, 0);
    if (slot_wait_receives(t, s) != 0 || slot_wait_sends(t, s) != 0)
        status = -1;
    return status;
}

int matmul_ranks_load(struct matmul *mm, struct host_product *h)
{
    struct matmul_ranks *r = calloc(1, sizeof *r);
    if (world_reduce_status(
            mm->world, r ? 0 : clerror_set(ENOMEM, "matmul_load: out of memory on the host")) != 0)
        return free(r), -1;
    mm->ranks = r;
    r->g = (struct matmul_grid){.mm = mm,
                                .h = *h,
                                .ranks = world_size(mm->world),
                                .rank = world_rank(mm->world),
                                .pm = 1,
                                .pn = 1,
                                .pk = 1};
    struct matmul_grid *g = &r->g;
    pthread_mutex_init(&r->t.lock, NULL);
    pthread_cond_init(&r->t.changed, NULL);
    r->t.mm = mm; /* exchange_free_slots needs it */
    r->t.g = g;
    if (world_reduce_status(mm->world, ranks_check_slabs(g, 2)) != 0)
        return -1;
    if (h->m && h->n && h->k)
        matmul_grid_choose(g->ranks, h->m, h->n, h->k, mm->real, 1, &g->pm, &g->pn, &g->pk);
    if (matmul_balance(g) != 0)
        return -1;
    const struct rank_plan p = matmul_grid_place(g, g->rank);
    const size_t area_rows = p.rows.count ? p.rows.count : 1,
                 area_cols = p.cols.count ? p.cols.count : 1;
    if (matmul_grid_make(g, area_rows, area_cols, h->k ? h->k : 1) != 0)
        return -1;
    r->t.own = &g->plan[g->rank];
    r->t.depth = h->k;
    if (ranks_gather(r) != 0)
        return -1;
    *h = (struct host_product){.trans = h->trans,
                               .m = p.rows.count,
                               .n = p.cols.count,
                               .k = h->k,
                               .alpha = 1,
                               .a = r->t.slot[0].at[OF_A],
                               .b = r->t.slot[0].at[OF_B],
                               .lda = r->t.slot[0].ld[OF_A],
                               .ldb = r->t.slot[0].ld[OF_B]};
    return 0;
}

void matmul_ranks_fix_shape(struct matmul *mm, bool on)
{
    matmul_grid_shape(&mm->ranks->g, mm->ranks->g.h.k, on);
}

int matmul_ranks_result(struct matmul *mm, void *c, size_t ldc, bool to_blocks,
                        int (*copy)(struct matmul *mm, void *c, size_t ldc))
{
    struct matmul_grid *g = &mm->ranks->g;
    struct matmul_block b = {0};
    g->h.c = c;
    g->h.ldc = ldc;
    int status = world_reduce_status(
        mm->world,
        ranks_check_slabs(g, 3) == 0 && matmul_block_make(g, &g->plan[g->rank], &b) == 0 ? 0 : -1);
    if (status == 0 && to_blocks)
        status = matmul_block_move(g, &b, true);
    if (status == 0)
        status = world_reduce_status(
            mm->world,
            g->plan[g->rank].rows.count && g->plan[g->rank].cols.count ? copy(mm, b.c, b.ld) : 0);
    if (status == 0 && !to_blocks)
        status = matmul_block_move(g, &b, false);
    if (b.own)
        matmul_host_free(mm, b.c);
    return status;
}
