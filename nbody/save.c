/* save.c - all that an engine needs to go on with the same bits, as bytes, and back.
 *
 *   struct head                  what engine it was, and the numbers that steps count by
 *   direct sums:                 what a step changes (task_save.c), in the order of bodies: {x, y, z, G m} of all; the same of
 *                                velocities and accelerations where sums need them; plane by plane of the state
 *   with the tree:               for each device with bodies a struct saved_share, then what a step changes on it, as it lies there; and
 *                                everybody's acceleration of the last sum, by which cells are opened
 *
 * So nothing of direct sums tells of devices or ranks, of which others go on. Positions of other devices' bodies travel before the next
 * sum, and a tree is made anew.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrate.h"
#include "nbody/ranks.h"
#include "nbody/tree.h"

struct head {
    char name[16]; /* of the integrator */
    uint64_t n, padded, real, planes, devices, steps, base_steps, size;
    double G, dt, base_time, evaluations, centre[3], eta, blocks, body_steps;
    struct units units;
    int32_t method, precision, stepping, primed, settled, known;
};

struct saved_share {
    uint64_t dev, first, rows, room, leaf, words;
};

static size_t part_bytes(const struct nbody *nb, const struct share *p)
{
    const struct changes c = nbody_task_changes(nb, p);
    size_t bytes = sizeof(struct saved_share);
    for (int i = 0; i < CHANGES; i++)
        bytes += c.bytes[i];
    return bytes;
}

/* Arrays of four numbers a body that steps change. */
static size_t fours(const struct nbody *nb)
{
    return 1u + (nb->velo != NULL) + (nb->acce != NULL);
}

size_t nbody_save_bytes(const nbody *nb)
{
    size_t bytes = sizeof(struct head);
    if (nb->method != NBODY_TREE)
        return bytes + nb->n * nb->real * (4 * fours(nb) + nb->planes);
    for (const struct share *p = nb->share; p < nb->share + nb->ndev; p++)
        bytes += p->rows ? part_bytes(nb, p) : 0;
    return bytes + nb->n * nb->real;
}

static struct head head_of(const struct nbody *nb)
{
    const bool tree = nb->method == NBODY_TREE;
    struct head h = {.n = nb->n, .padded = tree ? nb->padded : 0, .real = nb->real, .planes = nb->planes,
                     .devices = tree ? nbody_devices(nb) : 0, .steps = nb->steps, .base_steps = nb->base_steps,
                     .size = nbody_save_bytes(nb), .G = nb->G, .dt = nb->dt, .base_time = nb->base_time,
                     .evaluations = nb->evaluations, .eta = nb->eta, .blocks = nb->counts.blocks,
                     .body_steps = nb->counts.steps, .centre = {nb->centre[0], nb->centre[1], nb->centre[2]},
                     .units = nb->units, .method = (int32_t)nb->method, .precision = (int32_t)nb->precision,
                     .stepping = (int32_t)nb->stepping, .primed = nb->primed, .settled = nb->settled, .known = nb->known};
    snprintf(h.name, sizeof h.name, "%s", nb->integrator->info.name);
    return h;
}

static struct saved_share saved_share_of(const struct share *p)
{
    const struct tree *t = p->tree;
    return (struct saved_share){p->dev, p->first, p->rows, t ? t->room : 0, t ? t->leaf : 0, t ? t->words : 0};
}

/* ---- Out. ------------------------------------------------------------------------------------- */

static char *put(char *to, const void *from, size_t size)
{
    memcpy(to, from, size);
    return to + size;
}

/* Copies a share out; NULL after an error. */
static char *save_part(struct nbody *nb, struct share *p, char *to)
{
    const struct changes c = nbody_task_changes(nb, p);
    const struct saved_share saved = saved_share_of(p);
    to = put(to, &saved, sizeof saved);
    for (int i = 0; i < CHANGES; i++) {
        if (c.bytes[i] && nbody_device_fetch(nb, p, c.at[i], c.bytes[i]) != 0)
            return NULL;
        if (c.bytes[i])
            to = put(to, c.at[i], c.bytes[i]);
    }
    return to;
}

/* Where the arrays of four are on the host, in their order. */
static void arrays_of(const struct nbody *nb, void *array[3])
{
    size_t n = 0;
    array[n++] = nb->posm;
    if (nb->velo)
        array[n++] = nb->velo;
    if (nb->acce)
        array[n++] = nb->acce;
}

/* Copies a device's bodies out, to their places among all. */
static int save_ordered(struct nbody *nb, struct share *p, char *to)
{
    const struct changes c = nbody_task_changes(nb, p);
    const size_t four = 4 * nb->real;
    void *array[3];
    arrays_of(nb, array);
    for (int i = 0; i < CHANGES; i++)
        if (c.bytes[i] && nbody_device_fetch(nb, p, c.at[i], c.bytes[i]) != 0)
            return -1;
    for (size_t a = 0; a < fours(nb); a++, to += nb->n * four)
        memcpy(to + p->first * four, (char *)array[a] + p->first * four, p->count * four);
    for (size_t k = 0; k < nb->planes; k++, to += nb->n * nb->real)
        memcpy(to + p->first * nb->real, (char *)p->state + k * p->rows * nb->real, p->count * nb->real);
    return 0;
}

static int save_all_ordered(struct nbody *nb, char *to)
{
    const size_t four = 4 * nb->real;
    int status = 0;
    for (struct share *p = nb->share; p < nb->share + nb->ndev && status == 0; p++)
        if (p->count)
            status = save_ordered(nb, p, to);
    status = world_agree(nb->world, status);
    for (size_t a = 0; a < fours(nb) && status == 0; a++, to += nb->n * four)
        status = nbody_ranks_spread(nb, to, four, 1);
    for (size_t k = 0; k < nb->planes && status == 0; k++, to += nb->n * nb->real)
        status = nbody_ranks_spread(nb, to, nb->real, 1);
    return status;
}

int nbody_save(nbody *nb, void *to_)
{
    const struct head head = head_of(nb);
    char *to = put(to_, &head, sizeof head);
    if (nb->method != NBODY_TREE)
        return save_all_ordered(nb, to);
    if (nb->ranks)
        return clerror_set(ENOTSUP, "nbody_save: a tree on several ranks is not saved; direct sums are");
    for (struct share *p = nb->share; p < nb->share + nb->ndev && to; p++)
        if (p->rows)
            to = save_part(nb, p, to);
    if (!to)
        return -1;
    for (struct share *p = nb->share; p < nb->share + nb->ndev; p++) {
        const size_t first = p->first * nb->real, bytes = p->count * nb->real;
        if (!p->tree)
            continue;
        if (nbody_device_fetch(nb, p, (char *)p->tree->felt + first, bytes) != 0)
            return -1;
        memcpy(to + first, (char *)p->tree->felt + first, bytes);
    }
    return 0;
}

/* ---- In. -------------------------------------------------------------------------------------- */

static int refuse(const char *what)
{
    return clerror_set(EINVAL, "nbody_load: these bytes were saved by an engine with another %s", what);
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
    if (h->devices != own.devices || h->padded != own.padded || h->size != own.size || size != own.size)
        return refuse("division between devices");
    return 0;
}

static int check_part(const struct share *p, const char *from)
{
    struct saved_share saved;
    const struct saved_share own = saved_share_of(p);
    memcpy(&saved, from, sizeof saved);
    if (saved.dev != own.dev || saved.first != own.first || saved.rows != own.rows)
        return refuse("division between devices");
    return saved.leaf == own.leaf ? 0 : refuse("size of the tree's leaves, for the memory that was free then");
}

static int check_parts(const struct nbody *nb, const char *from)
{
    int status = 0;
    for (const struct share *p = nb->share; p < nb->share + nb->ndev && status == 0; p++)
        if (p->rows) {
            status = check_part(p, from);
            from += part_bytes(nb, p);
        }
    return status;
}

static int send(struct nbody *nb, const struct share *p, void *block, const char *from, size_t size)
{
    memcpy(block, from, size);
    return clmsyncn(nb->ctx, p->dev, block, size, CL_MEM_DEVICE) == (cl_event)-1 ? -1 : 0;
}

static int load_part(struct nbody *nb, struct share *p, const char *from)
{
    const struct changes c = nbody_task_changes(nb, p);
    struct saved_share saved;
    memcpy(&saved, from, sizeof saved);
    from += sizeof saved;
    for (int i = 0; i < CHANGES; from += c.bytes[i++])
        if (c.bytes[i] && send(nb, p, c.at[i], from, c.bytes[i]) != 0)
            return -1;
    if (p->tree && saved.words > p->tree->words && nbody_tree_deepen(nb) < 0)
        return -1;
    return p->tree && saved.room > p->tree->room ? nbody_tree_grow(nb, p, (cl_uint)saved.room) : 0;
}

/* A device's bodies from their places among all. Rows that pad a share stay as they are. */
static int load_ordered(struct nbody *nb, struct share *p, const char *from)
{
    const struct changes c = nbody_task_changes(nb, p);
    const size_t four = 4 * nb->real;
    void *array[3];
    arrays_of(nb, array);
    for (size_t a = 0; a < fours(nb); a++, from += nb->n * four)
        memcpy((char *)array[a] + p->first * four, from + p->first * four, p->count * four);
    for (size_t k = 0; k < nb->planes; k++, from += nb->n * nb->real)
        memcpy((char *)p->state + k * p->rows * nb->real, from + p->first * nb->real, p->count * nb->real);
    for (int i = 0; i < CHANGES; i++)
        if (c.bytes[i] && clmsyncn(nb->ctx, p->dev, c.at[i], c.bytes[i], CL_MEM_DEVICE) == (cl_event)-1)
            return -1;
    return 0;
}

static int load_all_parts(struct nbody *nb, const char *from)
{
    for (struct share *p = nb->share; p < nb->share + nb->ndev; p++) {
        if (p->rows && (nb->method == NBODY_TREE ? load_part : load_ordered)(nb, p, from) != 0)
            return -1;
        if (p->rows && nb->method == NBODY_TREE)
            from += part_bytes(nb, p);
    }
    return 0;
}

static int load_felt(struct nbody *nb, const char *from)
{
    for (struct share *p = nb->share; p < nb->share + nb->ndev; p++)
        if (p->tree && send(nb, p, p->tree->felt, from, nb->n * nb->real) != 0)
            return -1;
    return 0;
}

/* All but the numbers in the head. */
static int load(struct nbody *nb, const struct head *h, const char *from, size_t size)
{
    const bool tree = nb->method == NBODY_TREE;
    if (tree && nb->ranks)
        return clerror_set(ENOTSUP, "nbody_load: a saved tree is not loaded into several ranks; direct sums are");
    if (check_head(nb, h, size) != 0 || (tree && check_parts(nb, from) != 0) || load_all_parts(nb, from) != 0)
        return -1;
    nb->known = false;
    return tree ? load_felt(nb, from + (size - sizeof *h - nb->n * nb->real)) : 0;
}

int nbody_load(nbody *nb, const void *from_, size_t size)
{
    const char *from = from_;
    struct head h = {.n = 0};
    if (size >= sizeof h)
        memcpy(&h, from, sizeof h);
    if (world_agree(nb->world, size < sizeof h ? clerror_set(EINVAL, "nbody_load: %zu bytes are no saved engine", size)
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
    nb->primed = h.primed;
    nb->settled = h.settled;
    nb->known = h.known;
    nb->current = nb->planted = false;
    return nbody_field_place(nb) == 0 ? nbody_soften_place(nb) : -1; /* in these units */
}
