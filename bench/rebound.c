/* rebound.c - the peer of bench/rebound.sh: make steps with a librebound that the user has.
 *
 *   usage: rebound INTEGRATOR G DT STEPS < BODIES
 *          rebound INTEGRATOR G DT STEPS SECONDS < BODIES
 *
 * BODIES has seven numbers a line: mass, position, velocity. Output: seconds of the steps; then the
 * final bodies in the form of the input. With SECONDS: make STEPS steps of perturbed copies of the
 * bodies, one copy after another, until SECONDS have passed; output: the number of copies, the
 * seconds that they took, and the largest relative energy error. Versions 4 and 5 of librebound
 * name integrators in different ways. whfast runs with safe mode off; whfast17 also with the
 * corrector of order 17.
 * SPDX-License-Identifier: MIT
 */
#include <rebound.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { MAX_BODIES = 1024 };

static size_t read_particles(struct reb_particle *to)
{
    struct reb_particle p;
    size_t n = 0;
    memset(&p, 0, sizeof p);
    while (n < MAX_BODIES &&
           scanf("%lf %lf %lf %lf %lf %lf %lf", &p.m, &p.x, &p.y, &p.z, &p.vx, &p.vy, &p.vz) == 7)
        to[n++] = p;
    return n;
}

static void choose_integrator(struct reb_simulation *r, const char *name)
{
    const int corrector = strcmp(name, "whfast17") == 0 ? 17 : 0;
#ifdef REB_BUILTIN_INTEGRATORS /* version 5 */
    void *state = reb_simulation_set_integrator(r, strncmp(name, "whfast", 6) ? name : "whfast");
    if (strncmp(name, "whfast", 6) == 0) {
        struct reb_integrator_whfast_state *w = state;
        w->safe_mode = 0;
        w->corrector = corrector;
    }
#else
    r->integrator = strcmp(name, "ias15") == 0      ? REB_INTEGRATOR_IAS15
                    : strcmp(name, "leapfrog") == 0 ? REB_INTEGRATOR_LEAPFROG
                    : strcmp(name, "trace") == 0    ? REB_INTEGRATOR_TRACE
                                                    : REB_INTEGRATOR_WHFAST;
    r->ri_whfast.safe_mode = 0;
    r->ri_whfast.corrector = corrector;
#endif
}

static struct reb_simulation *create_simulation(char **argv, const struct reb_particle *body,
                                                size_t n)
{
    struct reb_simulation *r = reb_simulation_create();
    r->G = atof(argv[2]);
    r->dt = atof(argv[3]);
    choose_integrator(r, argv[1]);
    for (size_t i = 0; i < n; i++)
        reb_simulation_add(r, body[i]);
    return r;
}

/* Integrate the bodies once; print the seconds and the bodies. */
static void run_once(char **argv, const struct reb_particle *body, size_t n)
{
    const double dt = atof(argv[3]), steps = atof(argv[4]);
    struct reb_simulation *r = create_simulation(argv, body, n);
    const double start = clock_seconds();
    if (strcmp(argv[1], "ias15") == 0)
        reb_simulation_integrate(r, dt * steps);
    else
        reb_simulation_steps(r, (unsigned)steps);
    reb_simulation_synchronize(r);
    printf("%.9g\n", clock_seconds() - start);
    for (size_t i = 0; i < (size_t)r->N; i++) {
        const struct reb_particle *p = &r->particles[i];
        printf("%.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", p->m, p->x, p->y, p->z, p->vx, p->vy,
               p->vz);
    }
    reb_simulation_free(r);
}

/* Integrate perturbed copies for some seconds; print their number, the seconds, and the largest
 * energy error. Energies do not count as time. */
static void run_copies(char **argv, const struct reb_particle *body, size_t n)
{
    const double seconds = atof(argv[5]);
    double used = 0, worst = 0;
    size_t copies = 0;
    for (; used < seconds; copies++) {
        struct reb_particle own[MAX_BODIES];
        memcpy(own, body, n * sizeof *own);
        for (size_t i = 1; i < n; i++)
            own[i].vx *= 1 + 1e-6 * sin((double)(copies * n + i));
        double start = clock_seconds();
        struct reb_simulation *r = create_simulation(argv, own, n);
        used += clock_seconds() - start;
        const double before = reb_simulation_energy(r);
        start = clock_seconds();
        reb_simulation_steps(r, (unsigned)atof(argv[4]));
        reb_simulation_synchronize(r);
        used += clock_seconds() - start;
        worst = fmax(worst, fabs(reb_simulation_energy(r) / before - 1));
        reb_simulation_free(r);
    }
    printf("%zu %.9g %.3g\n", copies, used, worst);
}

int main(int argc, char **argv)
{
    static struct reb_particle body[MAX_BODIES];
    if (argc != 5 && argc != 6) {
        fprintf(stderr, "usage: rebound INTEGRATOR G DT STEPS [SECONDS] < BODIES\n");
        return 1;
    }
    const size_t n = read_particles(body);
    if (argc == 6)
        run_copies(argv, body, n);
    else
        run_once(argv, body, n);
    return 0;
}
