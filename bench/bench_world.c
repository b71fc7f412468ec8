/* bench_world.c - speed of messages between ranks, and of collectives.
 *
 *   mpirun -n 2 bench_world
 *
 * Check what arrives, then print, on rank 0, microseconds per message of some sizes between the
 * first two ranks, one way, and for a barrier and a gather of all.
 * SPDX-License-Identifier: MIT
 */
#include "core/clock.h"
#include "stdcl/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static stdcl_world *w;

static void world_must(int status)
{
    if (status == 0)
        return;
    world_abort(w, 1, clerror());
    exit(1);
}

static void note_received(void *arg, const char *sentence)
{
    (void)arg;
    fprintf(stderr, "bench_world: %s\n", sentence);
}

/* Half the best round trip. */
static double one_way(char *bytes, size_t size, int runs)
{
    const int rank = world_rank(w);
    double best = 1e9;
    for (int k = 0; k < runs && rank < 2; k++) {
        world_request *mail[2];
        const double start = seconds_now();
        memset(bytes, rank == 0 ? k : 0, size);
        for (int turn = 0; turn < 2; turn++) {
            mail[0] = turn == rank ? world_send(w, 1 - rank, 1, bytes, size)
                                   : world_receive(w, 1 - rank, 1, bytes, size);
            world_must(world_wait(w, mail, 1));
        }
        if (size && (bytes[0] != (char)k || bytes[size - 1] != (char)k))
            world_must(clerror_set(EPROTO, "message %d of %zu bytes came back wrong", k, size));
        best = (seconds_now() - start) / 2 < best ? (seconds_now() - start) / 2 : best;
    }
    world_must(world_barrier(w));
    return best;
}

int main(void)
{
    w = world_join(&(struct world_options){.on_abort = note_received});
    if (!w || world_size(w) < 2)
        return fprintf(stderr, "bench_world: %s\n",
                       w ? "start it with mpirun, on 2 ranks or more" : clerror()),
               1;
    const size_t most = (size_t)1 << 26;
    char *bytes = calloc(most, 1), *all = malloc(4096 * (size_t)world_size(w));
    if (!bytes || !all)
        world_must(clerror_set(ENOMEM, "out of memory"));
    if (world_rank(w) == 0)
        printf("%d ranks on %d hosts, %s\n%12s %12s %12s\n", world_size(w), world_hosts(w),
               world_transport(w), "bytes", "us", "GB/s");
    for (size_t size = 8; size <= most; size *= 8) {
        const double seconds = one_way(bytes, size, size < 100000 ? 200 : 20);
        if (world_rank(w) == 0)
            printf("%12zu %12.2f %12.3f\n", size, 1e6 * seconds, 1e-9 * (double)size / seconds);
    }
    double start = seconds_now();
    for (int k = 0; k < 100; k++)
        world_must(world_barrier(w));
    const double barrier = (seconds_now() - start) / 100;
    start = seconds_now();
    for (int k = 0; k < 100; k++)
        world_must(world_gather(w, bytes, 4096, all));
    if (world_rank(w) == 0)
        printf("%12s %12.2f\n%12s %12.2f\n", "barrier", 1e6 * barrier, "gather 4096",
               1e6 * (seconds_now() - start) / 100);
    free(bytes);
    free(all);
    return world_leave(w) == 0 ? 0 : 1;
}
