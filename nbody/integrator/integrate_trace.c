/* integrate_trace.c - TRACE (Lu, Hernandez & Rein 2024, MNRAS 533, 3708): steps of Wisdom & Holman
 * that ias15 takes over in close encounters, reversible in time, for a star with planets on the
 * host.
 *
 *   step        kick dt/2, jump dt/2, motion dt, jump dt/2, kick dt/2
 *   kick        by the pairs of planets, except those in one encounter
 *   jump        of all planets, by the star's recoil
 *   motion      along conics about the star; by ias15 for the planets of an encounter, about a
 *               fixed star
 *
 * Planets closer than a critical distance are in one encounter, and so are those close to either.
 * If a planet is at its pericentre, where the jump is no small part of its motion, ias15 makes the
 * step of all bodies. A test particle at its pericentre alone follows ias15: it does not act on the
 * other bodies, whose steps must not depend on it.
 *
 * The choice is made before the step, and again after it for the reversed step. A step that only
 * the second choice finds to be in an encounter is repeated with both choices. The step back from
 * its end then makes the same choice, but for exceptions at the critical distance itself: the
 * reversibility bounds the error of the energy (Hernandez & Dehnen 2023, MNRAS 522, 4639).
 *
 * A step begins with positions and velocities alone, so that calls and checkpoints change no bit.
 * Forces are evaluated at slots as computed from rounded positions, and thus serve two steps.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/heliocentric.h"
#include "nbody/integrator/host_lanes.h"
#include "nbody/integrator/integrate_ias15.h"
#include "nbody/integrator/stepping.h"

#include "core/round.h"

EMBEDDED(source, "nbody/integrator/integrate_leapfrog.cl", nbody_integrator_integrate_leapfrog_cl);

static const double HILL = 3, PERICENTRE = 1; /* defaults of nbody_trace_options */
static const double NO_SOFTENING = 0x1p-1001; /* as in host_state.c, halved */

/* Bodies that ias15 moves; 3 numbers each. */
struct trace_part {
    size_t n;
    double *x, *v, *mass, *memory;
    size_t *body; /* numbers of the bodies */
};

struct trace {
    const struct nbody_ref_system *s;
    struct heliocentric h;
    double dt, hill, pericentre;
    double *x, *v, *old_x, *old_v; /* of bodies, 3 numbers each; at the begin of the step */
    double *own_x, *own_v;         /* as planes */
    double *force_at;              /* positions of slots that h.force belongs to */
    double *radius;                /* critical distance of each slot */
    size_t *encounter;             /* first slot in the encounter of each slot */
    size_t *turns;                 /* 1: the slot is at its pericentre */
    bool paired, all, particles;   /* encounters; planets, test particles at their pericentres */
    struct trace_part part;
    double evaluations; /* of n^2 pairs */
};

/* Planes of one number per body in the working memory. */
enum { TRACE_PLANES = 48 };

static double *trace_take(double **memory, size_t planes, size_t stride)
{
    double *const taken = *memory;
    *memory += planes * stride;
    return taken;
}

static void trace_open_slots(struct trace *t, double **memory)
{
    const size_t n = t->s->n, m = round_up(n, HOST_LANES);
    double *const focus = trace_take(memory, 1, m), *const gm = trace_take(memory, 1, m),
                  *const e2 = trace_take(memory, 1, m);
    struct kepler_orbits *const o = &t->h.orbits;
    double **const each[] = {&o->x, &o->v, &o->lost_x, &o->lost_v, &t->h.force};
    for (size_t k = 0; k < COUNT_OF(each); k++)
        *each[k] = trace_take(memory, 3, m);
    o->n = n;
    o->stride = m;
    o->gm = focus;
    t->h.gm = t->s->mass;
    t->h.slot_gm = gm;
    t->h.e2 = e2;
    for (size_t k = 0; k < m; k++) {
        focus[k] = k + 1 < n ? t->s->mass[0] : 0;
        gm[k] = k + 1 < n ? t->s->mass[k + 1] : 0;
        e2[k] = k + 1 < n ? NO_SOFTENING : 1;
    }
    for (size_t i = 0; i < n; i++)
        t->h.total += t->s->mass[i];
}

static void trace_open(struct trace *t, const struct nbody_ref_system *s, double dt, double *x,
                       double *v, double *memory)
{
    const size_t m = round_up(s->n, HOST_LANES);
    const struct nbody_trace_options *const o = &s->watch->nb->trace;
    double **const each[] = {&t->force_at, &t->old_x,  &t->old_v, &t->own_x,
                             &t->own_v,    &t->part.x, &t->part.v};
    *t = (struct trace){.s = s,
                        .dt = dt,
                        .hill = o->hill > 0 ? o->hill : HILL,
                        .pericentre = o->pericentre > 0 ? o->pericentre : PERICENTRE,
                        .x = x,
                        .v = v};
    for (size_t k = 0; k < COUNT_OF(each); k++)
        *each[k] = trace_take(&memory, 3, m);
    trace_open_slots(t, &memory);
    t->radius = trace_take(&memory, 1, m);
    t->part.mass = trace_take(&memory, 1, m);
    t->part.body = (size_t *)trace_take(&memory, 1, m);
    t->encounter = (size_t *)trace_take(&memory, 1, m);
    t->turns = (size_t *)trace_take(&memory, 1, m);
    t->part.memory = memory;
    for (size_t k = 0; k < s->n; k++) {
        t->encounter[k] = k;
        t->turns[k] = 0;
    }
}

/* ---- Which bodies ias15 must follow. --------------------------------------------------------- */

static double trace_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + (a[1] * b[1] + a[2] * b[2]);
}

static void trace_slot(const struct trace *t, size_t k, double x[3], double v[3])
{
    for (size_t c = 0; c < 3; c++) {
        x[c] = t->h.orbits.x[c * t->h.orbits.stride + k];
        v[c] = t->h.orbits.v[c * t->h.orbits.stride + k];
    }
}

/* True if a step is long compared with the time scale of the slot's acceleration by the star. The
 * jerk and the snap below lack the factor G m / r^3 of the acceleration. */
static bool trace_turns(const struct trace *t, size_t k)
{
    double x[3], v[3], jerk[3], snap[3];
    trace_slot(t, k, x, v);
    const double gm = t->h.gm[0], r2 = trace_dot(x, x), q = trace_dot(x, v) / r2,
                 r3 = r2 * sqrt(r2), p = trace_dot(v, v) / r2 - gm / r3;
    for (int c = 0; c < 3; c++) {
        jerk[c] = v[c] - 3 * q * x[c];
        snap[c] = -gm / r3 * x[c] - 6 * q * v[c] - (3 * p - 15 * q * q) * x[c];
    }
    const double scale2 = 2 * r2 / (trace_dot(jerk, jerk) + sqrt(r2) * sqrt(trace_dot(snap, snap)));
    return t->dt * t->dt > t->pericentre * t->pericentre * scale2;
}

/* Find the slots at their pericentres. Return true if one was not before. */
static bool trace_find_turns(struct trace *t)
{
    bool more = false;
    for (size_t k = 0; k + 1 < t->s->n; k++) {
        if (t->turns[k] || !trace_turns(t, k))
            continue;
        t->turns[k] = 1;
        t->all |= t->h.slot_gm[k] > 0;
        t->particles |= !(t->h.slot_gm[k] > 0);
        more = true;
    }
    return more;
}

static void trace_find_radii(struct trace *t)
{
    const size_t m = t->h.orbits.stride, n = t->s->n;
    const double *const x = t->h.orbits.x;
    for (size_t k = 0; k < m; k++) {
        const double r = sqrt(x[k] * x[k] + (x[m + k] * x[m + k] + x[2 * m + k] * x[2 * m + k]));
        t->radius[k] = k + 1 < n ? t->hill * r * cbrt(t->h.slot_gm[k] / (3 * t->h.gm[0])) : 0;
    }
}

/* Put two slots into one encounter. Return false if they are in one already. */
static bool trace_join(struct trace *t, size_t i, size_t j)
{
    const size_t a = t->encounter[i], b = t->encounter[j], low = a < b ? a : b,
                 high = a < b ? b : a;
    for (size_t k = high; low != high && k + 1 < t->s->n; k++)
        if (t->encounter[k] == high)
            t->encounter[k] = low;
    t->paired = true;
    return low != high;
}

/* Find pairs whose distance on straight lines falls below the critical distance between now and
 * `ahead` from now. Return true if one was in no encounter before. */
CLONES static bool trace_find_pairs(struct trace *t, double ahead)
{
    const struct kepler_orbits *const o = &t->h.orbits;
    const size_t m = o->stride;
    const lanes zero = {0}, first = zero + fmin(ahead, 0), last = zero + fmax(ahead, 0);
    bool more = false;
    for (size_t i = 1; i + 1 < o->n; i++)
        for (size_t j = 0; j < i; j += HOST_LANES) {
            const lane_numbers lane = {0, 1, 2, 3, 4, 5, 6, 7};
            const lanes own = LOAD(t->radius + j),
                        R = SELECT(own > t->radius[i], own, zero + t->radius[i]);
            lanes r2 = zero, rv = zero, v2 = zero;
            for (size_t c = 0; c < 3; c++) {
                const lanes d = LOAD(o->x + c * m + j) - o->x[c * m + i],
                            w = LOAD(o->v + c * m + j) - o->v[c * m + i];
                r2 += d * d;
                rv += d * w;
                v2 += w * w;
            }
            lanes at = SELECT(v2 > 0, -rv / v2, zero);
            at = SELECT(at < first, first, SELECT(at > last, last, at));
            const lane_numbers close =
                (r2 + at * (2 * rv + at * v2) < R * R) & (R > 0) & (lane < (long long)(i - j));
            for (size_t l = 0; lanes_any(&close) && l < HOST_LANES; l++)
                if (close[l])
                    more |= trace_join(t, j + l, i);
        }
    return more;
}

/* Look which bodies ias15 must follow, as the slots are now, for half a step ahead. Return true if
 * there are more than before. */
static bool trace_look(struct trace *t, double ahead)
{
    const bool turned = trace_find_turns(t);
    if (t->all)
        return turned;
    trace_find_radii(t);
    return trace_find_pairs(t, ahead) || turned;
}

/* ---- Motion by ias15. ------------------------------------------------------------------------ */

static void trace_add_body(struct trace_part *p, size_t body, double mass)
{
    p->body[p->n] = body;
    p->mass[p->n++] = mass;
}

/* Advance the bodies of t->part; field: NULL or the star's. */
static enum host_end trace_follow(struct trace *t, const struct nbody_field *field, double *x,
                                  double *v)
{
    const struct trace_part *const p = &t->part;
    const double share = (double)p->n / (double)t->s->n;
    double evaluations = 0;
    struct host_watch watch = {
        .nb = t->s->watch->nb, .step = t->s->watch->step, .body = p->body, .span = t->dt};
    const struct nbody_ref_system s = {.n = p->n,
                                       .G = 1,
                                       .mass = p->mass,
                                       .fields = field,
                                       .nfields = field != NULL,
                                       .watch = &watch};
    const enum host_end end = nbody_ias15_step(&s, t->dt, x, v, p->memory, &evaluations);
    t->evaluations += evaluations * share * share;
    return end;
}

/* Advance the encounter of slot `first` from the copies of the slots, own_x and own_v. */
static enum host_end trace_follow_encounter(struct trace *t, size_t first)
{
    const size_t m = t->h.orbits.stride;
    const struct nbody_field star = {NBODY_FIELD_POINT, t->h.gm[0], 0};
    struct trace_part *const p = &t->part;
    p->n = 0;
    for (size_t k = first; k + 1 < t->s->n; k++)
        if (t->encounter[k] == first)
            trace_add_body(p, k + 1, t->h.slot_gm[k]);
    for (size_t i = 0; i < 3 * p->n; i++) {
        p->x[i] = t->own_x[i % 3 * m + p->body[i / 3] - 1];
        p->v[i] = t->own_v[i % 3 * m + p->body[i / 3] - 1];
    }
    const enum host_end end = trace_follow(t, &star, p->x, p->v);
    for (size_t i = 0; i < 3 * p->n; i++) {
        const size_t to = i % 3 * m + p->body[i / 3] - 1;
        t->h.orbits.x[to] = p->x[i];
        t->h.orbits.v[to] = p->v[i];
        t->h.orbits.lost_x[to] = t->h.orbits.lost_v[to] = 0;
        t->x[3 * p->body[i / 3] + i % 3] = t->x[i % 3] + p->x[i]; /* names bodies that collide */
    }
    return end;
}

static enum host_end trace_follow_all(struct trace *t)
{
    t->part.n = 0;
    for (size_t i = 0; i < t->s->n; i++)
        trace_add_body(&t->part, i, t->s->mass[i]);
    return trace_follow(t, NULL, t->x, t->v);
}

/* Advance the test particles at their pericentres, and copies of the bodies with mass. */
static enum host_end trace_follow_particles(struct trace *t)
{
    struct trace_part *const p = &t->part;
    p->n = 0;
    for (size_t i = 0; i < t->s->n; i++)
        if (t->s->mass[i] > 0 || t->turns[i - 1])
            trace_add_body(p, i, t->s->mass[i]);
    for (size_t i = 0; i < 3 * p->n; i++) {
        p->x[i] = t->old_x[3 * p->body[i / 3] + i % 3];
        p->v[i] = t->old_v[3 * p->body[i / 3] + i % 3];
    }
    const enum host_end end = trace_follow(t, NULL, p->x, p->v);
    for (size_t i = 0; i < 3 * p->n; i++)
        if (!(p->mass[i / 3] > 0)) {
            t->x[3 * p->body[i / 3] + i % 3] = p->x[i];
            t->v[3 * p->body[i / 3] + i % 3] = p->v[i];
        }
    return end;
}

/* ---- Parts of a step of Wisdom & Holman. ----------------------------------------------------- */

/* Add the forces of pairs that are in no common encounter. */
static void trace_add_pairs_apart(const struct trace *t)
{
    const size_t m = t->h.orbits.stride;
    const double *const x = t->h.orbits.x, *const gm = t->h.slot_gm;
    for (size_t i = 1; i + 1 < t->s->n; i++)
        for (size_t j = 0; j < i; j++) {
            if (t->encounter[i] == t->encounter[j] || !(gm[i] + gm[j] > 0))
                continue;
            double d[3];
            for (size_t c = 0; c < 3; c++)
                d[c] = x[c * m + j] - x[c * m + i];
            const double r2 = trace_dot(d, d) + 2 * NO_SOFTENING, f = 1 / (r2 * sqrt(r2));
            for (size_t c = 0; c < 3; c++) {
                t->h.force[c * m + i] += gm[j] * f * d[c];
                t->h.force[c * m + j] -= gm[i] * f * d[c];
            }
        }
}

static void trace_force(struct trace *t)
{
    const size_t bytes = 3 * t->h.orbits.stride * sizeof *t->force_at;
    if (t->paired) {
        memset(t->h.force, 0, bytes);
        trace_add_pairs_apart(t);
        t->force_at[0] = NAN;
    } else if (memcmp(t->force_at, t->h.orbits.x, bytes) != 0) {
        nbody_heliocentric_force(&t->h);
        memcpy(t->force_at, t->h.orbits.x, bytes);
    } else
        return;
    t->evaluations++;
}

/* Copy planes to 3 numbers per body. */
static void trace_from_planes(const struct trace *t, const double *plane, double *x)
{
    for (size_t i = 0; i < 3 * t->s->n; i++)
        x[i] = plane[i % 3 * t->h.orbits.stride + i / 3];
}

/* Compute the slots from x and v. */
static void trace_to_slots(struct trace *t)
{
    for (size_t i = 0; i < 3 * t->s->n; i++) {
        t->own_x[i % 3 * t->h.orbits.stride + i / 3] = t->x[i];
        t->own_v[i % 3 * t->h.orbits.stride + i / 3] = t->v[i];
    }
    nbody_heliocentric_from(&t->h, t->own_x, t->own_v);
}

static enum host_end trace_move(struct trace *t)
{
    const size_t bytes = 3 * t->h.orbits.stride * sizeof(double);
    enum host_end end = HOST_DONE;
    memcpy(t->own_x, t->h.orbits.x, bytes);
    memcpy(t->own_v, t->h.orbits.v, bytes);
    nbody_kepler_drift(&t->h.orbits, t->dt);
    for (size_t k = 0; t->paired && k + 1 < t->s->n && end == HOST_DONE; k++) {
        bool more = false;
        for (size_t l = k + 1; l + 1 < t->s->n && !more; l++)
            more = t->encounter[k] == k && t->encounter[l] == k;
        end = more ? trace_follow_encounter(t, k) : HOST_DONE;
    }
    return end;
}

/* A step of Wisdom & Holman from the slots, which become its end. The closing kick begins with the
 * slots of rounded positions, as does the next step. */
static enum host_end trace_split_step(struct trace *t)
{
    trace_force(t);
    nbody_kepler_kick(&t->h.orbits, t->dt / 2, t->h.force);
    nbody_heliocentric_jump(&t->h, t->dt / 2);
    const enum host_end end = trace_move(t);
    if (end != HOST_DONE)
        return end;
    nbody_heliocentric_jump(&t->h, t->dt / 2);
    nbody_heliocentric_to(&t->h, t->own_x, t->own_v);
    trace_from_planes(t, t->own_x, t->x);
    nbody_heliocentric_from(&t->h, t->own_x, t->own_v);
    trace_force(t);
    nbody_kepler_kick(&t->h.orbits, t->dt / 2, t->h.force);
    nbody_heliocentric_to(&t->h, t->own_x, t->own_v);
    trace_from_planes(t, t->own_v, t->v);
    return HOST_DONE;
}

/* Make the step from the slots with the choice of bodies so far. */
static enum host_end trace_try(struct trace *t)
{
    if (t->all)
        return trace_follow_all(t);
    const enum host_end end = trace_split_step(t);
    return end == HOST_DONE && t->particles ? trace_follow_particles(t) : end;
}

/* ---- Contacts. ------------------------------------------------------------------------------- */

/* True if ias15 has looked for contacts of this pair. */
static bool trace_followed(const struct trace *t, const struct nbody_contact *c)
{
    const size_t i = c->first, j = c->second;
    if (t->turns[j - 1] || (i > 0 && t->turns[i - 1]))
        return true;
    return i > 0 && t->encounter[i - 1] == t->encounter[j - 1];
}

/* Look for contacts of the other pairs along cubics. 0; -1 with ENOMEM. */
static int trace_find_contacts(const struct trace *t)
{
    struct nbody *const nb = t->s->watch->nb;
    struct nbody_contact *contact;
    size_t n, kept = 0;
    double *const memory = malloc(9 * t->s->n * sizeof *memory);
    if (!memory)
        return clerror_set(ENOMEM, "nbody_step: out of memory for %zu bodies", t->s->n);
    const struct contact_paths paths =
        contacts_cubic(t->s->n, t->dt, t->old_x, t->old_v, t->x, t->v, memory);
    int status = contacts_find("nbody_step", &paths, nb->integration.watch.radius, &contact, &n);
    for (size_t k = 0; k < n; k++)
        if (!trace_followed(t, &contact[k]))
            contact[kept++] = contact[k];
    status = status == 0 ? nbody_watch_add(nb, contact, kept) : status;
    free(contact);
    free(memory);
    return status;
}

static enum host_end trace_settle_contacts(const struct trace *t)
{
    const struct contact_paths end = {t->s->n, 1, t->dt, {t->x}};
    if (!nbody_host_watches(t->s->watch))
        return HOST_DONE;
    if (!t->all && trace_find_contacts(t) != 0)
        return HOST_STOPPED;
    return nbody_watch_settle(t->s->watch->nb, &end) == 0 ? HOST_DONE : HOST_STOPPED;
}

/* ---- The integrator. ------------------------------------------------------------------------- */

/* Repeat the step with the bodies that its end has added to the choice. */
static enum host_end trace_repeat(struct trace *t)
{
    const size_t bytes = 3 * t->s->n * sizeof *t->x;
    nbody_watch_begin(t->s->watch->nb);
    memcpy(t->x, t->old_x, bytes);
    memcpy(t->v, t->old_v, bytes);
    trace_to_slots(t);
    return trace_try(t);
}

static enum host_end trace_make_step(struct trace *t)
{
    const size_t bytes = 3 * t->s->n * sizeof *t->x;
    memcpy(t->old_x, t->x, bytes);
    memcpy(t->old_v, t->v, bytes);
    trace_to_slots(t);
    (void)trace_look(t, t->dt / 2);
    enum host_end end = trace_try(t);
    if (end != HOST_DONE || t->all)
        return end;
    if (t->particles)
        trace_to_slots(t);
    return trace_look(t, -t->dt / 2) ? trace_repeat(t) : HOST_DONE;
}

static enum host_end trace_step(const struct nbody_ref_system *s, double dt, double *x, double *v,
                                double *memory, double *evaluations)
{
    struct trace t;
    trace_open(&t, s, dt, x, v, memory);
    enum host_end end = trace_make_step(&t);
    if (end == HOST_DONE)
        end = trace_settle_contacts(&t);
    if (end != HOST_DONE)
        nbody_watch_begin(s->watch->nb);
    *evaluations += t.evaluations;
    return end;
}

static int trace_check(const struct nbody *nb, double first_mass)
{
    const struct nbody_trace_options *const o = &nb->trace;
    if (!(first_mass > 0))
        return clerror_set(EINVAL, "nbody_create: the integrator trace needs a star: the mass of "
                                   "body 0 is 0; put the heaviest body first");
    if (nb->eps > 0 || nb->particles.own_eps)
        return clerror_set(EINVAL, "nbody_create: the integrator trace has no softening, because "
                                   "it follows Kepler's orbits; set eps to 0");
    if (nb->nfields)
        return clerror_set(EINVAL, "nbody_create: the integrator trace has no external fields; use "
                                   "NBODY_IAS15, or NBODY_WHFAST with NBODY_JACOBI");
    if (!nbody_has_doubles(nb))
        return clerror_set(EINVAL, "nbody_create: the integrator trace computes on the host, which "
                                   "does not support single precision");
    if (!(o->hill >= 0 && o->hill <= 1e6) || !(o->pericentre >= 0 && o->pericentre <= 1e6))
        return clerror_set(EINVAL,
                           "nbody_create: critical distances of the integrator trace are %g Hill "
                           "radii and %g time scales; both must be from 0 to 1e6",
                           o->hill, o->pericentre);
    return 0;
}

/* Only nbody_time_forces runs on devices; leapfrog's kernel reduces its sums. */
static int trace_update(struct nbody *nb, struct nbody_device *p, cl_uint count,
                        const struct update *u)
{
    return nbody_leapfrog_update(nb, p, count, u, 0, 0);
}

/* An independent method: extrapolation in long double. */
static void trace_reference(const struct nbody_ref_system *s, double dt, size_t steps, double *x,
                            double *v, double *work)
{
    (void)work;
    (void)nbody_ref_exact_in(s, dt * (double)steps, 1e-15, (double(*)[3])x, (double(*)[3])v);
}

const struct integrator nbody_integrate_trace = {
    .info = {.name = "trace",
             .about = "whfast with heliocentric coordinates, in which ias15 takes over in close "
                      "encounters, reversible in time: for planets that meet, over long times",
             .order = 2},
    .source = &source,
    .kernels = {"leapfrog"},
    .sum = FORCES,
    .planes = 6,
    .update = trace_update,
    .host = trace_step,
    .host_planes = IAS15_PLANES + TRACE_PLANES / 3,
    .host_check = trace_check,
    .reference = trace_reference,
};
