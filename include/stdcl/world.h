/* stdcl/world.h - one job on many machines: ranks, what they say to each other, and which devices
 * each has.
 *
 *   stdcl_world *w = world_join(NULL);          under mpirun or srun; alone it is a world of one
 *   gas *g = gas_create(&(struct gas_options){.n = 1000000000, .world = w});
 *   gas_measure(g, &e);                         collective: every rank calls it, and each gets the
 *                                               same bits
 *   gas_free(g);
 *   world_leave(w);
 *
 * A rank is a process of the job. Ranks talk through MPI, which is a plugin, stdcl/world-openmpi.so
 * or world-mpich.so beside the library, opened only when a launcher started several processes:
 * without it nothing here needs or knows MPI. A NULL world means alone, everywhere: rank 0 of 1.
 *
 * Functions called collective are called by every rank, in the same order, and return on each when
 * the others have done their part. int functions return 0, or -1 with clerrno set and a sentence in
 * clerror(); pointers NULL likewise. A rank that waits for another longer than $STDCL_TIMEOUT
 * seconds (600) gives up with ETIMEDOUT, and names it. Nothing comes into its memory later; but MPI
 * takes nothing back that was to be sent: of over 16 KiB it may read the bytes until the world is
 * left or ended. A world is used by any thread; collective functions by one at a time.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_WORLD_H
#define STDCL_WORLD_H

#include <stddef.h>
#include <stdint.h>
#include <stdcl.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct stdcl_world stdcl_world;

/* ---- Joined and left. ------------------------------------------------------------------------ */

struct world_options {
    /* Told, on rank 0 and in any thread, why the job ends because a rank failed (world_abort): a
     * sentence that names rank and host unless all failed alike. All ranks end then. May be
     * NULL. */
    void (*ended)(void *arg, const char *sentence);
    void *arg;
    uintptr_t reserved[8]; /* must be 0 */
};

/* How many processes the launcher started, and which of them this is, by its environment variables
 * (Open MPI, MPICH, Slurm, Flux); 1: none did. `rank` may be NULL. */
int world_launched(int *rank);

/* Collective. Starts MPI if a launcher started several processes, else makes a world of one.
 * `options` may be NULL. ENOENT: there is no plugin for the launcher's MPI; EPROTO: the launcher is
 * another MPI's, or MPI fails; EINVAL: also where ranks are of different versions of stdcl, of
 * which `ended` is told. Who ends the process then lets rank 0 speak first: a launcher may end all
 * processes when one has ended. */
stdcl_world *world_join(const struct world_options *options);

/* The same among the ranks of a communicator of a program that has started MPI itself: see
 * world_from_mpi below. `plugin`: "openmpi", "mpich" or the path of one; `communicator`: its handle
 * in Fortran. */
stdcl_world *world_from_plugin(const char *plugin, int communicator,
                               const struct world_options *options);

/* Collective: waits for all ranks, then ends MPI if world_join started it, and frees the world.
 * NULL is fine. */
int world_leave(stdcl_world *world);

/* Not collective: this rank has failed, and all ranks end with `status`, within seconds. Rank 0
 * tells the sentence. When all ranks end in this way, with one status, the call returns and the
 * world is freed as by world_leave; else it does not return. It comes before an engine that failed
 * is freed, since mail of other ranks may be under way to and from its memory. */
void world_abort(stdcl_world *world, int status, const char *sentence);

/* Which rank this process is, from 0, and how many there are. */
int world_rank(const stdcl_world *world);
int world_size(const stdcl_world *world);
/* The name of a rank's host, "node17"; owned by the world. */
const char *world_host(const stdcl_world *world, int rank);
/* How many hosts there are, and what carries the messages: "Open MPI 4.1.4"; "" alone. Owned by the
 * world. */
int world_hosts(const stdcl_world *world);
const char *world_transport(const stdcl_world *world);

/* ---- Collective, and the same on every rank. ------------------------------------------------- */

/* Returns when all have called it. */
int world_barrier(stdcl_world *world);

/* Copies bytes of rank `root` to all. */
int world_broadcast(stdcl_world *world, int root, void *bytes, size_t size);

/* all[rank][size]: what each rank had in mine[size], on every rank. */
int world_gather(stdcl_world *world, const void *mine, size_t size, void *all);

/* Joins what ranks have into one, the same on all: join(a, b, arg) puts the join of a and b into a,
 * and b stands for higher ranks. The order is fixed: neighbours are joined first, then pairs of
 * them, and so on. */
int world_reduce(stdcl_world *world, void *bytes, size_t size,
                 void (*join)(void *a, const void *b, void *arg), void *arg);

/* Adds up integers of 64 bits. */
int world_add(stdcl_world *world, uint64_t *numbers, size_t count);

/* Tells all whether one failed: 0 where `status` is 0 on all ranks, else -1, with the sentence of
 * the lowest rank that failed, "rank 3 on node17: ..." unless all failed alike. `status` -1 goes
 * with the sentence that clerror() has here. */
int world_reduce_status(stdcl_world *world, int status);

/* EINVAL where a text is not rank 0's: "rank 5 on node3 has WHAT 'x', rank 0 on node1 has 'y'". */
int world_check_equal(stdcl_world *world, const char *what, const char *text);

/* Which of n devices that this rank sees are its own: mine[i] becomes 1 or 0. Ranks on one host
 * divide what they see without overlap, by UUID, PCI address or name; those that see different ones
 * keep them. ENODEV: a host has more ranks than devices, and `share` is 0; with `share` ranks then
 * take turns on a device. */
int world_devices(stdcl_world *world, const cl_device_id *ids, size_t n, int share,
                  unsigned char *mine);

/* ---- To all, at any time. -------------------------------------------------------------------- */

/* Tells all ranks a number other than 0, such as that of a signal, and returns at once: any thread
 * may call it, and a handler of signals. world_notified: the first number that this rank has told
 * or was told so far, within some 0.1 s; 0: none yet. Ranks hear it at different times, so what
 * they do then they still agree on. */
void world_notify(stdcl_world *world, int number);
int world_notified(stdcl_world *world);

/* ---- From one rank to another. --------------------------------------------------------------- */

typedef struct world_request world_request;

/* Start to send or to receive `size` bytes, of any size, and return at once; the bytes must stay
 * until the mail is waited for. Mail between two ranks with one tag (0 to 9999) arrives in the
 * order in which it was sent, and both sides give the same size. Mail moves in the background while
 * the program does other things. NULL: ENOMEM, EINVAL, or EPROTO from MPI. */
world_request *world_send(stdcl_world *world, int rank, int tag, const void *bytes, size_t size);
world_request *world_receive(stdcl_world *world, int rank, int tag, void *bytes, size_t size);

/* 1 when a mail is done, else 0; world_wait still is to be called. NULL is done: world_send or
 * world_receive told the error. */
int world_test(stdcl_world *world, const world_request *mail);

/* Waits for n mails and frees them; NULL among them is an error that was reported before.
 * ETIMEDOUT: see above; EPROTO. */
int world_wait(stdcl_world *world, world_request *const *mails, size_t n);

/* Seconds that this rank has waited for mail of or to another, by world_wait and in collective
 * functions. */
double world_wait_time(stdcl_world *world, int rank);

#ifdef __cplusplus
}
#endif

/* For programs that include <mpi.h> before this: a world of the ranks of a communicator, which is
 * duplicated. world_leave leaves MPI running. Mail moves in the background if MPI has
 * MPI_THREAD_MULTIPLE, else while one waits. */
#ifdef MPI_VERSION
#if defined(OPEN_MPI)
#define WORLD_MPI_PLUGIN "openmpi"
#elif defined(MPICH_VERSION)
#define WORLD_MPI_PLUGIN "mpich"
#else
#define WORLD_MPI_PLUGIN "site"
#endif
static inline stdcl_world *world_from_mpi(MPI_Comm communicator)
{
    return world_from_plugin(WORLD_MPI_PLUGIN, (int)MPI_Comm_c2f(communicator), NULL);
}
#endif

#endif
