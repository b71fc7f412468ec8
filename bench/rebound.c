/* rebound.c - the peer of bench/rebound.sh: make steps with a librebound that the user has.
 *
 *   usage: rebound INTEGRATOR G DT STEPS < BODIES
 *
 * BODIES has seven numbers a line: mass, position, velocity. Output: seconds of the steps; then the
 * final bodies in the form of the input. Versions 4 and 5 of librebound name integrators in
 * different ways. whfast runs with safe mode off; whfast17 also with the corrector of order 17.
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

static void read_particles(struct reb_simulation *r)
{
    struct reb_particle p;
    memset(&p, 0, sizeof p);
    while (scanf("%lf %lf %lf %lf %lf %lf %lf", &p.m, &p.x, &p.y, &p.z, &p.vx, &p.vy, &p.vz) == 7)
        reb_simulation_add(r, p);
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

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: rebound INTEGRATOR G DT STEPS < BODIES\n");
        return 1;
    }
    const double dt = atof(argv[3]), steps = atof(argv[4]);
    struct reb_simulation *r = reb_simulation_create();
    r->G = atof(argv[2]);
    r->dt = dt;
    choose_integrator(r, argv[1]);
    read_particles(r);
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
    return 0;
}
