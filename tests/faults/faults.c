/* faults.c - runs programs in which one call fails, every call once: nothing may crash, hang or pass for right.
 *
 *   faults BUILD SOURCE                    every call of every program
 *   faults BUILD SOURCE sample [SEED]      some of them, others on another day; SEED stands for the day
 *   faults BUILD SOURCE only PROGRAM       every call of one program
 *   faults BUILD SOURCE only PROGRAM "CALL NUMBER CODE HOW"    one case, whose output is shown
 *
 * Each program of programs.c runs once with nothing wrong, and layer.c and shim.c write down every call that could
 * fail. Then it runs once for each of those, with an error of codes.txt; a command is refused once, and fails on the
 * device once. Which error is taken goes round from call to call and from day to day. Afterwards, one of two holds:
 *   - status 1, a sentence on standard error, and each output is absent or complete
 *   - status 0, and the output is the one of the run with nothing wrong
 * The second must hold where a call is only interrupted or cut short. STDCL_FAULTS_JSON=FILE keeps the counts.
 * SPDX-License-Identifier: MIT
 */
#include "faults.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum { WORKERS = 2, SAMPLE_PROGRAMS = 4, SAMPLE_CASES = 100, SAMPLE_SECONDS = 12, TIME_LIMIT = 60, MAX_CASES = 20000 };

static const char *build, *source;
static char base[256];   /* a folder for what the programs write */
static char folder[300]; /* this process's own one, in which they run */
static long seed;

/* ---- Cases and counts. ----------------------------------------------------------------------- */

enum family { CALLS, COMMANDS, MEMORY, FILES, FAMILIES };
static const char *const family_names[] = {"OpenCL calls", "commands on the device", "allocations", "files"};

struct one {
    const struct program *program;
    enum family family;
    bool harmless; /* interrupted or cut short: must end well */
    char fault[96];
};

static struct one cases[MAX_CASES];
static int ncases;

/* Shared by the processes that run cases. */
static struct {
    atomic_int next, ran[FAMILIES], missed[FAMILIES], refused[FAMILIES], right[FAMILIES], wrong[FAMILIES];
} *count;

/* ---- One run. -------------------------------------------------------------------------------- */

static void remove_files(void)
{
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
}

static void become(const struct program *p, const char *fault, const char *log)
{
    char *argv[64], line[1024], program[600], text[600];
    int n = 0;
    snprintf(line, sizeof line, "%s", p->line);
    for (char *at = line, *word; (word = strtok_r(at, " ", &at)) && n < 63;)
        argv[n++] = word;
    argv[n] = NULL;
    snprintf(program, sizeof program, "%s/%s", build, argv[0]);
    snprintf(text, sizeof text, "%s/tests/libfault_shim.so", build);
    setenv("LD_PRELOAD", text, 1);
    snprintf(text, sizeof text, "%s/tests/libfault_layer.so", build);
    setenv("OPENCL_LAYERS", text, 1);
    setenv("STDCL_FAULT_LOG", log, 1);
    if (fault)
        setenv("STDCL_FAULT", fault, 1);
    if (chdir(folder) != 0 || !freopen("../in", "r", stdin) || !freopen("stdout", "w", stdout) ||
        !freopen("stderr", "w", stderr))
        _exit(126);
    alarm(TIME_LIMIT);
    execv(program, argv);
    _exit(127);
}

static int run(const struct program *p, const char *fault, const char *log)
{
    int status = 0;
    remove_files();
    for (int i = 0; p->needs[i]; i++) {
        char from[600], to[600];
        snprintf(from, sizeof from, "%s/%s", source, p->needs[i]);
        snprintf(to, sizeof to, "%s/%s", folder, strrchr(from, '/') + 1);
        if (symlink(from, to) != 0)
            perror(to);
    }
    unlink(log);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        become(p, fault, log);
    return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

/* ---- What came of it. ------------------------------------------------------------------------ */

static char *in_folder(const char *name)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Says in `why` what is wrong with a run, or returns false. */
static bool differs(const struct program *p, const struct result *good, char *why, size_t size)
{
    char *out = file_bytes(in_folder("stdout"), NULL), *result = out ? result_of(p, out) : NULL;
    const bool same = result && strcmp(result, good->text) == 0;
    if (!same)
        snprintf(why, size, "status 0, and prints another result");
    free(out);
    free(result);
    for (int i = 0; same && p->outputs[i]; i++) {
        if (!file_is(in_folder(p->outputs[i]), good->file[i], good->size[i])) {
            snprintf(why, size, "status 0, and %s is not what it should be", p->outputs[i]);
            return true;
        }
    }
    return !same;
}

static bool is_of(const char *name, const char *const *list)
{
    for (; *list; list++) {
        const char *slash = strrchr(*list, '/');
        if (strcmp(name, slash ? slash + 1 : *list) == 0)
            return true;
    }
    return false;
}

/* Files that nobody asked for, and files that are not whole. */
static bool leaves_files(const struct program *p, const struct result *good, char *why, size_t size)
{
    static const char *const always[] = {".", "..", "stdout", "stderr", NULL};
    bool bad = false;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && !bad && (e = readdir(d));) {
        bad = !is_of(e->d_name, always) && !is_of(e->d_name, p->outputs) && !is_of(e->d_name, p->needs);
        if (bad)
            snprintf(why, size, "leaves %.200s", e->d_name);
    }
    if (d)
        closedir(d);
    for (int i = 0; !bad && p->outputs[i]; i++) {
        bad = access(in_folder(p->outputs[i]), F_OK) == 0 && !file_is(in_folder(p->outputs[i]), good->file[i], good->size[i]);
        if (bad)
            snprintf(why, size, "leaves half of %s", p->outputs[i]);
    }
    return bad;
}

/* One sentence: a line that is not empty, and after it perhaps a compiler's messages. */
static bool says_nothing(char *why, size_t size)
{
    char *text = file_bytes(in_folder("stderr"), NULL);
    const size_t first = text ? strcspn(text, "\n") : 0;
    const bool none = !text || first < 10 || strstr(text, "(null)");
    if (none)
        snprintf(why, size, "status 1 without a sentence: \"%.*s\"", (int)(first < 200 ? first : 200), text ? text : "");
    free(text);
    return none;
}

/* True, with the reason, when the run broke a promise. */
static bool is_wrong(const struct one *c, int status, char *why, size_t size)
{
    const struct result *good = &c->program->good;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        return snprintf(why, size, "hangs"), true;
    if (!WIFEXITED(status))
        return snprintf(why, size, "crashes: %s", strsignal(WTERMSIG(status))), true;
    if (WEXITSTATUS(status) > 1 || (WEXITSTATUS(status) == 1 && c->harmless))
        return snprintf(why, size, "ends with status %d", WEXITSTATUS(status)), true;
    if (WEXITSTATUS(status) == 0 && differs(c->program, good, why, size))
        return true;
    if (WEXITSTATUS(status) == 1 && says_nothing(why, size))
        return true;
    return leaves_files(c->program, good, why, size);
}

static bool struck(const char *log)
{
    char *text = file_bytes(log, NULL);
    const bool yes = text && strstr(text, "fault ");
    free(text);
    return yes;
}

static void try_case(const struct one *c)
{
    char why[700] = "", log[400];
    snprintf(log, sizeof log, "%s.log", folder);
    const int status = run(c->program, c->fault, log);
    const enum family f = c->family;
    atomic_fetch_add(&count->ran[f], 1);
    if (is_wrong(c, status, why, sizeof why)) {
        atomic_fetch_add(&count->wrong[f], 1);
        printf("WRONG %s \"%s\": %s\n", c->program->name, c->fault, why);
        fflush(stdout);
    } else if (!struck(log)) {
        atomic_fetch_add(&count->missed[f], 1);
    } else {
        atomic_fetch_add(WEXITSTATUS(status) ? &count->refused[f] : &count->right[f], 1);
    }
}

/* ---- Which cases there are. ------------------------------------------------------------------ */

static enum family family_of(const char *call)
{
    static const char *const files[] = {"write", "read", "fsync", "fflush", "rename", "fclose", NULL};
    return strncmp(call, "cl", 2) == 0 ? CALLS : is_of(call, files) ? FILES : MEMORY;
}

static void add_case(const struct program *p, const char *call, int number, const struct code *code, enum family family)
{
    struct one *c = &cases[ncases];
    if (!code || ncases == MAX_CASES)
        return;
    ncases++;
    c->program = p;
    c->family = family;
    c->harmless = code->how == CUT_SHORT || (family == FILES && code->number == EINTR);
    snprintf(c->fault, sizeof c->fault, "%s %d %d %s", call, number, code->number,
             family == COMMANDS ? "failed" : code->how == CUT_SHORT ? "short" : "refused");
}

/* From the log of a run with nothing wrong. */
static void add_cases(const struct program *p, char *log)
{
    enum { KINDS = 128 };
    static char names[KINDS][48];
    int seen[KINDS] = {0}, kinds = 0, line = 0;
    for (char *at = log, *call; (call = strtok_r(at, "\n", &at)); line++) {
        int k = 0;
        while (k < kinds && strcmp(names[k], call) != 0)
            k++;
        if (k == kinds && kinds == KINDS)
            continue;
        if (k == kinds)
            snprintf(names[kinds++], sizeof *names, "%s", call);
        seen[k]++;
        const struct code *code = code_of(call, seen[k] + seed);
        add_case(p, call, seen[k], code, family_of(call));
        if (strncmp(call, "clEnqueue", 9) == 0 && strcmp(call, "clEnqueueMapBuffer") != 0)
            add_case(p, call, seen[k], code, COMMANDS);
    }
}

/* Runs a program with nothing wrong, keeps what it gives, and adds its cases. */
static bool prepare(struct program *p)
{
    char log[400];
    snprintf(log, sizeof log, "%s.log", folder);
    const int status = run(p, NULL, log);
    char *out = file_bytes(in_folder("stdout"), NULL), *calls = file_bytes(log, NULL);
    char *said = file_bytes(in_folder("stderr"), NULL);
    bool good = status == 0 && out && calls && (p->good.text = result_of(p, out)) != NULL;
    for (int i = 0; good && p->outputs[i]; i++)
        good = (p->good.file[i] = file_bytes(in_folder(p->outputs[i]), &p->good.size[i])) != NULL;
    if (good)
        add_cases(p, calls);
    else
        printf("WRONG %s does not run with nothing wrong (wait status %#x): %s\n", p->name, (unsigned)status,
               said ? said : "");
    free(said);
    free(out);
    free(calls);
    return good;
}

/* ---- All of them. ---------------------------------------------------------------------------- */

static double cpu_seconds(void)
{
    struct rusage use;
    getrusage(RUSAGE_CHILDREN, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

/* A process of its own, with a folder of its own, that takes the next case until there is none. */
static void work(int worker, int limit, double seconds)
{
    snprintf(folder, sizeof folder, "%s/%d", base, worker);
    mkdir(folder, 0777);
    for (int i; (i = atomic_fetch_add(&count->next, 1)) < limit && (seconds <= 0 || cpu_seconds() < seconds);)
        try_case(&cases[i]);
    fflush(stdout);
    _exit(0);
}

static void run_cases(int limit, double seconds)
{
    fflush(stdout);
    for (int w = 0; w < WORKERS; w++)
        if (fork() == 0)
            work(w, limit, seconds / WORKERS);
    while (wait(NULL) > 0)
        ;
}

/* The same order on the same day: a sample is the first of them. */
static void shuffle(void)
{
    srandom((unsigned)seed);
    for (int i = ncases - 1; i > 0; i--) {
        const int j = (int)(random() % (i + 1));
        const struct one c = cases[i];
        cases[i] = cases[j];
        cases[j] = c;
    }
}

static int report(void)
{
    const char *file = getenv("STDCL_FAULTS_JSON");
    FILE *json = file ? fopen(file, "w") : NULL;
    const char *commit = getenv("COMMIT");
    int wrong = 0, ran = 0;
    char date[32];
    const time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    if (json)
        fprintf(json, "{\n \"date\": \"%s\",\n \"commit\": \"%s\",\n \"families\": [", date, commit ? commit : "unknown");
    for (int f = 0; f < FAMILIES; f++) {
        printf("%-24s %5d faults: %5d refused in a sentence, %5d ended well, %4d not reached, %3d wrong\n", family_names[f],
               count->ran[f], count->refused[f], count->right[f], count->missed[f], count->wrong[f]);
        if (json)
            fprintf(json, "%s\n  {\"family\": \"%s\", \"faults\": %d, \"refused\": %d, \"ended_well\": %d, "
                          "\"not_reached\": %d, \"wrong\": %d}", f ? "," : "", family_names[f], count->ran[f],
                    count->refused[f], count->right[f], count->missed[f], count->wrong[f]);
        wrong += count->wrong[f];
        ran += count->ran[f];
    }
    printf("%d faults, %d wrong; %.0f s of processor time\n", ran, wrong, cpu_seconds());
    if (json)
        fprintf(json, "\n ]\n}\n");
    if (json && fclose(json) != 0)
        return 1;
    return wrong > 0 || ran == 0;
}

static int show(const char *name, const char *fault)
{
    for (struct program *p = programs; p->name; p++) {
        if (strcmp(p->name, name) != 0 || !prepare(p))
            continue;
        struct one c = {p, family_of(fault), false, ""};
        char log[400];
        snprintf(c.fault, sizeof c.fault, "%s", fault);
        try_case(&c);
        snprintf(log, sizeof log, "cd %s; head -n 30 stdout stderr; ls -A", folder);
        return system(log);
    }
    printf("there is no program %s\n", name);
    return 2;
}

static bool set_up(void)
{
    static const char *const variables[] = {"HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"};
    char empty[300], kernels[300];
    snprintf(base, sizeof base, "%s/tests/faults.%d", build, (int)getpid());
    snprintf(folder, sizeof folder, "%s/first", base);
    snprintf(empty, sizeof empty, "%s/in", base);
    count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    FILE *in = mkdir(base, 0777) == 0 && mkdir(folder, 0777) == 0 ? fopen(empty, "w") : NULL;
    if (count == MAP_FAILED || !in || fclose(in) != 0)
        return false;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        setenv(variables[i], base, 1);
    snprintf(kernels, sizeof kernels, "%s/tests/faults.kernels", build); /* kept, since compiling is what takes long */
    mkdir(kernels, 0777);
    setenv("POCL_CACHE_DIR", kernels, 1);
    return codes_read(source);
}

static void tidy(void)
{
    char command[400];
    snprintf(command, sizeof command, "rm -rf '%s'", base);
    if (system(command) != 0)
        perror(base);
}

int main(int argc, char **argv)
{
    const bool sample = argc > 3 && strcmp(argv[3], "sample") == 0;
    int n = 0, status = 0;
    if (argc < 3)
        return 2;
    build = realpath(argv[1], NULL); /* the programs run elsewhere */
    source = realpath(argv[2], NULL);
    if (!build || !source) {
        perror(argv[build ? 2 : 1]);
        return 2;
    }
    seed = sample && argc > 4 ? atol(argv[4]) : (long)(time(NULL) / 86400);
    if (!set_up()) {
        perror(base);
        return 1;
    }
    if (argc > 5 && strcmp(argv[3], "only") == 0) {
        status = show(argv[4], argv[5]);
        tidy();
        return status;
    }
    while (programs[n].name)
        n++;
    for (int i = 0; i < n; i++)
        if (sample ? (i + seed) % (n / SAMPLE_PROGRAMS) == 0 : argc < 5 || strcmp(argv[4], programs[i].name) == 0)
            status |= !prepare(&programs[i]);
    shuffle();
    if (sample)
        printf("seed %ld: up to %d of %d cases\n", seed, SAMPLE_CASES, ncases);
    run_cases(sample && ncases > SAMPLE_CASES ? SAMPLE_CASES : ncases, sample ? SAMPLE_SECONDS : 0);
    status |= report();
    tidy();
    return status;
}
