/* save.c - all that an engine needs to go on with the same bits, as bytes, and back.
 *
 *   struct head                  what engine it was, and the numbers that steps count by
 *   what a step changes          (task_save.c), row by row: {x, y, z, G m} of all; the same of velocities and accelerations where sums
 *                                need them; plane by plane of the state
 *   with the tree:               what all felt in the last sum, by which cells are opened; and which body each row is (order.c)
 *
 * Nothing tells of devices or ranks, of which others go on. Positions of other devices' bodies travel before the next
 * sum, and a tree is made anew.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrate.h"
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
    const size_t tree = nb->method == NBODY_TREE ? nb->real + sizeof *nb->body : 0;
    return sizeof(struct head) + nb->n * (nb->real * (4 * fours(nb) + nb->planes) + tree);
}

static struct head head_of(const struct nbody *nb)
{
    struct head h = {.n = nb->n, .real = nb->real, .planes = nb->planes, .steps = nb->steps, .base_steps = nb->base_steps,
                     .size = nbody_save_bytes(nb), .G = nb->G, .dt = nb->dt, .base_time = nb->base_time,
                     .evaluations = nb->evaluations, .eta = nb->eta, .blocks = nb->counts.blocks,
                     .body_steps = nb->counts.steps, .centre = {nb->centre[0], nb->centre[1], nb->centre[2]},
                     .units = nb->units, .method = (int32_t)nb->method, .precision = (int32_t)nb->precision,
                     .stepping = (int32_t)nb->stepping, .primed = nb->primed, .settled = nb->settled, .known = nb->known};
    snprintf(h.name, sizeof h.name, "%s", nb->integrator->info.name);
    for (const struct share *p = nb->share; p < nb->share + nb->ndev; p++)
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

/* ---- Out. ------------------------------------------------------------------------------------- */

static char *put(char *to, const void *from, size_t size)
{
    memcpy(to, from, size);
    return to + size;
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

/* Copies a device's rows out, to their places among all. */
static int save_rows(struct nbody *nb, struct share *p, char *to)
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
    if (!p->tree)
        return 0;
    char *const felt = (char *)p->tree->felt + p->first * nb->real;
    if (nbody_device_fetch(nb, p, felt, p->count * nb->real) != 0)
        return -1;
    memcpy(to + p->first * nb->real, felt, p->count * nb->real);
    return 0;
}

static int save_all(struct nbody *nb, char *to)
{
    const size_t four = 4 * nb->real;
    int status = 0;
    for (struct share *p = nb->share; p < nb->share + nb->ndev && status == 0; p++)
        if (p->count)
            status = save_rows(nb, p, to);
    status = world_agree(nb->world, status);
    for (size_t a = 0; a < fours(nb) && status == 0; a++, to += nb->n * four)
        status = nbody_ranks_spread(nb, to, four, 1);
    const bool tree = nb->method == NBODY_TREE;
    for (size_t k = 0; k < nb->planes + tree && status == 0; k++, to += nb->n * nb->real)
        status = nbody_ranks_spread(nb, to, nb->real, 1);
    if (tree && status == 0)
        memcpy(to, nb->body, nb->n * sizeof *nb->body);
    return status;
}

int nbody_save(nbody *nb, void *to_)
{
    struct head head = head_of(nb);
    if (world_reduce(nb->world, &head, sizeof head, larger, NULL) != 0)
        return -1;
    return save_all(nb, put(to_, &head, sizeof head));
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
    if (own.leaf && h->leaf != own.leaf)
        return refuse("size of the tree's leaves, for the memory that was free then");
    return h->size != own.size || size != own.size ? refuse("size") : 0;
}

/* A device's rows from their places among all. Those that pad a share stay as they are. */
static int load_rows(struct nbody *nb, struct share *p, const char *from)
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
    if (!p->tree)
        return 0;
    char *const felt = (char *)p->tree->felt + p->first * nb->real;
    memcpy(felt, from + p->first * nb->real, p->count * nb->real);
    return clmsyncn(nb->ctx, p->dev, felt, p->count * nb->real, CL_MEM_DEVICE) == (cl_event)-1 ? -1 : 0;
}

/* Which body each row is stands at the end. */
static void load_order(struct nbody *nb, const char *end)
{
    memcpy(nb->body, end - nb->n * sizeof *nb->body, nb->n * sizeof *nb->body);
    for (size_t i = 0; i < nb->n; i++)
        nb->row[nb->body[i]] = (cl_uint)i;
}

/* Whether trees are as deep as those that were saved. */
static int deepen(struct nbody *nb, cl_uint words)
{
    bool any = nb->parts && nb->parts->words < words;
    for (const struct share *p = nb->share; p < nb->share + nb->ndev; p++)
        any |= p->tree && p->tree->words < words;
    return any && nbody_tree_deepen(nb) < 0 ? -1 : 0;
}

/* All but the numbers in the head. */
static int load(struct nbody *nb, const struct head *h, const char *from, size_t size)
{
    if (check_head(nb, h, size) != 0 || deepen(nb, h->words) != 0)
        return -1;
    for (struct share *p = nb->share; p < nb->share + nb->ndev; p++)
        if (p->rows && load_rows(nb, p, from) != 0)
            return -1;
    if (nb->method == NBODY_TREE)
        load_order(nb, from + size - sizeof *h);
    return 0;
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
