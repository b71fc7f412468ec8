/* ranks.c - a command under mpirun or srun: its ranks give one report, one error message and one
 * exit status.
 *
 * main joins the world before a command parses its options and leaves it afterwards. In between
 * only rank 0 prints; the first failure of any other rank reaches rank 0 through world_abort.
 * Without a launcher nothing here runs.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "interrupt.h"
#include "alloc.h"
#include "message.h"
#include "progress.h"
#include "ranks.h"
#include "text.h"

#include "core/outfile.h"
#include "world/drain_stdio.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool devices_shared, explains;

int cli_ranks_here(void)
{
    int here = 0;
    for (int rank = 0; cli_world && rank < world_size(cli_world); rank++)
        here +=
            strcmp(world_host(cli_world, rank), world_host(cli_world, world_rank(cli_world))) == 0;
    return here ? here : 1;
}

bool cli_ranks_share(void)
{
    return devices_shared;
}

enum { REFUSED_SECONDS = 4 }; /* time for rank 0 to print and abort */

/* Ask MPICH's mpiexec to abort all processes: it ignores a process that exits before joining,
 * while the others wait for that process. */
static void end_launched(void)
{
    const char *launcher = getenv("PMI_FD");
    if (!launcher)
        return;
    drain_stdio();
    dprintf(atoi(launcher), "cmd=abort exitcode=%d\n", CLI_FAILED);
}

/* Report that joining failed. Rank 0 prints and aborts all. The others wait, because rank 0's
 * message may be lost if one of them exits first. A rank that still runs after the wait may be the
 * only one that failed: it reports itself. */
static int ranks_refused(void)
{
    int rank;
    char host[64] = "";
    const int launched = world_launched(&rank);
    if (clerrno == EINVAL) /* version mismatch, reported by world_join */
        return CLI_FAILED;
    const char *why = cli_reason();
    gethostname(host, sizeof host - 1);
    if (rank > 0)
        sleep(REFUSED_SECONDS);
    if (rank == 0)
        cli_failed("%s; for %d separate runs, add --alone", why, launched);
    else
        cli_failed("rank %d on %s: %s; for %d separate runs, add --alone", rank, host, why,
                   launched);
    end_launched();
    return CLI_FAILED;
}

/* Callback of world_abort, in any thread: stdio locks itself, and only rank 0 draws a progress
 * line. */
static void ranks_aborted(void *arg, const char *sentence)
{
    (void)arg;
    outfile_unlink_all();
    cli_message_print(sentence);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* STDCL_ variables of the environment, sorted, except STDCL_MPI, which may differ. */
static void own_variables(char *text, size_t size)
{
    extern char **environ;
    char *found[64];
    size_t n = 0;
    for (char **v = environ; *v && n < 64; v++)
        if (strncmp(*v, "STDCL_", 6) == 0 && strncmp(*v, "STDCL_MPI=", 10) != 0)
            found[n++] = *v;
    qsort(found, n, sizeof *found, by_text);
    for (size_t i = 0; i < n; i++)
        cli_text_append(text, size, "%s%s", i ? " " : "", found[i]);
}

static int compare_command_lines(int argc, char **argv)
{
    char words[8192] = "", variables[8192] = "";
    for (int i = 0; i < argc; i++)
        cli_text_append(words, sizeof words, "%s%s", i ? " " : "", argv[i]);
    own_variables(variables, sizeof variables);
    if (world_check_equal(cli_world, "the options", words) != 0 ||
        world_check_equal(cli_world, "in its environment", variables) != 0)
        return cli_failed_call(NULL);
    return CLI_DONE;
}

static bool among(int argc, char **argv, const char *word)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], word) == 0)
            return true;
    return false;
}

int cli_ranks_join(int argc, char **argv)
{
    if (world_launched(NULL) == 1 || among(argc, argv, "--alone"))
        return CLI_DONE;
    stdcl_world *w = world_join(&(struct world_options){.on_abort = ranks_aborted});
    if (!w)
        return ranks_refused();
    devices_shared = among(argc, argv, "--share");
    explains = among(argc, argv, "--explain");
    cli_world = w;
    cli_message_keep(world_rank(w) == 0);
    if (world_rank(w) > 0) {
        outfile_nowhere();
        if (!freopen("/dev/null", "w", stdout))
            return cli_failed("cannot open /dev/null");
    }
    return compare_command_lines(argc, argv);
}

/* Time that a rank has waited: in total, and most for rank `whom`. */
struct waits {
    double all, most;
    int32_t rank, whom;
};

static int by_all(const void *a, const void *b)
{
    const double x = ((const struct waits *)a)->all, y = ((const struct waits *)b)->all;
    return x < y ? -1 : x > y;
}

/* Collective. Print the waiting times: a rank that waits little is one that the others wait for. */
static void explain_waits(stdcl_world *w)
{
    const int ranks = world_size(w);
    struct waits own = {.rank = world_rank(w)}, *each = cli_alloc((size_t)ranks, sizeof *each);
    for (int r = 0; r < ranks; r++) {
        const double seconds = world_wait_time(w, r);
        own.all += seconds;
        if (seconds > own.most) {
            own.most = seconds;
            own.whom = r;
        }
    }
    if (world_gather(w, &own, sizeof own, each) == 0 && own.rank == 0) {
        qsort(each, (size_t)ranks, sizeof *each, by_all);
        const struct waits *least = each, *most = each + ranks - 1;
        cli_line_wipe();
        fprintf(
            stderr,
            "ranks waited %.3g s (rank %d on %s) to %.3g s (rank %d on %s), half of them at most %.3g s; rank %d mostly for rank %d on %s, %.3g s\n",
            least->all, (int)least->rank, world_host(w, least->rank), most->all, (int)most->rank,
            world_host(w, most->rank), each[(ranks - 1) / 2].all, (int)most->rank, (int)most->whom,
            world_host(w, most->whom), most->most);
    }
    free(each);
}

int cli_ranks_end(int status)
{
    stdcl_world *w = cli_world;
    if (!w)
        return status;
    if (status == CLI_DONE && explains && world_size(w) > 1)
        explain_waits(w);
    cli_world = NULL;
    if (status != CLI_DONE)
        world_abort(w, status, cli_message_kept());
    else if (world_leave(w) != 0)
        status = CLI_FAILED;
    return status;
}

void cli_ranks_fail(int status)
{
    if (status != CLI_FAILED || !cli_world || world_size(cli_world) == 1)
        return;
    status = cli_ranks_end(status);
    fflush(NULL);
    _exit(status);
}

int cli_ranks_same_file(const char *file)
{
    char what[600], print[64] = "no such file";
    if (world_size(cli_world) == 1 || !file)
        return CLI_DONE;
    struct stat info;
    if (strcmp(file, "-") == 0)
        return cli_wrong(
            "only one rank can read standard input; give a file that all ranks can read");
    const bool pipe = stat(file, &info) == 0 && S_ISFIFO(info.st_mode);
    FILE *fp = pipe ? NULL : fopen(file, "rb"); /* opening a pipe would block */
    if (pipe)
        strcpy(print, "a pipe");
    if (fp) {
        uint64_t hash = 14695981039346656037u; /* FNV-1a */
        for (int c, n = 0; n < 65536 && (c = getc(fp)) != EOF; n++)
            hash = (hash ^ (uint64_t)c) * 1099511628211u;
        fseek(fp, 0, SEEK_END);
        snprintf(print, sizeof print, "%ld bytes, hash %016llx", ftell(fp),
                 (unsigned long long)hash);
        fclose(fp);
    }
    snprintf(what, sizeof what, "as %.500s", file);
    if (world_check_equal(cli_world, what, print) != 0)
        return cli_failed_call(NULL);
    return pipe ? cli_wrong("only one rank can read the pipe '%s'; give a file that all ranks can "
                            "read",
                            file)
                : CLI_DONE;
}

static void join_greatest(void *a, const void *b, void *arg)
{
    (void)arg;
    *(int *)a = *(const int *)b > *(int *)a ? *(const int *)b : *(int *)a;
}

bool cli_ranks_interrupted(bool failed)
{
    int caught = cli_interrupted() ? cli_interrupt_status(128) - 128 : 0;
    if (failed || world_reduce(cli_world, &caught, sizeof caught, join_greatest, NULL) != 0)
        return cli_interrupted();
    if (caught)
        cli_interrupt_set(caught);
    return caught != 0; /* not this rank's own state, which other ranks may not know */
}

char *cli_ranks_gather(const char *text)
{
    uint64_t longest = strlen(text) + 1;
    const size_t ranks = (size_t)world_size(cli_world);
    uint64_t *length = cli_alloc(ranks, sizeof *length);
    char *all = NULL;
    if (world_gather(cli_world, &longest, sizeof longest, length) == 0) {
        for (size_t r = 0; r < ranks; r++)
            longest = length[r] > longest ? length[r] : longest;
        char *mine = cli_alloc((size_t)longest, 1);
        all = cli_alloc(ranks * (size_t)longest + 1, 1);
        memset(mine, 0, (size_t)longest);
        memcpy(mine, text, strlen(text));
        if (world_gather(cli_world, mine, (size_t)longest, all) != 0) {
            free(all);
            all = NULL;
        }
        char *end = all;
        for (size_t r = 0; all && r < ranks; r++) { /* close the gaps */
            const size_t size = strlen(all + r * (size_t)longest) + 1;
            memmove(end, all + r * (size_t)longest, size);
            end += size;
        }
        free(mine);
    }
    free(length);
    return all;
}

/* Print the first of the failures that the ranks kept. */
static void print_one_failure(const char *all)
{
    char text[1024] = "";
    int rank = 0;
    for (; rank < world_size(cli_world) - 1 && !*all; rank++)
        all += strlen(all) + 1;
    cli_text_append(text, sizeof text, "rank %d on %s: %s", rank, world_host(cli_world, rank), all);
    if (*all)
        cli_message_print(text);
}

int cli_ranks_file_status(int status)
{
    if (world_reduce_status(cli_world, status == CLI_DONE ? 0 : -1) == 0)
        return CLI_DONE;
    cli_message_release();
    char *all = world_size(cli_world) > 1 ? cli_ranks_gather(cli_message_kept()) : NULL;
    if (all && cli_ranks_first() && status == CLI_DONE)
        print_one_failure(all);
    if (all)
        cli_message_forget();
    free(all);
    return status == CLI_DONE ? CLI_FAILED : status;
}
