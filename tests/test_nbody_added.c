/* Forces of the caller in C: motion of known form, the order of integrators with forces that depend
 * on time and velocity, bits, failures, and rejected engines.
 * SPDX-License-Identifier: MIT
 */
#include "builds_once.h"
#include "nbody_engine.h"

#include "core/args.h"

#define PI 3.14159265358979323846

static double pos0[4][3], vel0[4][3], pos1[4][3], vel1[4][3], pos2[4][3], vel2[4][3];

/* A star and two planets of little mass. */
static const double planets_mass[] = {1, 1e-3, 2e-4};
static const double planets_pos[][3] = {{0.1, 0, 0}, {1.1, 0, 0}, {-1.9, 0, 0.1}},
                    planets_vel[][3] = {{0, 0, 0}, {0, 1, 0}, {0, -0.75, 0}};

static nbody *added_engine(struct nbody_options o, size_t n, const double *mass, rows pos, rows vel)
{
    o.ctx = stddev;
    o.precision = NBODY_DOUBLE;
    o.place = NBODY_ON_FASTER;
    nbody *nb = nbody_create(&o, n, mass, pos, vel);
    ready(nb);
    return nb;
}

static nbody *planets_engine(enum nbody_integrator integrator, double dt)
{
    return added_engine((struct nbody_options){.integrator = integrator, .dt = dt}, 3, planets_mass,
                        planets_pos, planets_vel);
}

/* ---- Forces. --------------------------------------------------------------------------------- */

/* Drag a = -gamma v. */
static int add_drag(void *gamma, double time, size_t n, rows pos, rows vel, const double *mass,
                    double (*acc)[3])
{
    (void)time, (void)pos, (void)mass;
    for (size_t k = 0; k < 3 * n; k++)
        acc[k / 3][k % 3] -= *(double *)gamma * vel[k / 3][k % 3];
    return 0;
}

/* a = w^2 cos(w t) in x, for all bodies. */
static int add_wave(void *w, double time, size_t n, rows pos, rows vel, const double *mass,
                    double (*acc)[3])
{
    (void)pos, (void)mass;
    assert_null(vel);
    for (size_t i = 0; i < n; i++)
        acc[i][0] += *(double *)w * *(double *)w * cos(*(double *)w * time);
    return 0;
}

/* A magnetic field in z: a = w v x e_z. */
static int add_turn(void *w, double time, size_t n, rows pos, rows vel, const double *mass,
                    double (*acc)[3])
{
    (void)time, (void)pos, (void)mass;
    for (size_t i = 0; i < n; i++) {
        acc[i][0] += *(double *)w * vel[i][1];
        acc[i][1] -= *(double *)w * vel[i][0];
    }
    return 0;
}

/* Relativity as a potential -3 (G M)^2 / (c r)^2 of body 0 (Nobili & Roxburgh 1986). */
static int add_relativity(void *c, double time, size_t n, rows pos, rows vel, const double *mass,
                          double (*acc)[3])
{
    const double gauss = 0.01720209895, gm = gauss * gauss * mass[0];
    (void)time, (void)vel;
    for (size_t i = 1; i < n; i++) {
        double r2 = 0;
        for (int k = 0; k < 3; k++)
            r2 += pow(pos[i][k] - pos[0][k], 2);
        const double f = -6 * gm * gm / (*(double *)c * *(double *)c * r2 * r2);
        for (int k = 0; k < 3; k++) {
            acc[i][k] += f * (pos[i][k] - pos[0][k]);
            acc[0][k] -= f * (pos[i][k] - pos[0][k]) * mass[i] / mass[0];
        }
    }
    return 0;
}

/* ---- Motion of known form. ------------------------------------------------------------------- */

/* Error of a body after the time 2, alone or with planets that move as one, in the wave or the
 * magnetic field. */
static double wave_error(enum nbody_integrator integrator, size_t steps)
{
    double w = 3;
    nbody *nb =
        added_engine((struct nbody_options){.integrator = integrator, .dt = 2. / (double)steps}, 1,
                     (const double[]){1}, (rows)pos0, (rows)vel0);
    works(nbody_set_force_callback(nb, add_wave, &w, NBODY_FORCE_OF_POSITION));
    works(nbody_step(nb, steps));
    works(nbody_state(nb, pos1, vel1));
    nbody_free(nb);
    return fabs(pos1[0][0] - (1 - cos(w * 2)));
}

/* A thrust in x from time 0.37 on. */
static int add_thrust(void *start, double time, size_t n, rows pos, rows vel, const double *mass,
                      double (*acc)[3])
{
    (void)pos, (void)vel, (void)mass;
    for (size_t i = 0; i < n && time > *(double *)start; i++)
        acc[i][0] += 2;
    return 0;
}

/* ias15 finds the time at which a force jumps: x = v t + (t - t0)^2. */
static void added_force_may_jump(void **state)
{
    double start = 0.37;
    (void)state;
    vel0[0][0] = 0.5;
    nbody *nb = added_engine((struct nbody_options){.integrator = NBODY_IAS15, .dt = 1}, 1,
                             (const double[]){1}, (rows)pos0, (rows)vel0);
    vel0[0][0] = 0;
    works(nbody_set_force_callback(nb, add_thrust, &start, NBODY_FORCE_OF_POSITION));
    works(nbody_step(nb, 1));
    works(nbody_state(nb, pos1, vel1));
    nbody_free(nb);
    assert_true(fabs(pos1[0][0] - (0.5 + 0.63 * 0.63)) < 1e-14);
    assert_true(fabs(vel1[0][0] - (0.5 + 2 * 0.63)) < 1e-14);
}

/* A spring with an error of 1 per cent that follows from the last bits of the position. */
static int add_rough(void *strength, double time, size_t n, rows pos, rows vel, const double *mass,
                     double (*acc)[3])
{
    (void)vel, (void)mass, (void)time;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &pos[i][0], sizeof bits);
        const double error = (double)(bits * 0x9e3779b97f4a7c15 >> 60) / 16 - 0.5;
        acc[i][0] -= *(double *)strength * pos[i][0] * (1 + 0.02 * error);
    }
    return 0;
}

/* A force that is nowhere smooth stops the run: its steps do not shrink for ever. */
static void added_rough_force_is_reported(void **state)
{
    double strength = 100;
    (void)state;
    pos0[0][0] = vel0[0][0] = 0.5;
    nbody *nb = added_engine((struct nbody_options){.integrator = NBODY_IAS15, .dt = 1}, 1,
                             (const double[]){1}, (rows)pos0, (rows)vel0);
    pos0[0][0] = vel0[0][0] = 0;
    works(nbody_set_force_callback(nb, add_rough, &strength, NBODY_FORCE_OF_POSITION));
    fails(EDOM, nbody_step(nb, 1));
    nbody_free(nb);
}

static double turn_error(enum nbody_integrator integrator, size_t steps)
{
    double w = 3;
    nbody *nb =
        added_engine((struct nbody_options){.integrator = integrator, .dt = 2. / (double)steps}, 1,
                     (const double[]){1}, (rows)pos0, (const double[][3]){{1, 0, 0}});
    works(nbody_set_force_callback(nb, add_turn, &w, NBODY_FORCE_OF_VELOCITY));
    works(nbody_step(nb, steps));
    works(nbody_state(nb, pos1, vel1));
    nbody_free(nb);
    return hypot(pos1[0][0] - sin(w * 2) / w, pos1[0][1] - (cos(w * 2) - 1) / w);
}

static void added_forces_keep_order(void **state)
{
    (void)state;
    const double leapfrog = wave_error(NBODY_LEAPFROG, 50) / wave_error(NBODY_LEAPFROG, 100),
                 yoshida = wave_error(NBODY_YOSHIDA4, 50) / wave_error(NBODY_YOSHIDA4, 100),
                 taylor = wave_error(NBODY_TAYLOR, 400) / wave_error(NBODY_TAYLOR, 800),
                 turn = turn_error(NBODY_LEAPFROG, 50) / turn_error(NBODY_LEAPFROG, 100);
    print_message("leapfrog %g, yoshida4 %g, taylor %g, in a magnetic field %g\n", leapfrog,
                  yoshida, taylor, turn);
    assert_true(fabs(leapfrog - 4) < 0.2 && fabs(yoshida - 16) < 1 && fabs(taylor - 2) < 0.2);
    assert_true(fabs(turn - 4) < 0.4);
    assert_true(wave_error(NBODY_IAS15, 1) < 1e-13 && wave_error(NBODY_IAS15, 7) < 1e-13);
    assert_true(turn_error(NBODY_IAS15, 1) < 1e-13 && turn_error(NBODY_IAS15, 7) < 1e-13);
}

/* Largest difference from ias15 after the time 2 with drag, and with the wave. */
static double whfast_error(int drag, size_t steps)
{
    double size = drag ? 0.1 : 0.5;
    for (int k = 0; k < 2; k++) {
        nbody *nb = k ? planets_engine(NBODY_WHFAST, 2. / (double)steps)
                      : planets_engine(NBODY_IAS15, 2. / 2);
        works(nbody_set_force_callback(nb, drag ? add_drag : add_wave, &size,
                                       drag ? NBODY_FORCE_OF_VELOCITY : NBODY_FORCE_OF_POSITION));
        works(nbody_step(nb, k ? steps : 2));
        works(nbody_state(nb, k ? pos2 : pos1, vel1));
        nbody_free(nb);
    }
    return largest_difference(3, pos1, pos2);
}

static void added_forces_keep_order_of_whfast(void **state)
{
    (void)state;
    const double drag = whfast_error(1, 40) / whfast_error(1, 80),
                 wave = whfast_error(0, 40) / whfast_error(0, 80);
    print_message("whfast: drag %g (%.1e), wave %g (%.1e)\n", drag, whfast_error(1, 80), wave,
                  whfast_error(0, 80));
    assert_true(fabs(drag - 4) < 1 && fabs(wave - 4) < 1);
}

/* Pericentre of Mercury's osculating orbit, in arc seconds. */
static double mercury_pericentre(nbody *nb, double gm)
{
    works(nbody_state(nb, pos1, vel1));
    for (int i = 0; i < 3; i++) {
        pos1[1][i] -= pos1[0][i];
        vel1[1][i] -= vel1[0][i];
    }
    return remainder(nbody_find_elements(gm, pos1[1], vel1[1]).pericentre, 2 * PI) * 180 / PI *
           3600;
}

/* Slope of the pericentre over a century, by least squares, since it also oscillates with each
 * orbit. */
static double mercury_precession(enum nbody_integrator integrator, double dt)
{
    const double gauss = 0.01720209895, mass[] = {1, 1.66e-7}, gm = gauss * gauss * (1 + 1.66e-7);
    double c = 173.1446326846693, first[2][3] = {{0}}, second[2][3] = {{0}}, sum = 0, square = 0;
    const struct nbody_elements start = {.semi_major = 0.38709893, .eccentricity = 0.20563069};
    works(nbody_orbit_state(gm, &start, first[1], second[1]));
    nbody *nb =
        added_engine((struct nbody_options){.integrator = integrator, .G = gauss * gauss, .dt = dt},
                     2, mass, (rows)first, (rows)second);
    works(nbody_set_force_callback(nb, add_relativity, &c, NBODY_FORCE_OF_POSITION));
    for (int k = 0; k < 501; k++) {
        const double t = (k - 250) / 500.;
        sum += t * mercury_pericentre(nb, gm);
        square += t * t;
        works(nbody_step(nb, (size_t)(73.05 / dt)));
    }
    nbody_free(nb);
    return sum / square;
}

/* 42.98 arc seconds per century beyond Newton's. */
static void added_relativity_turns_mercury(void **state)
{
    (void)state;
    const double ias15 = mercury_precession(NBODY_IAS15, 73.05),
                 whfast = mercury_precession(NBODY_WHFAST, 73.05 / 32);
    print_message("ias15 %.3f, whfast %.3f arc seconds per century\n", ias15, whfast);
    assert_true(fabs(ias15 - 42.98) < 0.03 && fabs(whfast - 42.98) < 0.03);
}

/* ---- Engines. -------------------------------------------------------------------------------- */

/* Neither the ends of calls nor queries change a bit. */
static void added_call_boundaries_change_no_bit(void **state)
{
    (void)state;
    double gamma = 0.05, acc[3][3], potential[3];
    static const enum nbody_integrator each[] = {NBODY_LEAPFROG, NBODY_WHFAST, NBODY_IAS15};
    for (size_t k = 0; k < COUNT_OF(each); k++) {
        nbody *one = planets_engine(each[k], 0.1), *other = planets_engine(each[k], 0.1);
        works(nbody_set_force_callback(one, add_drag, &gamma, NBODY_FORCE_OF_VELOCITY));
        works(nbody_set_force_callback(other, add_drag, &gamma, NBODY_FORCE_OF_VELOCITY));
        works(nbody_step(one, 12));
        void *saved = malloc(nbody_save_bytes(other));
        works(nbody_step(other, 5));
        works(nbody_forces(other, acc, potential));
        works(nbody_state(other, pos2, vel2));
        works(nbody_save(other, saved));
        works(nbody_step(other, 3));
        works(nbody_load(other, saved, nbody_save_bytes(other)));
        (void)total_energy(other);
        works(nbody_step(other, 7));
        works(nbody_state(one, pos1, vel1));
        works(nbody_state(other, pos2, vel2));
        assert_memory_equal(pos1, pos2, 3 * sizeof *pos1);
        assert_memory_equal(vel1, vel2, 3 * sizeof *vel1);
        free(saved);
        nbody_free(one);
        nbody_free(other);
    }
}

/* nbody_forces contains the force, in every state of the engine, and until it is removed. */
static void added_forces_are_reported(void **state)
{
    (void)state;
    double gamma = 0.5, with[3][3], without[3][3];
    nbody *nb = planets_engine(NBODY_LEAPFROG, 0.01);
    for (int k = 0; k < 3; k++) {
        works(nbody_set_force_callback(nb, add_drag, &gamma, NBODY_FORCE_OF_VELOCITY));
        works(nbody_step(nb, (size_t)k));
        works(nbody_forces(nb, with, NULL));
        works(nbody_forces(nb, with, NULL));
        works(nbody_state(nb, NULL, vel1));
        works(nbody_set_force_callback(nb, NULL, NULL, 0));
        works(nbody_forces(nb, without, NULL));
        for (int i = 0; i < 9; i++)
            assert_true(fabs(with[i / 3][i % 3] - without[i / 3][i % 3] +
                             gamma * vel1[i / 3][i % 3]) < 1e-14);
    }
    works(nbody_set_force_callback(nb, NULL, NULL, 0));
    nbody_free(nb);
}

/* Fails in its call number *calls, or returns NaN for a body if the number is negative. */
static int add_failure(void *calls, double time, size_t n, rows pos, rows vel, const double *mass,
                       double (*acc)[3])
{
    int *const left = calls;
    (void)time, (void)pos, (void)vel, (void)mass;
    if (*left < 0 && ++*left == 0)
        acc[n - 1][1] = NAN;
    return *left > 0 && --*left == 0;
}

static void added_failure_keeps_state_before_step(void **state)
{
    (void)state;
    static const enum nbody_integrator each[] = {NBODY_LEAPFROG, NBODY_WHFAST, NBODY_IAS15};
    for (size_t k = 0; k < COUNT_OF(each); k++)
        for (int bad = 0; bad < 2; bad++) {
            int never = 0, calls = bad ? -150 : 150;
            nbody *nb = planets_engine(each[k], 0.1), *other = planets_engine(each[k], 0.1);
            works(nbody_set_force_callback(nb, add_failure, &calls, NBODY_FORCE_OF_POSITION));
            works(nbody_set_force_callback(other, add_failure, &never, NBODY_FORCE_OF_POSITION));
            assert_int_equal(nbody_step(nb, 1000), -1);
            assert_int_equal(clerrno, bad ? EDOM : ECANCELED);
            assert_non_null(strstr(clerror(), bad ? "body 2 an acceleration of nan in y"
                                                  : "the force of the caller failed at time "));
            assert_true(nbody_steps(nb) > 0 && nbody_steps(nb) < 1000);
            works(nbody_step(other, nbody_steps(nb)));
            works(nbody_state(nb, pos1, vel1));
            works(nbody_state(other, pos2, vel2));
            assert_memory_equal(pos1, pos2, 3 * sizeof *pos1);
            works(nbody_step(nb, 1));
            nbody_free(nb);
            nbody_free(other);
        }
}

static void added_rejects(struct nbody_options o, enum nbody_force_kind kind, int code,
                          const char *message)
{
    o.ctx = stddev;
    o.dt = 0.1;
    nbody *nb = nbody_create(&o, 3, planets_mass, planets_pos, planets_vel);
    ready(nb);
    assert_int_equal(nbody_set_force_callback(nb, add_drag, NULL, kind), -1);
    assert_int_equal(clerrno, code);
    assert_non_null(strstr(clerror(), message));
    nbody_free(nb);
}

static void added_rejects_bad_engines(void **state)
{
    (void)state;
    const enum nbody_precision d = NBODY_DOUBLE;
    added_rejects((struct nbody_options){.precision = d}, 0, ENOTSUP, "steps run on devices");
    added_rejects((struct nbody_options){.precision = d, .integrator = NBODY_IAS15}, 2, EINVAL,
                  "no kind 2");
    added_rejects((struct nbody_options){.precision = d,
                                         .place = NBODY_ON_HOST,
                                         .integrator = NBODY_HERMITE4},
                  0, ENOTSUP, "hermite4 needs derivatives");
    added_rejects((struct nbody_options){.precision = d,
                                         .place = NBODY_ON_HOST,
                                         .integrator = NBODY_YOSHIDA4},
                  1, ENOTSUP, "yoshida4 loses its order");
    added_rejects(
        (struct nbody_options){.precision = d, .place = NBODY_ON_HOST, .stepping = NBODY_ADAPTIVE},
        0, ENOTSUP, "adaptive steps");
    added_rejects((struct nbody_options){.precision = d,
                                         .integrator = NBODY_WHFAST,
                                         .whfast = {.coordinates = NBODY_HELIOCENTRIC}},
                  0, ENOTSUP, "only with NBODY_JACOBI");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(added_forces_keep_order),
                                       cmocka_unit_test(added_force_may_jump),
                                       cmocka_unit_test(added_rough_force_is_reported),
                                       cmocka_unit_test(added_forces_keep_order_of_whfast),
                                       cmocka_unit_test(added_relativity_turns_mercury),
                                       cmocka_unit_test(added_call_boundaries_change_no_bit),
                                       cmocka_unit_test(added_forces_are_reported),
                                       cmocka_unit_test(added_failure_keeps_state_before_step),
                                       cmocka_unit_test(added_rejects_bad_engines)};
    if (!context_has_doubles())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
