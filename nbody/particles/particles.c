/* particles.c - the arrays of all bodies: allocation, and the caller's bodies on the devices.
 *
 * Numbers are converted from the caller's units to the engine's here, and back in state.c.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#include "nbody/particles/body_blocks.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>

void nbody_particles_moved(struct nbody *nb)
{
    nb->particles.version++;
}

void nbody_particles_swap(struct nbody *nb)
{
    void *const was = nb->particles.posm;
    nb->particles.posm = nb->particles.moved;
    nb->particles.moved = was;
}

void nbody_particles_free(struct nbody *nb)
{
    clfree(nb->particles.posm);
    clfree(nb->particles.velo);
    clfree(nb->particles.moved);
    clfree(nb->particles.acce);
    for (cl_uint d = 0; nb->device && d < nb->ndev; d++)
        clfree(nb->device[d].state), clfree(nb->device[d].posm);
}

/* Allocate four numbers per body, including padding. If a CPU is the only device, it uses the
 * host's copy. */
static void *alloc_four_per_body(struct nbody *nb)
{
    cl_uint owners = 0;
    for (cl_uint d = 0; d < nb->ndev; d++)
        owners += nb->device[d].rows > 0;
    return nbody_device_memory(nb, nb->padded * 4 * nb->real,
                               owners == 1 && world_size(nb->world) == 1 ? CL_MEM_ZEROCOPY : 0);
}

size_t nbody_particles_bytes(const struct nbody *nb, const struct nbody_device *p)
{
    return ((nb->domain.tree ? p->rows : nb->padded) * 4 + nb->planes * p->rows) * nb->real;
}

int nbody_particles_allocate_device(struct nbody *nb, struct nbody_device *p)
{
    const size_t arrays = 1u + (nb->particles.velo != NULL) + (nb->particles.acce != NULL) +
                          (nb->particles.moved != NULL);
    if (nb->domain.tree &&
        !(p->posm = nbody_device_alloc(nb, p, p->rows * 4 * nb->real, CL_MEM_ZEROCOPY)))
        return -1;
    if (nb->ctx && !nb->domain.tree)
        nbody_device_add_bytes(p, arrays * nb->padded * 4 * nb->real);
    p->state = nbody_device_alloc(nb, p, nb->planes * p->rows * nb->real, CL_MEM_ZEROCOPY);
    return p->state ? 0 : -1;
}

int nbody_particles_allocate(struct nbody *nb)
{
    if (nb->domain.tree)
        return 0;
    nb->particles.posm = alloc_four_per_body(nb);
    if (!nb->particles.posm)
        return -1;
    if (nbody_forces_sum(nb)->velocities && !(nb->particles.velo = alloc_four_per_body(nb)))
        return -1;
    if (nbody_forces_sum(nb)->accelerations && !(nb->particles.acce = alloc_four_per_body(nb)))
        return -1;
    for (cl_uint d = 0; d < nb->ndev; d++)
        if (nb->device[d].force.fused_kernel && !(nb->particles.moved = alloc_four_per_body(nb)))
            return -1;
    return 0;
}

/* The factor 2^e in two halves, which have the range of a double where 2^e has not. A product with
 * both is rounded once, as by ldexp, unless it is subnormal. */
struct power {
    double half[2];
};

static struct power power_of_two(int e)
{
    const int most = 2046; /* 0 times infinity is no number */
    e = e > most ? most : e < -most ? -most : e;
    return (struct power){{ldexp(1, e / 2), ldexp(1, e - e / 2)}};
}

static double scaled(double x, const struct power *by)
{
    return x * by->half[0] * by->half[1];
}

/* Bodies in the caller's units, for rows `first`, first + 1, ... of the engine. */
struct given {
    const double *mass, (*pos)[3], (*vel)[3];
    size_t first;
    struct nbody *nb;
    const cl_uint *body; /* of each row; NULL: the rows are bodies 0, 1, ... */
    bool positions_only;
    struct power length, speed, gm; /* from the caller's units to the engine's */
    double fastest;                 /* largest component of a velocity in engine units */
    atomic_bool wrong;              /* a velocity is out of range */
};

/* Bodies that a thread reads before it writes them: reads at random wait for memory concurrently
 * only without much work between them. */
enum { GATHERED = 64 };

struct given_body {
    double mass, pos[3], vel[3];
};

static inline void gather_body(const struct given *g, size_t row, struct given_body *to)
{
    const size_t k = g->body ? g->body[row] : row;
    to->mass = g->mass[g->nb->uniform ? 0 : k];
    memcpy(to->pos, g->pos[k], sizeof to->pos);
    memcpy(to->vel, g->vel[k], sizeof to->vel);
}

/* Write a body to the host images of row i, in engine units. */
static void write_body(const struct given *g, size_t i, const struct given_body *body)
{
    struct nbody *const nb = g->nb;
    struct nbody_device *p = nb->device, *const last = p + nb->ndev;
    while (p < last && (i < p->first || i - p->first >= p->count))
        p++;
    p = p < last ? p : NULL; /* a different rank owns the row */
    void *const posm = p && p->posm ? p->posm : nb->particles.posm;
    const size_t four = 4 * (p && p->posm ? i - p->first : i);
    if (!posm)
        return;
    nbody_real_put(nb, posm, four + 3, scaled(nb->G * body->mass, &g->gm));
    for (size_t c = 0; c < 3; c++) {
        const double x = scaled(body->pos[c], &g->length), v = scaled(body->vel[c], &g->speed);
        nbody_real_put(nb, posm, four + c, x);
        if (g->positions_only)
            continue;
        if (p)
            nbody_real_put(nb, p->state, (STATE_VEL + c) * p->rows + i - p->first, v);
        if (nb->particles.velo)
            nbody_real_put(nb, nb->particles.velo, 4 * i + c, v);
        if (p && integrator_predicts(nb))
            nbody_real_put(nb, p->state, (STATE_POS + c) * p->rows + i - p->first, x);
    }
}

/* Padding has no mass and lies so far away that r^-3 is 0 while r^2 is finite. */
static void write_padding(struct nbody *nb)
{
    const double far = nb->precision == NBODY_DOUBLE ? 1e150 : 1e18;
    for (size_t i = nb->n; nb->particles.posm && i < nb->padded; i++)
        for (size_t c = 0; c < 3; c++)
            nbody_real_put(nb, nb->particles.posm, 4 * i + c, far);
}

/* True if a velocity is out of range in engine units. */
static bool too_fast(const struct given *g, const double vel[3])
{
    bool any = false;
    for (int c = 0; c < 3; c++)
        any |= fabs(scaled(vel[c], &g->speed)) > g->fastest;
    return any;
}

static void write_block_of_bodies(void *given, size_t block, size_t first, size_t end)
{
    struct given *g = given;
    struct given_body some[GATHERED];
    (void)block;
    for (size_t row = first; row < end; row += GATHERED) {
        const size_t count = end - row < GATHERED ? end - row : GATHERED;
        for (size_t j = 0; j < count; j++)
            gather_body(g, row + j, &some[j]);
        for (size_t j = 0; j < count; j++) {
            if (too_fast(g, some[j].vel))
                g->wrong = true;
            write_body(g, g->first + row + j, &some[j]);
        }
    }
}

/* Write `count` rows of bodies. */
static int write_bodies(struct given *g, size_t count)
{
    struct nbody *const nb = g->nb;
    g->length = power_of_two(-nb->units.length);
    g->speed = power_of_two(nb->units.time - nb->units.length);
    g->gm = power_of_two(2 * nb->units.time - 3 * nb->units.length);
    g->fastest = nbody_has_doubles(nb) ? DBL_MAX : (double)FLT_MAX;
    nbody_each_block(count, write_block_of_bodies, g);
    if (!g->wrong)
        return 0;
    const double(*const vel)[3] = g->vel;
    size_t i = 0;
    int c = 0;
    while (!too_fast(g, vel[i]))
        i++;
    while (fabs(vel[i][c]) < fmax(fabs(vel[i][0]), fmax(fabs(vel[i][1]), fabs(vel[i][2]))))
        c++;
    return clerror_set(
        EINVAL, "nbody_create: the velocity of body %zu, %g, is out of range in %s precision",
        nbody_number(nb, g->first + i), vel[i][c], nbody_has_doubles(nb) ? "double" : "single");
}

/* Give all ranks the positions that each has written of its rows. */
static int spread_positions(struct nbody *nb)
{
    const size_t four = 4 * nb->real;
    if (!nb->particles.posm)
        return 0;
    if (nbody_ranks_spread(nb, nb->particles.posm, four) != 0)
        return -1;
    return nb->particles.velo ? nbody_ranks_spread(nb, nb->particles.velo, four) : 0;
}

/* Write this rank's rows, which are bodies of several ranks' slices. */
static int write_slices(struct nbody *nb, const double *mass, const double (*pos)[3],
                        const double (*vel)[3])
{
    const size_t first = nbody_ranks_own_first(nb), rows = nbody_ranks_own_rows(nb);
    struct route r = {.begin = NULL};
    double *m = malloc((rows + 1) * sizeof *m);
    double(*x)[3] = malloc((rows + 1) * sizeof *x), (*v)[3] = malloc((rows + 1) * sizeof *v);
    struct given g = {.mass = m,
                      .pos = (const double(*)[3])x,
                      .vel = (const double(*)[3])v,
                      .first = first,
                      .nb = nb};
    int status = m && x && v ? 0 : clerror_set(ENOMEM, "nbody_create: out of memory on the host");
    status = world_reduce_status(nb->world, status);
    if (status == 0)
        status = nbody_route_ranges(nb, &r, nbody_slices_first(nb), nbody_slices_count(nb),
                                    nb->domain.first_row);
    if (status == 0 && (nbody_route_move(nb, &r, sizeof *m, mass, m) != 0 ||
                        nbody_route_move(nb, &r, sizeof *x, pos, x) != 0 ||
                        nbody_route_move(nb, &r, sizeof *v, vel, v) != 0))
        status = -1;
    nbody_route_free(&r);
    if (status == 0)
        status = world_reduce_status(nb->world, write_bodies(&g, rows));
    free(m);
    free(x);
    free(v);
    return status == 0 ? spread_positions(nb) : -1;
}

static int upload_positions(struct nbody *nb, struct nbody_device *p)
{
    void *const blocks[] = {nbody_posm(nb, p), nb->particles.velo, nb->particles.acce,
                            nb->particles.moved};
    for (size_t b = 0; b < COUNT_OF(blocks); b++)
        if (blocks[b] && nbody_device_upload(nb, p, blocks[b], 0) != 0)
            return -1;
    return nbody_device_write_bad(nb, p, INT_MAX); /* sums read it, too */
}

static int upload_device(struct nbody *nb, struct nbody_device *p)
{
    return nbody_device_upload(nb, p, p->state, 0) == 0 ? upload_positions(nb, p) : -1;
}

/* Upload all arrays, or all but the devices' states. One thread per GPU of the tree, because a
 * driver may copy memory that is not pinned before it returns. */
static int upload_arrays(struct nbody *nb, bool positions_only)
{
    const launch_fn upload = positions_only ? upload_positions : upload_device;
    int status = nb->domain.tree ? nbody_device_threads_all(nb, upload) : 0;
    for (struct nbody_device *p = nb->device; !nb->domain.tree && p < nb->device + nb->ndev; p++)
        if (p->rows && upload(nb, p) != 0)
            return -1;
    nbody_particles_moved(nb);
    nbody_domain_set_shared(nb);
    return status;
}

int nbody_particles_upload(struct nbody *nb, const double *mass, const double (*pos)[3],
                           const double (*vel)[3], bool positions_only)
{
    struct given g = {
        .mass = mass, .pos = pos, .vel = vel, .nb = nb, .positions_only = positions_only};
    const int written =
        nb->domain.slice ? write_slices(nb, mass, pos, vel) : write_bodies(&g, nb->n);
    if (written != 0)
        return -1;
    write_padding(nb);
    if (nb->particles.moved)
        memcpy(nb->particles.moved, nb->particles.posm, nb->padded * 4 * nb->real);
    return upload_arrays(nb, positions_only);
}

int nbody_particles_upload_sorted(struct nbody *nb, const double *mass, const double (*pos)[3],
                                  const double (*vel)[3])
{
    struct given g = {.mass = mass,
                      .pos = pos,
                      .vel = vel,
                      .first = nbody_ranks_own_first(nb),
                      .nb = nb,
                      .body = nb->particles.body};
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->rows && nbody_device_wait(nb, p) != 0)
            return -1;
    return write_bodies(&g, nbody_ranks_own_rows(nb)) == 0 ? upload_arrays(nb, false) : -1;
}

struct changes nbody_particles_changes(const struct nbody *nb, const struct nbody_device *p)
{
    const size_t plane = p->rows * nb->real, at = p->first * 4 * nb->real,
                 four = p->count * 4 * nb->real;
    void *const velo = nb->particles.velo ? (char *)nb->particles.velo + at : NULL,
                *const acce = nb->particles.acce ? (char *)nb->particles.acce + at : NULL;
    return (struct changes){
        {(char *)nbody_posm(nb, p) + nbody_posm_first(p) * 4 * nb->real, velo, acce, p->state},
        {four, velo ? four : 0, acce ? four : 0, nb->planes * plane}};
}
