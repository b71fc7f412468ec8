/* faults.c - fault injection: run programs in which one call fails, for every call in turn. No run
 * may crash, hang or succeed with a wrong result.
 *
 *   faults BUILD SOURCE                    every call of every program
 *   faults BUILD SOURCE sample [SEED]      the cases of found.txt of two or three programs, and
 *                                          others chosen by SEED (0)
 *   faults BUILD SOURCE every N [SEED]     every Nth call; N successive seeds cover all
 *   faults BUILD SOURCE list               the programs' names
 *   faults BUILD SOURCE only PROGRAM       every call of one program
 *   faults BUILD SOURCE only PROGRAM some  of each entry point the first, the middle and the
 *                                          last call, with every error
 *   faults BUILD SOURCE only PROGRAM "CALL NUMBER CODE HOW"    one case, with its output
 *
 * Each program of programs.c runs once without faults, while layer.c and shim.c log every call
 * that could fail. Then it runs once for each of those, with an error of codes.txt; a command is
 * rejected once, and fails on the device once. The error changes from call to call and from seed
 * to seed. Afterwards, one of two must hold:
 *   - status 1, exactly one message on standard error, and each output is absent or complete
 *   - status 0, and the output equals that of the run without faults
 * The second must hold if a call is only interrupted or cut short. STDCL_FAULTS_JSON=FILE stores
 * the counts of one program, as run.sh requests; STDCL_FAULTS_WORKERS (2) processes run cases at
 * once; after STDCL_FAULTS_SECONDS no more cases begin, so that the cases run are a random part of
 * all.
 * SPDX-License-Identifier: MIT
 */
#include "faults.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* SAMPLE_SECONDS of processor time in all. */
enum { SAMPLE_PROGRAMS = 2, SAMPLE_CASES = 60, SAMPLE_SECONDS = 4, MAX_CASES = 200000 };

static long seed;
static bool some; /* three calls of each entry point, with every error */

/* ---- Cases and counts. ----------------------------------------------------------------------- */

enum family { CALLS, COMMANDS, MEMORY, FILES, FAMILIES };
static const char *const family_names[] = {"OpenCL calls", "commands on the device", "allocations",
                                           "files"};

struct one {
    const struct program *program;
    enum family family;
    bool harmless; /* interrupted or cut short: must end well */
    char fault[96];
};

static struct one cases[MAX_CASES];
static int ncases, nfound; /* the first ones are those of found.txt */

/* Shared by the worker processes. */
static struct {
    atomic_int next, ran[FAMILIES], missed[FAMILIES], refused[FAMILIES], right[FAMILIES],
        wrong[FAMILIES];
} * count;

/* ---- What came of it. ------------------------------------------------------------------------ */

static int run_fault_case(const struct program *p, const char *fault, const char *log)
{
    run_tidy(p);
    return run_wait(run_start(p, fault, log));
}

/* Compare the size only of checkpoints, which hold the seconds of the run, of HDF5 files, which
 * hold the time of day, and of pages, which hold a random number. Compare the end of a recording,
 * since its number of pictures depends on the duration of the run. */
static bool output_is_good(const struct program *p, const struct result *good, int i)
{
    static const char end[] = "STDCLEND";
    const char *suffix = strrchr(p->outputs[i], '.'), *path = in_run_folder(p->outputs[i]);
    size_t size = 0;
    if (!suffix || !strstr(".ckpt .hdf5 .html .view", suffix))
        return file_is(path, good->file[i], good->size[i]);
    char *bytes = file_bytes(path, &size);
    const bool ends =
        bytes && size > strlen(end) && memcmp(bytes + size - strlen(end), end, strlen(end)) == 0;
    free(bytes);
    return strcmp(suffix, ".view") == 0 ? ends : size == good->size[i];
}

/* Return true if a run's output is wrong, with the reason in `why`. */
static bool output_differs(const struct program *p, const struct result *good, char *why,
                           size_t size)
{
    char *out = file_bytes(in_run_folder("stdout"), NULL),
         *result = out ? program_result(p, out) : NULL;
    const bool same = result && strcmp(result, good->text) == 0;
    if (!same)
        snprintf(why, size, "status 0, and prints another result");
    free(out);
    free(result);
    for (int i = 0; same && p->outputs[i]; i++) {
        if (!output_is_good(p, good, i)) {
            snprintf(why, size, "status 0, and %s is not what it should be", p->outputs[i]);
            return true;
        }
    }
    return !same;
}

/* An index of snapshots grows with them: after a failure it lists all, to its last
 * line. */
static bool is_shorter_index(const struct program *p, const struct result *good, int i)
{
    const char *name = p->outputs[i];
    const size_t end = strstr(name, ".xdmf") ? strlen("</Xdmf>\n") : 1;
    size_t size = 0;
    if (!strstr(name, "-series."))
        return false;
    char *bytes = file_bytes(in_run_folder(name), &size);
    const bool whole = bytes && size > end && size < good->size[i] &&
                       memcmp(bytes + size - end, good->file[i] + good->size[i] - end, end) == 0;
    free(bytes);
    return whole;
}

/* True for the table of a simulation that holds its first rows: it ends where the run failed. */
static bool is_shorter_table(const struct program *p, const struct result *good, int i)
{
    const char *suffix = strrchr(p->outputs[i], '.');
    size_t size = 0;
    if (!suffix || strcmp(suffix, ".csv") != 0 ||
        strstr(p->line, "--forces") || /* a table of the final state */
        (!strstr(p->line, "stdcl nbody") && !strstr(p->line, "stdcl life -")))
        return false;
    char *bytes = file_bytes(in_run_folder(p->outputs[i]), &size);
    const bool begins = bytes && size > 0 && size < good->size[i] && bytes[size - 1] == '\n' &&
                        memchr(bytes, '\n', size - 1) && /* a row follows the header */
                        memcmp(bytes, good->file[i], size) == 0;
    free(bytes);
    return begins;
}

/* True if the folder of an output exists without the output. */
static bool lacks_output(const char *output)
{
    const char *slash = strchr(output, '/');
    char parent[64];
    if (!slash)
        return false;
    snprintf(parent, sizeof parent, "%.*s", (int)(slash - output), output);
    return access(in_run_folder(parent), F_OK) == 0 && access(in_run_folder(output), F_OK) != 0;
}

/* True if there are unexpected files, or incomplete ones. */
static bool leaves_files(const struct program *p, const struct result *good, char *why, size_t size)
{
    bool bad = leaves_others(p, NULL, why, size);
    for (int i = 0; !bad && p->outputs[i]; i++) {
        bad = access(in_run_folder(p->outputs[i]), F_OK) == 0 && !output_is_good(p, good, i) &&
              !is_shorter_index(p, good, i) && !is_shorter_table(p, good, i);
        bad |= lacks_output(p->outputs[i]);
        if (bad)
            snprintf(why, size, "leaves half of %s", p->outputs[i]);
    }
    return bad;
}

/* Return the text after the first line if that reports a checkpoint and another line follows: the
 * run continues after a failed checkpoint, and may fail later. */
static const char *after_checkpoint(const char *text)
{
    const char *newline = text ? strchr(text, '\n') : NULL,
               *said = text ? strstr(text, ": checkpoint not written: ") : NULL;
    return said && newline && said < newline && newline[1] ? newline + 1 : text;
}

/* Standard error must have one line if the program failed, or two if the first reports a
 * checkpoint; at most one otherwise. A compiler's messages may follow, and PoCL's compiler may
 * print before. */
static bool says_wrong(const struct one *c, bool failed, char *why, size_t size)
{
    static const char compiler[] = "1 error generated.\n";
    char *all = file_bytes(in_run_folder("stderr"), NULL);
    const char *text =
        all && strncmp(all, compiler, strlen(compiler)) == 0 ? all + strlen(compiler) : all;
    if (failed)
        text = after_checkpoint(text);
    const char *end = text ? strchr(text, '\n') : NULL;
    const bool builds = strstr(c->fault, "Build") != NULL;
    const size_t first = end ? (size_t)(end - text) : 0;
    const bool wrong = !text || (failed ? first < 10 : *text && first < 10) ||
                       strstr(text, "(null)") || (end && end[1] && !builds);
    if (wrong)
        snprintf(why, size, "status %d, not with one sentence: \"%.300s\"", failed,
                 text ? text : "");
    free(all);
    return wrong;
}

/* True, with the reason, if the run broke a promise. */
static bool is_wrong(const struct one *c, int status, char *why, size_t size)
{
    const struct result *good = &c->program->good;
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGXCPU))
        return snprintf(why, size, "hangs"), true;
    if (!WIFEXITED(status))
        return snprintf(why, size, "crashes: %s", strsignal(WTERMSIG(status))), true;
    if (WEXITSTATUS(status) > 1 || (WEXITSTATUS(status) == 1 && c->harmless))
        return snprintf(why, size, "ends with status %d", WEXITSTATUS(status)), true;
    if (WEXITSTATUS(status) == 0 && output_differs(c->program, good, why, size))
        return true;
    if (says_wrong(c, WEXITSTATUS(status) == 1, why, size))
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

static void try_fault(const struct one *c)
{
    char why[700] = "", log[400];
    snprintf(log, sizeof log, "%s.log", folder);
    const int status = run_fault_case(c->program, c->fault, log);
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
    static const char *const files[] = {"write",  "read",   "fsync", "fflush",
                                        "rename", "fclose", NULL};
    return strncmp(call, "cl", 2) == 0 ? CALLS : name_in(call, files) ? FILES : MEMORY;
}

static void add_case(const struct program *p, const char *call, int number, const struct code *code,
                     enum family family)
{
    struct one *c = &cases[ncases];
    if (!code)
        return;
    if (++ncases ==
        MAX_CASES) { /* no case is dropped silently; unused parts of these arrays cost no memory */
        printf("more cases than MAX_CASES\n");
        exit(1);
    }
    c->program = p;
    c->family = family;
    c->harmless = code->how == CUT_SHORT || (family == FILES && code->number == EINTR);
    snprintf(c->fault, sizeof c->fault, "%s %d %d %s", call, number, code->number,
             family == COMMANDS       ? "failed"
             : code->how == CUT_SHORT ? "short"
                                      : "refused");
}

/* Add the nth call of an entry point, also as a failing command if it enqueues one. */
static void add_call(const struct program *p, const char *call, int n, const struct code *code)
{
    add_case(p, call, n, code, family_of(call));
    if (strncmp(call, "clEnqueue", 9) == 0 && strcmp(call, "clEnqueueMapBuffer") != 0)
        add_case(p, call, n, code, COMMANDS);
}

/* Add three of `calls` calls, with every error. */
static void add_three(const struct program *p, const char *call, int calls)
{
    const int number[] = {1, (calls + 1) / 2, calls};
    for (int i = 0; i < 3; i++) {
        if (i > 0 && number[i] == number[i - 1])
            continue;
        const struct code *first = code_of(call, 0), *code = first;
        for (int turn = 1; code; turn++) {
            add_call(p, call, number[i], code);
            code = code_of(call, turn);
            if (code == first)
                break;
        }
    }
}

/* Add cases from the log of a run without faults. */
static void add_cases(const struct program *p, char *log)
{
    enum { KINDS = 128 };
    static char names[KINDS][48];
    int seen[KINDS] = {0}, kinds = 0;
    for (char *at = log, *call; (call = strtok_r(at, "\n", &at));) {
        int k = 0;
        while (k < kinds && strcmp(names[k], call) != 0)
            k++;
        if (k == kinds && kinds == KINDS)
            continue;
        if (k == kinds)
            snprintf(names[kinds++], sizeof *names, "%s", call);
        seen[k]++;
        if (!some)
            add_call(p, call, seen[k], code_of(call, seen[k] + seed));
    }
    for (int k = 0; some && k < kinds; k++)
        add_three(p, names[k], seen[k]);
}

/* Run a program without faults, keep its result, and add its cases. */
static bool prepare_faults(struct program *p)
{
    char log[400];
    snprintf(log, sizeof log, "%s.log", folder);
    const int status = run_fault_case(p, NULL, log);
    char *calls = file_bytes(log, NULL), *said = file_bytes(in_run_folder("stderr"), NULL);
    const bool good = status == 0 && calls && result_keep(p);
    if (good)
        add_cases(p, calls);
    else
        printf("WRONG %s does not run with nothing wrong (wait status %#x): %s\n", p->name,
               (unsigned)status, said ? said : "");
    free(said);
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

/* A worker process with a folder of its own, which takes the next case until none is left. */
static void faults_worker(int worker, int limit, double seconds)
{
    char name[16];
    snprintf(name, sizeof name, "%d", worker);
    if (!runs_in(name))
        _exit(1);
    for (int i; !runs_late() && (i = atomic_fetch_add(&count->next, 1)) < limit &&
                (seconds <= 0 || cpu_seconds() < seconds);) {
        try_fault(&cases[i]);
        if (i % 250 == 249)
            printf("%d of %d\n", i + 1, limit);
        fflush(stdout);
    }
    fflush(stdout);
    _exit(0);
}

static void run_cases(int limit, double seconds)
{
    const int workers = runs_at_once();
    fflush(stdout);
    for (int w = 0; w < workers; w++)
        if (fork() == 0)
            faults_worker(w, limit, seconds / workers);
    while (wait(NULL) > 0)
        ;
}

/* The order depends on the seed only; a sample begins with the cases of found.txt. */
static void shuffle(void)
{
    srandom((unsigned)seed);
    for (int i = ncases - 1; i > nfound; i--) {
        const int j = nfound + (int)(random() % (i - nfound + 1));
        const struct one c = cases[i];
        cases[i] = cases[j];
        cases[j] = c;
    }
}

/* Append the counts of one program to counts.json, if STDCL_FAULTS_JSON names a file. */
static bool keep_fault_counts(const char *program, int ran)
{
    const char *file = getenv("STDCL_FAULTS_JSON"), *commit = getenv("COMMIT");
    FILE *json = file && program ? fopen(file, "w") : NULL;
    if (!json)
        return !file || !program;
    fprintf(
        json,
        "{\"program\": \"%s\", \"commit\": \"%s\", \"calls\": \"%s\", \"cases\": %d, \"faults\": %d",
        program, commit ? commit : "unknown",
        some ? "first, middle and last of each entry point, with every error" : "all", ncases, ran);
    for (int f = 0; f < FAMILIES; f++)
        fprintf(
            json,
            ", \"%s\": {\"faults\": %d, \"refused\": %d, \"ended_well\": %d, \"not_reached\": %d, \"wrong\": %d}",
            family_names[f], count->ran[f], count->refused[f], count->right[f], count->missed[f],
            count->wrong[f]);
    fprintf(json, "}\n");
    return fclose(json) == 0;
}

static int report_fault(const char *program)
{
    int wrong = 0, ran = 0;
    for (int f = 0; f < FAMILIES; f++) {
        printf(
            "%-24s %5d faults: %5d refused in a sentence, %5d ended well, %4d not reached, %3d wrong\n",
            family_names[f], count->ran[f], count->refused[f], count->right[f], count->missed[f],
            count->wrong[f]);
        wrong += count->wrong[f];
        ran += count->ran[f];
    }
    printf("%d faults, %d wrong; %.0f s of processor time\n", ran, wrong, cpu_seconds());
    return !keep_fault_counts(program, ran) || wrong > 0 || ran == 0;
}

/* Keep every nth case. */
static void thin_cases(int nth)
{
    int left = 0;
    for (int i = (int)(seed % nth); nth > 1 && i < ncases; i += nth)
        cases[left++] = cases[i];
    ncases = nth > 1 ? left : ncases;
}

static struct program *find_program(const char *name)
{
    struct program *p = programs;
    while (p->name && strcmp(p->name, name) != 0)
        p++;
    return p->name ? p : NULL;
}

static int show_case(const char *name, const char *fault)
{
    struct program *p = find_program(name);
    char command[400];
    if (!p || !prepare_faults(p))
        return printf("%s cannot run\n", name), 2;
    struct one c = {p, family_of(fault), false, ""};
    snprintf(c.fault, sizeof c.fault, "%s", fault);
    try_fault(&c);
    snprintf(command, sizeof command, "cd %s; head -n 30 stdout stderr; ls -A", folder);
    return system(command);
}

static bool left_out(const char *name)
{
    const char *const *p = programs_left_out;
    while (*p && strcmp(*p, name) != 0)
        p++;
    return *p != NULL;
}

/* Add the cases of found.txt whose programs are prepared. */
static bool add_found(void)
{
    char path[600], line[200], name[48], call[48], how[16];
    int number, code;
    bool good = true;
    snprintf(path, sizeof path, "%s/tests/faults/found.txt", source);
    FILE *fp = fopen(path, "r");
    while (fp && fgets(line, sizeof line, fp)) {
        if (*line == '#' ||
            sscanf(line, "%47s %47s %d %d %15s", name, call, &number, &code, how) != 5)
            continue;
        struct program *p = find_program(name);
        good = good && (p || left_out(name));
        if (!p || !p->good.text)
            continue;
        cases[ncases].program = p;
        cases[ncases].family = strcmp(how, "failed") == 0 ? COMMANDS : family_of(call);
        cases[ncases].harmless = strcmp(how, "short") == 0;
        snprintf(cases[ncases].fault, sizeof cases->fault, "%s %d %d %s", call, number, code, how);
        ncases++;
    }
    if (fp)
        fclose(fp);
    return fp && good;
}

/* Move the cases of found.txt to the front. */
static bool found_first(void)
{
    static struct one found[MAX_CASES];
    const int others = ncases;
    const bool good = add_found();
    nfound = ncases - others;
    memcpy(found, cases + others, (size_t)nfound * sizeof *found);
    memmove(cases + nfound, cases, (size_t)others * sizeof *cases);
    memcpy(cases, found, (size_t)nfound * sizeof *found);
    return good;
}

static int fault_campaign(bool sample, int nth, const char *name)
{
    int n = 0, status = 0;
    while (programs[n].name)
        n++;
    for (int i = 0; i < n; i++)
        if (sample ? (i + seed) % (n / SAMPLE_PROGRAMS) == 0
                   : !name || strcmp(name, programs[i].name) == 0)
            status |= !prepare_faults(&programs[i]);
    if (!sample && !name)
        printf("%d cases of %d programs\n", ncases, n);
    thin_cases(nth);
    if (sample && !found_first())
        status = 1;
    shuffle();
    if (sample)
        printf("seed %ld: %d cases found once, up to %d of %d others\n", seed, nfound, SAMPLE_CASES,
               ncases - nfound);
    if (sample && ncases > nfound + SAMPLE_CASES)
        ncases = nfound + SAMPLE_CASES;
    const double left = SAMPLE_SECONDS - cpu_seconds();
    run_cases(ncases, !sample ? 0 : left > 1 ? left : 1);
    return status | report_fault(name);
}

int main(int argc, char **argv)
{
    const bool sample = argc > 3 && strcmp(argv[3], "sample") == 0;
    const bool only = argc > 4 && strcmp(argv[3], "only") == 0;
    const int nth = argc > 4 && strcmp(argv[3], "every") == 0 ? atoi(argv[4]) : 1;
    int status = 1;
    if (argc < 3 || nth < 1)
        return 2;
    for (int i = 0; argc > 3 && strcmp(argv[3], "list") == 0; i++)
        if (!programs[i].name || puts(programs[i].name) < 0)
            return !!programs[i].name;
    some = only && argc > 5 && strcmp(argv[5], "some") == 0;
    seed = sample && argc > 4 ? atol(argv[4]) : nth > 1 && argc > 5 ? atol(argv[5]) : 0;
    count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (count != MAP_FAILED && runs_begin(argv[1], argv[2]) && codes_read())
        status = only && argc > 5 && !some ? show_case(argv[4], argv[5])
                                           : fault_campaign(sample, nth, only ? argv[4] : NULL);
    runs_end();
    return status;
}
