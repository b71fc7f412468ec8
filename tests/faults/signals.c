/* signals.c - end commands by signals, in every phase of their runs: no file may be incomplete.
 *
 *   signals BUILD SOURCE [MOMENTS [SEED]]    MOMENTS signals, by default 1000
 *   signals BUILD SOURCE sample [SEED]       a few, of two commands, chosen by SEED
 *
 * Each command runs once without signals, to record its duration, its calls and its files. Then it
 * gets a signal, at a random time, or at a random one of its calls, which layer.c and shim.c
 * count. Afterwards:
 *   - it has ended by that signal, or after SIGINT, SIGTERM and SIGHUP with status 128 + the
 *     signal's number; or it was done
 *   - each output is absent or complete; only SIGKILL may leave temporary files and folders
 *   - the same command, in the same folder, succeeds with the same result, and leaves no other
 *     files there
 * SPDX-License-Identifier: MIT
 */
#include "faults.h"

#include <dirent.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

static long seed;

enum { MOMENTS = 1000, SAMPLE = 10, MOST_CALLS = 20000 };

static struct program commands[] = {
    {"nbody",
     "bin/stdcl nbody -n 256 --steps 60 --batch 4 -q -o n.tab -o n.csv --forces f.csv -o n.png --size 64",
     "",
     {"n.tab", "n.csv", "f.csv", "n.png"},
     {0},
     {0}},
    {"life",
     "bin/stdcl life --size 128 -n 400 -q -o l.rle -o l.png --csv l.csv -o l.mc",
     "",
     {"l.rle", "l.png", "l.csv", "l.mc"},
     {0},
     {0}},
    {"gas",
     "bin/stdcl gas -n 20000 --stored -q --histogram h.csv --histogram h.svg",
     "",
     {"h.csv", "h.svg"},
     {0},
     {0}},
    {"nbody_frames",
     "bin/stdcl nbody -n 128 --steps 40 --batch 2 -q --frames 3 -o f.png --size 64",
     "",
     {"f-0001.png", "f-0002.png", "f-0003.png"},
     {0},
     {0}},
    {"matmul", "bin/stdcl matmul -n 64 --repeat 3 -q -o c.npy", "", {"c.npy"}, {0}, {0}},
    {"life_frames",
     "bin/stdcl life --size 64 -n 60 -q --frames 4 -o p.png",
     "",
     {"p-0001.png", "p-0002.png", "p-0003.png", "p-0004.png"},
     {0},
     {0}},
    {"embed", "bin/stdcl embed cli_add.cl -o k.o", "", {"k.o"}, {"tests/kernels/cli_add.cl"}, {0}},
    {"check", "bin/stdcl check cli_add.cl", "", {0}, {"tests/kernels/cli_add.cl"}, {0}},
    {"devices", "bin/stdcl devices", "", {0}, {0}, {0}},
    {"tune",
     "bin/stdcl tune gas.fused --size 4096 --minutes 0.01 --dry-run -q --export t.json",
     "",
     {"t.json"},
     {0},
     {0}},
    {"census", "bin/stdcl life census --soups 8 --size 6 -q --csv l.csv", "", {"l.csv"}, {0}, {0}},
    {"life_rule",
     "bin/stdcl life --rule brain.rule --size 64 -n 60 -q -o l.rle -o l.png",
     "",
     {"l.rle", "l.png"},
     {"tests/faults/brain.rule"},
     {0}},
    {"life_plane",
     "bin/stdcl life --engine hashlife -p gun.rle -n 4096 -q -o l.mc --csv l.csv",
     "",
     {"l.mc", "l.csv"},
     {"data/gun.rle"},
     {0}},
    {"life_sparse",
     "bin/stdcl life --engine sparse -p gun.rle -n 600 -q -o l.mc --csv l.csv --step 30",
     "",
     {"l.mc", "l.csv"},
     {"data/gun.rle"},
     {0}},
    {"life_lines",
     "bin/stdcl bgolly -m 400 -i 40 -o l.rle gun.rle",
     "",
     {"l.rle"},
     {"data/gun.rle"},
     {0}},
    {"life_states",
     "bin/stdcl life --rule 345/2/4 --size 64 -n 300 -q -o l.rle -o l.png --csv l.csv",
     "",
     {"l.rle", "l.png", "l.csv"},
     {0},
     {0}},
    {"life_larger",
     "bin/stdcl life --rule R5,C0,M1,S34..58,B34..45,NM --size 64 -n 60 -q -o l.rle -o l.png",
     "",
     {"l.rle", "l.png"},
     {0},
     {0}},
    {"life_side",
     "bin/stdcl life -p gun.rle --rule B3/S23:T0,60 -n 300 -q -o l.rle",
     "",
     {"l.rle"},
     {"data/gun.rle"},
     {0}},
    {"snapshots",
     "bin/stdcl nbody --ic figure8 --dt 1/64 --steps 8 --snapshots 1/32 -q -o s-%d.hdf5 --structure t.csv",
     "",
     {"s-0.hdf5", "s-1.hdf5", "s-2.hdf5", "s-3.hdf5", "s-4.hdf5", "s-series.csv", "s-series.xdmf",
      "t.csv"},
     {0},
     {0}},
    {"nbody_ensemble",
     "bin/stdcl nbody -i solar.tab --ensemble 8 --steps 40 --dt 1 -q -o e.tab",
     "",
     {"e.tab"},
     {"data/solar.tab"},
     {0}},
    {"nbody_tree",
     "bin/stdcl nbody -n 512 --method tree --steps 8 --batch 1 -q -o n.tab -o n.csv",
     "",
     {"n.tab", "n.csv"},
     {0},
     {0}},
    {"matmul_out_of_core",
     "bin/stdcl matmul -a a.npy -b a.npy -o c.npy --out-of-core -q",
     "",
     {"c.npy"},
     {"made/a.npy"},
     {0}},
    {"cluster_model", "bin/stdcl cluster-model --of life --plot m.svg", "", {"m.svg"}, {0}, {0}},
#ifdef STDCL_HAVE_VIEW
    {"record", "bin/stdcl life --size 64 -n 60 -q --record l.view", "", {"l.view"}, {0}, {0}},
    {"view_page",
     "bin/stdcl view small.view -q -o page.html",
     "",
     {"page.html"},
     {"made/small.view"},
     {0}},
#endif
#ifdef STDCL_HAVE_LUA
    {"run", "bin/stdcl run energy.lua 2000", "", {0}, {"lua/examples/energy.lua"}, {0}},
#endif
#ifdef STDCL_HAVE_FFMPEG
    {"nbody_film",
     "bin/stdcl nbody -n 64 --steps 40 --batch 2 -q --frames 6 -o film.gif --size 64",
     "",
     {"film.gif"},
     {0},
     {0}},
    {"film",
     "bin/stdcl life --size 64 -n 60 -q --frames 3 -o film.gif",
     "",
     {"film.gif"},
     {0},
     {0}},
#endif
};
enum { COMMANDS = sizeof commands / sizeof *commands };
static int used[COMMANDS], nused; /* in this campaign; the first one always */

static struct known {
    double seconds;
    char *log, *call[MOST_CALLS]; /* in their order */
    int calls;
} known[COMMANDS];

static const struct {
    int number;
    const char *name;
} signals[] = {{SIGKILL, "SIGKILL"}, {SIGINT, "SIGINT"},   {SIGTERM, "SIGTERM"},
               {SIGHUP, "SIGHUP"},   {SIGPIPE, "SIGPIPE"}, {SIGQUIT, "SIGQUIT"}};
enum { SIGNALS = sizeof signals / sizeof *signals };

/* Shared by the worker processes. */
static struct {
    atomic_int next, ran, ended[SIGNALS], finished[SIGNALS], wrong;
} * count;

/* ---- Files. ---------------------------------------------------------------------------------- */

/* Check the end of a file by its kind. A run ended by SIGINT writes another state than the last
 * step's. */
static bool is_whole(const char *name)
{
    static const struct {
        const char *suffix, *end;
        size_t bytes;
    } kinds[] = {{".png",
                  "IEND\xae"
                  "B`\x82",
                  8},
                 {".svg", "</svg>\n", 7},
                 {".rle", "!\n", 2},
                 {".csv", "\n", 1},
                 {".tab", "\n", 1},
                 {".mc", "\n", 1},
                 {".gif", ";", 1},
                 {".json", "]}\n", 3},
                 {".xdmf", "</Xdmf>\n", 8},
                 {".html", "</html>\n", 8},
                 {".view", "STDCLEND", 8}};
    const char *suffix = strrchr(name, '.');
    size_t size = 0;
    char *bytes = file_bytes(in_run_folder(name), &size);
    bool whole = false;
    if (bytes && size > 48 &&
        strcmp(suffix, ".hdf5") == 0) { /* the head of the file says where it ends */
        unsigned long long end;
        memcpy(&end, bytes + (bytes[8] < 2 ? 40 : 28), sizeof end);
        whole = memcmp(bytes, "\211HDF\r\n\032\n", 8) == 0 && end == (unsigned long long)size;
    }
    for (size_t i = 0; bytes && i < sizeof kinds / sizeof *kinds; i++)
        whole = whole || (strcmp(suffix, kinds[i].suffix) == 0 && size > kinds[i].bytes &&
                          memcmp(bytes + size - kinds[i].bytes, kinds[i].end, kinds[i].bytes) == 0);
    free(bytes);
    return whole;
}

/* Files of tune hold rates, which differ from run to run, as do the pictures of a recording, and a
 * page has a random number. */
static bool files_are_right(const struct program *p, int i)
{
    const char *name = p->outputs[i], *suffix = strrchr(name, '.');
    return file_is(in_run_folder(name), p->good.file[i], p->good.size[i]) ||
           (strstr(".json .html .view", suffix) && is_whole(name));
}

/* The index of a series is complete after every file, and names the existing ones. */
static bool is_index(const char *name)
{
    return strstr(name, "-series.") && is_whole(name);
}

/* Temporary folders. */
static bool leaves_folders(bool allowed, char *why, size_t size)
{
    bool bad = false;
    DIR *d = opendir(getenv("TMPDIR"));
    for (struct dirent *e; d && !bad && (e = readdir(d));)
        bad = !allowed && strncmp(e->d_name, "stdcl-", 6) == 0 &&
              snprintf(why, size, "leaves %.200s", e->d_name) > 0;
    if (d)
        closedir(d);
    return bad;
}

static void empty_temporary(void)
{
    char command[800];
    snprintf(command, sizeof command, "rm -rf '%s' && mkdir '%s'", getenv("TMPDIR"),
             getenv("TMPDIR"));
    if (system(command) != 0)
        perror(getenv("TMPDIR"));
}

static bool is_temporary(const char *name)
{
    return fnmatch(".*.[0-9]*.tmp", name, 0) == 0;
}

/* `cut`: the run should have saved its state. */
static bool leaves_half(const struct program *p, bool cut, char *why, size_t size)
{
    for (int i = 0; p->outputs[i]; i++) {
        const char *name = p->outputs[i];
        if (access(in_run_folder(name), F_OK) != 0 || files_are_right(p, i) || is_index(name) ||
            (cut && is_whole(name)))
            continue;
        snprintf(why, size, "leaves half of %s", name);
        return true;
    }
    return false;
}

static bool lacks_files(const struct program *p, char *why, size_t size)
{
    for (int i = 0; p->outputs[i]; i++) {
        if (files_are_right(p, i))
            continue;
        snprintf(why, size, "status 0, and %s is not what it should be", p->outputs[i]);
        return true;
    }
    return false;
}

/* ---- One moment. ----------------------------------------------------------------------------- */

struct moment {
    const struct program *program;
    const struct known *known;
    int signal;      /* index into signals[] */
    double after;    /* seconds, or < 0: */
    char fault[100]; /* at this call */
};

/* Some libOpenCL load no layers and log no calls. */
static bool has_layer(const struct known *k)
{
    for (int i = 0; i < k->calls; i++)
        if (strcmp(k->call[i], "clCreateCommandQueue") == 0)
            return true;
    return false;
}

/* Each signal once when the driver is known and no object exists yet, if there is a layer, once
 * when a file is renamed, once just after. Then half of the moments are times, a quarter writing
 * calls, a quarter any calls. */
static struct moment choose_moment(int i)
{
    static const char *const files[] = {"write",  "fsync", "fflush", "rename",
                                        "fclose", "flock", NULL};
    const bool named = i < 3 * SIGNALS && (i >= SIGNALS || has_layer(&known[0]));
    const int c = named ? 0 : used[random() % nused], how = (int)(random() % 4);
    struct moment m = {&commands[c], &known[c], named ? i % SIGNALS : (int)(random() % SIGNALS), -1,
                       ""};
    int at = (int)(random() % m.known->calls), number = 0;
    if (named) {
        snprintf(m.fault, sizeof m.fault, "%s 1 %d signal",
                 i < SIGNALS       ? "clCreateCommandQueue"
                 : i < 2 * SIGNALS ? "rename"
                                   : "flock",
                 signals[m.signal].number);
        return m;
    }
    if (how < 2) {
        m.after = m.known->seconds * (double)(random() % 1000) / 900;
        return m;
    }
    for (int tries = 0; how == 2 && tries < m.known->calls && !name_in(m.known->call[at], files);
         tries++)
        at = (at + 1) % m.known->calls;
    for (int k = 0; k <= at; k++)
        number += strcmp(m.known->call[k], m.known->call[at]) == 0;
    snprintf(m.fault, sizeof m.fault, "%s %d %d signal", m.known->call[at], number,
             signals[m.signal].number);
    return m;
}

static void wait_for_moment(double seconds)
{
    const struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&t, NULL);
}

static int run_struck(const struct moment *m)
{
    run_tidy(m->program);
    const pid_t child = run_start(m->program, *m->fault ? m->fault : NULL, NULL);
    if (m->after >= 0) {
        wait_for_moment(m->after);
        kill(child, signals[m->signal].number);
    }
    return run_wait(child);
}

/* True, with the reason, if the signal was not obeyed. */
static bool ends_wrong(const struct moment *m, int status, char *why, size_t size)
{
    const int number = signals[m->signal].number;
    const bool waits =
        number == SIGINT || number == SIGTERM || number == SIGHUP; /* until its state is saved */
    if (WIFSIGNALED(status) && WTERMSIG(status) == number)
        return false;
    if (WIFEXITED(status) && waits && WEXITSTATUS(status) == 128 + number)
        return false;
    const bool held =
        number == SIGPIPE && strstr(m->program->outputs[0] ? m->program->outputs[0] : "",
                                    ".gif"); /* a pipe to ffmpeg is there */
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 &&
        (waits || held || m->after >= 0)) /* it was done */
        return lacks_files(m->program, why, size);
    if (WIFSIGNALED(status))
        snprintf(why, size, "ends by %s", strsignal(WTERMSIG(status)));
    else
        snprintf(why, size, "ends with status %d", WEXITSTATUS(status));
    return true;
}

static bool runs_again(const struct moment *m, char *why, size_t size)
{
    const int status = run_wait(run_start(m->program, NULL, NULL));
    if (status != 0)
        snprintf(why, size, "the next run ends with wait status %#x", (unsigned)status);
    return status == 0 && !lacks_files(m->program, why, size) &&
           !leaves_others(m->program, NULL, why, size);
}

static void try_moment(const struct moment *m)
{
    char why[700] = "";
    empty_temporary();
    const int status = run_struck(m), number = signals[m->signal].number;
    const bool finished = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    const bool cut = WIFEXITED(status) && WEXITSTATUS(status) > 128;
    const bool wrong =
        ends_wrong(m, status, why, sizeof why) || leaves_half(m->program, cut, why, sizeof why) ||
        leaves_others(m->program, number == SIGKILL ? is_temporary : NULL, why, sizeof why) ||
        leaves_folders(number == SIGKILL, why, sizeof why) || !runs_again(m, why, sizeof why);
    atomic_fetch_add(finished ? &count->finished[m->signal] : &count->ended[m->signal], 1);
    atomic_fetch_add(&count->ran, 1);
    if (!wrong)
        return;
    char *said = file_bytes(in_run_folder("stderr"), NULL);
    atomic_fetch_add(&count->wrong, 1);
    printf("WRONG %s, %s ", m->program->name, signals[m->signal].name);
    if (m->after >= 0)
        printf("after %.3f s", m->after);
    else
        printf("at \"%s\"", m->fault);
    printf(": %s; it says \"%.300s\"\n", why, said ? said : "");
    fflush(stdout);
    free(said);
}

/* ---- All of them. ---------------------------------------------------------------------------- */

static double signals_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Run the command twice without signals: the first run compiles its kernels. */
static bool prepare_signals(struct program *p, struct known *k)
{
    char log[400];
    int status = 0;
    snprintf(log, sizeof log, "%s.log", folder);
    for (int i = 0; i < 2 && status == 0; i++) {
        run_tidy(p);
        const double start = signals_clock();
        status = run_wait(run_start(p, NULL, log));
        k->seconds = signals_clock() - start;
    }
    k->log = file_bytes(log, NULL);
    for (char *at = k->log, *call; at && k->calls < MOST_CALLS && (call = strtok_r(at, "\n", &at));)
        k->call[k->calls++] = call;
    if (status == 0 && k->calls > 0 && result_keep(p))
        return true;
    printf("WRONG %s does not run with nothing wrong (wait status %#x)\n", p->name,
           (unsigned)status);
    return false;
}

static void signals_worker(int worker, int moments)
{
    char name[16];
    snprintf(name, sizeof name, "%d", worker);
    if (!runs_in(name))
        _exit(1);
    char temporary[400];
    snprintf(temporary, sizeof temporary, "%s.tmp", folder);
    setenv("TMPDIR", temporary, 1);
    for (int i; !runs_late() && (i = atomic_fetch_add(&count->next, 1)) < moments;) {
        srandom((unsigned)(seed * 100000 + i));
        const struct moment m = choose_moment(i);
        try_moment(&m);
    }
    fflush(stdout);
    _exit(0);
}

/* Write signals.json, if STDCL_FAULTS_JSON names a file. */
static bool keep_signal_counts(void)
{
    const char *file = getenv("STDCL_FAULTS_JSON"), *commit = getenv("COMMIT");
    FILE *json = file ? fopen(file, "w") : NULL;
    if (!json)
        return !file;
    fprintf(json,
            "{\"commit\": \"%s\", \"seed\": %ld, \"commands\": %d, \"moments\": %d, \"wrong\": %d",
            commit ? commit : "unknown", seed, nused, count->ran, count->wrong);
    for (int s = 0; s < SIGNALS; s++)
        fprintf(json, ",\n \"%s\": {\"ended\": %d, \"were_done\": %d}", signals[s].name,
                count->ended[s], count->finished[s]);
    fprintf(json, "}\n");
    return fclose(json) == 0;
}

static int signal_campaign(int moments)
{
    for (int i = 0; i < nused; i++)
        if (!prepare_signals(&commands[used[i]], &known[used[i]]))
            return 1;
    if (!has_layer(&known[0]))
        printf("libOpenCL loads no layers: no signal comes at clCreateCommandQueue\n");
    fflush(stdout);
    const int workers = runs_at_once();
    for (int w = 0; w < workers; w++)
        if (fork() == 0)
            signals_worker(w, moments);
    while (wait(NULL) > 0)
        ;
    for (int s = 0; s < SIGNALS; s++)
        printf("%-8s %4d moments: ended %4d runs, %3d were done\n", signals[s].name,
               count->ended[s] + count->finished[s], count->ended[s], count->finished[s]);
    printf("seed %ld: %d moments, %d wrong\n", seed, count->ran, count->wrong);
    return !keep_signal_counts() || count->wrong > 0 || (count->ran < moments && !runs_late());
}

int main(int argc, char **argv)
{
    const bool sample = argc > 3 && strcmp(argv[3], "sample") == 0;
    const int moments = sample ? SAMPLE : argc > 3 ? atoi(argv[3]) : MOMENTS;
    int status = 1;
    if (argc < 3 || moments < 1)
        return 2;
    seed = argc > 4 ? atol(argv[4]) : 0;
    for (int i = 0; i < SIGNALS;
         i++) /* commands inherit ignored signals, as under nohup and shells without jobs */
        signal(signals[i].number, SIG_DFL);
    for (int c = 0; c < COMMANDS; c++)
        if (!sample || c == 0 || c == 1 + seed % (COMMANDS - 1))
            used[nused++] = c;
    count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (count != MAP_FAILED && runs_begin(argv[1], argv[2]))
        status = signal_campaign(moments);
    runs_end();
    return status;
}
