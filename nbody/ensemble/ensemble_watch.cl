/* ensemble_watch.cl - contacts of bodies and distant bodies in the systems of an ensemble, for the
 * kernels of all integrators. Included before such a kernel in programs with -D WATCH=1.
 *
 *   record[c * systems + i]    component c of system i:
 *     0      status: 0 while it runs, else a nbody_system_status
 *     1      time of the state, once it has ended
 *     2      G times the energy that mergers removed
 *     3      number of events
 *     4 ...  radius of each body; below 0: merged into another body
 *     then   3 for each event: its time, and both bodies; one body twice if it is distant
 *
 * A kernel opens a `struct watch` for its system, and steps while watch_runs. It passes bodies as
 * arrays of 3 * BODIES coordinates in a frame that moves uniformly, with their G m, at the end of
 * each step, to one of:
 *
 *   watch_step        for steps between two known states: paths are cubics through both ends. It
 *                     merges bodies in the state at the end.
 *   watch_first       for integrators with paths of their own: the first contact of a pair.
 *   watch_touch       for the pair that watch_first has found, with the bodies at the contact: they
 *                     merge, or the system ends.
 *   watch_inside      after a step, for the distance from the centre of mass.
 *
 * watch_may_act decides with approximate states whether watch_step needs the exact ones.
 *
 * and watch_overlaps before the first step. It skips each body for which watch_has is false: its
 * coordinates and G m are 0. After its steps it closes the watch.
 *
 * contacts.c explains the search for contacts. The star stays in mergers, else the heavier body, or
 * the first of equal masses.
 * SPDX-License-Identifier: MIT
 */
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#ifndef PLANETS
#define PLANETS 2 /* per system */
#endif
#ifndef CONTACTS
#define CONTACTS 1 /* bodies have radii */
#endif
#ifndef MERGE
#define MERGE 1 /* bodies that touch merge; 0: their system ends */
#endif
#define BODIES (PLANETS + 1)
#define STRAIGHT 1e-14 /* deviation from a chord, relative to the radii */
#define DEEPEST 50     /* bisections of a step */

enum { RUNS, ESCAPE, CONTACT, FAILED }; /* nbody_system_status */
enum { STATUS, ENDED, LOST, EVENTS, RADII, FIRST_EVENT = RADII + BODIES };

struct watch {
    global double *record; /* of the system */
    size_t n;              /* systems */
    double distance;       /* limit of the distance from the centre of mass; 0: none */
    int status, events;
    double ended, lost, radius[BODIES];
};

/* True if the body has not merged into another one. */
static bool watch_has(const struct watch *w, int b)
{
    return !MERGE || w->radius[b] >= 0;
}

static bool watch_runs(const struct watch *w)
{
    return w->status == RUNS;
}

static void watch_open(struct watch *w, global double *record, size_t n, size_t i, double distance)
{
    w->record = record + i;
    w->n = n;
    w->distance = distance;
    w->status = (int)w->record[STATUS * n];
    w->ended = w->record[ENDED * n];
    w->lost = w->record[LOST * n];
    w->events = (int)w->record[EVENTS * n];
    for (int b = 0; b < BODIES; b++)
        w->radius[b] = w->record[(RADII + b) * n];
}

static void watch_close(const struct watch *w)
{
    const size_t n = w->n;
    w->record[STATUS * n] = w->status;
    w->record[ENDED * n] = w->ended;
    w->record[LOST * n] = w->lost;
    w->record[EVENTS * n] = w->events;
    for (int b = 0; b < BODIES; b++)
        w->record[(RADII + b) * n] = w->radius[b];
}

static void watch_end(struct watch *w, int status, double time)
{
    w->status = status;
    w->ended = time;
}

static void watch_note(struct watch *w, double time, int first, int second)
{
    global double *at = w->record + (FIRST_EVENT + 3 * w->events++) * w->n;
    at[0] = time;
    at[w->n] = first;
    at[2 * w->n] = second;
}

static double watch_norm(const double *d)
{
    return sqrt(fma(d[0], d[0], fma(d[1], d[1], d[2] * d[2])));
}

/* ---- Mergers. -------------------------------------------------------------------------------- */

static double watch_energy(const struct watch *w, const double *gm, const double *x,
                           const double *v)
{
    double sum = 0;
    for (int p = 0; p < BODIES; p++) {
        const double speed = watch_norm(v + 3 * p);
        sum += watch_has(w, p) ? gm[p] / 2 * speed * speed : 0;
        for (int q = 0; q < p && watch_has(w, p); q++) {
            const double d[3] = {x[3 * p] - x[3 * q], x[3 * p + 1] - x[3 * q + 1],
                                 x[3 * p + 2] - x[3 * q + 2]};
            sum -= watch_has(w, q) ? gm[p] * gm[q] / watch_norm(d) : 0;
        }
    }
    return sum;
}

/* Move body `stays` by `part` of its vector to body `goes`. Coordinates of `goes` become 0. */
static void watch_join(double *x, double part, int stays, int goes)
{
    for (int c = 0; c < 3; c++) {
        x[3 * stays + c] += part * (x[3 * goes + c] - x[3 * stays + c]);
        x[3 * goes + c] = 0;
    }
}

/* Order a pair, first < second, such that the body that stays in a merger is the first. */
static void watch_order(const double *gm, int *stays, int *goes)
{
    const int first = *stays, second = *goes;
    if (first > 0 && gm[second] > gm[first]) {
        *stays = second;
        *goes = first;
    }
}

/* Part of a pair's vector from body `stays` to the centre of mass; massless bodies meet halfway. */
static double watch_part(const double *gm, int stays, int goes)
{
    const double all = gm[stays] + gm[goes];
    return all > 0 ? gm[goes] / all : 0.5;
}

static void watch_merge(struct watch *w, int stays, int goes, double *gm, double *x, double *v)
{
    const double part = watch_part(gm, stays, goes), R = w->radius[stays], r = w->radius[goes];
    w->lost += watch_energy(w, gm, x, v);
    watch_join(x, part, stays, goes);
    watch_join(v, part, stays, goes);
    gm[stays] += gm[goes];
    gm[goes] = 0;
    w->radius[stays] = cbrt(fma(R * R, R, r * r * r));
    w->radius[goes] = -1;
    w->lost -= watch_energy(w, gm, x, v);
}

/* Bodies first < second touch at a time; x and v: all bodies then, or at the end of the step. */
static void watch_touch(struct watch *w, double time, int first, int second, double *gm, double *x,
                        double *v)
{
    watch_order(gm, &first, &second);
    watch_note(w, time, first, second);
#if MERGE
    watch_merge(w, first, second, gm, x, v);
#else
    watch_end(w, CONTACT, time);
#endif
}

/* Bodies that overlap at the start of the run touch at time 0. */
static void watch_overlaps(struct watch *w, double *gm, double *x, double *v)
{
    for (int q = 1; CONTACTS && q < BODIES; q++)
        for (int p = 0; p < q && watch_runs(w) && watch_has(w, q); p++) {
            const double d[3] = {x[3 * q] - x[3 * p], x[3 * q + 1] - x[3 * p + 1],
                                 x[3 * q + 2] - x[3 * p + 2]},
                         R = w->radius[p] + w->radius[q];
            if (watch_has(w, p) && R > 0 && watch_norm(d) <= R) {
                watch_touch(w, 0, p, q, gm, x, v);
                q = 0; /* the merged body is larger: all pairs again */
                break;
            }
        }
}

/* ---- Contacts. ------------------------------------------------------------------------------- */

static void watch_at(int terms, const double (*c)[3], double h, double *d)
{
    for (int a = 0; a < 3; a++) {
        d[a] = 0;
        for (int k = terms - 1; k >= 0; k--)
            d[a] = fma(d[a], h, c[k][a]);
    }
}

/* Return the distance of a chord to the origin. *s: the first place on the chord, 0 to 1, where the
 * distance is at most R; else 2. */
static double watch_chord(const double *from, const double *to, double R, double *s)
{
    double vv = 0, xv = 0, xx = 0;
    for (int a = 0; a < 3; a++) {
        const double v = to[a] - from[a];
        vv = fma(v, v, vv);
        xv = fma(from[a], v, xv);
        xx = fma(from[a], from[a], xx);
    }
    const double at = vv > 0 ? clamp(-xv / vv, 0., 1.) : 0,
                 least = fmax(0., xx + at * (2 * xv + at * vv));
    *s = 2;
    if (xx <= R * R)
        *s = 0;
    else if (vv > 0 && least <= R * R)
        *s = fmax(0., fmin(at, (-xv - sqrt(fmax(xv * xv - vv * (xx - R * R), 0.))) / vv));
    return sqrt(least);
}

/* Find the first h from 0 to 1 at which the length of the relative path, the sum of c[k] h^k, is at
 * most R; 2 if there is none. Intervals are halved, the earlier half first, and dropped if the
 * distance of their chord exceeds R by more than the path can deviate from the chord. */
static double watch_first(int terms, const double (*c)[3], double R)
{
    double bend = 0;
    for (int k = 2; k < terms; k++)
        bend += k * (k - 1) * watch_norm(c[k]);
    int level = 0;
    for (ulong at = 0; at == 0 || level > 0;) {
        const double width = ldexp(1., -level), a = (double)at * width,
                     off = bend * width * width / 8;
        double from[3], to[3], s;
        watch_at(terms, c, a, from);
        watch_at(terms, c, a + width, to);
        const bool near = watch_chord(from, to, R, &s) <= R + off;
        if (near && off > STRAIGHT * R && level < DEEPEST && s > 0) {
            at *= 2;
            level++;
            continue;
        }
        if (near && s <= 1)
            return fma(s, width, a);
        for (at++; level > 0 && at % 2 == 0; level--)
            at /= 2;
    }
    return 2;
}

/* Relative path of a pair over a step of h: the cubic through positions and velocities at the begin
 * (x0, v0) and end (x, v). */
static void watch_cubic(double h, int p, int q, const double *x0, const double *v0, const double *x,
                        const double *v, double (*c)[3])
{
    for (int a = 0; a < 3; a++) {
        const int i = 3 * p + a, j = 3 * q + a;
        const double begin = x0[j] - x0[i], way = (x[j] - x[i]) - begin, u = h * (v0[j] - v0[i]),
                     u1 = h * (v[j] - v[i]);
        c[0][a] = begin;
        c[1][a] = u;
        c[2][a] = 3 * way - 2 * u - u1;
        c[3][a] = u + u1 - 2 * way;
    }
}

/* First contact of any pair in a step; 2 if there is none. */
static double watch_step_contact(const struct watch *w, double h, const double *x0,
                                 const double *v0, const double *x, const double *v, int *first,
                                 int *second)
{
    double earliest = 2, c[4][3];
    for (int q = 1; q < BODIES; q++)
        for (int p = 0; p < q; p++) {
            const double R = w->radius[p] + w->radius[q];
            if (!(R > 0) || !watch_has(w, p) || !watch_has(w, q))
                continue;
            watch_cubic(h, p, q, x0, v0, x, v, c);
            const double at = watch_first(4, (const double(*)[3])c, R);
            *first = at < earliest ? p : *first;
            *second = at < earliest ? q : *second;
            earliest = fmin(earliest, at);
        }
    return earliest;
}

/* ---- Ends of steps. -------------------------------------------------------------------------- */

static double watch_square(const double *d)
{
    return fma(d[0], d[0], fma(d[1], d[1], d[2] * d[2]));
}

/* Return the square of the largest distance from the centre of mass, and the body there. */
static double watch_farthest(const struct watch *w, const double *gm, const double *x, int *body)
{
    double centre[3] = {0, 0, 0}, all = 0, most = 0;
    *body = 0;
    for (int b = 0; b < BODIES; b++) {
        all += gm[b];
        for (int c = 0; c < 3; c++)
            centre[c] = fma(gm[b], x[3 * b + c], centre[c]);
    }
    for (int c = 0; c < 3; c++)
        centre[c] /= all;
    for (int b = 0; b < BODIES; b++) {
        const double d[3] = {x[3 * b] - centre[0], x[3 * b + 1] - centre[1],
                             x[3 * b + 2] - centre[2]},
                     rr = watch_has(w, b) ? watch_square(d) : 0;
        *body = rr > most ? b : *body;
        most = fmax(most, rr);
    }
    return most;
}

/* End the system if a body is farther from the centre of mass than the limit. */
static void watch_inside(struct watch *w, double time, const double *gm, const double *x)
{
    int body;
    if (w->distance > 0 && watch_farthest(w, gm, x, &body) > w->distance * w->distance) {
        watch_note(w, time, body, body);
        watch_end(w, ESCAPE, time);
    }
}

/* True if a pair may touch in a step of h. A cubic deviates from its chord by at most 4/27 of the
 * velocities at both ends times h. A pair's path therefore stays within the sum of both bodies'
 * `reach` from its end; (a + b + c)^2 <= 3 (a^2 + b^2 + c^2). margin: factor of the reach. */
static bool watch_may_touch(const struct watch *w, double margin, double h, const double *x0,
                            const double *v0, const double *x, const double *v)
{
    const double bulge = 16. / 729 * h * h;
    double reach[BODIES];
    bool near = false;
    for (int b = 0; b < BODIES; b++) {
        const double way[3] = {x[3 * b] - x0[3 * b], x[3 * b + 1] - x0[3 * b + 1],
                               x[3 * b + 2] - x0[3 * b + 2]},
                     speeds = watch_square(v0 + 3 * b) + watch_square(v + 3 * b);
        reach[b] = watch_has(w, b) ? w->radius[b] + sqrt(3 * fma(bulge, speeds, watch_square(way)))
                                   : -INFINITY;
    }
    for (int q = 1; q < BODIES; q++)
        for (int p = 0; p < q; p++) {
            const double d[3] = {x[3 * q] - x[3 * p], x[3 * q + 1] - x[3 * p + 1],
                                 x[3 * q + 2] - x[3 * p + 2]},
                         most = margin * (reach[p] + reach[q]);
            near |= watch_square(d) <= most * fabs(most) && w->radius[p] + w->radius[q] > 0;
        }
    return near;
}

/* Bodies touch in a step: merge them in the state at its end, or end the system. */
static void watch_contacts(struct watch *w, double begin, double end, double *gm, double *x0,
                           double *v0, double *x, double *v)
{
    const double h = end - begin;
    double from = 0;
    int first = 0, second = 0;
    for (;;) {
        const double at = watch_step_contact(w, h, x0, v0, x, v, &first, &second);
        if (at > 1)
            return;
        from = fmax(from, at);
        int stays = first, goes = second;
        watch_order(gm, &stays, &goes);
        const double part = watch_part(gm, stays, goes);
        watch_touch(w, fma(from, h, begin), first, second, gm, x, v);
        if (!watch_runs(w)) {
            w->ended = end; /* the state is that at the end of the step */
            return;
        }
        watch_join(x0, part, stays, goes);
        watch_join(v0, part, stays, goes);
    }
}

/* The bodies x0, v0 at the time `begin` have moved to x, v at `end`, both times since creation of
 * the ensemble. A merged body follows the path of the centre of mass of both. */
static void watch_step(struct watch *w, double begin, double end, double *gm, double *x0,
                       double *v0, double *x, double *v)
{
#if CONTACTS
    if (watch_may_touch(w, 1, end - begin, x0, v0, x, v))
        watch_contacts(w, begin, end, gm, x0, v0, x, v);
    if (!watch_runs(w))
        return;
#endif
    watch_inside(w, end, gm, x);
}

/* False if watch_step would find nothing in a step of h between states that differ from x0, v0 and
 * x, v by less than a percent of the distances and paths. */
static bool watch_may_act(const struct watch *w, double h, const double *gm, const double *x0,
                          const double *v0, const double *x, const double *v)
{
    const double inside = 0.99 * w->distance;
    int body;
    if (CONTACTS && watch_may_touch(w, 1.1, h, x0, v0, x, v))
        return true;
    return w->distance > 0 && watch_farthest(w, gm, x, &body) > inside * inside;
}
