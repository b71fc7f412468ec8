/* ranks.c - two ranks, which are threads, for faults.c: a gas, gravity by direct sums and by the
 * tree, and Life, distributed among them. Rank 0 prints the results. A failure of one ends both,
 * with one message and status 1. A failed engine is not freed: messages of the other rank may be
 * in flight to its memory.
 * SPDX-License-Identifier: MIT
 */
#include "stdcl/gas.h"
#include "stdcl/life.h"
#include "stdcl/nbody.h"
#include "world/internal.h"
#include "world/threads.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { RANKS = 2, BODIES = 130 };

static struct rank {
    struct threads *threads;
    stdcl_world *world;
    int rank;
    bool failed;
    double gas, energy[2];
    uint64_t alive;
    char sentence[1000];
} ranks[RANKS];

static int gas_of(struct rank *r, CLCONTEXT *cp)
{
    struct gas_energy energy;
    gas *g = gas_create(&(struct gas_options){.ctx = cp, .n = 40000, .world = r->world});
    const int status = g ? gas_measure(g, &energy) : -1;
    r->gas = status == 0 ? energy.mean_energy : 0;
    if (status == 0)
        gas_free(g);
    return status;
}

static int gravity_checksum(struct rank *r, CLCONTEXT *cp, enum nbody_method method)
{
    static double mass[RANKS][BODIES], pos[RANKS][BODIES][3], vel[RANKS][BODIES][3];
    const int i = r->rank;
    struct nbody_diagnostics d;
    if (nbody_initial(NBODY_PLUMMER, BODIES, 1, mass[i], pos[i], vel[i]) != 0)
        return -1;
    nbody *nb = nbody_create(
        &(struct nbody_options){
            .ctx = cp, .eps = 0.05, .dt = 0.001, .method = method, .world = r->world},
        BODIES, mass[i], (const double(*)[3])pos[i], (const double(*)[3])vel[i]);
    const int status = nb && nbody_step(nb, 2) == 0 ? nbody_diagnose(nb, &d) : -1;
    r->energy[method == NBODY_TREE] = status == 0 ? d.kinetic + d.potential : 0;
    if (status == 0)
        nbody_free(nb);
    return status;
}

static int life_of(struct rank *r, CLCONTEXT *cp)
{
    life *lf = life_create(
        &(struct life_options){.ctx = cp, .width = 130, .height = 67, .world = r->world});
    const int status = lf && life_soup(lf, 0, 1) == 0 && life_step(lf, 5) == 0
                           ? life_population(lf, &r->alive)
                           : -1;
    if (status == 0)
        life_free(lf);
    return status;
}

/* Keep the first error; clerror() returns it once. */
static void fails(struct rank *r)
{
    const char *why = clerror();
    if (!r->failed)
        snprintf(r->sentence, sizeof r->sentence, "%s", why ? why : "no reason is known");
    r->failed = true;
}

/* main prints the one message. */
static void no_message(void *arg, const char *message)
{
    (void)arg, (void)message;
}

static void *run_faulty_ranks(void *rank)
{
    static const struct world_options silent = {.on_abort = no_message};
    struct rank *r = rank;
    CLCONTEXT *cp = NULL;
    r->world = world_of_threads(r->threads, r->rank, "host", false, &silent);
    cl_device_id device = r->world ? clgetdevice(stddev, 0) : NULL;
    if (!device || !(cp = clcontext_create_from(&device, 1)) || gas_of(r, cp) != 0 ||
        gravity_checksum(r, cp, NBODY_DIRECT) != 0 || gravity_checksum(r, cp, NBODY_TREE) != 0 ||
        life_of(r, cp) != 0)
        fails(r);
    if (!r->failed && clcontext_destroy(cp) != 0)
        fails(r);
    if (r->failed)
        world_abort(r->world, 1, r->sentence);
    else
        world_leave(r->world);
    return NULL;
}

int main(void)
{
    pthread_t thread[RANKS];
    setenv("STDCL_TIMEOUT", "60", 0); /* for a rank with a peer that has no world */
    setenv("POCL_MAX_PTHREAD_COUNT", "1",
           0); /* for two contexts of one device, see tests/world.cmake */
    struct threads *threads = threads_create(RANKS, 0, 1);
    int started = 0;
    for (; threads && started < RANKS; started++) {
        ranks[started].threads = threads;
        ranks[started].rank = started;
        if (pthread_create(&thread[started], NULL, run_faulty_ranks, &ranks[started]) != 0)
            break;
    }
    if (started < RANKS) {
        fprintf(stderr, "ranks: a thread could not be made\n");
        _exit(1);
    }
    for (int i = 0; i < RANKS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < RANKS; i++) {
        if (!ranks[i].failed)
            continue;
        fprintf(stderr, "ranks: rank %d: %s\n", i, ranks[i].sentence);
        _exit(1);
    }
    threads_free(threads);
    printf("gas %.17g\ndirect %.9g\ntree %.9g\nlife %" PRIu64 "\n", ranks[0].gas,
           ranks[0].energy[0], ranks[0].energy[1], ranks[0].alive);
    return 0;
}
