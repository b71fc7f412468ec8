/* Queries of a few systems of an ensemble: they have the bits of a query of all, and copy no other
 * systems to the host.
 * SPDX-License-Identifier: MIT
 */
#include "nbody_engine.h"

#include "stdcl/profile.h"

#include <stdlib.h>
#include <string.h>

enum { BODIES = 3, MANY = 100000, FEW = 3 };
static double *mass, (*pos)[3], (*vel)[3];

static void *allocated(size_t n, size_t size)
{
    void *p = calloc(n, size);
    assert_non_null(p);
    return p;
}

/* Two planets that escape from some of the stars. */
static void sample_systems(size_t systems)
{
    mass = allocated(systems * BODIES, sizeof *mass);
    pos = allocated(systems * BODIES, sizeof *pos);
    vel = allocated(systems * BODIES, sizeof *vel);
    for (size_t s = 0; s < systems; s++) {
        const size_t star = BODIES * s;
        mass[star] = 1;
        for (size_t p = 1; p < BODIES; p++) {
            mass[star + p] = 1e-3;
            pos[star + p][0] = (double)p;
            vel[star + p][1] = (s % 3 == 1 ? 1.5 : 1) / sqrt((double)p) + 1e-6 * (double)s;
        }
    }
}

static nbody_ensemble *sample_create(enum nbody_integrator by, int megno, size_t systems)
{
    sample_systems(systems);
    nbody_ensemble *e = nbody_ensemble_create(
        &(struct nbody_ensemble_options){
            .ctx = stddev, .dt = by == NBODY_IAS15 ? 6 : 0.1, .integrator = by, .megno = megno},
        systems, BODIES, mass, (rows)pos, (rows)vel);
    ready(e);
    return e;
}

static void sample_free_all(nbody_ensemble *e)
{
    nbody_ensemble_free(e);
    free(mass);
    free(pos);
    free(vel);
}

/* ---- Equal bits. ----------------------------------------------------------------------------- */

enum { SYSTEMS = 70, CHOSEN = 5 };
static const size_t chosen[CHOSEN] = {69, 3, 4, 3, 40};

static void sample_check_states(nbody_ensemble *e, const size_t *which, size_t n)
{
    static double m[2][SYSTEMS * BODIES], x[2][SYSTEMS * BODIES][3], v[2][SYSTEMS * BODIES][3];
    static struct nbody_system s[2][SYSTEMS];
    works(nbody_ensemble_read(e, n, which, m[0], x[0], v[0]));
    works(nbody_ensemble_systems(e, n, which, s[0]));
    works(nbody_ensemble_read(e, SYSTEMS, NULL, m[1], x[1], v[1]));
    works(nbody_ensemble_systems(e, SYSTEMS, NULL, s[1]));
    for (size_t k = 0; k < n; k++) {
        const size_t system = which ? which[k] : k, to = k * BODIES, from = system * BODIES;
        assert_memory_equal(m[0] + to, m[1] + from, BODIES * sizeof **m);
        assert_memory_equal(x[0] + to, x[1] + from, BODIES * sizeof **x);
        assert_memory_equal(v[0] + to, v[1] + from, BODIES * sizeof **v);
        assert_true(s[0][k].status == s[1][system].status);
        assert_true(s[0][k].time == s[1][system].time && s[0][k].time > 0);
    }
}

static void sample_check_chaos(nbody_ensemble *e)
{
    struct nbody_chaos all[SYSTEMS], few[CHOSEN];
    works(nbody_ensemble_find_chaos(e, CHOSEN, chosen, few));
    works(nbody_ensemble_find_chaos(e, SYSTEMS, NULL, all));
    for (size_t k = 0; k < CHOSEN; k++)
        assert_memory_equal(&few[k], &all[chosen[k]], sizeof *all);
}

static void sample_check_events(nbody_ensemble *e)
{
    struct nbody_system_event *event;
    size_t n;
    works(nbody_ensemble_events(e, CHOSEN, chosen, &event, &n));
    assert_true(n == 2 && event[0].system == 4 && event[1].system == 40);
    free(event);
}

/* A sample equals rows of all, for every kind of state, in any order and repeatedly. */
static void sample_equals_rows_of_all(void **state)
{
    static const enum nbody_integrator by[] = {0, NBODY_IAS15, NBODY_WHFAST};
    (void)state;
    for (int k = 0; k < 6; k++) {
        const bool whfast = by[k % 3] == NBODY_WHFAST, watched = k > 2;
        nbody_ensemble *e = sample_create(by[k % 3], whfast && k > 2, SYSTEMS);
        if (watched)
            works(nbody_ensemble_watch(e,
                                       &(struct nbody_ensemble_watch_options){.stop_distance = 5}));
        for (int part = 0; part < 2; part++) {
            works(nbody_ensemble_step(e, by[k % 3] == NBODY_IAS15 ? 2 : 120));
            sample_check_states(e, chosen, CHOSEN);
            works(nbody_ensemble_step(e, 1));
            sample_check_states(e, NULL, 2);
        }
        if (whfast && k > 2)
            sample_check_chaos(e);
        if (watched)
            sample_check_events(e);
        sample_free_all(e);
    }
}

/* ---- Bytes. ---------------------------------------------------------------------------------- */

static double bytes_to_host(void)
{
    struct clprofile_row row[64];
    const size_t n = clprofile_rows(stddev, row, 64);
    double bytes = 0;
    for (size_t i = 0; i < n && i < 64; i++)
        bytes += strcmp(row[i].name, "device to host") == 0 ? row[i].bytes : 0;
    return bytes;
}

static bool is_gpu(cl_uint dev)
{
    cl_device_type type = 0;
    clGetDeviceInfo(clgetdevice(stddev, dev), CL_DEVICE_TYPE, sizeof type, &type, NULL);
    return type & CL_DEVICE_TYPE_GPU;
}

/* Number of the systems in `which` (NULL: of all MANY systems) that GPUs compute. Each device has
 * an equal part of the systems. */
static size_t count_on_gpus(const size_t *which, size_t n)
{
    const size_t devices = clgetndev(stddev);
    size_t count = 0;
    for (cl_uint dev = 0; dev < devices; dev++)
        for (size_t k = 0; is_gpu(dev) && k < n; k++) {
            const size_t system = which ? which[k] : k;
            count += system >= MANY * dev / devices && system < MANY * (dev + 1) / devices;
        }
    return count;
}

/* Three systems of many: bytes of their numbers, for states, descriptions and MEGNO. A query of all
 * copies all states once, and the sums alone. From CPUs nothing is copied. */
static void sample_copies_no_other_system(void **state)
{
    enum { STATE = 6 * BODIES + BODIES, SUMS = 7 };
    static const size_t which[FEW] = {7, 50000, 99999};
    struct nbody_system system[FEW];
    struct nbody_chaos chaos[FEW], *all = allocated(MANY, sizeof *all);
    double x[FEW * BODIES][3];
    (void)state;
    nbody_ensemble *e = sample_create(NBODY_WHFAST, 1, MANY);
    works(nbody_ensemble_step(e, 1));
    works(clprofile(stddev, 1));
    works(nbody_ensemble_read(e, FEW, which, NULL, x, NULL));
    works(nbody_ensemble_systems(e, FEW, which, system));
    works(nbody_ensemble_find_chaos(e, FEW, which, chaos));
    const double few = bytes_to_host();
    works(nbody_ensemble_state(e, NULL, NULL));
    works(nbody_ensemble_state(e, NULL, NULL));
    works(nbody_ensemble_find_chaos(e, MANY, NULL, all));
    const double many = bytes_to_host() - few;
    works(clprofile(stddev, 0));
    print_message("%d of %d systems: %g bytes; all: %g\n", FEW, MANY, few, many);
    assert_true(few == (double)count_on_gpus(which, FEW) * (2 * STATE + SUMS) * sizeof(double));
    assert_true(many == (double)count_on_gpus(NULL, MANY) * (6 * BODIES + SUMS) * sizeof(double));
    free(all);
    sample_free_all(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sample_equals_rows_of_all),
        cmocka_unit_test(sample_copies_no_other_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
