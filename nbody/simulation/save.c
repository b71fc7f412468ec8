/* save.c - state of an engine as bytes; a run that loads them continues with the same bits.
 *
 *   struct save_header     identity of the engine, and its counters
 *   {x, y, z, G m}         of all bodies; likewise velocities and accelerations if sums need them
 *   state                  plane by plane
 *   with the tree          |a| of all bodies in the last sum, by which cells are opened
 *   with sorted bodies     body stored at each index (hilbert_order.c)
 *
 * Arrays are in storage order, of all devices and ranks, so that a run may continue on different
 * devices and ranks. The positions of other devices' bodies are exchanged before the next sum, and
 * the tree is built again. Each rank saves the pieces of its own bodies. nbody_snapshot_begin and
 * nbody_snapshot_read split nbody_save in two halves.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"
#include "core/handle.h"
#include "nbody/force/tree.h"

struct save_header {
    char name[16]; /* of the integrator */
    uint64_t n, real, planes, steps, base_steps, size;
    uint64_t forces, scheme; /* digests of options */
    double G, dt, elapsed, base_time, evaluations, centre[3], eta, blocks, body_steps;
    struct units units;
    int32_t method, precision, stepping, forces_valid, synchronized, a_old_valid, on_host,
        host_valid;
    uint32_t leaf, key_words; /* of trees; 0 without */
};

/* Number of arrays with four numbers per body that steps change. */
static size_t save_vectors(const struct nbody *nb)
{
    return 1u + (nb->particles.velo != NULL) + (nb->particles.acce != NULL);
}

size_t nbody_save_bytes(const nbody *nb)
{
    if (no_handle(nb, __func__))
        return 0;
    const size_t a_old = nb->method == NBODY_TREE ? nb->real : 0,
                 order = nb->particles.sorted ? sizeof *nb->particles.body : 0;
    return sizeof(struct save_header) +
           nb->n * (nb->real * (4 * save_vectors(nb) + nb->planes) + a_old + order);
}

/* Digest of the softening and of options of integrators. */
static uint64_t save_scheme(const struct nbody *nb)
{
    const double number[] = {nb->particles.own_eps ? 0 : nb->eps,
                             (double)nb->whfast.coordinates,
                             (double)nb->whfast.corrector,
                             (double)nb->whfast.safe,
                             nb->trace.hill,
                             nb->trace.pericentre};
    const uint64_t sum = nbody_digest(0, number, sizeof number);
    return nb->particles.own_eps
               ? nbody_digest(sum, nb->particles.own_eps, nb->n * sizeof *nb->particles.own_eps)
               : sum;
}

static struct save_header save_header_of(const struct nbody *nb)
{
    struct save_header h = {.n = nb->n,
                            .real = nb->real,
                            .planes = nb->planes,
                            .steps = nb->integration.steps,
                            .base_steps = nb->integration.base_steps,
                            .size = nbody_save_bytes(nb),
                            .forces = nbody_added_digest(nb),
                            .scheme = save_scheme(nb),
                            .G = nb->G,
                            .dt = nb->integration.dt,
                            .elapsed = nb->integration.elapsed,
                            .base_time = nb->integration.base_time,
                            .evaluations = nb->integration.evaluations,
                            .eta = nb->eta,
                            .blocks = nb->integration.counts.blocks,
                            .body_steps = nb->integration.counts.steps,
                            .centre = {nb->centre[0], nb->centre[1], nb->centre[2]},
                            .units = nb->units,
                            .method = (int32_t)nb->method,
                            .precision = (int32_t)nb->precision,
                            .stepping = (int32_t)nb->stepping,
                            .forces_valid = nb->integration.valid.forces_valid,
                            .synchronized = nb->integration.valid.synchronized,
                            .a_old_valid = nb->force.a_old_valid,
                            .on_host = nb->on_host,
                            .host_valid = nb->integration.valid.host};
    snprintf(h.name, sizeof h.name, "%s", nb->integrator->info.name);
    for (const struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->force.tree) {
            h.leaf = p->force.tree->leaf;
            h.key_words = p->force.tree->key_words;
        }
    return h;
}

/* Reduction over ranks; ranks without bodies have no tree. */
static void save_larger_tree(void *a, const void *b, void *arg)
{
    struct save_header *one = a;
    const struct save_header *two = b;
    (void)arg;
    one->leaf = two->leaf > one->leaf ? two->leaf : one->leaf;
    one->key_words = two->key_words > one->key_words ? two->key_words : one->key_words;
}

/* ---- Out. ------------------------------------------------------------------------------------ */

/* Destination of a saved state: the arguments of nbody_save_pieces. */
struct save_pieces {
    int (*put)(void *arg, size_t offset, const void *bytes, size_t size);
    void *arg;
};

/* A piece of a state that is saved in memory. */
static int save_copy(void *to, size_t offset, const void *bytes, size_t size)
{
    memcpy((char *)to + offset, bytes, size);
    return 0;
}

/* Memory regions of a device that are saved: its own part of the arrays of four, all of its state,
 * |a| of its bodies. */
enum { REGION_A_OLD = CHANGES, REGIONS };
struct saved_regions {
    void *block[REGIONS], *at[REGIONS];
    size_t bytes[REGIONS]; /* 0: absent */
};

static struct saved_regions saved_regions_of(const struct nbody *nb, const struct nbody_device *p)
{
    const struct changes c = nbody_particles_changes(nb, p);
    struct saved_regions k = {.block = {nbody_posm(nb, p), nb->particles.velo, nb->particles.acce,
                                        p->state, p->force.tree ? p->force.tree->a_old : NULL}};
    for (int i = 0; i < CHANGES; i++) {
        k.at[i] = c.at[i];
        k.bytes[i] = c.bytes[i];
    }
    if (p->force.tree) {
        k.at[REGION_A_OLD] = (char *)p->force.tree->a_old + nbody_posm_first(p) * nb->real;
        k.bytes[REGION_A_OLD] = p->count * nb->real;
    }
    return k;
}

/* Put a device's bodies, from the regions `at` on the host and the bodies of this rank's rows, at
 * their places among all bodies. */
static int save_put_device(const struct nbody *nb, const struct nbody_device *p,
                           void *const at[REGIONS], const cl_uint *body,
                           const struct save_pieces *to)
{
    const size_t four = 4 * nb->real;
    size_t offset = sizeof(struct save_header);
    int status = 0;
    for (int i = 0; i < CHANGES - 1 && status == 0; i++)
        if (at[i]) {
            status = to->put(to->arg, offset + p->first * four, at[i], p->count * four);
            offset += nb->n * four;
        }
    for (size_t k = 0; k < nb->planes && status == 0; k++, offset += nb->n * nb->real)
        status = to->put(to->arg, offset + p->first * nb->real,
                         (char *)at[CHANGES - 1] + k * p->rows * nb->real, p->count * nb->real);
    if (at[REGION_A_OLD] && status == 0)
        status =
            to->put(to->arg, offset + p->first * nb->real, at[REGION_A_OLD], p->count * nb->real);
    if (!nb->particles.sorted || status != 0)
        return status;
    offset += nb->method == NBODY_TREE ? nb->n * nb->real : 0;
    return to->put(to->arg, offset + p->first * sizeof *body,
                   body + p->first - nbody_ranks_own_first(nb), p->count * sizeof *body);
}

static int save_device(struct nbody *nb, struct nbody_device *p, const struct save_pieces *to)
{
    const struct saved_regions k = saved_regions_of(nb, p);
    for (int i = 0; i < REGIONS; i++)
        if (k.bytes[i] && nbody_device_download(nb, p, k.at[i], k.bytes[i]) != 0)
            return -1;
    return save_put_device(nb, p, k.at, nb->particles.body, to);
}

/* Put this rank's pieces without the header, which is equal on all ranks. Collective. */
static int save_own_pieces(struct nbody *nb, const struct save_pieces *to,
                           struct save_header *header)
{
    if (nbody_host_flush(nb) != 0)
        return -1;
    *header = save_header_of(nb);
    if (world_reduce(nb->world, header, sizeof *header, save_larger_tree, NULL) != 0)
        return -1;
    int status = 0;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev && status == 0; p++)
        if (p->count)
            status = save_device(nb, p, to);
    return status;
}

int nbody_save_pieces(nbody *nb,
                      int (*put)(void *arg, size_t offset, const void *bytes, size_t size),
                      void *arg)
{
    struct save_header header;
    if (no_handle(nb, __func__))
        return -1;
    int status = save_own_pieces(nb, &(struct save_pieces){put, arg}, &header);
    if (status == 0 && world_rank(nb->world) == 0)
        status = put(arg, 0, &header, sizeof header);
    return world_reduce_status(nb->world, status == 0 ? 0 : -1);
}

/* Exchange the pieces that the ranks have put into their images of all bodies, from `to` on. */
static int save_spread(struct nbody *nb, char *to)
{
    const size_t four = 4 * nb->real;
    int status = 0;
    for (size_t a = 0; a < save_vectors(nb) && status == 0; a++, to += nb->n * four)
        status = nbody_ranks_spread(nb, to, four);
    const bool tree = nb->method == NBODY_TREE;
    for (size_t k = 0; k < nb->planes + tree && status == 0; k++, to += nb->n * nb->real)
        status = nbody_ranks_spread(nb, to, nb->real);
    return nb->particles.sorted && status == 0
               ? nbody_ranks_spread(nb, to, sizeof *nb->particles.body)
               : status;
}

int nbody_save(nbody *nb, void *to)
{
    struct save_header header;
    if (no_handle(nb, __func__))
        return -1;
    const int status = save_own_pieces(nb, &(struct save_pieces){save_copy, to}, &header);
    if (world_reduce_status(nb->world, status) != 0)
        return -1;
    memcpy(to, &header, sizeof header);
    return save_spread(nb, (char *)to + sizeof header);
}

/* ---- Snapshots, while the run continues. --------------------------------------------------------
 * Devices copy the regions to spare blocks, then to the host, after the commands enqueued so
 * far. Only nbody_snapshot_read waits. Without memory for spare blocks, without devices, and with
 * ranks, which exchange bodies, nbody_snapshot_begin saves everything at once. */

struct spare {
    struct nbody_device begun; /* when the copies began: steps may move its rows to other devices */
    void *block[REGIONS];
    void *at[REGIONS]; /* in these blocks, as in struct saved_regions */
    cl_event event[2 * REGIONS];
    int events;
};

struct snapshot {
    struct spare *spare; /* per device */
    struct save_header save_header;
    cl_uint *body;
    char *image; /* all bytes; NULL with spare blocks */
    bool any;
};

/* Wait for all copies; EIO if one failed. */
static int snapshot_wait(struct spare *s)
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

static void snapshot_free_spare(struct nbody *nb, struct snapshot *h)
{
    for (cl_uint d = 0; h->spare && d < nb->ndev; d++) {
        snapshot_wait(&h->spare[d]);
        for (int i = 0; i < REGIONS; i++)
            clfree(h->spare[d].block[i]);
    }
    free(h->spare);
    free(h->body);
    h->spare = NULL;
    h->body = NULL;
}

void nbody_save_free(struct nbody *nb)
{
    if (!nb->simulation.snapshot)
        return;
    snapshot_free_spare(nb, nb->simulation.snapshot);
    free(nb->simulation.snapshot->image);
    free(nb->simulation.snapshot);
}

/* Allocate the spare blocks of a device, with the flags of `state`, so that a CPU shares the
 * host's memory; false if out of memory. */
static bool snapshot_allocate(struct nbody *nb, struct nbody_device *p, struct spare *s)
{
    const struct saved_regions k = saved_regions_of(nb, p);
    for (int i = 0; p->count && i < REGIONS; i++)
        if (k.bytes[i] && !s->block[i] &&
            !(s->block[i] = nbody_device_alloc(nb, p, clsizeofmem(k.block[i]), CL_MEM_ZEROCOPY)))
            return false;
    return true;
}

static struct snapshot *snapshot_open(struct nbody *nb)
{
    struct snapshot *h = nb->simulation.snapshot ? nb->simulation.snapshot : calloc(1, sizeof *h);
    if (!h || nb->simulation.snapshot)
        return h;
    nb->simulation.snapshot = h;
    h->spare = world_size(nb->world) > 1 || !nb->ctx ? NULL : calloc(nb->ndev, sizeof *h->spare);
    h->body = h->spare ? malloc(nb->n * sizeof *h->body) : NULL; /* one rank has all rows */
    bool whole = h->body;
    for (cl_uint d = 0; whole && d < nb->ndev; d++)
        whole = snapshot_allocate(nb, &nb->device[d], &h->spare[d]);
    if (!whole)
        snapshot_free_spare(nb, h);
    return h;
}

/* Enqueue the copies of a device. */
static int snapshot_start_device(struct nbody *nb, struct nbody_device *p, struct spare *s)
{
    const int flags = CL_EVENT_NOWAIT | CL_EVENT_OWN | CL_EVENT_CHECKED;
    const struct saved_regions k = saved_regions_of(nb, p);
    for (int i = 0; i < REGIONS; i++) {
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

static int snapshot_start(struct nbody *nb, struct snapshot *h)
{
    for (cl_uint d = 0; d < nb->ndev; d++) {
        if (snapshot_wait(&h->spare[d]) != 0 ||
            (nb->device[d].count && snapshot_start_device(nb, &nb->device[d], &h->spare[d]) != 0))
            return -1;
        h->spare[d].begun = nb->device[d];
    }
    h->save_header = save_header_of(nb);
    if (nb->particles.sorted)
        memcpy(h->body, nb->particles.body, nb->n * sizeof *h->body);
    return 0;
}

static int snapshot_copy_all(struct nbody *nb, struct snapshot *h)
{
    if (!h->image && !(h->image = malloc(nbody_save_bytes(nb))))
        clerror_set(ENOMEM, "nbody_snapshot_begin: out of memory on the host for %zu bytes",
                    nbody_save_bytes(nb));
    return world_reduce_status(nb->world, h->image ? 0 : -1) == 0 ? nbody_save(nb, h->image) : -1;
}

int nbody_snapshot_begin(nbody *nb)
{
    if (no_handle(nb, __func__) || nbody_host_flush(nb) != 0)
        return -1;
    struct snapshot *h = snapshot_open(nb);
    if (world_reduce_status(
            nb->world,
            h ? 0 : clerror_set(ENOMEM, "nbody_snapshot_begin: out of memory on the host")) != 0)
        return -1;
    h->any = h->spare && snapshot_start(nb, h) == 0;
    if (h->spare && !h->any && clerrno != ENOMEM)
        return -1;
    if (!h->any) {
        snapshot_free_spare(nb, h);
        h->any = snapshot_copy_all(nb, h) == 0;
    }
    return h->any ? 0 : -1;
}

int nbody_snapshot_read(nbody *nb, void *to_)
{
    if (no_handle(nb, __func__))
        return -1;
    const struct snapshot *h = nb->simulation.snapshot;
    if (!h || !h->any)
        return clerror_set(
            EINVAL, "nbody_snapshot_read: there is no snapshot; call nbody_snapshot_begin first");
    if (h->image) {
        memcpy(to_, h->image, nbody_save_bytes(nb));
        return 0;
    }
    const struct save_pieces to = {save_copy, to_};
    memcpy(to_, &h->save_header, sizeof h->save_header);
    for (cl_uint d = 0; d < nb->ndev; d++) {
        if (snapshot_wait(&h->spare[d]) != 0)
            return -1;
        if (h->spare[d].begun.count)
            save_put_device(nb, &h->spare[d].begun, h->spare[d].at, h->body, &to);
    }
    return 0;
}

/* ---- In. ------------------------------------------------------------------------------------- */

static int load_refuse(const char *what)
{
    return clerror_set(EINVAL, "nbody_load: these bytes were saved by an engine with another %s",
                       what);
}

/* EINVAL unless the header is of an engine with the same options. */
static int load_check_header(const struct nbody *nb, const struct save_header *h, size_t size)
{
    const struct save_header own = save_header_of(nb);
    if (h->n != own.n)
        return load_refuse("number of bodies");
    if (h->real != own.real || h->precision != own.precision)
        return load_refuse("precision");
    if (memcmp(h->name, own.name, sizeof own.name) != 0 || h->planes != own.planes)
        return load_refuse("integrator");
    if (h->stepping != own.stepping || h->eta < own.eta || h->eta > own.eta)
        return load_refuse("choice of steps");
    if (h->method != own.method)
        return load_refuse("method");
    if (h->on_host != own.on_host)
        return load_refuse("place of its steps: the host, or devices");
    if (h->G < own.G || h->G > own.G)
        return load_refuse("gravitational constant");
    if (h->forces != own.forces)
        return load_refuse("set of fields and forces beside gravity, or file of a force");
    if (h->scheme != own.scheme)
        return load_refuse("softening, or options of whfast or trace");
    if (own.leaf && h->leaf != own.leaf)
        return load_refuse("leaf size of the tree, which depends on the free memory");
    return h->size != own.size || size != own.size ? load_refuse("size") : 0;
}

/* Copy a device's bodies from their places among all, and upload them. Its padding is unchanged. */
static int load_device(struct nbody *nb, struct nbody_device *p, const char *from)
{
    const struct saved_regions k = saved_regions_of(nb, p);
    const size_t four = 4 * nb->real;
    for (int i = 0; i < CHANGES - 1; i++)
        if (k.bytes[i]) {
            memcpy(k.at[i], from + p->first * four, p->count * four);
            from += nb->n * four;
        }
    for (size_t plane = 0; plane < nb->planes; plane++, from += nb->n * nb->real)
        memcpy((char *)p->state + plane * p->rows * nb->real, from + p->first * nb->real,
               p->count * nb->real);
    if (k.bytes[REGION_A_OLD])
        memcpy(k.at[REGION_A_OLD], from + p->first * nb->real, k.bytes[REGION_A_OLD]);
    for (int i = 0; i < REGIONS; i++)
        if (k.bytes[i] && nbody_device_upload(nb, p, k.at[i], k.bytes[i]) != 0)
            return -1;
    return 0;
}

/* Collective. The storage order, which is at the end, must be a permutation: saved bytes may come
 * from a file, and the order is used as indices. right: 1 if this rank's part may be one, 0 if not,
 * -1 after an error. */
static int load_check_part(const struct nbody *nb, int right)
{
    if (right == 0)
        right = clerror_set(EINVAL, "nbody_load: the saved order of the bodies is damaged");
    return world_reduce_status(nb->world, right < 0 ? -1 : 0);
}

/* Collective. EINVAL unless the storage order is a permutation. Each rank checks the numbers of its
 * rows, then, with the numbers of all ranks' rows, its range of bodies. */
static int load_check_sorting(const struct nbody *nb, const char *end)
{
    const size_t first = nbody_ranks_own_first(nb), rows = nbody_ranks_own_rows(nb);
    cl_uint *body = malloc((rows + 1) * sizeof *body);
    struct route r = {.begin = NULL};
    int right = body ? 1 : clerror_set(ENOMEM, "nbody_load: out of memory for %zu bodies", rows);
    if (body)
        memcpy(body, end - (nb->n - first) * sizeof *body, rows * sizeof *body);
    for (size_t i = 0; right > 0 && i < rows; i++)
        right = body[i] < nb->n;
    int status = load_check_part(nb, right);
    if (status == 0)
        status = nbody_route_numbers(nb, &r, rows, body, nb->domain.first_row);
    if (status == 0)
        status = load_check_part(
            nb, r.came[world_size(nb->world)] == rows ? nbody_is_permutation(rows, r.place) : 0);
    nbody_route_free(&r);
    free(body);
    return status;
}

/* Extend the keys of trees to the length in the saved engine. */
static int load_extend_keys(struct nbody *nb, cl_uint key_words)
{
    bool any = nb->domain.tree && nb->domain.key_words < key_words;
    for (const struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        any |= p->force.tree && p->force.tree->key_words < key_words;
    return any && nbody_tree_extend_keys(nb) < 0 ? -1 : 0;
}

/* Load everything except the counters in the header. */
static int load_state(struct nbody *nb, const struct save_header *h, const char *from, size_t size)
{
    if (load_extend_keys(nb, h->key_words) != 0)
        return -1;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->rows && load_device(nb, p, from) != 0)
            return -1;
    if (nb->particles.sorted) /* the storage order is at the end */
        nbody_hilbert_load(nb, from + size - sizeof *h - nb->n * sizeof(cl_uint));
    return 0;
}

int nbody_load(nbody *nb, const void *from_, size_t size)
{
    if (no_handle(nb, __func__))
        return -1;
    const char *from = from_;
    struct save_header h = {.n = 0};
    if (size >= sizeof h)
        memcpy(&h, from, sizeof h);
    if (world_reduce_status(
            nb->world,
            size < sizeof h
                ? clerror_set(EINVAL, "nbody_load: %zu bytes are too few for a saved engine", size)
                : load_check_header(nb, &h, size)) != 0 ||
        (nb->particles.sorted && load_check_sorting(nb, from + size) != 0) ||
        world_reduce_status(nb->world, load_state(nb, &h, from + sizeof h, size)) != 0)
        return -1;
    nb->units = h.units;
    memcpy(nb->centre, h.centre, sizeof nb->centre);
    nbody_integration_load(
        nb, &(struct integration){.dt = h.dt,
                                  .steps = h.steps,
                                  .base_steps = h.base_steps,
                                  .elapsed = h.elapsed,
                                  .base_time = h.base_time,
                                  .evaluations = h.evaluations,
                                  .counts = {h.blocks, h.body_steps},
                                  .valid = {h.forces_valid, h.synchronized, h.host_valid}});
    nbody_tree_load(nb, h.a_old_valid);
    nbody_particles_moved(nb);
    if (nbody_field_upload(nb) != 0 || nbody_added_upload(nb) != 0) /* in the loaded units */
        return -1;
    return nbody_softening_upload(nb);
}
