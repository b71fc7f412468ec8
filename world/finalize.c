/* finalize.c - coordinated termination of a job.
 *
 * Every rank reports its exit status, with a message if it is not 0, to rank 0. When all reports
 * are there with one status, rank 0 releases all ranks and the transport is finalized. When one
 * rank has failed and others send no report, because they compute or wait for the failed rank, rank
 * 0 reports the failure and aborts the job. A rank never finalizes MPI alone: that would let the
 * others hang.
 * SPDX-License-Identifier: MIT
 */
#include "world/internal.h"

#include "core/clock.h"
#include "world/drain_stdio.h"

#include <stdio.h>

static const double GRACE_SECONDS =
    1; /* from the first known failure to the abort: other ranks may report the same failure */
static const double GO_SECONDS = 8; /* a failed rank waits this long for rank 0 */

/* ---- Rank 0: reports of all ranks. ----------------------------------------------------------- */

/* Number of reports received; *failure is set if one of them is a failure. */
static int count_reports(stdcl_world *w, bool *failure)
{
    int n = 0;
    for (int r = 1; r < w->size; r++) {
        const bool here = request_done(w, w->report_requests[r]);
        n += here;
        *failure |= here && w->reports[r].status != 0;
    }
    return n;
}

/* Choose the error to report: a rank's own failure first, then a timeout on a silent rank, then
 * any. */
static const struct exit_report *choose_report(stdcl_world *w, const bool *here)
{
    for (int way = 0; way < 3; way++)
        for (int r = 0; r < w->size; r++) {
            const struct exit_report *n = &w->reports[r];
            if (here[r] && n->status &&
                (way == 2 || (way == 0 ? n->silent_peer < 0 && *n->sentence
                                       : n->silent_peer >= 0 && !here[n->silent_peer])))
                return n;
        }
    return NULL;
}

/* Report why the job ends. Return true if all ranks have reported the same status. */
static bool report_outcome(stdcl_world *w, bool own, int *status)
{
    bool *here = calloc((size_t)w->size, sizeof *here), all = own, alike = true;
    if (!here)
        return false;
    for (int r = 0; r < w->size; r++) {
        here[r] = r == 0 ? own : request_done(w, w->report_requests[r]);
        all = all && here[r] && w->reports[r].status == w->reports[0].status;
        alike = alike && here[r] && strcmp(w->reports[r].sentence, w->reports[0].sentence) == 0;
    }
    const struct exit_report *chosen = choose_report(w, here);
    *status = chosen ? chosen->status : 0;
    if (chosen && w->options.on_abort && *chosen->sentence) {
        struct exit_report told = *chosen;
        char text[SENTENCE_BYTES + HOST_BYTES + 32];
        told.unanimous |= all && alike;
        exit_report_print(w, &told, text, sizeof text);
        w->options.on_abort(w->options.arg, text);
    }
    if (*status &&
        all) /* launchers end the job, and discard output they have not read, as soon as one rank
                exits with a status other than 0; transport_abort drains by itself */
        drain_stdio();
    free(here);
    return all;
}

/* Abort the job after a failure, unless rank 0 is in world_leave or world_abort itself. */
void finalize_poll(stdcl_world *w)
{
    bool failure = false;
    int status = 0;
    for (int r = 1; w->report_requests && r < w->size && !failure;
         r++) { /* reads `done` only: this runs after requests were progressed */
        pthread_mutex_lock(&w->lock);
        failure = !w->ending && w->report_requests[r]->done && w->reports[r].status != 0;
        pthread_mutex_unlock(&w->lock);
    }
    if (!failure)
        return;
    const double since = seconds_now();
    bool ending = false;
    while (!ending && seconds_now() - since < GRACE_SECONDS) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        pthread_mutex_lock(&w->lock);
        ending = w->ending || w->leaving;
        pthread_mutex_unlock(&w->lock);
    }
    if (ending)
        return;
    pthread_mutex_lock(&w->lock);
    w->ending = true; /* no other thread reports the outcome from now on */
    pthread_mutex_unlock(&w->lock);
    report_outcome(w, false, &status);
    transport_abort(w, status);
}

int finalize_start(stdcl_world *w)
{
    if (w->rank != 0 || w->size == 1)
        return 0;
    w->reports = calloc((size_t)w->size, sizeof *w->reports);
    w->report_requests = calloc((size_t)w->size, sizeof *w->report_requests);
    if (!w->reports || !w->report_requests)
        return clerror_set(ENOMEM, "world_join: out of memory for %d ranks", w->size);
    for (int r = 1; r < w->size; r++)
        if (!(w->report_requests[r] =
                  request_post(w, false, r, TAG_REPORT, &w->reports[r], sizeof *w->reports, true)))
            return -1;
    return 0;
}

void finalize_free(stdcl_world *w)
{
    for (int r = 1; w->report_requests && r < w->size; r++)
        request_drop(w, w->report_requests[r]);
    free(w->report_requests);
    free(w->reports);
}

/* ---- The end. -------------------------------------------------------------------------------- */

static bool release_ranks(stdcl_world *w)
{
    char go = 1;
    for (int r = 1; r < w->size; r++)
        if (send_blocking(w, r, TAG_LEAVE, &go, 1) != 0)
            return false;
    return true;
}

static bool finalize_rank_0(stdcl_world *w, const struct exit_report *own)
{
    const double since = seconds_now();
    double failed = own->status ? since : 0;
    int status = 0;
    pthread_mutex_lock(&w->lock);
    w->ending = true;
    w->reports[0] = *own;
    pthread_mutex_unlock(&w->lock);
    for (bool failure = own->status != 0, broken; count_reports(w, &failure) < w->size - 1;) {
        const double now = seconds_now();
        request_failed_peer(w, &broken);
        if (failure && failed == 0)
            failed = now;
        if (broken || (failure && now - failed > GRACE_SECONDS) || now - since > w->timeout)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    if (report_outcome(w, true, &status) && release_ranks(w))
        return true;
    transport_abort(w, status ? status : 1);
    return false;
}

static bool finalize_other_rank(stdcl_world *w, struct exit_report *own)
{
    char go = 0;
    struct world_request *sent = request_post(w, true, 0, TAG_REPORT, own, sizeof *own, false);
    struct world_request *request =
        sent ? request_post(w, false, 0, TAG_LEAVE, &go, 1, false) : NULL;
    const int came =
        request ? request_wait_until(w, request, own->status ? GO_SECONDS : w->timeout) : -1;
    if (came == 0)
        request_wait_until(w, sent, w->timeout); /* the report has arrived */
    request_drop(w, request);
    request_drop(w, sent);
    if (came == 0)
        return true;
    if (came > 0)
        transport_abort(w, own->status ? own->status : 1);
    return false;
}

/* The transport failed, so no report arrives. MPI cannot be finalized then: abort. */
static bool finalize_broken(stdcl_world *w, const struct exit_report *own)
{
    int status = own->status;
    if (w->rank == 0) {
        pthread_mutex_lock(&w->lock);
        const bool judged = w->ending;
        w->ending = true;
        w->reports[0] = *own;
        pthread_mutex_unlock(&w->lock);
        if (!judged)
            report_outcome(w, true, &status);
    }
    transport_abort(w, status ? status : 1);
    return false;
}

bool finalize_finish(stdcl_world *w, int status, const char *sentence)
{
    bool broken;
    struct exit_report own = {
        .status = status, .rank = w->rank, .silent_peer = request_failed_peer(w, &broken)};
    snprintf(own.sentence, sizeof own.sentence, "%s", sentence ? sentence : "");
    if (w->size == 1)
        return true;
    if (broken)
        return finalize_broken(w, &own);
    return w->rank == 0 ? finalize_rank_0(w, &own) : finalize_other_rank(w, &own);
}
