/* Events within steps, at the times of closed forms: Kepler's equation, straight lines.
 * SPDX-License-Identifier: MIT
 */
#include "builds_once.h"
#include "nbody_engine.h"

#include "core/args.h"

#define PI 3.14159265358979323846

enum { MOST = 8 };
static double mass[MOST], pos[MOST][3], vel[MOST][3], pos1[MOST][3], vel1[MOST][3], pos2[MOST][3],
    vel2[MOST][3];

static nbody *events_engine(struct nbody_options o, size_t n)
{
    o.ctx = stddev;
    o.shares = equal_shares;
    o.precision = NBODY_DOUBLE;
    nbody *nb = nbody_create(&o, n, mass, (rows)pos, (rows)vel);
    ready(nb);
    return nb;
}

static void events_put(size_t i, double m, const double x[3], const double v[3])
{
    mass[i] = m;
    memcpy(pos[i], x, sizeof pos[i]);
    memcpy(vel[i], v, sizeof vel[i]);
}

/* A star and a planet of no mass at the time `since` after its pericentre, which lies in the
 * direction x; G = 1, semi-major axis 1, period 2 pi. */
static void events_put_planet(double e, double since)
{
    double x[3], v[3];
    works(nbody_orbit_state(
        1, &(struct nbody_elements){.semi_major = 1, .eccentricity = e, .mean_anomaly = since}, x,
        v));
    events_put(0, 1, (double[3]){0}, (double[3]){0});
    events_put(1, 0, x, v);
}

/* Kinds of steps, with the largest error of a time, relative to the period. */
static const struct events_by {
    struct nbody_options o;
    double error;
} by[] = {
    {{.integrator = NBODY_IAS15, .dt = 20}, 1e-12},
    {{.integrator = NBODY_IAS15, .dt = 0.1}, 1e-12},
    {{.integrator = NBODY_WHFAST, .dt = 0.3}, 1e-12},
    {{.integrator = NBODY_TRACE, .dt = 0.3}, 1e-12},
    {{.integrator = NBODY_LEAPFROG, .dt = 1. / 256, .place = NBODY_ON_HOST}, 3e-3},
    {{.integrator = NBODY_HERMITE6, .dt = 1. / 128, .place = NBODY_ON_HOST}, 1e-8},
    {{.integrator = NBODY_YOSHIDA4, .dt = 1. / 16}, 1e-3},
    {{.integrator = NBODY_HERMITE4, .stepping = NBODY_ADAPTIVE, .dt = 0.5, .eta = 1e-4}, 1e-6}};

/* Apsides of three orbits: pericentre, apocentre and so on at half periods, by all kinds of steps,
 * forward and backward. The bits of the run do not change. */
static void events_apsides_follow_kepler(void **state)
{
    static const struct nbody_event_rule rules[] = {{.kind = NBODY_PERICENTRE, .body = 1},
                                                    {.kind = NBODY_APOCENTRE}};
    const double since = 1, e = 0.3;
    (void)state;
    for (size_t k = 0; k < 2 * COUNT_OF(by); k++) {
        struct nbody_options o = by[k / 2].o;
        const double forward = k % 2 ? -1 : 1;
        size_t seen = 0, n;
        events_put_planet(e, since);
        o.dt *= forward;
        nbody *nb = events_engine(o, 2), *other = events_engine(o, 2);
        works(nbody_watch_events(nb, 2, rules));
        while (seen < 6) {
            works(nbody_step(nb, 7));
            works(nbody_step(other, 7));
            const struct nbody_event_record *r = nbody_events(nb, &n);
            for (size_t l = 0; l < n; l++, seen++) {
                const double turn = (double)(forward > 0 ? seen + 1 : seen) * PI,
                             right = forward > 0 ? turn - since : -turn - since;
                const bool pericentre = (seen % 2 == 1) == (forward > 0);
                assert_true(r[l].rule == (pericentre ? 0 : 1) && r[l].body == 1 && r[l].other == 0);
                if (fabs(r[l].time - right) > by[k / 2].error * 2 * PI * (double)(seen + 1))
                    fail_msg("case %zu, event %zu: %.17g, not %.17g", k, seen, r[l].time, right);
                const double d = sqrt(pow(r[l].pos[0], 2) + pow(r[l].pos[1], 2));
                assert_true(fabs(d - (pericentre ? 1 - e : 1 + e)) < 1e-9 + by[k / 2].error);
            }
        }
        works(nbody_state(nb, pos1, vel1));
        works(nbody_state(other, pos2, vel2));
        assert_memory_equal(pos1, pos2, 2 * sizeof *pos1);
        assert_memory_equal(vel1, vel2, 2 * sizeof *vel1);
        nbody_free(nb);
        nbody_free(other);
    }
}

/* Transits seen from the axis x are at y = 0 with x > 0, which is the pericentre; seen from z, at
 * x = 0, since the orbit is tilted. A limit may exclude it. */
static void events_transits_follow_kepler(void **state)
{
    static const struct nbody_event_rule rules[] = {
        {.kind = NBODY_TRANSIT, .body = 1, .axis = 0},
        {.kind = NBODY_TRANSIT, .body = 1, .axis = 2},
        {.kind = NBODY_TRANSIT, .body = 1, .axis = 2, .limit = 0.5}};
    const double e = 0.2, tilt = 1.5, E = acos(e), right = E - e * sin(E);
    size_t n, seen[3] = {0};
    (void)state;
    double x[3], v[3];
    works(nbody_orbit_state(
        1,
        &(struct nbody_elements){
            .semi_major = 1, .eccentricity = e, .inclination = tilt, .mean_anomaly = 2 * PI - 1},
        x, v));
    events_put(0, 1, (double[3]){0}, (double[3]){0});
    events_put(1, 0, x, v);
    nbody *nb = events_engine((struct nbody_options){.integrator = NBODY_IAS15, .dt = 3}, 2);
    works(nbody_watch_events(nb, 3, rules));
    for (int k = 0; k < 10; k++) {
        works(nbody_step(nb, 1));
        const struct nbody_event_record *r = nbody_events(nb, &n);
        for (size_t l = 0; l < n; l++) {
            const double turn = 2 * PI * (double)seen[r[l].rule]++;
            assert_true(fabs(r[l].time - (1 + turn + (r[l].rule == 0 ? 0 : right))) < 1e-11);
        }
    }
    /* at x = 0 the body is at (1 - e^2) (cos tilt, sin tilt) in the plane of y and z */
    assert_true(seen[0] == 5 && seen[1] == 5 && seen[2] == ((1 - e * e) * cos(tilt) < 0.5 ? 5 : 0));
    nbody_free(nb);
}

/* Bodies on straight lines: the closest approaches of all pairs below the limit and escapes, in the
 * order of time; `stop` ends the call at the event, and the run goes on from there. */
static void events_of_lines_are_exact(void **state)
{
    static const struct nbody_event_rule rules[] = {
        {.kind = NBODY_ENCOUNTER, .limit = 0.5, .stop = 1},
        {.kind = NBODY_ESCAPE, .limit = 4},
        {.kind = NBODY_ESCAPE, .body = 2, .other = 1, .limit = 2}};
    static const struct nbody_event_record right[] = {{.rule = 0, .body = 1, .other = 0},
                                                      {.rule = 2, .body = 2, .other = 1},
                                                      {.rule = 1, .body = 1, .other = 1}};
    (void)state;
    events_put(0, 0, (double[3]){0, 0.25, 0}, (double[3]){0});
    events_put(1, 0, (double[3]){-2, 0, 0}, (double[3]){2, 0, 0});
    events_put(2, 0, (double[3]){-1, 0, 0.6}, (double[3]){0}); /* farther than the limit */
    for (int k = 0; k < 2; k++) {
        const struct nbody_options o = {.integrator = k ? NBODY_LEAPFROG : NBODY_IAS15, .dt = 0.7};
        const double time[] = {1, (1 + sqrt(4 - 0.36)) / 2, 3};
        size_t seen = 0, n;
        nbody *nb = events_engine(o, 3);
        works(nbody_watch_events(nb, 3, rules));
        while (nbody_time(nb) < 5) {
            works(nbody_step(nb, 10));
            const struct nbody_event_record *r = nbody_events(nb, &n);
            for (size_t l = 0; l < n; l++, seen++) {
                assert_true(seen < 3 && r[l].rule == right[seen].rule &&
                            r[l].body == right[seen].body && r[l].other == right[seen].other &&
                            fabs(r[l].time - time[seen]) < 1e-12);
            }
            if (seen == 1 && n == 1)
                assert_true(k ? nbody_steps(nb) == 2 : fabs(nbody_time(nb) - 1) < 1e-12);
        }
        assert_int_equal(seen, 3);
        works(nbody_watch_events(nb, 0, NULL));
        works(nbody_step(nb, 1));
        assert_null(nbody_events(nb, &n));
        assert_int_equal(n, 0);
        nbody_free(nb);
    }
}

/* Planets that meet: trace finds the encounters of ias15, although one lasts less than a step. */
static void events_encounters_match_ias15(void **state)
{
    static const struct nbody_event_rule rule = {.kind = NBODY_ENCOUNTER, .limit = 0.1};
    struct nbody_event_record found[2][8];
    size_t count[2] = {0};
    (void)state;
    events_put(0, 1, (double[3]){0}, (double[3]){0});
    events_put(1, 1e-3, (double[3]){1, 0, 0}, (double[3]){0, 1, 0});
    events_put(2, 1e-3, (double[3]){-1.02, 0.1, 0}, (double[3]){0.05, -0.99, 0});
    events_put(3, 1e-4, (double[3]){0, 1.3, 0}, (double[3]){-0.87, 0, 0.01});
    for (size_t k = 0; k < 2; k++) {
        nbody *nb = events_engine(
            (struct nbody_options){.integrator = k ? NBODY_TRACE : NBODY_IAS15, .dt = 0.1}, 4);
        works(nbody_watch_events(nb, 1, &rule));
        for (int step = 0; step < 250; step++) {
            size_t n;
            works(nbody_step(nb, 1));
            const struct nbody_event_record *r = nbody_events(nb, &n);
            for (size_t l = 0; l < n && count[k] < 8; l++)
                found[k][count[k]++] = r[l];
        }
        nbody_free(nb);
    }
    assert_true(count[0] > 0 && count[0] == count[1]);
    for (size_t l = 0; l < count[0]; l++)
        assert_true(found[0][l].body == found[1][l].body &&
                    found[0][l].other == found[1][l].other &&
                    fabs(found[0][l].time - found[1][l].time) < 1e-3);
}

static void events_rejects(nbody *nb, struct nbody_event_rule rule, const char *words)
{
    assert_int_equal(nbody_watch_events(nb, 1, &rule), -1);
    assert_int_equal(clerrno, EINVAL);
    if (!strstr(clerror(), words))
        fail_msg("'%s' does not contain '%s'", clerror(), words);
}

static void events_bad_rules_are_named(void **state)
{
    (void)state;
    events_put_planet(0.5, 0);
    nbody *nb = events_engine((struct nbody_options){.dt = 1}, 2);
    events_rejects(nb, (struct nbody_event_rule){.kind = (enum nbody_event_kind)9}, "no kind 9");
    events_rejects(nb, (struct nbody_event_rule){.kind = NBODY_PERICENTRE, .body = 2},
                   "no body 2 of 2");
    events_rejects(nb, (struct nbody_event_rule){.kind = NBODY_ENCOUNTER}, "not a distance");
    events_rejects(nb, (struct nbody_event_rule){.kind = NBODY_ESCAPE, .limit = NAN},
                   "not a distance");
    events_rejects(nb, (struct nbody_event_rule){.kind = NBODY_TRANSIT, .body = 1, .axis = 3},
                   "no axis 3");
    nbody_free(nb);
    nb = events_engine(
        (struct nbody_options){
            .integrator = NBODY_HERMITE4, .stepping = NBODY_BLOCK, .eps = 0.1, .dt = 1},
        2);
    fails(ENOTSUP, nbody_watch_events(nb, 1, &(struct nbody_event_rule){.limit = 1}));
    nbody_free(nb);
    size_t n = 1;
    assert_null(nbody_events(NULL, &n));
    assert_int_equal(n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(events_apsides_follow_kepler),
                                       cmocka_unit_test(events_transits_follow_kepler),
                                       cmocka_unit_test(events_of_lines_are_exact),
                                       cmocka_unit_test(events_encounters_match_ias15),
                                       cmocka_unit_test(events_bad_rules_are_named)};
    if (!context_has_doubles())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
