/* test_ranks.c - engines on ranks that are threads of one process: the same bits on 1, 2, 3, 4, 5 and 8 of them, with one device or two
 * each, though messages are late.
 * SPDX-License-Identifier: MIT */
#include "ranks.h"

#include "stdcl/gas.h"

enum { MOST_DEVICES = 2 };
static cl_device_id device[MOST_DEVICES];
static size_t devices;
static const int sizes[] = {1, 2, 3, 4, 5, 8};
enum { SIZES = sizeof sizes / sizeof *sizes };

#define WRONG(...) clerror_set(EPROTO, __VA_ARGS__)

/* Runs it on all numbers of ranks; each rank has a context of its own, of so many devices. */
static void on_all(int (*run)(struct rank_run *r), void *arg)
{
    for (size_t k = 0; k < SIZES; k++)
        ranks_work(sizes[k], run, (struct ranks_how){.delay = 300, .seed = (unsigned)k, .polled = k % 2 == 0, .arg = arg});
}

static CLCONTEXT *open_devices(void)
{
    return clcontext_create_from(device, devices);
}

/* ---- The gas. --------------------------------------------------------------------------------- */

struct gas_case {
    uint64_t n;
    struct gas_energy energy; /* alone */
    uint64_t count[33];
};

static int gas_alone(struct gas_case *c, CLCONTEXT *cp, stdcl_world *w)
{
    gas *g = gas_create(&(struct gas_options){.ctx = cp, .n = c->n, .seed = 5, .world = w});
    const int status = g && gas_measure(g, &c->energy) == 0 && gas_histogram(g, 6, 32, c->count) == 0 ? 0 : -1;
    gas_free(g);
    return status;
}

static int gas_ranks(struct rank_run *r)
{
    const struct gas_case *right = r->arg;
    struct gas_case own = {.n = right->n};
    CLCONTEXT *cp = open_devices();
    if (!cp || gas_alone(&own, cp, r->world) != 0)
        return -1;
    clcontext_destroy(cp);
    if (memcmp(&own.energy, &right->energy, sizeof own.energy) != 0)
        return WRONG("%llu molecules: %.17g, not %.17g", (unsigned long long)own.n, own.energy.mean_energy, right->energy.mean_energy);
    return memcmp(own.count, right->count, sizeof own.count) == 0 ? 0 : WRONG("other counts");
}

static void gas_has_the_same_bits(void **state)
{
    (void)state;
    static const uint64_t n[] = {1, 40000, 1500000}; /* less than a block, two blocks, many */
    for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
        struct gas_case c = {.n = n[i]};
        CLCONTEXT *cp = open_devices();
        works(gas_alone(&c, cp, NULL));
        works(clcontext_destroy(cp));
        on_all(gas_ranks, &c);
    }
}

/* One rank's `told` ends it for all. */
static int stop(void *arg, uint64_t done)
{
    (void)done;
    return *(const int *)arg == 1;
}

static int gas_stops(struct rank_run *r)
{
    struct gas_energy e;
    CLCONTEXT *cp = open_devices();
    gas *g = gas_create(&(struct gas_options){.ctx = cp, .n = 30000000, .world = r->world, .told = stop, .arg = &r->rank});
    if (!g)
        return -1;
    const int status = gas_measure(g, &e), code = clerrno;
    gas_free(g);
    clcontext_destroy(cp);
    if (status != -1 || code != ECANCELED)
        return WRONG("status %d, clerrno %d", status, code);
    return 0;
}

static int gas_is_refused(struct rank_run *r)
{
    CLCONTEXT *cp = open_devices();
    const bool stored = gas_create(&(struct gas_options){.ctx = cp, .n = 100, .storage = GAS_STORED, .world = r->world}) != NULL;
    const int code = clerrno;
    clcontext_destroy(cp);
    return !stored && code == ENOTSUP ? 0 : WRONG("clerrno %d", code);
}

static void gas_ends_together(void **state)
{
    (void)state;
    setenv("STDCL_SLICE", "1e-9", 1);
    ranks_work(3, gas_stops, (struct ranks_how){0});
    unsetenv("STDCL_SLICE");
    ranks_work(2, gas_is_refused, (struct ranks_how){0});
}

int main(void)
{
    for (; stddev && devices < MOST_DEVICES && devices < clgetndev(stddev); devices++)
        device[devices] = clgetdevice(stddev, (cl_uint)devices);
    if (devices == 0) {
        puts("SKIPPED: there is no OpenCL device");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gas_has_the_same_bits),
        cmocka_unit_test(gas_ends_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
