/* world_child.c - one rank of an MPI job for tests/world.sh: `mpirun -n 3 world_child WAY`.
 * SPDX-License-Identifier: MIT
 */
#ifdef WITH_MPI /* a program that has MPI already */
#include <mpi.h>
#endif

#include "stdcl/world.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef WITH_MPI
static void child_told(void *arg, const char *sentence)
{
    (void)arg;
    fprintf(stderr, "world_child: %s\n", sentence);
}
#endif

static void child_check(stdcl_world *w, int status)
{
    if (status == 0)
        return;
    world_abort(w, 4, clerror());
    exit(4);
}

/* Long messages round a ring, all in flight at once, and sums. */
static void child_work(stdcl_world *w)
{
    enum { WORDS = 1 << 20 };
    const int rank = world_rank(w), size = world_size(w), next = (rank + 1) % size,
              last = (rank + size - 1) % size;
    uint32_t *out = malloc(WORDS * 4), *in = malloc(WORDS * 4);
    for (uint32_t i = 0; i < WORDS; i++)
        out[i] = i * 2654435761u + (uint32_t)rank;
    world_request *mail[6];
    for (int k = 0; k < 3; k++) {
        const size_t at = (size_t)k * WORDS / 3, count = (size_t)(k + 1) * WORDS / 3 - at;
        mail[k] = world_receive(w, last, k, in + at, 4 * count);
        mail[3 + k] = world_send(w, next, k, out + at, 4 * count);
    }
    child_check(w, world_wait(w, mail, 6));
    for (uint32_t i = 0; i < WORDS; i++)
        if (in[i] != i * 2654435761u + (uint32_t)last)
            child_check(w, clerror_set(EPROTO, "word %u came wrong", i));
    uint64_t sum = (uint64_t)rank + 1;
    child_check(w, world_add(w, &sum, 1));
    if (rank == 0)
        printf("%d ranks, sum %llu\n", size, (unsigned long long)sum);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
    stdcl_world *w = world_from_mpi(MPI_COMM_WORLD);
#else
    stdcl_world *w = world_join(&(struct world_options){.on_abort = child_told});
#endif
    if (!w)
        return fprintf(stderr, "world_child: %s\n", clerror()), 1;
    const bool second = world_rank(w) == 1;
    if (strcmp(way, "work") == 0)
        child_work(w);
    else if (strcmp(way, "fails") == 0 && second)
        child_check(w, clerror_set(EIO, "device 3 is lost"));
    else if (strcmp(way, "alike") == 0)
        child_check(w, clerror_set(EIO, "there is no such file"));
    else if (strcmp(way, "hangs") == 0 && second)
        pause();
    else if (strcmp(way, "killed") == 0 && second)
        raise(SIGKILL);
    else if (strcmp(way, "exits") == 0 && second)
        _exit(3);
    if (strcmp(way, "work") != 0)
        child_check(w, world_barrier(w));
    if (strcmp(way, second ? "stays" : "others stay") == 0)
        pause();
    if (world_leave(w) != 0)
        return fprintf(stderr, "world_child: %s\n", clerror()), 1;
#ifdef WITH_MPI /* MPI is still there */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
#endif
    return 0;
}
