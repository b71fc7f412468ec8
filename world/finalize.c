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

#include <signal.h>
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
static const struct exit_report *choose_report(const stdcl_world *w)
{
    const bool *here = w->reported;
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

struct outcome {
    bool all;     /* all ranks have reported, with one status */
    bool printed; /* the reason of a failure */
    int status;
};

/* Pass a reason to the caller. If another rank ends the job, it has already given its reason. */
static void print_reason(const stdcl_world *w, const char *sentence)
{
    if (strcmp(w->broken, TRANSPORT_ENDED) != 0)
        w->options.on_abort(w->options.arg, sentence);
}

static void print_report(const stdcl_world *w, struct exit_report report)
{
    char text[SENTENCE_BYTES + HOST_BYTES + 32];
    const bool by_signal = report.status > 128 && report.status < 128 + NSIG;
    if (!*report.sentence)
        snprintf(report.sentence, sizeof report.sentence,
                 by_signal ? "ended by signal %d" : "ended with status %d, without a message",
                 (int)report.status - (by_signal ? 128 : 0));
    exit_report_print(w, &report, text, sizeof text);
    print_reason(w, text);
}

/* Report why the job ends, if a rank has failed; if only reports are missing, set clerror(). */
static struct outcome report_outcome(stdcl_world *w, bool own)
{
    bool *here = w->reported, alike = true;
    struct outcome o = {.all = own};
    int silent = 0; /* first other rank without a report; 0: none */
    for (int r = 0; r < w->size; r++) {
        here[r] = r == 0 ? own : request_done(w, w->report_requests[r]);
        if (!here[r] && !silent)
            silent = r;
        o.all = o.all && here[r] && w->reports[r].status == w->reports[0].status;
        alike = alike && here[r] && strcmp(w->reports[r].sentence, w->reports[0].sentence) == 0;
    }
    const struct exit_report *chosen = choose_report(w);
    if (!chosen && silent && *w->broken)
        fail_broken_transport(w);
    else if (!chosen && silent)
        fail_timed_out(w, silent, w->timeout, " to leave");
    if (!chosen)
        return o;
    struct exit_report report = *chosen;
    report.unanimous |= o.all && alike;
    o.status = report.status;
    o.printed = *report.sentence || !o.all; /* one status of all may be a signal's: no message */
    if (o.printed)
        print_report(w, report);
    if (o.all) /* launchers end the job, and discard output they have not read, as soon as one rank
                  exits with a status other than 0; transport_abort drains by itself */
        drain_stdio();
    return o;
}

/* Abort the job: the only caller of transport_abort. Print clerror() unless a reason is printed. */
static void job_abort(stdcl_world *w, bool printed, int status)
{
    const char *why = printed ? NULL : clerror();
    if (why)
        print_reason(w, why);
    transport_abort(w, status ? status : 1);
}

/* True for the first thread of rank 0 that ends the job. It alone reports the outcome. */
static bool claim_ending(stdcl_world *w)
{
    pthread_mutex_lock(&w->lock);
    const bool first = !w->ending;
    w->ending = true;
    pthread_mutex_unlock(&w->lock);
    return first;
}

/* Wait until the thread that has claimed the ending has aborted the job. Return false. MPI_Abort
 * exits the process, so only ranks that are threads return. */
static bool wait_for_abort(stdcl_world *w)
{
    for (bool over = false; !over;) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        pthread_mutex_lock(&w->lock);
        over = w->aborted;
        pthread_mutex_unlock(&w->lock);
    }
    return false;
}

/* Abort the job after a failure, unless rank 0 is in world_leave or world_abort itself. */
void finalize_poll(stdcl_world *w)
{
    bool failure = false;
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
    if (ending || !claim_ending(w))
        return;
    const struct outcome o = report_outcome(w, false);
    job_abort(w, o.printed, o.status);
}

int finalize_start(stdcl_world *w)
{
    if (w->rank != 0 || w->size == 1)
        return 0;
    w->reports = calloc((size_t)w->size, sizeof *w->reports);
    w->report_requests = calloc((size_t)w->size, sizeof *w->report_requests);
    w->reported = calloc((size_t)w->size, sizeof *w->reported);
    if (!w->reports || !w->report_requests || !w->reported)
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
    free(w->reported);
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
    for (bool failure = own->status != 0, broken; count_reports(w, &failure) < w->size - 1;) {
        const double now = seconds_now();
        request_failed_peer(w, &broken);
        if (failure && failed == 0)
            failed = now;
        if (broken || (failure && now - failed > GRACE_SECONDS) || now - since > w->timeout)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    const struct outcome o = report_outcome(w, true);
    if (o.all && release_ranks(w))
        return true;
    job_abort(w, o.printed, o.status);
    return false;
}

/* The transport failed, so no report arrives. MPI cannot be finalized then: abort. Another rank may
 * know more: let it end the job first. */
static bool finalize_broken(stdcl_world *w, const struct exit_report *own)
{
    struct outcome o = {.status = own->status};
    fail_broken_transport(w);
    if (w->rank == 0)
        o = report_outcome(w, true);
    else {
        if (strcmp(w->broken, TRANSPORT_ENDED) != 0)
            nanosleep(&(struct timespec){.tv_sec = (time_t)GRACE_SECONDS}, NULL);
        if ((o.printed = own->status != 0))
            print_report(w, *own);
    }
    job_abort(w, o.printed, o.status);
    return false;
}

/* Rank 0 is silent, or this rank is out of memory: abort in place of rank 0. */
static bool finalize_alone(stdcl_world *w, const struct exit_report *own)
{
    if (*w->broken)
        return finalize_broken(w, own);
    if (own->status)
        print_report(w, *own);
    job_abort(w, own->status != 0, own->status);
    return false;
}

static bool finalize_other_rank(stdcl_world *w, struct exit_report *own)
{
    char go = 0;
    const double most = own->status ? GO_SECONDS : w->timeout;
    struct world_request *sent = request_post(w, true, 0, TAG_REPORT, own, sizeof *own, false);
    struct world_request *request =
        sent ? request_post(w, false, 0, TAG_LEAVE, &go, 1, false) : NULL;
    const int came = request ? request_wait_until(w, request, most) : -1;
    if (came == 0)
        request_wait_until(w, sent, w->timeout); /* the report has arrived */
    request_drop(w, request);
    request_drop(w, sent);
    if (came > 0)
        fail_timed_out(w, 0, most, " to leave");
    else if (came < 0)
        clerror_set(ENOMEM, "rank %d on %s has no memory for the messages with which it leaves",
                    w->rank, world_host(w, w->rank));
    return came == 0 || finalize_alone(w, own);
}

void finalize_unmade(stdcl_world *w)
{
    struct exit_report own = {.status = 1, .rank = w->rank};
    const int code = clerrno;
    const char *why = clerror();
    snprintf(own.sentence, sizeof own.sentence, "%s", why ? why : "");
    print_report(w, own);
    job_abort(w, true, own.status);
    clerror_set(code, "%s", own.sentence);
}

bool finalize_finish(stdcl_world *w, int status, const char *sentence)
{
    bool broken;
    struct exit_report own = {
        .status = status, .rank = w->rank, .silent_peer = request_failed_peer(w, &broken)};
    snprintf(own.sentence, sizeof own.sentence, "%s", sentence ? sentence : "");
    if (w->size == 1)
        return true;
    if (w->rank == 0 && !claim_ending(w))
        return wait_for_abort(w);
    if (w->rank == 0)
        w->reports[0] = own;
    if (broken)
        return finalize_broken(w, &own);
    return w->rank == 0 ? finalize_rank_0(w, &own) : finalize_other_rank(w, &own);
}
