/* integrate_ias15.c - IAS15: Gauss-Radau steps of 15th order and adaptive length (Everhart 1985;
 * Rein & Spiegel 2015, MNRAS 446, 1424), in double precision on the host, for few bodies.
 *
 * Over a step of length T the acceleration is a0 + b1 h + b2 h^2 + ... + b7 h^7 with h = time / T.
 * It is evaluated at h = 0 and at the seven Gauss-Radau nodes, at positions that follow from
 * integrating the polynomial twice. The coefficients b are therefore found by iteration to
 * convergence.
 *
 * Rounding. A position is the sum of the number x at the begin of the step and a small
 * displacement, and a pair's distance is (x_j - x_i) plus the difference of the displacements. The
 * force between a planet and a low satellite is therefore smooth to rounding, however far both are
 * from the origin.
 *
 * Length of a step. A body needs T = ETA tau with tau^2 = 2 A^2 / (|a'|^2 + A |a''|), where a' and
 * a'' are the time derivatives of its acceleration (Pham, Rein & Spiegel 2024, OJAp 7, 1). They
 * take A = |a|. Here A is the sum of the magnitudes of all forces on the body, so that steps do not
 * vanish where forces cancel. The last term b7 must also be below LAST_TERM A: it shows an
 * encounter that begins and ends within the step. A step that is much too long is repeated.
 *
 * Where a force of the caller jumps, as at the cusp of a galaxy's centre, no step converges. Steps
 * shrink to JUMP |v| / A, within which the force changes v by less than rounding, and pass the
 * jump. A jump between the last node and the end of a step shows in the acceleration at the end.
 *
 * A step dt of the engine is divided into these adaptive steps and starts from positions and
 * velocities alone, so that results depend neither on where calls end nor on earlier steps.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/integrate_ias15.h"
#include "nbody/integrator/host_lanes.h"
#include "nbody/integrator/stepping.h"

EMBEDDED(source, "nbody/integrator/integrate_leapfrog.cl", nbody_integrator_integrate_leapfrog_cl);

enum { PLACES = IAS15_NODES, ITERATIONS = 12, LANES = HOST_LANES };

/* Nodes as fractions of the step: zeros of a Radau polynomial. */
static const double place[PLACES + 1] = {0,
                                         0.0562625605369221464656521910318,
                                         0.180240691736892364987579942780,
                                         0.352624717113169637373907769648,
                                         0.547153626330555383001448554766,
                                         0.734210177215410531523210605558,
                                         0.885320946839095768090359771030,
                                         0.977520613561287501891174488626};

/* Factors of b1 ... b7 in twice integrated accelerations, and in once integrated ones. */
static const double twice[PLACES] = {1. / 6, 1. / 12, 1. / 20, 1. / 30, 1. / 42, 1. / 56, 1. / 72},
                    once[PLACES] = {1. / 2, 1. / 3, 1. / 4, 1. / 5, 1. / 6, 1. / 7, 1. / 8};

static const double ETA = 0.1751;       /* (1e-9 * 7!)^(1/7): last term of a circular orbit 1e-9 */
static const double LAST_TERM = 1e-6;   /* largest b7, relative to A */
static const double FIRST_ADDED = 0.02; /* first step, relative to |v| / |a| */
static const double SHORTER = 0.25;     /* repeat a step if the next would be shorter by this */
static const double JUMP = 1e-16;       /* change of v in the shortest step, relative to |v| */
/* A force is too rough if it jumps this often before steps are SMOOTH times the shortest ones. */
enum { MOST_JUMPS = 1000 };
static const double SMOOTH = 1e12;
static const double LONGER = 4; /* growth of a step at most */
/* Largest change of b7 at convergence, relative to the largest acceleration. One more iteration
 * would change b7 by a thousandth of this, and positions by less than their rounding. */
static const double CONVERGED = 1e-11;
/* Shortest step, relative to the longest; also where forces of the caller may jump. */
static const double VANISHED = 1e-18, VANISHED_ADDED = 1e-21;
static const double VISIT = 1e6; /* pairs between two reports of progress */

/* Working memory of a step; arrays of m = 3 n numbers. */
struct radau {
    const struct nbody_ref_system *s;
    size_t own, m;                    /* numbers of bodies, 3 n; with a tangent vector 6 n */
    double *x, *v, *lost_x, *lost_v;  /* state; rounding errors of its sums (Kahan) */
    double *a0, *a, *off;             /* acceleration at begin and at a node; displacements there */
    double *strength;                 /* A of each body, at the last node; then: */
    double *softening2;               /* half the squares of the softenings */
    double *planes;                   /* x, off and a by coordinate */
    double *row;                      /* d, r^-3 and r of a body's pairs */
    double *b[PLACES], *g[PLACES];    /* polynomial coefficients; divided differences */
    double *e[PLACES];                /* b as predicted from the previous step */
    bool predicted;                   /* e is known */
    double *path[PATH_TERMS];         /* of positions, for contacts */
    double *at, *speed, *added;       /* forces of the caller: x + off, v and a */
    double start, done;               /* time of x: begin of the engine's step; since then */
    double c[PLACES][PLACES];         /* b[k] = sum over j >= k of c[j][k] g[j] */
    double apart[PLACES + 1][PLACES]; /* 1 / (place[n] - place[k]) for k < n */
    double binomial[PLACES][PLACES];  /* j + 1 over k + 1 */
    double evaluations, reported;     /* so far; when progress was reported */
    size_t shortest;                  /* body that needs the next step */
    bool jumps;                       /* its force jumps, and the next step is the shortest */
    bool smooth;                      /* the next step is SMOOTH times the shortest */
};

/* c[j] holds the coefficients of (h - h1) ... (h - hj), since a = a0 + g0 h + g1 h (h - h1) + ...
 */
static void radau_find_c(struct radau *r)
{
    memset(r->c, 0, sizeof r->c);
    r->c[0][0] = 1;
    for (int j = 1; j < PLACES; j++)
        for (int k = 0; k <= j; k++)
            r->c[j][k] = (k > 0 ? r->c[j - 1][k - 1] : 0) - (k < j ? place[j] * r->c[j - 1][k] : 0);
}

static void radau_find_factors(struct radau *r)
{
    for (int n = 1; n <= PLACES; n++)
        for (int k = 0; k < n; k++)
            r->apart[n][k] = 1 / (place[n] - place[k]);
    for (int j = 0; j < PLACES; j++) {
        r->binomial[j][0] = j + 1;
        for (int k = 1; k <= j; k++)
            r->binomial[j][k] = r->binomial[j][k - 1] * (j + 1 - k) / (k + 1);
    }
}

static void radau_open(struct radau *r, const struct nbody_ref_system *s, double *x, double *v,
                       double *memory)
{
    double **const each[] = {&r->lost_x, &r->lost_v, &r->a0, &r->a, &r->off, &r->strength};
    const size_t own = 3 * s->n;
    *r = (struct radau){
        .s = s, .own = own, .m = nbody_host_has_tangent(s->watch) ? 2 * own : own, .x = x, .v = v};
    for (size_t i = 0; i < COUNT_OF(each); i++, memory += r->m)
        *each[i] = memory;
    for (int k = 0; k < PLACES; k++, memory += 3 * r->m) {
        r->b[k] = memory;
        r->g[k] = memory + r->m;
        r->e[k] = memory + 2 * r->m;
    }
    for (int k = 0; k < PATH_TERMS; k++, memory += r->m)
        r->path[k] = memory;
    r->at = memory;
    r->speed = memory + r->m;
    r->added = memory + 2 * r->m;
    memory += 3 * r->m;
    r->softening2 = r->strength + s->n;
    r->planes = memory;
    r->row = memory + 3 * r->m;
    for (size_t i = 0; i < s->n; i++)
        r->softening2[i] = nbody_ref_softening2(s, i, i) / 2;
    radau_find_c(r);
    radau_find_factors(r);
}

/* ---- Forces. --------------------------------------------------------------------------------- */

/* Coordinate c of all bodies: numbers c * n to c * n + n - 1 of a plane. */
static void radau_to_planes(size_t n, const double *x, double *plane)
{
    for (size_t c = 0; c < 3; c++)
        for (size_t i = 0; i < n; i++)
            plane[c * n + i] = x[3 * i + c];
}

/* Compute the vectors d from body i to the bodies j < i, 3 planes, and r^-3 and r of the pairs. Two
 * bodies at one place do not attract each other. */
INLINE void radau_row(const struct radau *r, size_t i, double *restrict d, double *restrict cube,
                      double *restrict length)
{
    const size_t n = r->s->n;
    const double *const x = r->planes, *const y = x + n, *const z = y + n, *const ox = z + n,
                        *const oy = ox + n, *const oz = oy + n, *const e2 = r->softening2;
    const double here = e2[i];
    for (size_t j = 0; j < i; j++) {
        const double dx = (x[j] - x[i]) + (ox[j] - ox[i]), dy = (y[j] - y[i]) + (oy[j] - oy[i]),
                     dz = (z[j] - z[i]) + (oz[j] - oz[i]),
                     r2 = (e2[j] + here) + (dx * dx + (dy * dy + dz * dz)), root = sqrt(r2),
                     w = 1 / (r2 * root);
        d[j] = dx;
        d[n + j] = dy;
        d[2 * n + j] = dz;
        cube[j] = r2 > 0 ? w : 0;
        length[j] = root;
    }
}

/* Subtract gm_i f_j d_j from a[j] for each j < i, and return the sum of gm_j f_j d_j, in an order
 * that vectors of any length keep. */
INLINE double radau_add(size_t i, const double *restrict gm, double gm_i, const double *restrict f,
                        const double *restrict d, double *restrict a)
{
    double sum[LANES] = {0};
    size_t j = 0;
    for (; j + LANES <= i; j += LANES)
        for (size_t l = 0; l < LANES; l++) {
            const double fd = f[j + l] * d[j + l];
            sum[l] += gm[j + l] * fd;
            a[j + l] -= gm_i * fd;
        }
    for (size_t l = 0; j < i; l++, j++) {
        const double fd = f[j] * d[j];
        sum[l] += gm[j] * fd;
        a[j] -= gm_i * fd;
    }
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

/* Add the forces of all pairs to a, 3 planes, and their magnitudes to `strength` if not NULL. */
CLONES static void radau_add_pairs(const struct radau *r, double *a, double *strength)
{
    const size_t n = r->s->n;
    const double *const gm = r->s->mass;
    double *const d = r->row, *const cube = d + 3 * n, *const length = cube + n;
    for (size_t i = 1; i < n; i++) {
        radau_row(r, i, d, cube, length);
        for (size_t c = 0; c < 3; c++)
            a[c * n + i] += radau_add(i, gm, gm[i], cube, d + c * n, a + c * n);
        if (strength)
            strength[i] += radau_add(i, gm, -gm[i], cube, length, strength);
    }
}

static double radau_length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static void radau_add_fields(const struct radau *r, double *a, double *strength)
{
    for (size_t i = 0; i < r->s->n; i++) {
        double at[3], own[3] = {0, 0, 0};
        for (size_t c = 0; c < 3; c++)
            at[c] = r->x[3 * i + c] + r->off[3 * i + c];
        (void)nbody_ref_field(r->s, at, NULL, own, NULL);
        for (size_t c = 0; c < 3; c++)
            a[3 * i + c] += own[c];
        if (strength)
            strength[i] += radau_length(own);
    }
}

/* The engine if it has forces of the caller, else NULL. */
static struct nbody *radau_engine(const struct radau *r)
{
    return r->s->watch && nbody_added_apply(r->s->watch->nb) ? r->s->watch->nb : NULL;
}

/* Velocities at the fraction h of a step T. */
static void radau_find_speed(const struct radau *r, double h, double T)
{
    for (size_t i = 0; i < r->m; i++) {
        double kick = 0;
        for (int k = PLACES - 1; h > 0 && k >= 0; k--)
            kick = (kick + r->b[k][i] * once[k]) * h;
        r->speed[i] = r->v[i] + (r->lost_v[i] + h * T * (r->a0[i] + kick));
    }
}

/* Add forces of the caller at the fraction h of a step T. A failure is kept: radau_failed. */
static void radau_add_added(const struct radau *r, double h, double T, double *a, double *strength)
{
    struct nbody *const nb = radau_engine(r);
    if (!nb)
        return;
    radau_find_speed(r, h, T);
    for (size_t i = 0; i < r->m; i++)
        r->at[i] = r->x[i] + r->off[i];
    memset(r->added, 0, r->m * sizeof *r->added);
    (void)nbody_added_evaluate(nb, r->start + (r->done + h * T), (const double(*)[3])r->at,
                               (const double(*)[3])r->speed, (double(*)[3])r->added);
    for (size_t i = 0; i < r->m; i++)
        a[i] += r->added[i];
    for (size_t i = 0; strength && i < r->s->n; i++)
        strength[i] += radau_length(r->added + 3 * i);
}

static bool radau_failed(const struct radau *r)
{
    return r->s->watch && nbody_added_failed(r->s->watch->nb);
}

/* Component c of the vector from body i to body j at the positions x + off; of the tangent vector
 * with first = r->own. */
static double radau_between(const struct radau *r, size_t first, size_t i, size_t j, size_t c)
{
    const size_t p = first + 3 * i + c, q = first + 3 * j + c;
    return (r->x[q] - r->x[p]) + (r->off[q] - r->off[p]);
}

/* Compute the accelerations of the tangent vector, the derivative of the bodies' along it: a pair
 * has (t - 3 d (d t) / r^2) / r^3, with distance d and the tangent vector's distance t. */
static void radau_accelerate_tangent(const struct radau *r, double *a)
{
    memset(a + r->own, 0, (r->m - r->own) * sizeof *a);
    for (size_t i = 1; r->m > r->own && i < r->s->n; i++)
        for (size_t j = 0; j < i; j++) {
            double d[3], t[3], r2 = r->softening2[i] + r->softening2[j], dt = 0;
            for (size_t c = 0; c < 3; c++) {
                d[c] = radau_between(r, 0, i, j, c);
                t[c] = radau_between(r, r->own, i, j, c);
                r2 += d[c] * d[c];
                dt += d[c] * t[c];
            }
            for (size_t c = 0; r2 > 0 && c < 3; c++) {
                const double f = (t[c] - 3 * dt / r2 * d[c]) / (r2 * sqrt(r2));
                a[r->own + 3 * i + c] += r->s->mass[j] * f;
                a[r->own + 3 * j + c] -= r->s->mass[i] * f;
            }
        }
}

/* Compute the accelerations a at the positions x + off, at the fraction h of a step T. strength:
 * see radau_add_pairs. */
static void radau_accelerate(struct radau *r, double h, double T, double *a, double *strength)
{
    const size_t n = r->s->n;
    double *const sum = r->planes + 2 * r->own;
    memset(sum, 0, r->own * sizeof *sum);
    if (strength)
        memset(strength, 0, n * sizeof *strength);
    radau_to_planes(n, r->off, r->planes + r->own);
    radau_add_pairs(r, sum, strength);
    radau_accelerate_tangent(r, a);
    for (size_t i = 0; i < r->own; i++)
        a[i] = sum[i % 3 * n + i / 3];
    if (r->s->nfields)
        radau_add_fields(r, a, strength);
    radau_add_added(r, h, T, a, strength);
    r->evaluations++;
}

/* ---- A step. --------------------------------------------------------------------------------- */

static double radau_max_abs(size_t m, const double *x)
{
    double most = 0;
    for (size_t i = 0; i < m; i++)
        most = fabs(x[i]) <= most ? most : fabs(x[i]); /* NaN counts */
    return most;
}

/* Kahan summation: x += y, with the rounding error carried in *lost. */
static void radau_add_compensated(double *x, double *lost, double y)
{
    const double sum = *x + (y + *lost);
    *lost = (y + *lost) - (sum - *x);
    *x = sum;
}

/* Displacement over a fraction h of a step T, beyond v h T: (a0 / 2 + b1 h / 6 + ... + b7 h^7 /
 * 72) (h T)^2. */
static double radau_displacement(const struct radau *r, size_t i, double h, double T)
{
    double sum = 0;
    for (int k = PLACES - 1; k >= 0; k--)
        sum = (sum + r->b[k][i] * twice[k]) * h;
    return (sum + r->a0[i] / 2) * (h * T) * (h * T);
}

/* Set the displacements at the fraction h of a step T. */
static void radau_displace(struct radau *r, double h, double T)
{
    for (size_t i = 0; i < r->m; i++)
        r->off[i] =
            h * T * (r->v[i] + r->lost_v[i]) + (radau_displacement(r, i, h, T) + r->lost_x[i]);
}

/* Update g[n - 1] from the acceleration at node n by divided differences, and b from it. Return
 * the largest change of the bodies' b7. */
static inline double radau_refine(struct radau *r, const int n)
{
    double most = 0;
    for (size_t i = 0; i < r->m; i++) {
        double g = (r->a[i] - r->a0[i]) * r->apart[n][0];
        for (int k = 1; k < n; k++)
            g = (g - r->g[k - 1][i]) * r->apart[n][k];
        const double change = g - r->g[n - 1][i];
        r->g[n - 1][i] = g;
        for (int k = 0; k < n; k++)
            r->b[k][i] += change * r->c[n - 1][k];
        most = i < r->own && fabs(change) > most ? fabs(change) : most;
    }
    return most;
}

/* Iterate b to convergence for a step T. */
static void radau_solve(struct radau *r, double T)
{
    double before = INFINITY;
    for (int k = 0; k < ITERATIONS; k++) {
        double change = 0;
        for (int n = 1; n <= PLACES; n++) {
            radau_displace(r, place[n], T);
            radau_accelerate(r, place[n], T, r->a, n == PLACES ? r->strength : NULL);
            change = radau_refine(r, n);
        }
        change /= radau_max_abs(r->own, r->a);
        if (change < CONVERGED || (k > 1 && change >= before))
            return;
        before = change;
    }
}

/* Step that a body needs: A, |a'| and |a''|. Infinite without forces. */
static double radau_body_length(double strength, double first, double second)
{
    return strength > 0 ? ETA * sqrt(2 / (first * first + strength * second)) * strength : INFINITY;
}

/* Limit the first step where forces of the caller, whose derivatives are unknown, act. */
static double radau_first_added(const struct radau *r)
{
    double T = INFINITY;
    for (size_t i = 0; radau_engine(r) && i < r->s->n; i++) {
        const double a = radau_length(r->a0 + 3 * i), v = radau_length(r->v + 3 * i);
        if (v > 0 && a > 0)
            T = fmin(T, FIRST_ADDED * v / a);
    }
    return T;
}

/* Return the length of the first step. */
static double radau_first_length(struct radau *r)
{
    double *const jerk = r->b[0], *const snap = r->b[1], T = radau_first_added(r);
    nbody_ref_snaps(r->s, r->x, r->v, r->a0, r->a, jerk, snap);
    for (size_t i = 0; i < r->s->n; i++)
        T = fmin(T, radau_body_length(r->strength[i], radau_length(jerk + 3 * i),
                                      radau_length(snap + 3 * i)));
    return T;
}

/* Step that body i needs where forces of the caller act, in units of the last step. Unlike forces
 * between pairs, the whole force on a body may pass through zero, where A^2 / (|a'|^2 + A |a''|)
 * vanishes. Aarseth's criterion does not: (|a| |a''| + |a'|^2) / (|a'| |a'''| + |a''|^2). *A: the
 * larger force of both ends of the step. */
static double radau_added_length(const struct radau *r, size_t i, double *A)
{
    double d[4][3] = {{0}}, size[4];
    for (size_t c = 0; c < 3; c++) {
        d[0][c] = r->a[3 * i + c];
        for (int k = 0; k < PLACES; k++) {
            const double b = r->b[k][3 * i + c];
            d[1][c] += (k + 1) * b;
            d[2][c] += (k + 1) * k * b;
            d[3][c] += (k + 1) * k * (k - 1) * b;
        }
    }
    for (int k = 0; k < 4; k++)
        size[k] = radau_length(d[k]);
    *A = fmax(*A, radau_length(r->a0 + 3 * i));
    const double below = size[1] * size[3] + size[2] * size[2];
    return below > 0 ? ETA * sqrt((size[0] * size[2] + size[1] * size[1]) / below) : 0;
}

/* Shortest step for body i, where a force of the caller may jump. */
static double radau_jump_length(const struct radau *r, size_t i, double A)
{
    return A > 0 ? JUMP * radau_length(r->v + 3 * i) / A : 0;
}

/* Return the length of the next step, at most LONGER |T|. NAN if the forces are not finite. */
static double radau_next_length(struct radau *r, double T)
{
    double next = LONGER * fabs(T);
    double shortest = 0; /* of all bodies */
    r->jumps = false;
    const bool added = radau_engine(r) != NULL;
    for (size_t i = 0; i < r->s->n; i++) {
        double first[3] = {0}, second[3] = {0}, last[3];
        for (size_t c = 0; c < 3; c++) {
            for (int k = 0; k < PLACES; k++) {
                first[c] += (k + 1) * r->b[k][3 * i + c];
                second[c] += (k + 1) * k * r->b[k][3 * i + c];
            }
            last[c] = r->b[PLACES - 1][3 * i + c];
        }
        double A = r->strength[i];
        const double b7 = radau_length(last),
                     pairs = radau_body_length(A, radau_length(first), radau_length(second)),
                     length = fmax(pairs, added ? radau_added_length(r, i, &A) : 0);
        if (!isfinite(A) || !isfinite(b7) || isnan(pairs))
            return NAN;
        double own = length * fabs(T);
        if (b7 > LAST_TERM * A)
            own = fmin(own, fabs(T) * pow(LAST_TERM * A / b7, 1. / 7));
        const double least = added ? radau_jump_length(r, i, A) : 0;
        if (fmax(own, least) < next) {
            next = fmax(own, least);
            r->shortest = i;
            r->jumps = own < least;
        }
        shortest = fmax(shortest, least);
    }
    r->smooth = next > SMOOTH * shortest;
    return next;
}

/* True if a force of the caller jumps between the last node and the end of a step T: there the
 * acceleration of a body differs from the polynomial. False for the shortest steps. */
static bool radau_end_jumps(struct radau *r, double T)
{
    if (!radau_engine(r))
        return false;
    radau_displace(r, 1, T);
    radau_accelerate(r, 1, T, r->a, NULL);
    for (size_t i = 0; i < r->s->n; i++) {
        double off[3];
        for (size_t c = 0; c < 3; c++) {
            off[c] = r->a0[3 * i + c] - r->a[3 * i + c];
            for (int k = 0; k < PLACES; k++)
                off[c] += r->b[k][3 * i + c];
        }
        const double A = fmax(r->strength[i], radau_length(r->a + 3 * i));
        if (radau_length(off) > LAST_TERM * A && fabs(T) > 2 * radau_jump_length(r, i, A))
            return true;
    }
    return false;
}

/* Advance the state by a fraction h of the step. */
static void radau_advance(struct radau *r, double T, double h)
{
    for (size_t i = 0; i < r->m; i++) {
        double kick = 0;
        for (int k = PLACES - 1; k >= 0; k--)
            kick = (kick + r->b[k][i] * once[k]) * h;
        radau_add_compensated(&r->x[i], &r->lost_x[i],
                              h * T * r->v[i] +
                                  (h * T * r->lost_v[i] + radau_displacement(r, i, h, T)));
        radau_add_compensated(&r->v[i], &r->lost_v[i], h * T * (r->a0[i] + kick));
    }
}

/* Predict b of a step of `ratio` times the previous length: the same polynomial, expanded about
 * its end, plus the error of the previous prediction (Everhart 1985). */
static void radau_predict(struct radau *r, double ratio)
{
    const bool corrects = r->predicted && ratio > 0.5 && ratio < 2;
    for (size_t i = 0; i < r->m; i++) {
        double power = 1;
        for (int k = 0; k < PLACES; k++) {
            double sum = 0;
            for (int j = k; j < PLACES; j++)
                sum += r->binomial[j][k] * r->b[j][i];
            const double off = corrects ? r->b[k][i] - r->e[k][i] : 0;
            r->e[k][i] = (power *= ratio) * sum;
            r->b[k][i] = r->e[k][i] + off;
        }
        for (int j = PLACES - 1; j >= 0; j--) { /* g from b, by inverting c */
            r->g[j][i] = r->b[j][i];
            for (int k = j + 1; k < PLACES; k++)
                r->g[j][i] -= r->c[k][j] * r->g[k][i];
        }
    }
    r->predicted = true;
}

static void radau_reset(struct radau *r)
{
    for (int k = 0; k < PLACES; k++) {
        memset(r->b[k], 0, r->m * sizeof *r->b[k]);
        memset(r->g[k], 0, r->m * sizeof *r->g[k]);
    }
    r->predicted = false;
}

/* Start a step at the current positions. strength: see radau_add_pairs. */
static void radau_begin(struct radau *r, double *strength)
{
    memcpy(r->off, r->lost_x, r->m * sizeof *r->off);
    radau_to_planes(r->s->n, r->x, r->planes);
    radau_accelerate(r, 0, 0, r->a0, strength);
}

/* Find the first contact in the step T, like nbody_watch_paths. done: time before the step; *h: the
 * contact's fraction of the step. */
static int radau_find_contact(struct radau *r, double done, double T, double *h)
{
    struct contact_paths paths = {.n = r->s->n, .terms = PATH_TERMS, .span = T};
    *h = 1;
    if (!nbody_host_watches(r->s->watch))
        return 0;
    for (int k = 0; k < PATH_TERMS; k++)
        paths.c[k] = r->path[k];
    for (size_t i = 0; i < r->m; i++) {
        r->path[0][i] = r->x[i];
        r->path[1][i] = T * r->v[i];
        r->path[2][i] = T * T * r->a0[i] / 2;
        for (int k = 0; k < PLACES; k++)
            r->path[k + 3][i] = T * T * r->b[k][i] * twice[k];
    }
    return nbody_host_contact(r->s->watch, done, &paths, h);
}

/* Complete the step T, up to the first contact. done: time before the step. */
static enum host_end radau_complete(struct radau *r, double done, double T)
{
    double h;
    const int contact = radau_find_contact(r, done, T, &h);
    if (contact < 0)
        return HOST_STOPPED;
    radau_advance(r, T, h);
    if (!contact)
        return HOST_DONE;
    r->s->watch->reached = done + h * T;
    return HOST_CONTACT;
}

/* True if the caller cancels when the fraction `part` of the time is done. Asks it seldom. */
static bool radau_stops(struct radau *r, double part)
{
    if ((r->evaluations - r->reported) * (double)(r->s->n * r->s->n) < VISIT)
        return false;
    r->reported = r->evaluations;
    return nbody_host_stops(r->s->watch, part);
}

static enum host_end radau_vanishes(const struct radau *r)
{
    if (r->s->watch)
        r->s->watch->vanishing = r->shortest;
    return HOST_VANISHES;
}

/* Advance by the time t. */
static enum host_end radau_run(struct radau *r, double t)
{
    double done = 0, lost = 0, longest = 0;
    bool any = false; /* a step has been accepted */
    int jumps = 0;    /* since steps were long */
    struct nbody *const nb = radau_engine(r);
    if (nb)
        r->start = (r->s->watch->events_only ? r->s->watch->time : nbody_engine_time(nb)) *
                   nbody_units_factor(&nb->units, 0, -1);
    radau_begin(r, r->strength);
    double T = radau_first_length(r);
    radau_reset(r);
    while (fabs(done) < fabs(t)) {
        const bool last = T >= fabs(t - done);
        const double step = last ? t - done : copysign(T, t);
        longest = any ? longest : fmax(longest, fabs(step));
        if (T < (nb ? VANISHED_ADDED : VANISHED) * longest || jumps > MOST_JUMPS)
            return radau_vanishes(r);
        radau_solve(r, step);
        T = radau_next_length(r, step);
        if (T >= SHORTER * fabs(step) && radau_end_jumps(r, step))
            T = SHORTER / 2 * fabs(step);
        if (radau_failed(r))
            return HOST_STOPPED;
        if (isnan(T))
            return HOST_NOT_FINITE;
        if (radau_stops(r, done / t))
            return HOST_STOPPED;
        if (T < SHORTER * fabs(step)) {
            radau_reset(r);
            continue;
        }
        longest = any ? fmax(longest, fabs(step)) : fabs(step);
        any = true;
        jumps = r->smooth ? 0 : jumps + r->jumps;
        const enum host_end end = radau_complete(r, done, step);
        if (last || end != HOST_DONE)
            return end;
        radau_add_compensated(&done, &lost, step);
        r->done = done;
        radau_predict(r, T / fabs(step));
        radau_begin(r, NULL);
    }
    return HOST_DONE;
}

enum host_end nbody_ias15_step(const struct nbody_ref_system *s, double dt, double *x, double *v,
                               double *memory, double *evaluations)
{
    struct radau r;
    radau_open(&r, s, x, v, memory);
    memset(r.lost_x, 0, r.m * sizeof *r.lost_x);
    memset(r.lost_v, 0, r.m * sizeof *r.lost_v);
    const enum host_end end = radau_run(&r, dt);
    *evaluations += r.evaluations;
    return end;
}

/* Only nbody_time_forces runs on devices; leapfrog's kernel reduces its sums. */
static int ias15_update(struct nbody *nb, struct nbody_device *p, cl_uint count,
                        const struct update *u)
{
    return nbody_leapfrog_update(nb, p, count, u, 0, 0);
}

/* An independent method: extrapolation in long double. */
static void ias15_reference(const struct nbody_ref_system *s, double dt, size_t steps, double *x,
                            double *v, double *work)
{
    (void)work;
    (void)nbody_ref_exact_in(s, dt * (double)steps, 1e-15, (double(*)[3])x, (double(*)[3])v);
}

const struct integrator nbody_integrate_ias15 = {
    .info =
        {.name = "ias15",
         .about =
             "of 15th order, on the host in double precision, and chooses its steps within a step: for few bodies, "
             "close encounters and orbits to rounding",
         .order = 15},
    .source = &source,
    .kernels = {"leapfrog"},
    .sum = FORCES,
    .added = ADDED_OF_VELOCITY,
    .planes = 6,
    .update = ias15_update,
    .host = nbody_ias15_step,
    .host_planes = IAS15_PLANES,
    .host_adapts = true,
    .reference = ias15_reference,
};
