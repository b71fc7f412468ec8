/* save.c - all that an engine needs to go on with the same bits, as bytes, and back.
 *
 *   struct head                  what engine it was, and the numbers that steps count by
 *   for each device with bodies: a struct saved_share, then what a step changes on it (task_save.c), as it lies there
 *   with the tree:               everybody's acceleration of the last sum, by which cells are opened
 *
 * Positions of other devices' bodies travel before the next sum, and a tree is made anew.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrate.h"
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

size_t nbody_save_bytes(const nbody *nb)
{
    size_t bytes = sizeof(struct head);
    for (const struct share *p = nb->share; p < nb->share + nb->ndev; p++)
        bytes += p->rows ? part_bytes(nb, p) : 0;
    return bytes + (nb->method == NBODY_TREE ? nb->n * nb->real : 0);
}

static struct head head_of(const struct nbody *nb)
{
    struct head h = {.n = nb->n, .padded = nb->padded, .real = nb->real, .planes = nb->planes,
                     .devices = nbody_devices(nb), .steps = nb->steps, .base_steps = nb->base_steps,
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

int nbody_save(nbody *nb, void *to_)
{
    if (nb->ranks)
        return clerror_set(ENOTSUP, "nbody_save: the state of bodies on several ranks is not saved");
    const struct head head = head_of(nb);
    char *to = put(to_, &head, sizeof head);
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

static int load_felt(struct nbody *nb, const char *from)
{
    for (struct share *p = nb->share; p < nb->share + nb->ndev; p++)
        if (p->tree && send(nb, p, p->tree->felt, from, nb->n * nb->real) != 0)
            return -1;
    return 0;
}

int nbody_load(nbody *nb, const void *from_, size_t size)
{
    const char *from = from_;
    struct head h;
    if (nb->ranks)
        return clerror_set(ENOTSUP, "nbody_load: a state is not loaded into bodies on several ranks");
    if (size < sizeof h)
        return clerror_set(EINVAL, "nbody_load: %zu bytes are no saved engine", size);
    memcpy(&h, from, sizeof h);
    from += sizeof h;
    if (check_head(nb, &h, size) != 0 || check_parts(nb, from) != 0)
        return -1;
    for (struct share *p = nb->share; p < nb->share + nb->ndev; p++)
        if (p->rows) {
            if (load_part(nb, p, from) != 0)
                return -1;
            from += part_bytes(nb, p);
        }
    nb->known = false;
    if (nb->method == NBODY_TREE && load_felt(nb, from) != 0)
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
