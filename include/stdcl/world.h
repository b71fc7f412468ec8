/* stdcl/world.h - ranks of a distributed job: collectives, messages, and assignment of devices.
 *
 *   stdcl_world *w = world_join(NULL);     under mpirun or srun; else a world of one rank
 *   gas *g = gas_create(&(struct gas_options){.n = 1000000000, .world = w});
 *   gas_measure(g, &e);                    collective: called by every rank, equal bits on each
 *   gas_free(g);
 *   world_leave(w);
 *
 * A rank is a process of the job. Ranks communicate through MPI, which is a plugin
 * (stdcl/world-openmpi.so or world-mpich.so beside the library). The plugin is loaded only if a
 * launcher started several processes; otherwise MPI is not needed. A NULL world is allowed
 * everywhere: rank 0 of 1.
 *
 * Functions marked collective are called by every rank, in one order, and return when all ranks
 * have taken part. int functions return 0, or -1 with clerrno set and a message in clerror();
 * pointer functions return NULL likewise. Any thread may use a world; collective functions by one
 * thread at a time.
 *
 * A rank that waits for another rank longer than $STDCL_TIMEOUT seconds (600) fails with ETIMEDOUT
 * and a message that names the other rank. After ETIMEDOUT no receive writes to the caller's
 * memory. Sends over 16 KiB cannot be cancelled: keep their buffers until world_leave or
 * world_abort.
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
    /* Called in any thread, on the rank that reports a failure: rank 0, or a rank that cannot reach
     * rank 0. `message` says why and names rank and host, unless all ranks failed with one message.
     * The job is then aborted, and all ranks exit; if all ranks failed with one status, world_abort
     * returns instead. NULL: print "stdcl: message" on standard error. */
    void (*on_abort)(void *arg, const char *message);
    void *arg;
    uintptr_t reserved[8]; /* must be 0 */
};

/* Return the number of processes that the launcher started, and this process's rank, from the
 * launcher's environment variables (Open MPI, MPICH, Slurm, Flux); 1 without a launcher. `rank` may
 * be NULL. */
int world_launched(int *rank);

/* Collective. Join the job: start MPI if a launcher started several processes, else make a world
 * of one rank. `options` may be NULL. ENOENT: no plugin for the launcher's MPI. ENOTCONN: the
 * launcher belongs to another MPI, and each rank is alone. EPROTO: MPI failed. EINVAL: invalid
 * options, or ranks with different versions of stdcl. An error after the ranks are connected calls
 * `on_abort` and aborts the job, as world_abort does. If MPI has not started after $STDCL_TIMEOUT
 * seconds, `on_abort` is called and the process exits. After any other error let rank 0 print its
 * message before the other processes exit: a launcher may kill all processes after one exit. */
stdcl_world *world_join(const struct world_options *options);

/* Join the ranks of an MPI communicator, for programs that have started MPI (see world_from_mpi
 * below). `plugin`: "openmpi", "mpich" or the path of a plugin. `communicator`: its Fortran handle.
 * Otherwise as world_join. */
stdcl_world *world_from_plugin(const char *plugin, int communicator,
                               const struct world_options *options);

/* Collective. Wait for all ranks, finalize MPI if world_join started it, and free the world. NULL
 * is allowed. */
int world_leave(stdcl_world *world);

/* Not collective. Abort the job: this rank has failed, and all ranks exit with `status` within
 * seconds. Rank 0 reports `message`. If all ranks abort with one status, the call returns and the
 * world is freed as by world_leave; otherwise it does not return. Call it before freeing an engine
 * that failed, since messages of other ranks may still access the engine's memory. */
void world_abort(stdcl_world *world, int status, const char *message);

/* Return this process's rank, from 0; and the number of ranks. */
int world_rank(const stdcl_world *world);
int world_size(const stdcl_world *world);
/* Return the name of a rank's host, such as "node17". Owned by the world. */
const char *world_host(const stdcl_world *world, int rank);
/* Return the number of hosts; and the name and version of the MPI library, such as "Open MPI 4.1.4"
 * ("" in a world of one rank). Owned by the world. */
int world_hosts(const stdcl_world *world);
const char *world_transport(const stdcl_world *world);

/* ---- Collective operations, with equal results on every rank. -------------------------------- */

/* Block until every rank has called world_barrier. */
int world_barrier(stdcl_world *world);

/* Copy `size` bytes from rank `root` to all ranks. */
int world_broadcast(stdcl_world *world, int root, void *bytes, size_t size);

/* Gather each rank's mine[size] into all[rank][size], on every rank. */
int world_gather(stdcl_world *world, const void *mine, size_t size, void *all);

/* Reduce the ranks' values to one value, equal on all ranks. join(a, b, arg) combines a and b into
 * a, where b is from higher ranks. The order is fixed: a binary tree over neighbouring ranks. */
int world_reduce(stdcl_world *world, void *bytes, size_t size,
                 void (*join)(void *a, const void *b, void *arg), void *arg);

/* Add `count` 64-bit integers over all ranks, in place. */
int world_add(stdcl_world *world, uint64_t *numbers, size_t count);

/* Agree on a status: return 0 if `status` is 0 on all ranks, else -1 with the message of the lowest
 * rank that failed, "rank 3 on node17: ...", unless all ranks failed with one message. A rank that
 * passes -1 contributes its clerror(). */
int world_reduce_status(stdcl_world *world, int status);

/* Check that `text` equals rank 0's text. EINVAL: "rank 5 on node3 has WHAT 'x', rank 0 on node1
 * has 'y'". */
int world_check_equal(stdcl_world *world, const char *what, const char *text);

/* Assign devices to ranks: mine[i] becomes 1 if device ids[i] belongs to this rank, else 0. Ranks
 * on one host divide their visible devices without overlap, identified by UUID, PCI address or
 * name. Ranks that see different devices keep them. ENODEV: a host has more ranks than devices and
 * `share` is 0; with `share` several ranks use one device. */
int world_devices(stdcl_world *world, const cl_device_id *ids, size_t n, int share,
                  unsigned char *mine);

/* ---- Notification of all ranks, at any time. ------------------------------------------------- */

/* world_notify: notify all ranks of a number other than 0, such as a signal's, and return at once;
 * allowed in any thread and in signal handlers. world_notified: return the first number that this
 * rank sent or has received, after at most about 0.1 s; 0: none. Ranks receive the number at
 * different times, so they must still agree on when to act on it. */
void world_notify(stdcl_world *world, int number);
int world_notified(stdcl_world *world);

/* ---- From one rank to another. --------------------------------------------------------------- */

typedef struct world_request world_request;

/* Start to send or receive `size` bytes, of any size, and return at once. Keep the buffer until
 * world_wait. Messages between two ranks with one tag (0 to 9999) arrive in the order sent; sender
 * and receiver must pass equal sizes. Transfers progress in the background. NULL: ENOMEM, EINVAL,
 * or EPROTO from MPI. */
world_request *world_send(stdcl_world *world, int rank, int tag, const void *bytes, size_t size);
world_request *world_receive(stdcl_world *world, int rank, int tag, void *bytes, size_t size);

/* Return 1 if a request is complete, else 0; world_wait must still be called. NULL counts as
 * complete: world_send or world_receive reported the error. */
int world_test(stdcl_world *world, const world_request *request);

/* Block until n requests are complete, and free them. A NULL request is an error that was reported
 * before. ETIMEDOUT: see above; EPROTO. */
int world_wait(stdcl_world *world, world_request *const *requests, size_t n);

/* Return the seconds that this rank has waited for messages to or from `rank`, in world_wait and in
 * collective functions. */
double world_wait_time(stdcl_world *world, int rank);

#ifdef __cplusplus
}
#endif

/* For programs that include <mpi.h> first: make a world of the ranks of a communicator, which is
 * duplicated. world_leave leaves MPI running. Transfers progress in the background if MPI provides
 * MPI_THREAD_MULTIPLE, else inside waiting calls. */
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
