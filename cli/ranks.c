/* ranks.c - a command under mpirun or srun: one report, one sentence, one exit status of all its
 * ranks.
 *
 * main joins the world before a command reads its options, and ends it after. In between rank 0
 * alone prints; what others have to say against a job goes to rank 0 with their last word. Without
 * a launcher nothing of this happens.
 * SPDX-License-Identifier: MIT
 */
#include "cli.h"

#include "core/outfile.h"
#include "world/drain_stdio.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <unistd.h>

static bool shares, explains;

bool cli_ranks_share(void)
{
    return shares;
}

enum { REFUSED_SECONDS = 4 }; /* in which the first process speaks and ends */

/* MPICH's mpiexec takes no notice of a process that ends before it has joined, while others wait
 * for it: this asks for the end of all. */
static void end_launched(void)
{
    const char *launcher = getenv("PMI_FD");
    if (!launcher)
        return;
    drain_stdio();
    dprintf(atoi(launcher), "cmd=abort exitcode=%d\n", CLI_FAILED);
}

/* Said where no other rank is known: by the process that the launcher counts first, which then ends
 * all. Would another end before, it might not be heard. Who has no plugin and is still there after
 * some seconds says so, for it may be the only one. */
static int refused(void)
{
    int rank;
    char host[64] = "";
    const int launched = world_launched(&rank);
    if (clerrno == EINVAL) /* another version, which world_join has told */
        return CLI_FAILED;
    const bool no_plugin = clerrno == ENOENT;
    const char *why = cli_reason();
    gethostname(host, sizeof host - 1);
    if (rank > 0)
        sleep(REFUSED_SECONDS);
    if (rank == 0)
        cli_failed("%s; for %d separate runs, add --alone", why, launched);
    else if (no_plugin)
        cli_failed("rank %d on %s: %s; for %d separate runs, add --alone", rank, host, why,
                   launched);
    end_launched();
    return CLI_FAILED;
}

/* In any thread: stdio has locks of its own, and the line of progress is rank 0's. */
static void ended(void *arg, const char *sentence)
{
    (void)arg;
    outfile_unlink_all();
    cli_message_print(sentence);
}

static void add(char *text, size_t size, const char *word)
{
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used ? " " : "", word);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Our variables in the environment, but for those that may differ. */
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
        add(text, size, found[i]);
}

static int compare(int argc, char **argv)
{
    char words[8192] = "", variables[8192] = "";
    for (int i = 0; i < argc; i++)
        add(words, sizeof words, argv[i]);
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
    stdcl_world *w = world_join(&(struct world_options){.on_abort = ended});
    if (!w)
        return refused();
    shares = among(argc, argv, "--share");
    explains = among(argc, argv, "--explain");
    cli_world = w;
    cli_message_keep(world_rank(w) == 0);
    if (world_rank(w) > 0) {
        outfile_nowhere();
        if (!freopen("/dev/null", "w", stdout))
            return cli_failed("/dev/null cannot be opened");
    }
    return compare(argc, argv);
}

/* How long a rank has waited for others, and for which of them most. */
struct waits {
    double all, most;
    int32_t rank, whom;
};

static int by_all(const void *a, const void *b)
{
    const double x = ((const struct waits *)a)->all, y = ((const struct waits *)b)->all;
    return x < y ? -1 : x > y;
}

/* Collective. Who waits for whom: a rank that waits little is one that others wait for. */
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
            "ranks waited %.3g s (rank %d on %s) to %.3g s (rank %d on %s), half of them at most %.3g s; rank %d most for rank %d on %s, %.3g s\n",
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
    if (world_size(cli_world) == 1)
        return CLI_DONE;
    if (strcmp(file, "-") == 0)
        return cli_wrong(
            "the standard input is there for one rank; name a file that all of them can read");
    FILE *fp = fopen(file, "rb");
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
    return world_check_equal(cli_world, what, print) == 0 ? CLI_DONE : cli_failed_call(NULL);
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
        cli_interrupt_take(caught);
    return caught != 0; /* and not what this rank has heard meanwhile, but others have not */
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
        for (size_t r = 0; all && r < ranks; r++) { /* one behind the other */
            const size_t size = strlen(all + r * (size_t)longest) + 1;
            memmove(end, all + r * (size_t)longest, size);
            end += size;
        }
        free(mine);
    }
    free(length);
    return all;
}
