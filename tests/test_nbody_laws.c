/* Built-in forces and functions from files: orbits, precession and decay of known form, conserved
 * energies, the host against devices, and rejected texts.
 * SPDX-License-Identifier: MIT
 */
#include "builds_once.h"
#include "nbody_engine.h"

#include "core/args.h"

#include <unistd.h>

#define PI 3.14159265358979323846

enum { MOST = 64 };
static double mass[MOST], pos[MOST][3], vel[MOST][3], pos1[MOST][3], vel1[MOST][3], pos2[MOST][3],
    vel2[MOST][3];

static nbody *law_engine(struct nbody_options o, size_t n)
{
    o.ctx = stddev;
    o.precision = NBODY_DOUBLE;
    nbody *nb = nbody_create(&o, n, mass, (rows)pos, (rows)vel);
    ready(nb);
    return nb;
}

/* One body without mass at x = r, with this speed in y. */
static void law_one(double r, double speed)
{
    memset(pos, 0, sizeof pos);
    memset(vel, 0, sizeof vel);
    mass[0] = 0;
    pos[0][0] = r;
    vel[0][1] = speed;
}

/* A star of mass 1 at rest and a body of mass m on an orbit. */
static void law_pair(double m, double a, double e, double inclination)
{
    const struct nbody_elements orbit = {
        .semi_major = a, .eccentricity = e, .inclination = inclination};
    memset(pos, 0, sizeof pos);
    memset(vel, 0, sizeof vel);
    mass[0] = 1;
    mass[1] = m;
    works(nbody_orbit_state(1 + m, &orbit, pos[1], vel[1]));
    for (int c = 0; c < 3; c++)
        vel[0][c] = -m * vel[1][c] / (1 + m), vel[1][c] += vel[0][c];
}

static struct nbody_elements law_orbit_now(nbody *nb, double gm)
{
    works(nbody_state(nb, pos1, vel1));
    for (int c = 0; c < 3; c++)
        pos1[1][c] -= pos1[0][c], vel1[1][c] -= vel1[0][c];
    return nbody_find_elements(gm, pos1[1], vel1[1]);
}

/* ---- Potentials. ----------------------------------------------------------------------------- */

/* Circles: with the speed (r dPhi/dr)^1/2 a body is back after 2 pi r / v. */
static void laws_of_galaxies_have_circular_orbits(void **state)
{
    (void)state;
    const double r = 1.5;
    const struct {
        const char *force;
        double v2;
    } each[] = {
        {"nfw:M=2,a=0.7", 2 / r * (log(1 + r / 0.7) - r / (r + 0.7))},
        {"miyamoto-nagai:M=2,a=0.7,b=0.3", 2 * r * r / pow(r * r + 1, 1.5)},
        {"logarithmic:v=1.1,r=0.5,q=0.8", 1.21 * r * r / (r * r + 0.25)},
        {"point:M=2", 2 / r},
        {"nfw:M=2,a=0.7\npoint:M=2", 2 / r * (1 + log(1 + r / 0.7) - r / (r + 0.7))},
    };
    for (size_t k = 0; k < COUNT_OF(each); k++) {
        const double v = sqrt(each[k].v2);
        law_one(r, v);
        nbody *nb = law_engine((struct nbody_options){.integrator = NBODY_IAS15,
                                                      .dt = 2 * PI * r / v / 3,
                                                      .forces = each[k].force},
                               1);
        works(nbody_step(nb, 3));
        works(nbody_state(nb, pos1, vel1));
        nbody_free(nb);
        if (!(largest_difference(1, pos, pos1) < 1e-12))
            fail_msg("%s: %g", each[k].force, largest_difference(1, pos, pos1));
    }
}

static double nfw_potential(double r)
{
    return -2 * log1p(r / 0.7) / r;
}

/* Time of a radial fall from rest at r0 to r, from the conservation of energy: Simpson's rule in s
 * with r' = r0 (1 - s^2), where the speed is proportional to s at the begin. */
static double nfw_fall_time(double r0, double r)
{
    const int n = 20000;
    const double end = sqrt(1 - r / r0),
                 slope = 2 * (log1p(r0 / 0.7) - r0 / (r0 + 0.7)) / (r0 * r0);
    double sum = 0;
    for (int k = 0; k <= n; k++) {
        const double s = end * k / n, rr = fmax(r0 * (1 - s * s), 1e-300),
                     v = sqrt(2 * (nfw_potential(r0) - nfw_potential(rr))),
                     f = k ? 2 * r0 * s / v : sqrt(2 * r0 / slope);
        sum += (k == 0 || k == n ? 1 : k % 2 ? 4 : 2) * f;
    }
    return sum * end / n / 3;
}

/* The force of an NFW halo jumps in its centre, which a body without angular momentum crosses. */
static void law_of_nfw_has_passable_centre(void **state)
{
    (void)state;
    static const double axis[][3] = {{1, 0, 0}, {1. / 3, 2. / 3, 2. / 3}, {0.6, 0, -0.8}};
    const double r0 = 1.5, quarter = nfw_fall_time(r0, 0),
                 until = 6 * quarter + nfw_fall_time(r0, 0.4); /* after three crossings */
    for (size_t k = 0; k < 3; k++)
        for (int steps = 1; steps < 30; steps += 9) {
            law_one(0, 0);
            for (int c = 0; c < 3; c++)
                pos[0][c] = r0 * axis[k][c];
            nbody *nb = law_engine((struct nbody_options){.integrator = NBODY_IAS15,
                                                          .dt = until / steps,
                                                          .forces = "nfw:M=2,a=0.7"},
                                   1);
            works(nbody_step(nb, (size_t)steps));
            works(nbody_state(nb, pos1, vel1));
            nbody_free(nb);
            for (int c = 0; c < 3; c++)
                if (!(fabs(pos1[0][c] + 0.4 * axis[k][c]) < 1e-11))
                    fail_msg("axis %zu, %d steps: coordinate %d is off by %g", k, steps, c,
                             pos1[0][c] + 0.4 * axis[k][c]);
        }
}

/* A fall into a point: the message names the body, and no pair. */
static void law_of_point_stops_fall(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        char sentence[64];
        law_one(1, 0);
        mass[1] = 0;
        pos[1][0] = 9;
        nbody *nb = law_engine(
            (struct nbody_options){
                .integrator = NBODY_IAS15, .dt = 2, .first_number = first, .forces = "point:M=2"},
            2);
        assert_int_equal(nbody_step(nb, 1), -1);
        assert_int_equal(clerrno, EDOM);
        snprintf(sentence, sizeof sentence, "of body %d (from %d on) vanishes at ", first, first);
        const char *const said = clerror();
        if (!strstr(said, sentence) || !strstr(said, "infinite or jumps there"))
            fail_msg("'%s' lacks '%s'", said, sentence);
        nbody_free(nb);
    }
}

/* The potentials belong to the forces: energies of inclined eccentric orbits stay. */
static void laws_conserve_energy(void **state)
{
    (void)state;
    static const char *const each[] = {"nfw:M=2,a=0.7",
                                       "miyamoto-nagai:M=2,a=0.7,b=0.3",
                                       "logarithmic:v=1.1,r=0.5,q=0.8",
                                       "point:M=2,eps=0.1",
                                       "relativity:c=20",
                                       "oblate:J2=0.01,J4=-0.002,R=0.3,nx=1"};
    for (size_t k = 0; k < COUNT_OF(each); k++) {
        law_pair(1e-3, 1, 0.3, 0.4);
        for (int i = 0; i < 2; i++)
            pos[i][0] += 1;
        nbody *nb = law_engine(
            (struct nbody_options){.integrator = NBODY_IAS15, .dt = 1, .forces = each[k]}, 2);
        const double before = total_energy(nb);
        works(nbody_step(nb, 20));
        const double after = total_energy(nb);
        nbody_free(nb);
        if (!(fabs(after - before) < 2e-14))
            fail_msg("%s: energy %.17g, then %.17g", each[k], before, after);
    }
}

/* Without fields a moving point acts as a body of such mass does. */
static void laws_of_points_match_bodies(void **state)
{
    (void)state;
    law_one(0.5, 1.2);
    pos[1][0] = -0.3, pos[1][1] = 0.1, pos[1][2] = 0.2;
    vel[1][0] = 0.4, vel[1][1] = -0.2, vel[1][2] = 0.1;
    mass[1] = 1;
    for (int k = 0; k < 2; k++) {
        nbody *nb = law_engine(
            (struct nbody_options){
                .integrator = NBODY_IAS15,
                .dt = 1,
                .forces = k ? "point:M=1,x=-0.3,y=0.1,z=0.2,vx=0.4,vy=-0.2,vz=0.1" : NULL},
            k ? 1 : 2);
        works(nbody_step(nb, 2));
        works(nbody_state(nb, k ? pos2 : pos1, vel1));
        nbody_free(nb);
    }
    assert_true(largest_difference(1, pos1, pos2) < 1e-11);
}

/* A point on an ellipse about the origin against a body on that ellipse about a fixed point. */
static void laws_of_orbits_match_bodies(void **state)
{
    (void)state;
    const struct nbody_elements orbit = {.semi_major = 2,
                                         .eccentricity = 0.4,
                                         .inclination = 0.5,
                                         .node = 1,
                                         .pericentre = 2,
                                         .mean_anomaly = 0.7};
    law_one(0.5, 1.2);
    works(nbody_orbit_state(1.25, &orbit, pos[1], vel[1]));
    mass[1] = 0.25;
    const struct nbody_field field = {NBODY_FIELD_POINT, 1.25, 0};
    for (int k = 0; k < 2; k++) {
        nbody *nb = law_engine(
            (struct nbody_options){
                .integrator = NBODY_IAS15,
                .dt = 1,
                .fields = &field,
                .nfields = 1,
                .forces =
                    k ? "orbit:M=0.25,centre=1,a=2,e=0.4,inc=0.5,Omega=1,omega=2,l=0.7" : NULL},
            k ? 1 : 2);
        works(nbody_step(nb, 5));
        works(nbody_state(nb, k ? pos2 : pos1, vel1));
        nbody_free(nb);
    }
    assert_true(largest_difference(1, pos1, pos2) < 1e-11);
}

/* ---- Planets. -------------------------------------------------------------------------------- */

/* Slope of an angle over time by least squares. */
static double law_slope(nbody *nb, double gm, bool node, int samples)
{
    double sum = 0, square = 0, dt = nbody_time(nb);
    double first = 0;
    for (int k = 0; k < samples; k++) {
        const struct nbody_elements e = law_orbit_now(nb, gm);
        const double t = k - (samples - 1) / 2., angle = node ? e.node : e.pericentre;
        first = k ? first : angle;
        sum += t * remainder(angle - first, 2 * PI);
        square += t * t;
        works(nbody_step(nb, 1));
        dt = k ? dt : nbody_time(nb) - dt;
    }
    return sum / square / dt;
}

/* Mercury: 42.98 arc seconds per century, by both forms of relativity. */
static void law_of_relativity_turns_mercury(void **state)
{
    (void)state;
    static const char *const each[] = {"relativity:c=10065.32", "relativity-pairs:c=10065.32"};
    /* Units: au and year / 2 pi, so that the Sun's G M is 1; c = 10065.32. */
    for (size_t k = 0; k < COUNT_OF(each); k++) {
        law_pair(1.66e-7, 0.38709893, 0.20563069, 0);
        nbody *nb = law_engine((struct nbody_options){.integrator = NBODY_IAS15,
                                                      .dt = 2 * PI * 0.2,
                                                      .forces = each[k]},
                               2);
        const double arc = law_slope(nb, 1 + 1.66e-7, false, 501) * 200 * PI * 180 / PI * 3600;
        nbody_free(nb);
        print_message("%s: %.3f arc seconds per century\n", each[k], arc);
        assert_true(fabs(arc - 42.98) < 0.03);
    }
}

/* The node turns by -3/2 n J2 (R / p)^2 cos i per time. */
static void law_of_oblate_bodies_turns_node(void **state)
{
    (void)state;
    law_pair(0, 1, 0.1, 0.5);
    nbody *nb = law_engine((struct nbody_options){.integrator = NBODY_IAS15,
                                                  .dt = 1.7,
                                                  .forces = "oblate:J2=1e-4,R=0.5"},
                           2);
    const double expected = -1.5 * 1e-4 * pow(0.5 / 0.99, 2) * cos(0.5),
                 found = law_slope(nb, 1, true, 601);
    nbody_free(nb);
    print_message("node: %.5g, by theory %.5g\n", found, expected);
    assert_true(fabs(found / expected - 1) < 2e-3);
}

/* At the distance 2 R gravity is 1 + 3/2 J2 / 4 - 15/8 J4 / 16 times Newton's on the equator, and
 * 1 - 3 J2 / 4 - 5 J4 / 16 times on the axis. */
static void law_of_oblate_bodies_has_known_gravity(void **state)
{
    (void)state;
    const double J2 = 0.03, J4 = -0.01,
                 expected[] = {1 + 1.5 * J2 / 4 - 1.875 * J4 / 16, 1 - 3 * J2 / 4 - 5 * J4 / 16};
    double acc[2][3];
    for (int axis = 0; axis < 2; axis++) {
        law_pair(0, 1, 0, 0);
        nbody *nb = law_engine(
            (struct nbody_options){.dt = 1,
                                   .forces = axis ? "oblate:J2=0.03,J4=-0.01,R=0.5,nx=3,nz=0"
                                                  : "oblate:J2=0.03,J4=-0.01,R=0.5"},
            2);
        works(nbody_forces(nb, acc, NULL));
        nbody_free(nb);
        assert_true(fabs(acc[1][0] + expected[axis]) < 1e-14 && fabs(acc[1][2]) < 1e-14);
    }
}

/* An oblate planet, and relativity of a heavy body, conserve momentum. */
static void laws_of_bodies_conserve_momentum(void **state)
{
    (void)state;
    struct nbody_diagnostics d;
    law_pair(0.3, 1, 0.2, 0.5);
    nbody *nb = law_engine((struct nbody_options){.integrator = NBODY_IAS15,
                                                  .dt = 1,
                                                  .forces = "oblate:J2=0.05,R=0.5,body=1\n"
                                                            "relativity:c=5"},
                           2);
    works(nbody_step(nb, 20));
    works(nbody_diagnose(nb, &d));
    for (int c = 0; c < 3; c++)
        assert_true(fabs(d.momentum[c]) < 1e-14);
    nbody_free(nb);
}

/* Pressure beta reduces G M to 1 - beta: a circle with the speed (1 - beta)^1/2. */
static void law_of_radiation_reduces_gravity(void **state)
{
    (void)state;
    law_pair(0, 1, 0, 0);
    vel[1][1] = sqrt(0.7);
    nbody *nb = law_engine((struct nbody_options){.integrator = NBODY_IAS15,
                                                  .dt = 2 * PI / sqrt(0.7),
                                                  .forces = "radiation:beta=0.3"},
                           2);
    works(nbody_step(nb, 1));
    works(nbody_state(nb, pos1, vel1));
    nbody_free(nb);
    assert_true(largest_difference(2, pos, pos1) < 1e-12);
}

/* Poynting-Robertson drag shrinks a circle as a^2 = a0^2 - 4 beta G M t / c (Wyatt & Whipple 1950),
 * to first order in v / c. */
static void law_of_radiation_drags_dust(void **state)
{
    (void)state;
    law_pair(0, 1, 0, 0);
    vel[1][1] = sqrt(0.9);
    nbody *nb = law_engine((struct nbody_options){.integrator = NBODY_IAS15,
                                                  .dt = 100,
                                                  .forces = "radiation:beta=0.1,c=10000"},
                           2);
    works(nbody_step(nb, 50));
    const double a = law_orbit_now(nb, 0.9).semi_major, expected = sqrt(1 - 4 * 0.1 * 5000 / 1e4);
    nbody_free(nb);
    print_message("dust: a = %.6f, by theory %.6f\n", a, expected);
    assert_true(fabs(a - expected) < 2e-5);
}

/* While a star slowly loses mass, the product of its mass and a stays (Jeans 1924). */
static void law_of_mass_loss_keeps_product(void **state)
{
    (void)state;
    law_pair(0, 1, 0, 0);
    nbody *nb = law_engine((struct nbody_options){.integrator = NBODY_IAS15,
                                                  .dt = 100,
                                                  .forces = "mass-loss:tau=20000"},
                           2);
    works(nbody_step(nb, 100));
    const double m = exp(-10000. / 20000), a = law_orbit_now(nb, m).semi_major;
    nbody_free(nb);
    print_message("mass loss: a m = %.6f\n", a * m);
    assert_true(fabs(a * m - 1) < 3e-4);
}

/* ---- Files. ---------------------------------------------------------------------------------- */

static char file[64];

static const char *law_file(const char *text, const char *numbers)
{
    static char force[128];
    snprintf(file, sizeof file, "force-%d.cl", (int)getpid());
    FILE *const fp = fopen(file, "w");
    assert_non_null(fp);
    fputs(text, fp);
    fclose(fp);
    snprintf(force, sizeof force, "%s%s", file, numbers);
    return force;
}

static const char *const drag = "real3 force(real3 position, real3 velocity, real mass, real time, "
                                "uint index)\n{\n    return -gamma * velocity;\n}\n";

/* Drag alone: x = v0 (1 - exp(-gamma t)) / gamma. On devices with leapfrog, on the host by ias15,
 * in units far from 1. */
static void law_of_file_is_drag(void **state)
{
    (void)state;
    const double gamma = 1e-7, t = 1e7, scale = 1e11, expected = 1e4 * (1 - exp(-1)) / gamma;
    double error[4] = {0};
    for (int k = 0; k < 4; k++) {
        const int steps = 320 << (k % 3);
        law_one(scale, 0);
        vel[0][2] = 1e4;
        nbody *nb =
            law_engine((struct nbody_options){.integrator = k == 3 ? NBODY_IAS15 : NBODY_LEAPFROG,
                                              .dt = t / steps,
                                              .forces = law_file(drag, ":gamma=1e-7")},
                       1);
        works(nbody_step(nb, (size_t)steps));
        works(nbody_state(nb, pos1, vel1));
        nbody_free(nb);
        error[k] = fabs(pos1[0][2] / expected - 1);
    }
    print_message("drag: %g, %g, %g; ias15 %g\n", error[0], error[1], error[2], error[3]);
    assert_true(fabs(error[0] / error[1] - 4) < 0.3 && fabs(error[1] / error[2] - 4) < 0.3);
    assert_true(error[3] < 1e-14);
    (void)unlink(file);
}

/* Bodies of the figure eight and heavier ones, in all forces at once. */
static void law_many(size_t n)
{
    works(nbody_initial(NBODY_PLUMMER, n, 1, mass, pos, vel));
}

static const char *const many =
    "nfw:M=2,a=0.7\nmiyamoto-nagai:M=2,a=0.7,b=0.3\nlogarithmic:v=1.1,r=0.5,q=0.8\n"
    "point:M=0.2,eps=0.2,x=3,vx=-1\norbit:M=0.25,centre=1,a=2,e=0.4,eps=0.3\nrelativity:c=20,body=3\n"
    "oblate:J2=1e-3,J4=1e-4,R=0.01,body=4\nmass-loss:tau=3,body=5";

/* The host and the devices compute the same motion, with velocities and times. */
static void laws_on_devices_match_host(void **state)
{
    (void)state;
    char text[1024];
    snprintf(text, sizeof text, "%s\nradiation:beta=0.2,c=20,body=2\n%s", many,
             law_file("#define TWO 2\nreal3 force(real3 position, real3 velocity, real mass, real "
                      "time, uint index)\n{\n    return cos(time * w) * (real3)(velocity.x, mass, "
                      "index * TWO);\n}\n",
                      ":w=0.5"));
    const enum nbody_integrator each[] = {NBODY_LEAPFROG, NBODY_TAYLOR};
    if (clgetndev(stddev) > 1)
        *strstr(text, "\nradiation") = 0;
    for (size_t k = 0; k < COUNT_OF(each); k++) {
        for (int host = 0; host < 2; host++) {
            law_many(40);
            nbody *nb =
                law_engine((struct nbody_options){.integrator = each[k],
                                                  .dt = 1. / 64,
                                                  .eps = 0.1,
                                                  .place = host ? NBODY_ON_HOST : NBODY_ON_DEVICES,
                                                  .forces = text},
                           40);
            works(nbody_step(nb, 70));
            works(nbody_state(nb, host ? pos1 : pos2, vel1));
            nbody_free(nb);
        }
        print_message("host and devices differ by %g\n", largest_difference(40, pos1, pos2));
        assert_true(largest_difference(40, pos1, pos2) < 1e-9);
    }
    (void)unlink(file);
}

/* In single precision, and in units of SI, devices compute the accelerations of double. */
static void laws_in_single_precision_match_double(void **state)
{
    (void)state;
    double acc[2][40][3], phi[2][40], largest = 0, size = 0;
    law_many(40);
    for (int i = 0; i < 40; i++) {
        mass[i] *= 2e30;
        for (int c = 0; c < 3; c++)
            pos[i][c] *= 1.5e11, vel[i][c] *= 3e4;
    }
    for (int k = 0; k < 2; k++) {
        nbody *nb = nbody_create(
            &(struct nbody_options){.ctx = stddev,
                                    .precision = k ? NBODY_SINGLE : NBODY_DOUBLE,
                                    .G = 6.674e-11,
                                    .dt = 1,
                                    .eps = 1e10,
                                    .forces =
                                        "nfw:M=2e30,a=1e11\nmiyamoto-nagai:M=2e30,a=1e11,b=3e10\n"
                                        "logarithmic:v=3e4,r=1e11\noblate:J2=0.1,R=1e10\n"
                                        "relativity:c=3e5"},
            40, mass, (rows)pos, (rows)vel);
        ready(nb);
        works(nbody_forces(nb, acc[k], phi[k]));
        nbody_free(nb);
    }
    for (int i = 0; i < 120; i++) {
        largest = fmax(largest, fabs(acc[0][i / 3][i % 3] - acc[1][i / 3][i % 3]));
        size = fmax(size, fabs(acc[0][i / 3][i % 3]));
    }
    print_message("single precision differs by %.1e\n", largest / size);
    assert_true(largest < 2e-6 * size);
    for (int i = 0; i < 40; i++)
        assert_true(fabs(phi[0][i] / phi[1][i] - 1) < 1e-5);
}

/* The tree stores bodies in another order; a file sees their numbers, and the masses. */
static void law_of_file_knows_bodies_of_trees(void **state)
{
    (void)state;
    enum { N = 700 };
    double(*const all)[3] = calloc(3 * N, sizeof *all), *const m = calloc(N, sizeof *m),
                  (*const acc)[3] = calloc(N, sizeof *acc);
    works(nbody_initial(NBODY_PLUMMER, N, 3, m, all, all + N));
    for (int i = 0; i < N; i++)
        m[i] = 1e-12 * (i + 1);
    nbody *nb = nbody_create(
        &(struct nbody_options){
            .ctx = stddev,
            .dt = 1e-3,
            .eps = 0.1,
            .method = NBODY_TREE,
            .forces =
                law_file("real3 force(real3 position, real3 velocity, real mass, real time, "
                         "uint index)\n{\n    return (real3)(index, mass * scale, time);\n}\n",
                         ":scale=1e12")},
        N, m, (rows)all, (rows)(all + N));
    ready(nb);
    works(nbody_step(nb, 3));
    works(nbody_forces(nb, acc, NULL));
    for (int i = 0; i < N; i++)
        assert_true(fabs(acc[i][0] - i) < 1e-3 && fabs(acc[i][1] - (i + 1)) < 1e-3 &&
                    fabs(acc[i][2] - 3e-3) < 1e-6);
    nbody_free(nb);
    free(all);
    free(m);
    free(acc);
    (void)unlink(file);
}

/* Forces of position only: yoshida4 keeps its order on devices, where the forces depend on time. */
static void laws_keep_order_of_yoshida(void **state)
{
    (void)state;
    double error[3];
    for (int k = 0; k < 3; k++) {
        const int steps = k == 2 ? 4 : 100 << k;
        law_one(1, 1);
        nbody *nb = law_engine(
            (struct nbody_options){.integrator = k == 2 ? NBODY_IAS15 : NBODY_YOSHIDA4,
                                   .dt = 4. / steps,
                                   .forces = "orbit:M=0.25,centre=1,a=3,e=0.3\npoint:M=1"},
            1);
        works(nbody_step(nb, (size_t)steps));
        works(nbody_state(nb, k == 2 ? pos1 : k ? pos2 : vel2, NULL));
        nbody_free(nb);
    }
    error[0] = largest_difference(1, vel2, pos1);
    error[1] = largest_difference(1, pos2, pos1);
    print_message("yoshida4: %g, %g\n", error[0], error[1]);
    assert_true(fabs(error[0] / error[1] - 16) < 3);
}

/* Neither the ends of batches nor saving and loading change a bit. */
static void laws_continue_with_same_bits(void **state)
{
    (void)state;
    law_many(40);
    const struct nbody_options o = {.dt = 1. / 64, .forces = many, .shares = equal_shares};
    nbody *one = law_engine(o, 40), *other = law_engine(o, 40);
    void *const saved = malloc(nbody_save_bytes(one));
    works(nbody_step(one, 30));
    works(nbody_step(other, 7));
    works(nbody_save(other, saved));
    works(nbody_step(other, 7));
    works(nbody_load(other, saved, nbody_save_bytes(other)));
    (void)total_energy(other);
    works(nbody_step(other, 23));
    works(nbody_state(one, pos1, vel1));
    works(nbody_state(other, pos2, vel2));
    assert_memory_equal(pos1, pos2, 40 * sizeof *pos1);
    assert_memory_equal(vel1, vel2, 40 * sizeof *vel1);
    assert_true(total_energy(one) == total_energy(other));
    free(saved);
    nbody_free(one);
    nbody_free(other);
}

/* ---- Bad input. ------------------------------------------------------------------------------ */

static void laws_reject(struct nbody_options o, const char *forces, const char *words)
{
    o.ctx = stddev;
    o.dt = o.dt != 0 ? o.dt : 0.1;
    o.forces = forces;
    law_pair(0, 1, 0, 0);
    nbody *nb = nbody_create(&o, 2, mass, (rows)pos, (rows)vel);
    const char *const said = nb ? "an engine" : clerror();
    if (nb || !strstr(said, words))
        fail_msg("'%s' gives '%s', not '%s'", forces, said, words);
}

static void laws_reject_bad_texts(void **state)
{
    (void)state;
    const struct nbody_options d = {.precision = NBODY_DOUBLE};
    laws_reject(d, "nwf:M=1", "no force 'nwf'; there are nfw, ");
    laws_reject(d, "nfw:M=1", "nfw needs the parameter a=NUMBER");
    laws_reject(d, "nfw:M=1,a=0", "nfw: a is 0; it must be a number > 0");
    laws_reject(d, "nfw:M=1,a=nan", "a is nan");
    laws_reject(d, "nfw:M=1,b=1", "has no parameter b; it has M, a");
    laws_reject(d, "nfw:M=1,a=1x", "'a=1x' is not KEY=NUMBER");
    laws_reject(d, "nfw", "needs the parameter M");
    laws_reject(d, "oblate:J2=1,R=1,body=2", "there is no body 2; there are 2");
    laws_reject(d, "oblate:J2=1,R=1,body=1", "body 1 has no mass");
    laws_reject(d, "oblate:J2=1,R=1,body=0.5", "it must be the number of a body");
    laws_reject(d, "oblate:J2=1,R=1,nz=0", "the axis nx, ny, nz is 0");
    laws_reject(d, "orbit:M=1,centre=1,a=1,e=1", "it must be below 1");
    laws_reject(d, "radiation:beta=0.1,first=1,last=0", "on no body: the first is 1, the last 0");
    laws_reject(d, "radiation:beta=0.1,first=2", "on no body: the first is 2, the last 1");
    laws_reject((struct nbody_options){.first_number = 1}, "radiation:beta=0.1,last=0",
                "on no body: the first is 2, the last 1");
    laws_reject((struct nbody_options){.first_number = 2}, "nfw:M=1,a=1", "it must be 0 or 1");
    laws_reject(d, "missing.cl", "force missing.cl: No such file");
    laws_reject(d, law_file("real3 f(void);\n", ""), "does not define the function");
    laws_reject(d, law_file(drag, ":gama=1"), "does not use a parameter gama");
    laws_reject(d, law_file(drag, ":gamma=inf"), "must be a finite number");
    laws_reject(d, law_file(drag, ""), ".cl:3");
    laws_reject(d, law_file("\nreal3 force(void)\n{\n    return 0;\n}\n", ""), ".cl:2");
    (void)unlink(file);
    laws_reject((struct nbody_options){.integrator = NBODY_HERMITE4, .precision = NBODY_DOUBLE},
                "nfw:M=1,a=1", "hermite4 needs derivatives");
    laws_reject((struct nbody_options){.integrator = NBODY_YOSHIDA4}, "radiation:beta=0.1,c=10",
                "yoshida4 loses its order");
    laws_reject((struct nbody_options){.stepping = NBODY_ADAPTIVE}, "nfw:M=1,a=1",
                "adaptive and block steps do not know");
    laws_reject((struct nbody_options){.method = NBODY_TREE, .eps = 0.1}, "relativity:c=10",
                "the tree does not support");
    laws_reject((struct nbody_options){.integrator = NBODY_LEAPFROG}, "relativity-pairs:c=10",
                "is computed on the host");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(laws_of_galaxies_have_circular_orbits),
                                       cmocka_unit_test(law_of_nfw_has_passable_centre),
                                       cmocka_unit_test(law_of_point_stops_fall),
                                       cmocka_unit_test(laws_conserve_energy),
                                       cmocka_unit_test(laws_of_points_match_bodies),
                                       cmocka_unit_test(laws_of_orbits_match_bodies),
                                       cmocka_unit_test(law_of_relativity_turns_mercury),
                                       cmocka_unit_test(law_of_oblate_bodies_turns_node),
                                       cmocka_unit_test(law_of_oblate_bodies_has_known_gravity),
                                       cmocka_unit_test(laws_of_bodies_conserve_momentum),
                                       cmocka_unit_test(law_of_radiation_reduces_gravity),
                                       cmocka_unit_test(law_of_radiation_drags_dust),
                                       cmocka_unit_test(law_of_mass_loss_keeps_product),
                                       cmocka_unit_test(law_of_file_is_drag),
                                       cmocka_unit_test(laws_on_devices_match_host),
                                       cmocka_unit_test(laws_in_single_precision_match_double),
                                       cmocka_unit_test(law_of_file_knows_bodies_of_trees),
                                       cmocka_unit_test(laws_keep_order_of_yoshida),
                                       cmocka_unit_test(laws_continue_with_same_bits),
                                       cmocka_unit_test(laws_reject_bad_texts)};
    if (!context_has_doubles())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
