/* save.c - all that an engine needs to go on with the same bits, as bytes, and back.
 *
 *   struct head                  what engine it was, and the numbers that steps count by
 *   what a step changes          (rollback.c), row by row: {x, y, z, G m} of all; the same of
 *   velocities and accelerations where sums
 *                                need them; plane by plane of the state
 *   with the tree:               what all felt in the last sum, by which cells are opened
 *   where rows are ordered:      which body each row is (hilbert_sort.c)
 *
 * nbody_snapshot_begin and nbody_snapshot_read are the same in two halves. Nothing tells of devices
 * or ranks, of which others go on. Positions of other devices' bodies travel before the next sum,
 * and a tree is made anew. SPDX-License-Identifier: MIT
 */
#include "nbody/integrate.h"
#include "core/handle.h"
#include "nbody/ranks.h"
#include "nbody/tree.h"

struct head {
    char name[16]; /* of the integrator */
    uint64_t n, real, planes, steps, base_steps, size;
    double G, dt, base_time, evaluations, centre[3], eta, blocks, body_steps;
    struct units units;
    int32_t method, precision, stepping, primed, settled, known;
    uint32_t leaf, words; /* of trees; 0 without */
};

/* Arrays of four numbers a body that steps change. */
static size_t fours(const struct nbody *nb)
{
    return 1u + (nb->velo != NULL) + (nb->acce != NULL);
}

size_t nbody_save_bytes(const nbody *nb)
{
    if (no_handle(nb, __func__))
        return 0;
    const size_t felt = nb->method == NBODY_TREE ? nb->real : 0,
                 order = nb->sorted ? sizeof *nb->body : 0;
    return sizeof(struct head) + nb->n * (nb->real * (4 * fours(nb) + nb->planes) + felt + order);
}

static struct head head_of(const struct nbody *nb)
{
    struct head h = {.n = nb->n,
                     .real = nb->real,
                     .planes = nb->planes,
                     .steps = nb->steps,
                     .base_steps = nb->base_steps,
                     .size = nbody_save_bytes(nb),
                     .G = nb->G,
                     .dt = nb->dt,
                     .base_time = nb->base_time,
                     .evaluations = nb->evaluations,
                     .eta = nb->eta,
                     .blocks = nb->counts.blocks,
                     .body_steps = nb->counts.steps,
                     .centre = {nb->centre[0], nb->centre[1], nb->centre[2]},
                     .units = nb->units,
                     .method = (int32_t)nb->method,
                     .precision = (int32_t)nb->precision,
                     .stepping = (int32_t)nb->stepping,
                     .primed = nb->forces_valid,
                     .settled = nb->synchronized,
                     .known = nb->a_old_valid};
    snprintf(h.name, sizeof h.name, "%s", nb->integrator->info.name);
    for (const struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->tree) {
            h.leaf = p->tree->leaf;
            h.words = p->tree->words;
        }
    return h;
}

/* Of trees, which not every rank has. */
static void larger(void *a, const void *b, void *arg)
{
    struct head *one = a;
    const struct head *two = b;
    (void)arg;
    one->leaf = two->leaf > one->leaf ? two->leaf : one->leaf;
    one->words = two->words > one->words ? two->words : one->words;
}

/* ---- Out. ------------------------------------------------------------------------------------ */

static char *put(char *to, const void *from, size_t size)
{
    memcpy(to, from, size);
    return to + size;
}

/* What is kept of a device: parts of blocks of memory. Of arrays of four its own rows, all of its
 * state, what its bodies felt. */
enum { FELT = CHANGES, KEPT };
struct cached_program {
    void *block[KEPT], *at[KEPT];
    size_t bytes[KEPT]; /* 0: there is none */
};

static struct cached_program kept_of(const struct nbody *nb, const struct nbody_device *p)
{
    const struct changes c = nbody_task_changes(nb, p);
    struct cached_program k = {
        .block = {nb->posm, nb->velo, nb->acce, p->state, p->tree ? p->tree->felt : NULL}};
    for (int i = 0; i < CHANGES; i++) {
        k.at[i] = c.at[i];
        k.bytes[i] = c.bytes[i];
    }
    if (p->tree) {
        k.at[FELT] = (char *)p->tree->felt + p->first * nb->real;
        k.bytes[FELT] = p->count * nb->real;
    }
    return k;
}

/* Copies a device's rows to their places among all, from where they are on the host; returns where
 * which body each row is stands. */
static char *put_rows(const struct nbody *nb, const struct nbody_device *p, void *const at[KEPT],
                      char *to)
{
    const size_t four = 4 * nb->real;
    for (int i = 0; i < CHANGES - 1; i++)
        if (at[i]) {
            memcpy(to + p->first * four, at[i], p->count * four);
            to += nb->n * four;
        }
    for (size_t k = 0; k < nb->planes; k++, to += nb->n * nb->real)
        memcpy(to + p->first * nb->real, (char *)at[CHANGES - 1] + k * p->rows * nb->real,
               p->count * nb->real);
    if (at[FELT])
        memcpy(to + p->first * nb->real, at[FELT], p->count * nb->real);
    return to + nb->n * nb->real;
}

static int save_rows(struct nbody *nb, struct nbody_device *p, char *to)
{
    const struct cached_program k = kept_of(nb, p);
    for (int i = 0; i < KEPT; i++)
        if (k.bytes[i] && nbody_device_download(nb, p, k.at[i], k.bytes[i]) != 0)
            return -1;
    put_rows(nb, p, k.at, to);
    return 0;
}

static int save_all(struct nbody *nb, char *to)
{
    const size_t four = 4 * nb->real;
    int status = 0;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev && status == 0; p++)
        if (p->count)
            status = save_rows(nb, p, to);
    status = world_reduce_status(nb->world, status);
    for (size_t a = 0; a < fours(nb) && status == 0; a++, to += nb->n * four)
        status = nbody_ranks_spread(nb, to, four, 1);
    const bool tree = nb->method == NBODY_TREE;
    for (size_t k = 0; k < nb->planes + tree && status == 0; k++, to += nb->n * nb->real)
        status = nbody_ranks_spread(nb, to, nb->real, 1);
    if (nb->sorted && status == 0)
        memcpy(to, nb->body, nb->n * sizeof *nb->body);
    return status;
}

int nbody_save(nbody *nb, void *to_)
{
    if (no_handle(nb, __func__))
        return -1;
    struct head head = head_of(nb);
    if (world_reduce(nb->world, &head, sizeof head, larger, NULL) != 0)
        return -1;
    return save_all(nb, put(to_, &head, sizeof head));
}

/* ---- Out, while the run goes on.
 * ------------------------------------------------------------------ Devices copy what is kept to
 * spare blocks, and those to the host, behind what they have to do; nobody waits for it but who
 * wants the bytes. Where there is no memory for spare blocks, and with ranks, which exchange rows,
 * all bytes are made at once. */

struct spare {
    void *block[KEPT];
    void *at[KEPT]; /* in these, as in struct cached_program */
    cl_event event[2 * KEPT];
    int events;
};

struct snapshot {
    struct spare *spare; /* of each share */
    struct head head;
    cl_uint *body;
    char *image; /* all bytes; NULL with spare blocks */
    bool any;
};

/* Waits for all copies; EIO when one failed. */
static int wait_for(struct spare *s)
{
    int status = 0;
    for (int e = 0; e < s->events; e++) {
        cl_int done = CL_COMPLETE;
        if (clWaitForEvents(1, &s->event[e]) != CL_SUCCESS ||
            clGetEventInfo(s->event[e], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof done, &done,
                           NULL) != CL_SUCCESS ||
            done != CL_COMPLETE)
            status = clerror_set(EIO, "nbody_snapshot_read: a device failed to copy the state");
        clReleaseEvent(s->event[e]);
    }
    s->events = 0;
    return status;
}

static void free_spare(struct nbody *nb, struct snapshot *h)
{
    for (cl_uint d = 0; h->spare && d < nb->ndev; d++) {
        wait_for(&h->spare[d]);
        for (int i = 0; i < KEPT; i++)
            clfree(h->spare[d].block[i]);
    }
    free(h->spare);
    free(h->body);
    h->spare = NULL;
    h->body = NULL;
}

void nbody_save_free(struct nbody *nb)
{
    if (!nb->snapshot)
        return;
    free_spare(nb, nb->snapshot);
    free(nb->snapshot->image);
    free(nb->snapshot);
}

/* Spare blocks of a device; as blocks of the state, so that a CPU's are the host's, too. */
static bool has_spare(struct nbody *nb, struct nbody_device *p, struct spare *s)
{
    const struct cached_program k = kept_of(nb, p);
    for (int i = 0; p->count && i < KEPT; i++)
        if (k.bytes[i] && !s->block[i] &&
            !(s->block[i] = nbody_device_alloc(nb, p, clsizeofmem(k.block[i]), CL_MEM_ZEROCOPY)))
            return false;
    return true;
}

static struct snapshot *open_held(struct nbody *nb)
{
    struct snapshot *h = nb->snapshot ? nb->snapshot : calloc(1, sizeof *h);
    if (!h || nb->snapshot)
        return h;
    nb->snapshot = h;
    h->spare = nb->ranks ? NULL : calloc(nb->ndev, sizeof *h->spare);
    h->body = h->spare ? malloc(nb->n * sizeof *h->body) : NULL;
    bool whole = h->body;
    for (cl_uint d = 0; whole && d < nb->ndev; d++)
        whole = has_spare(nb, &nb->device[d], &h->spare[d]);
    if (!whole)
        free_spare(nb, h);
    return h;
}

/* Starts the copies of a device. */
static int hold_rows(struct nbody *nb, struct nbody_device *p, struct spare *s)
{
    const int flags = CL_EVENT_NOWAIT | CL_EVENT_OWN | CL_EVENT_CHECKED;
    const struct cached_program k = kept_of(nb, p);
    for (int i = 0; i < KEPT; i++) {
        if (!k.bytes[i])
            continue;
        s->at[i] = (char *)s->block[i] + ((char *)k.at[i] - (char *)k.block[i]);
        const cl_event copied = clmcopy(nb->ctx, p->dev, k.block[i], s->block[i], flags);
        if (copied == (cl_event)-1)
            return -1;
        s->event[s->events++] = copied;
        const cl_event come = clmsyncn(nb->ctx, p->dev, s->at[i], k.bytes[i], CL_MEM_HOST | flags);
        if (come == (cl_event)-1)
            return -1;
        s->event[s->events++] = come;
    }
    return clflush(nb->ctx, p->dev, 0);
}

static int hold_all(struct nbody *nb, struct snapshot *h)
{
    for (cl_uint d = 0; d < nb->ndev; d++)
        if (wait_for(&h->spare[d]) != 0 ||
            (nb->device[d].count && hold_rows(nb, &nb->device[d], &h->spare[d]) != 0))
            return -1;
    h->head = head_of(nb);
    if (nb->sorted)
        memcpy(h->body, nb->body, nb->n * sizeof *h->body);
    return 0;
}

static int hold_image(struct nbody *nb, struct snapshot *h)
{
    if (!h->image && !(h->image = malloc(nbody_save_bytes(nb))))
        clerror_set(ENOMEM, "nbody_snapshot_begin: no memory on the host for %zu bytes",
                    nbody_save_bytes(nb));
    return world_reduce_status(nb->world, h->image ? 0 : -1) == 0 ? nbody_save(nb, h->image) : -1;
}

int nbody_snapshot_begin(nbody *nb)
{
    if (no_handle(nb, __func__))
        return -1;
    struct snapshot *h = open_held(nb);
    if (world_reduce_status(
            nb->world,
            h ? 0 : clerror_set(ENOMEM, "nbody_snapshot_begin: no memory on the host")) != 0)
        return -1;
    h->any = h->spare && hold_all(nb, h) == 0;
    if (h->spare && !h->any && clerrno != ENOMEM)
        return -1;
    if (!h->any) {
        free_spare(nb, h);
        h->any = hold_image(nb, h) == 0;
    }
    return h->any ? 0 : -1;
}

int nbody_snapshot_read(nbody *nb, void *to_)
{
    if (no_handle(nb, __func__))
        return -1;
    const struct snapshot *h = nb->snapshot;
    if (!h || !h->any)
        return clerror_set(EINVAL,
                           "nbody_snapshot_read: nothing is held; call nbody_snapshot_begin first");
    if (h->image) {
        memcpy(to_, h->image, nbody_save_bytes(nb));
        return 0;
    }
    char *to = put(to_, &h->head, sizeof h->head), *end = to;
    for (cl_uint d = 0; d < nb->ndev; d++) {
        if (wait_for(&h->spare[d]) != 0)
            return -1;
        if (nb->device[d].count)
            end = put_rows(nb, &nb->device[d], h->spare[d].at, to);
    }
    if (nb->sorted)
        memcpy(end, h->body, nb->n * sizeof *h->body);
    return 0;
}

/* ---- In. ------------------------------------------------------------------------------------- */

static int refuse(const char *what)
{
    return clerror_set(EINVAL, "nbody_load: these bytes were saved by an engine with another %s",
                       what);
}

/* Whether they are of an engine such as this one. */
static int check_head(const struct nbody *nb, const struct head *h, size_t size)
{
    const struct head own = head_of(nb);
    if (h->n != own.n)
        return refuse("number of bodies");
    if (h->real != own.real || h->precision != own.precision)
        return refuse("precision");
    if (memcmp(h->name, own.name, sizeof own.name) != 0 || h->planes != own.planes)
        return refuse("integrator");
    if (h->stepping != own.stepping || h->eta < own.eta || h->eta > own.eta)
        return refuse("choice of steps");
    if (h->method != own.method)
        return refuse("method");
    if (h->G < own.G || h->G > own.G)
        return refuse("gravitational constant");
    if (own.leaf && h->leaf != own.leaf)
        return refuse("size of the tree's leaves, for the memory that was free then");
    return h->size != own.size || size != own.size ? refuse("size") : 0;
}

/* A device's rows from their places among all. Those that pad a share stay as they are. */
static int load_rows(struct nbody *nb, struct nbody_device *p, const char *from)
{
    const struct cached_program k = kept_of(nb, p);
    const size_t four = 4 * nb->real;
    for (int i = 0; i < CHANGES - 1; i++)
        if (k.bytes[i]) {
            memcpy(k.at[i], from + p->first * four, p->count * four);
            from += nb->n * four;
        }
    for (size_t plane = 0; plane < nb->planes; plane++, from += nb->n * nb->real)
        memcpy((char *)p->state + plane * p->rows * nb->real, from + p->first * nb->real,
               p->count * nb->real);
    if (k.bytes[FELT])
        memcpy(k.at[FELT], from + p->first * nb->real, k.bytes[FELT]);
    for (int i = 0; i < KEPT; i++)
        if (k.bytes[i] &&
            clmsyncn(nb->ctx, p->dev, k.at[i], k.bytes[i], CL_MEM_DEVICE) == (cl_event)-1)
            return -1;
    return 0;
}

/* Which body each row is stands at the end. */
static void load_order(struct nbody *nb, const char *end)
{
    memcpy(nb->body, end - nb->n * sizeof *nb->body, nb->n * sizeof *nb->body);
    for (size_t i = 0; i < nb->n; i++)
        nb->row[nb->body[i]] = (cl_uint)i;
    nb->sort_count++;
}

/* Whether trees are as deep as those that were saved. */
static int deepen(struct nbody *nb, cl_uint words)
{
    bool any = nb->domains && nb->domains->words < words;
    for (const struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        any |= p->tree && p->tree->words < words;
    return any && nbody_tree_extend_keys(nb) < 0 ? -1 : 0;
}

/* All but the numbers in the head. */
static int load(struct nbody *nb, const struct head *h, const char *from, size_t size)
{
    if (check_head(nb, h, size) != 0 || deepen(nb, h->words) != 0)
        return -1;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->rows && load_rows(nb, p, from) != 0)
            return -1;
    if (nb->sorted)
        load_order(nb, from + size - sizeof *h);
    return 0;
}

int nbody_load(nbody *nb, const void *from_, size_t size)
{
    if (no_handle(nb, __func__))
        return -1;
    const char *from = from_;
    struct head h = {.n = 0};
    if (size >= sizeof h)
        memcpy(&h, from, sizeof h);
    if (world_reduce_status(
            nb->world, size < sizeof h
                           ? clerror_set(EINVAL, "nbody_load: %zu bytes are no saved engine", size)
                           : load(nb, &h, from + sizeof h, size)) != 0)
        return -1;
    nb->units = h.units;
    memcpy(nb->centre, h.centre, sizeof nb->centre);
    nb->dt = h.dt;
    nb->steps = h.steps;
    nb->base_steps = h.base_steps;
    nb->base_time = h.base_time;
    nb->evaluations = h.evaluations;
    nb->counts.blocks = h.blocks;
    nb->counts.steps = h.body_steps;
    nb->forces_valid = h.primed;
    nb->synchronized = h.settled;
    nb->a_old_valid = h.known;
    nb->positions_current = nb->tree_valid = false;
    return nbody_field_place(nb) == 0 ? nbody_soften_place(nb) : -1; /* in these units */
}
