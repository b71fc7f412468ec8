/* ranks.c - a product on many ranks: panels travel from those that have them to those that multiply
 * them.
 *
 * A thread beside the devices' is the post: for each step of this rank it receives the panels that
 * the step needs, and for the same step of every other rank sends what this one has of them. There
 * are three sets of panels: one is multiplied, and two are under way. So no rank is more than a few
 * steps before another, and none waits for one that waits for it.
 *
 * Blocks of C go from and to the slabs before and after (block.c).
 *
 * A panel that is all in one's own slab is multiplied where it is. Matrices that are not in memory
 * are read panel by panel by the post, and an area of C is written when it is done. When a rank
 * wants to end, all hear of it at one of the steps in which they talk, and end after the same step:
 * then no mail is left over.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/grid.h"

enum { SLOTS = 3, AHEAD = 2, TALK = 4 };
static const size_t MOST_SIDE = 65536, DEEP = 4096;

/* What a step needs, and what others do. */
struct slot {
    void *memory[OPERANDS];
    const char *at[OPERANDS]; /* in that memory, or in this rank's slab */
    size_t ld[OPERANDS];
    world_request **mail; /* received, and then sent */
    char **packed;        /* what is sent, if it does not lie in one piece */
    size_t come, sent, npacked;
    unsigned users, done; /* devices that read it, and that have done so */
};

struct travel {
    struct matmul *mm;
    const struct matmul_grid *g;
    const struct plan *own;
    struct slot slot[SLOTS];
    size_t deep; /* of a panel, at most */
    pthread_t post;
    pthread_mutex_t lock; /* of all below, and of slots' users and done */
    pthread_cond_t changed;
    size_t ready;       /* steps whose panels are there */
    size_t first;       /* step of the area at hand */
    bool wanted, ended; /* this rank wants to end; all do */
    int status, code, ocl;
    char why[1024];
};

/* ---- Panels. --------------------------------------------------------------------------------- */

/* Where rows and columns of an operand are in this rank's slab. */
static const char *in_slab(const struct matmul_grid *g, int operand, struct part rows,
                           struct part cols, size_t *ld)
{
    const struct part slab = matmul_grid_slab(g, operand, g->rank);
    *ld = operand == OF_A ? g->h.lda : g->h.ldb;
    return (const char *)(operand == OF_A ? g->h.a : g->h.b) +
           ((rows.first - slab.first) * *ld + cols.first) * g->mm->real;
}

static void give_up(void *travel)
{
    struct travel *t = travel;
    pthread_mutex_lock(&t->lock);
    t->wanted = true;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

static void fail(struct travel *t)
{
    const char *why = clerror(); /* which is this thread's */
    if (t->status == 0) {
        t->status = -1; /* read when the post is joined */
        t->code = clerrno;
        t->ocl = oclerrno;
        snprintf(t->why, sizeof t->why, "%s", why ? why : "the panels do not arrive");
    }
}

/* What cannot be read becomes zeros, which others wait for, until all have heard that this rank
 * ends. */
static void read_far(struct travel *t, int operand, struct part rows, struct part cols, char *to)
{
    if (!t->status && matmul_far_read(t->g, operand, (struct region){rows, cols}, to) == 0)
        return;
    fail(t);
    memset(to, 0, rows.count * cols.count * t->mm->real);
    give_up(t);
}

static size_t panel_bytes(const struct travel *t, int operand)
{
    return (operand == OF_A ? t->own->high : t->own->wide) * t->deep * t->mm->real;
}

static int receive(struct travel *t, struct slot *s, size_t step, int operand)
{
    const struct matmul_grid *g = t->g;
    const struct region r = matmul_grid_region(g, t->own, step, operand);
    const size_t real = t->mm->real, row = r.cols.count * real;
    size_t ld;
    if (!g->far &&
        matmul_meet(matmul_grid_slab(g, operand, g->rank), r.rows).count == r.rows.count) {
        s->at[operand] = in_slab(g, operand, r.rows, r.cols, &s->ld[operand]);
        return 0;
    }
    if (!s->memory[operand] &&
        !(s->memory[operand] = matmul_room_of(t->mm, panel_bytes(t, operand))))
        return -1;
    s->at[operand] = s->memory[operand];
    s->ld[operand] = r.cols.count;
    for (int k = 0; k < g->ranks; k++) {
        const struct part rows = matmul_meet(matmul_grid_slab(g, operand, k), r.rows);
        char *place = (char *)s->memory[operand] + (rows.first - r.rows.first) * row;
        if (rows.count && k == g->rank && g->far) {
            read_far(t, operand, rows, r.cols, place);
        } else if (rows.count && k == g->rank) {
            const char *from = in_slab(g, operand, rows, r.cols, &ld);
            matmul_copy_rows(place, row, from, ld * real, rows.count, row);
        } else if (rows.count &&
                   !(s->mail[s->come++] = world_receive(t->mm->world, k, TAG_PANEL + operand, place,
                                                        rows.count * row))) {
            return -1;
        }
    }
    return 0;
}

/* What rank `to` needs of this one's slab for a step of its. */
static int send(struct travel *t, struct slot *s, int to, size_t step, int operand)
{
    const struct matmul_grid *g = t->g;
    const struct region r = matmul_grid_region(g, &g->plan[to], step, operand);
    const struct part rows = matmul_meet(matmul_grid_slab(g, operand, g->rank), r.rows);
    const size_t row = r.cols.count * t->mm->real;
    size_t ld;
    if (rows.count == 0)
        return 0;
    const char *from = g->far ? NULL : in_slab(g, operand, rows, r.cols, &ld);
    if (g->far || (ld != r.cols.count && rows.count > 1)) {
        char *packed = malloc(rows.count * row);
        if (!packed)
            return clerror_set(ENOMEM, "matmul_multiply: no memory on the host for %zu bytes",
                               rows.count * row);
        s->packed[s->npacked++] = packed;
        if (from)
            matmul_copy_rows(packed, row, from, ld * t->mm->real, rows.count, row);
        else
            read_far(t, operand, rows, r.cols, packed);
        from = packed;
    }
    world_request *mail = world_send(t->mm->world, to, TAG_PANEL + operand, from, rows.count * row);
    if (mail)
        s->mail[s->come + s->sent++] = mail;
    return mail ? 0 : -1;
}

static int settle_come(const struct travel *t, struct slot *s)
{
    const size_t come = s->come;
    const int status = world_wait(t->mm->world, s->mail, come);
    memmove(s->mail, s->mail + come, s->sent * sizeof *s->mail);
    s->come = 0;
    return status;
}

static int settle_sent(const struct travel *t, struct slot *s)
{
    const int status = world_wait(t->mm->world, s->mail, s->sent);
    s->sent = 0;
    for (size_t i = 0; i < s->npacked; i++)
        free(s->packed[i]);
    s->npacked = 0;
    return status;
}

/* Devices that have a part of the area of a step; the host counts as one. */
static unsigned count_users(const struct travel *t, size_t step)
{
    const struct area a = matmul_grid_area(t->g, t->own, step / (t->own->steps / t->own->areas));
    unsigned n = 0;
    for (cl_uint d = 0; d < t->mm->ndev; d++) {
        const struct area of_device = matmul_area(t->mm, d, a.rows, a.cols);
        n += of_device.rows && of_device.cols;
    }
    return t->mm->ndev ? n : 1;
}

/* Starts all that belongs to a step. Its slot was settled. */
static int begin(struct travel *t, size_t step)
{
    const struct matmul_grid *g = t->g;
    struct slot *s = &t->slot[step % SLOTS];
    pthread_mutex_lock(&t->lock);
    s->users = step < t->own->steps ? count_users(t, step) : 0;
    s->done = 0;
    pthread_mutex_unlock(&t->lock);
    for (int operand = 0; operand < OPERANDS && step < t->own->steps; operand++)
        if (receive(t, s, step, operand) != 0)
            return -1;
    for (int k = 0; k < g->ranks; k++)
        for (int operand = 0; operand < OPERANDS && k != g->rank && step < g->plan[k].steps;
             operand++)
            if (send(t, s, k, step, operand) != 0)
                return -1;
    return 0;
}

/* ---- The post. ------------------------------------------------------------------------------- */

/* Returns when the panels of a slot are read, or nobody reads them any more; and when they have
 * arrived where they were sent. */
static int clear(struct travel *t, struct slot *s)
{
    pthread_mutex_lock(&t->lock);
    while (s->done < s->users && !t->wanted)
        pthread_cond_wait(&t->changed, &t->lock);
    pthread_mutex_unlock(&t->lock);
    return settle_sent(t, s);
}

static int tell_ready(struct travel *t, size_t steps, bool ended)
{
    pthread_mutex_lock(&t->lock);
    t->ready = steps;
    t->ended |= ended;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    return 0;
}

/* Whether one of all ranks wants to end. */
static int ask_all(struct travel *t, bool *end)
{
    pthread_mutex_lock(&t->lock);
    uint64_t wanted = t->wanted;
    pthread_mutex_unlock(&t->lock);
    if (world_add(t->mm->world, &wanted, 1) != 0)
        return -1;
    *end = wanted > 0;
    return 0;
}

static int go_round(struct travel *t)
{
    const size_t steps = t->g->steps;
    bool end = false;
    for (size_t step = 0; step < AHEAD && step < steps; step++)
        if (begin(t, step) != 0)
            return -1;
    for (size_t step = 0; step < steps; step++) {
        struct slot *s = &t->slot[(step + AHEAD) % SLOTS];
        if (step % TALK == 0 && (ask_all(t, &end) != 0 || end))
            break;
        if (settle_come(t, &t->slot[step % SLOTS]) != 0 || tell_ready(t, step + 1, false) != 0)
            return -1;
        if (step + AHEAD < steps && (clear(t, s) != 0 || begin(t, step + AHEAD) != 0))
            return -1;
    }
    int status = 0;
    for (int i = 0; i < SLOTS; i++)
        if (settle_come(t, &t->slot[i]) != 0 || settle_sent(t, &t->slot[i]) != 0)
            status = -1;
    return status == 0 && end ? tell_ready(t, t->ready, true) : status;
}

static void *post_main(void *travel)
{
    struct travel *t = travel;
    if (go_round(t) == 0)
        return NULL;
    fail(t);
    tell_ready(t, t->ready, true);
    return NULL;
}

/* ---- What devices' threads ask for. ---------------------------------------------------------- */

static int take(void *travel, size_t panel, struct host_product *from)
{
    struct travel *t = travel;
    const size_t step = t->first + panel;
    const struct slot *s = &t->slot[step % SLOTS];
    pthread_mutex_lock(&t->lock);
    while (t->ready <= step && !t->wanted && !t->ended)
        pthread_cond_wait(&t->changed, &t->lock);
    const bool stop = t->wanted || t->ended;
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

static void done(void *travel, size_t panel)
{
    struct travel *t = travel;
    pthread_mutex_lock(&t->lock);
    t->slot[(t->first + panel) % SLOTS].done++;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

/* ---- The product. ---------------------------------------------------------------------------- */

/* Where an area is in C. */
static struct region region_of(const struct plan *p, const struct area *a)
{
    return (struct region){{p->rows.first + a->row, a->rows}, {p->cols.first + a->col, a->cols}};
}

/* An area of a C that is not in memory, unless the product ends. */
static int put_area(struct travel *t, const struct area *a, const void *c)
{
    pthread_mutex_lock(&t->lock);
    const bool whole = !t->ended && !t->wanted;
    pthread_mutex_unlock(&t->lock);
    return whole ? matmul_far_write(t->g, region_of(t->own, a), c) : 0;
}

/* Area for area, on all devices. What ended for another rank's sake is no failure of this one's. */
static int run_areas(struct travel *t, const struct matmul_block *b)
{
    const struct host_product *h = &t->g->h;
    const struct plan *p = t->own;
    const size_t panels = p->areas ? p->steps / p->areas : 0;
    const double total = (double)p->rows.count * (double)p->cols.count *
                         (double)matmul_part(h->k, p->l < 0 ? 0 : p->l, t->g->pk).count;
    struct matmul_feed feed = {.arg = t,
                               .take = take,
                               .done = done,
                               .give_up = give_up,
                               .panels = panels,
                               .deep = t->deep,
                               .total = total};
    for (size_t i = 0; i < p->areas; i++) {
        const struct area a = matmul_grid_area(t->g, p, i);
        struct host_product x = *h;
        x.m = a.rows;
        x.n = a.cols;
        x.beta = p->l == 0 ? h->beta : 0;
        x.c = t->g->far ? b->c : b->c + (a.row * b->ld + a.col) * t->mm->real;
        x.ldc = t->g->far ? a.cols : b->ld;
        if (t->g->far && h->beta != 0 &&
            matmul_far_read(t->g, OPERANDS, region_of(p, &a), x.c) != 0)
            return -1;
        x.a = x.b = x.c;       /* until panels are there */
        t->first = i * panels; /* no device is at work */
        if (matmul_stream(t->mm, &x, &feed) != 0 || (t->g->far && put_area(t, &a, x.c) != 0))
            return -1;
        feed.before +=
            (double)a.rows * (double)a.cols * (double)matmul_part(h->k, p->l, t->g->pk).count;
    }
    return 0;
}

static int make_slots(struct travel *t)
{
    for (int i = 0; i < SLOTS; i++) {
        t->slot[i].mail = calloc(4 * (size_t)t->g->ranks, sizeof *t->slot[i].mail);
        t->slot[i].packed = calloc(2 * (size_t)t->g->ranks, sizeof *t->slot[i].packed);
        if (!t->slot[i].mail || !t->slot[i].packed)
            return clerror_set(ENOMEM, "matmul_multiply: no memory on the host");
    }
    return 0;
}

static void free_slots(struct travel *t)
{
    for (int i = 0; i < SLOTS; i++) {
        for (int operand = 0; operand < OPERANDS; operand++)
            matmul_leave_room(t->mm, t->slot[i].memory[operand]);
        free(t->slot[i].mail);
        free(t->slot[i].packed);
    }
}

/* The post runs until all ranks are done, or end. */
static int travel(struct travel *t, const struct matmul_block *b)
{
    int status = make_slots(t);
    if (world_reduce_status(t->mm->world, status) != 0)
        return -1;
    if (pthread_create(&t->post, NULL, post_main, t) != 0)
        return clerror_set(EAGAIN, "matmul_multiply: no thread could be made");
    matmul_grid_shape(t->g, t->deep, true);
    status = run_areas(t, b);
    matmul_grid_shape(t->g, t->deep, false);
    const int code = clerrno, ocl = oclerrno;
    const char *sentence = status != 0 ? clerror() : NULL;
    char *why = sentence ? strdup(sentence) : NULL;
    if (status != 0)
        give_up(t);
    pthread_join(t->post, NULL);
    if (t->status != 0)
        clerror_set(t->code ? t->code : EPROTO, "%s", t->why);
    else if (status != 0)
        clerror_set(code, "%s", why ? why : "matmul_multiply: a device failed");
    if (t->status != 0 || status != 0)
        oclerrno = t->status != 0 ? t->ocl : ocl; /* with one, the options were not at fault */
    free(why);
    return status != 0 || t->status != 0 ? -1 : 0;
}

/* Room for one area of C. */
static int make_area(const struct matmul_grid *g, const struct plan *p, struct matmul_block *b)
{
    *b = (struct matmul_block){.own = true};
    b->c = p->areas ? matmul_room_of(g->mm, p->high * p->wide * g->mm->real) : NULL;
    return b->c || !p->areas ? 0 : -1;
}

static int multiply(struct matmul_grid *g, size_t deep)
{
    struct matmul_block b = {0};
    struct travel t = {.mm = g->mm, .g = g, .own = &g->plan[g->rank], .deep = deep};
    pthread_mutex_init(&t.lock, NULL);
    pthread_cond_init(&t.changed, NULL);
    int status = world_reduce_status(g->mm->world, g->far ? make_area(g, t.own, &b)
                                                          : matmul_block_make(g, t.own, &b));
    if (status == 0 && g->h.beta != 0 && !g->far)
        status = matmul_block_move(g, &b, true);
    if (status == 0)
        status = travel(&t, &b);
    status = world_reduce_status(g->mm->world, status);
    if (status == 0 && !g->far)
        status = matmul_block_add(g, &b);
    if (status == 0 && !g->far)
        status = matmul_block_move(g, &b, false);
    free_slots(&t);
    if (b.own)
        matmul_leave_room(g->mm, b.c);
    pthread_cond_destroy(&t.changed);
    pthread_mutex_destroy(&t.lock);
    return status;
}

/* Slabs of A, B and C that a product may have; the first `n` of them. */
static int check_slabs(struct matmul_grid *g, int n)
{
    struct host_product *h = &g->h;
    const size_t cols[3] = {trans_a(h->trans) ? h->m : h->k, trans_b(h->trans) ? h->k : h->n, h->n};
    const struct part slab[3] = {matmul_grid_slab(g, OF_A, g->rank),
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

/* Makes areas of a block and panels so small that there is room for them. */
static int fit_block(const struct matmul_grid *g, struct plan p, size_t *high, size_t *wide,
                     size_t *deep)
{
    *high = smaller(p.i < 0 || !p.rows.count ? 1 : p.rows.count, MOST_SIDE);
    *wide = smaller(p.i < 0 || !p.cols.count ? 1 : p.cols.count, MOST_SIDE);
    if (g->far)
        matmul_far_fit(g->mm, high, wide, deep);
    return matmul_stream_fit(g->mm, high, wide, deep);
}

/* How deep panels are does not depend on weights, since bits depend on it. */
static int fit(struct matmul_grid *g, size_t *high, size_t *wide, size_t *deep)
{
    double *weight = g->weight;
    size_t depth;
    *deep = smaller(g->h.k, DEEP);
    g->weight = NULL;
    int status = fit_block(g, matmul_grid_place(g, g->rank), high, wide, deep);
    g->weight = weight;
    if (status == 0 && weight) {
        const size_t rows = *high, cols = *wide;
        depth = *deep;
        status = fit_block(g, matmul_grid_place(g, g->rank), high, wide, &depth);
        if (depth < *deep) {
            *high = rows;
            *wide = cols;
        }
    }
    return world_reduce_status(g->mm->world, status);
}

/* The grid has what its caller knows: the engine, the product, the ranks. */
static int multiply_on_grid(struct matmul_grid *g)
{
    const struct host_product *h = &g->h;
    size_t high, wide, deep;
    matmul_grid_choose(g->ranks, h->m, h->n, h->k, g->mm->real, g->far ? 1 : g->ranks, &g->pm,
                       &g->pn, &g->pk);
    int status = matmul_divide_look(g);
    if (status == 0)
        status = fit(g, &high, &wide, &deep);
    if (status == 0)
        status = matmul_grid_make(g, high, wide, deep);
    if (status == 0)
        status = multiply(g, deep);
    matmul_grid_free(g);
    return status;
}

int matmul_ranks_multiply(struct matmul *mm, const struct host_product *h)
{
    struct matmul_grid g = {
        .mm = mm, .h = *h, .ranks = world_size(mm->world), .rank = world_rank(mm->world)};
    if (world_reduce_status(mm->world, check_slabs(&g, 3)) != 0)
        return -1;
    if (h->m == 0 || h->n == 0)
        return 0;
    if (h->k == 0 || h->alpha == 0) {
        g.h.m = matmul_slab_of_c(&g, g.rank).count;
        return matmul_host_scale(mm, &g.h), 0;
    }
    return multiply_on_grid(&g);
}

int matmul_ranks_multiply_far(struct matmul *mm, const struct host_product *h,
                              const struct matmul_far *const far[3])
{
    struct matmul_grid g = {.mm = mm,
                            .h = *h,
                            .far = far,
                            .ranks = world_size(mm->world),
                            .rank = world_rank(mm->world)};
    if (world_reduce_status(mm->world, matmul_far_check(&g)) != 0)
        return -1;
    if (h->m == 0 || h->n == 0)
        return 0;
    return h->k == 0 || h->alpha == 0 ? matmul_far_scale(&g) : multiply_on_grid(&g);
}

/* ---- Matrices that stay on the devices. ------------------------------------------------------ */

/* What a load has gathered: the rows of op(A) and the columns of op(B) of this rank's block of
 * C. */
struct matmul_ranks {
    struct matmul_grid g;
    struct travel t;
};

void matmul_ranks_unload(struct matmul *mm)
{
    struct matmul_ranks *r = mm->ranks;
    if (!r)
        return;
    free_slots(&r->t);
    pthread_cond_destroy(&r->t.changed);
    pthread_mutex_destroy(&r->t.lock);
    matmul_grid_free(&r->g);
    free(r);
    mm->ranks = NULL;
}

void matmul_ranks_forget(struct matmul *mm)
{
    for (int operand = 0; operand < OPERANDS; operand++) {
        matmul_leave_room(mm, mm->ranks->t.slot[0].memory[operand]);
        mm->ranks->t.slot[0].memory[operand] = NULL;
    }
}

/* One step, of all the depth. */
static int gather(struct matmul_ranks *r)
{
    struct travel *t = &r->t;
    struct slot *s = &t->slot[0];
    int status = world_reduce_status(t->mm->world, make_slots(t));
    if (status == 0 && r->g.steps > 0)
        status = begin(t, 0);
    if (settle_come(t, s) != 0 || settle_sent(t, s) != 0)
        status = -1;
    return status;
}

int matmul_ranks_load(struct matmul *mm, struct host_product *h)
{
    struct matmul_ranks *r = calloc(1, sizeof *r);
    if (world_reduce_status(mm->world,
                            r ? 0 : clerror_set(ENOMEM, "matmul_load: no memory on the host")) != 0)
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
    r->t.mm = mm; /* for free_slots */
    r->t.g = g;
    if (world_reduce_status(mm->world, check_slabs(g, 2)) != 0)
        return -1;
    if (h->m && h->n && h->k)
        matmul_grid_choose(g->ranks, h->m, h->n, h->k, mm->real, 1, &g->pm, &g->pn, &g->pk);
    if (matmul_divide_look(g) != 0)
        return -1;
    const struct plan p = matmul_grid_place(g, g->rank);
    const size_t high = p.rows.count ? p.rows.count : 1, wide = p.cols.count ? p.cols.count : 1;
    if (matmul_grid_make(g, high, wide, h->k ? h->k : 1) != 0)
        return -1;
    r->t.own = &g->plan[g->rank];
    r->t.deep = h->k;
    if (gather(r) != 0)
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

void matmul_ranks_shape(struct matmul *mm, bool on)
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
        check_slabs(g, 3) == 0 && matmul_block_make(g, &g->plan[g->rank], &b) == 0 ? 0 : -1);
    if (status == 0 && to_blocks)
        status = matmul_block_move(g, &b, true);
    if (status == 0)
        status = world_reduce_status(
            mm->world,
            g->plan[g->rank].rows.count && g->plan[g->rank].cols.count ? copy(mm, b.c, b.ld) : 0);
    if (status == 0 && !to_blocks)
        status = matmul_block_move(g, &b, false);
    if (b.own)
        matmul_leave_room(mm, b.c);
    return status;
}
