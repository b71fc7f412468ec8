/* internal.h - the world's state and the calls between its files.
 *
 *   request.c    nonblocking point-to-point requests, and the thread that progresses them
 *   collect.c    collectives on a binomial tree, built on requests
 *   finalize.c   coordinated termination: every rank reports its exit status to rank 0
 *   notify.c     one-to-all notification at any time (signals)
 *   about.c      queries
 *   world.c      creating and destroying a world
 *   threads.c    transport between threads of one process; also the world of one rank (threads.h)
 *   launch.c     launcher detection and the MPI plugin; world_mpi.c is that plugin
 *   devices.c    which rank of a host uses which device
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_WORLD_INTERNAL_H
#define STDCL_WORLD_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "stdcl/world.h"
#include "world/transport.h"

/* Tags of the world itself start above the range of callers. */
enum { TAG_CALLERS = 10000, TAG_COLLECTIVE = TAG_CALLERS, TAG_REPORT, TAG_LEAVE, TAG_NOTIFY };

enum { HOST_BYTES = 64, SENTENCE_BYTES = 1000 };

struct world_request {
    struct world_request *next;
    int rank, tag;
    bool sends, low_priority;  /* low_priority: polled rarely, as nobody waits for it */
    bool detached;             /* no owner: freed when it completes */
    char *bytes;               /* the caller's buffer, or a copy after request[] */
    size_t size, pieces, done; /* done: number of completed pieces */
    struct transport_request request[];
};

/* The exit status of a rank with its error message, or a failure that the rank knows of. */
struct exit_report {
    int32_t status, rank;
    int32_t silent_peer; /* rank of the timeout or failed transfer, or -1 */
    int32_t unanimous;   /* after a reduction: all ranks failed with this message */
    char sentence[SENTENCE_BYTES];
};

struct stdcl_world {
    const struct transport *transport;
    void *state;
    int rank, size, hosts;
    bool background; /* a thread progresses requests */
    char transport_name[TRANSPORT_WHY];
    char (*host)[HOST_BYTES];
    double timeout; /* seconds that a rank waits for another */
    struct world_options options;

    pthread_mutex_t lock;   /* guards all members below and every call of the transport */
    pthread_cond_t changed; /* a request was posted, or the world is being left */
    pthread_t progress_thread;
    bool has_progress_thread, leaving;
    struct world_request *in_flight; /* list of incomplete requests */
    struct world_request
        *detached;              /* cancelled requests; the transport may still use their buffers */
    unsigned urgent;            /* number of requests in flight without low_priority */
    size_t bulk_bytes;          /* bytes of large requests in flight */
    double bulk_posted;         /* time when the last large request was posted */
    int waiting;                /* threads in a wait; they progress all requests */
    atomic_int callers;         /* threads waiting for the lock, progress thread excluded */
    double *wait_time;          /* seconds spent waiting for each rank */
    char broken[TRANSPORT_WHY]; /* why the transport failed; "" while it works */
    int silent_peer; /* rank of the timeout, or of the request that broke the transport; -1: none */

    struct world_request **report_requests; /* rank 0: receives for the other ranks' reports */
    struct exit_report *reports;
    bool *reported;            /* true for a rank with a report; set by report_outcome */
    bool ending;               /* rank 0: a thread has claimed the end of the job */
    bool aborted;              /* the transport's `end` has returned */
    double low_priority_due;   /* time of the next poll of low-priority requests */
    bool low_priority_arrived; /* one completed: the progress thread calls `poll` */

    atomic_int notified; /* first number sent or received; 0: none */
    bool forwarded;
    struct neighbour *neighbour; /* neighbours in the binomial tree */
    int neighbours;

    void (*poll)(stdcl_world *world); /* called without the lock after requests were progressed;
                                         NULL during world_make */
};

/* ---- request.c ------------------------------------------------------------------------------- */

/* Post a request with any tag; otherwise as world_send and world_receive. */
struct world_request *request_post(stdcl_world *w, bool sends, int rank, int tag, void *bytes,
                                   size_t size, bool low_priority);
/* Wait up to `seconds`: 0 complete, 1 incomplete, -1 the transport failed. Does not free the
 * request. */
int request_wait_until(stdcl_world *w, const struct world_request *request, double seconds);
/* Free a request. An incomplete receive is cancelled and writes nothing later; an incomplete small
 * send continues from its copy. */
void request_drop(stdcl_world *w, struct world_request *request);
/* Cancel all requests in flight; free the cancelled ones that the transport kept, after it was
 * left. */
void request_drop_all(stdcl_world *w);
void request_free_detached(struct world_request *detached);
bool request_done(stdcl_world *w, const struct world_request *request);
/* Return the rank of the timeout, or of the request that broke the transport; -1: none. *broken:
 * set to whether the transport failed. */
int request_failed_peer(stdcl_world *w, bool *broken);
/* Post a request and wait for it; -1 as world_wait. */
int send_blocking(stdcl_world *w, int rank, int tag, const void *bytes, size_t size);
int receive_blocking(stdcl_world *w, int rank, int tag, void *bytes, size_t size);
/* Set clerror() to the transport's failure, and return -1. */
int fail_broken_transport(const stdcl_world *w);
/* Set clerror() to a timeout: `rank` was silent for `seconds`. `what`: "" or the missing action,
 * " to leave". Return -1. */
int fail_timed_out(const stdcl_world *w, int rank, double seconds, const char *what);
/* Terminate all ranks at once. Call it after the reason was passed to options.on_abort. */
void transport_abort(stdcl_world *w, int status);
/* Start and stop the progress thread. */
int progress_thread_start(stdcl_world *w);
void progress_thread_stop(stdcl_world *w);

/* ---- collect.c ------------------------------------------------------------------------------- */

/* Write a report's message, with rank and host unless it names a rank itself or all ranks failed
 * with the same message. */
void exit_report_print(const stdcl_world *w, const struct exit_report *note, char *text,
                       size_t size);

/* ---- finalize.c ------------------------------------------------------------------------------ */

int finalize_start(stdcl_world *w);
/* Report this rank's exit status and wait for all ranks. Return true if all have the same status,
 * so that the transport may be left; false if the job was aborted. */
bool finalize_finish(stdcl_world *w, int status, const char *sentence);
/* Abort the job: this rank has joined, but has no complete world. Keeps clerror(). */
void finalize_unmade(stdcl_world *w);
/* Abort the job if a rank has failed. Call without the lock. */
void finalize_poll(stdcl_world *w);
void finalize_free(stdcl_world *w);

/* ---- notify.c -------------------------------------------------------------------------------- */

int notify_start(stdcl_world *w);
/* Forward a received number. Call without the lock. */
void notify_poll(stdcl_world *w);
/* Collective; call after the progress thread has stopped. */
void notify_finish(stdcl_world *w);
void notify_free(stdcl_world *w);

/* ---- world.c --------------------------------------------------------------------------------- */

/* Read $STDCL_TIMEOUT into *seconds. If it is not a positive number, set the default and return -1
 * after clerror_set. */
int timeout_read(double *seconds);

/* Return the caller's options, which may be NULL, with a function for on_abort. */
struct world_options options_with_defaults(const struct world_options *options);

/* Collective. Create a world on a transport that has joined. `host` NULL: this machine's name.
 * Takes over `state`, also on failure. */
stdcl_world *world_make(const struct transport *by, void *state, int rank, int size,
                        bool background, const char *transport_name, const char *host,
                        const struct world_options *options);

#endif
