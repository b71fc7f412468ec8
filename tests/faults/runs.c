/* runs.c - run a program with a fault or a signal in a folder of its own, and check the files
 * left there.
 * SPDX-License-Identifier: MIT
 */
#include "faults.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

/* Files that programs need and that commands create once without faults: in `needs` as
 * "made/NAME". */
static const struct program made[] = {
    {"figure8.ckpt",
     "bin/stdcl nbody --ic figure8 --device 0 --steps 4 -q --checkpoint figure8.ckpt",
     NULL,
     {0},
     {0},
     {0}},
    {"a.npy", "bin/stdcl matmul -n 96 --repeat 1 -q -o a.npy", NULL, {0}, {0}, {0}},
    {"small.view", "bin/stdcl life --size 64 -n 8 -q --record small.view", NULL, {0}, {0}, {0}},
    {0},
};

enum {
    TIME_LIMIT = 60,
    WALL_LIMIT = 900
}; /* seconds of processor time, and on a machine that may be busy */

const char *build, *source;
char base[256], folder[300];
static double begun;
static double clock_seconds(void);

bool runs_begin(const char *build_folder, const char *source_folder)
{
    static const char *const variables[] = {"HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"};
    char empty[300], kernels[600];
    begun = clock_seconds();
    build = realpath(build_folder, NULL); /* the programs run elsewhere */
    source = realpath(source_folder, NULL);
    if (!build || !source)
        return perror(build ? source_folder : build_folder), false;
    snprintf(base, sizeof base, "%s/tests/faults.%d", build, (int)getpid());
    snprintf(empty, sizeof empty, "%s/in", base);
    FILE *in = mkdir(base, 0777) == 0 && runs_in("first") ? fopen(empty, "w") : NULL;
    if (!in || fclose(in) != 0)
        return perror(base), false;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        setenv(variables[i], base, 1);
    snprintf(kernels, sizeof kernels, "%s/tests/faults.kernels",
             build); /* kept, since compiling is slow */
    mkdir(kernels, 0777);
    setenv("STDCL_CACHE", "0", 0); /* each run makes the same calls */
    setenv("POCL_CACHE_DIR", kernels, 1);
    setenv("CUDA_CACHE_PATH", kernels, 1);
    return true;
}

bool runs_in(const char *name)
{
    snprintf(folder, sizeof folder, "%s/%s", base, name);
    return mkdir(folder, 0777) == 0;
}

static double clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int runs_at_once(void)
{
    const char *wanted = getenv("STDCL_FAULTS_WORKERS");
    return wanted && atoi(wanted) > 0 ? atoi(wanted) : 2;
}

bool runs_late(void)
{
    const char *seconds = getenv("STDCL_FAULTS_SECONDS");
    return seconds && clock_seconds() - begun > atof(seconds);
}

void runs_end(void)
{
    char command[400];
    snprintf(command, sizeof command, "rm -rf '%s'", base);
    if (system(command) != 0)
        perror(base);
}

/* ---- One run. -------------------------------------------------------------------------------- */

char *in_run_folder(const char *name)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Find the path of a file of `needs`. */
static void find_needed(const char *needed, char *path, size_t size)
{
    const struct program *m = made;
    char stay[300];
    snprintf(path, size, "%s/%s", source, needed);
    if (strncmp(needed, "made/", 5) != 0)
        return;
    needed += 5;
    snprintf(path, size, "%s/made/%s", base, needed);
    while (m->name && strcmp(m->name, needed) != 0)
        m++;
    if (!m->name || access(path, F_OK) == 0)
        return;
    snprintf(stay, sizeof stay, "%s", folder);
    if (!runs_in("made") && errno != EEXIST)
        perror(folder);
    if (run_wait(run_start(m, NULL, NULL)) != 0)
        fprintf(stderr, "faults: %s could not be made\n", needed);
    snprintf(folder, sizeof folder, "%s", stay);
}

/* Remove all entries of a folder, which may be folders of files. */
static void empty_folder(const char *path)
{
    char inner[600];
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (unlinkat(dirfd(d), e->d_name, 0) == 0 || errno != EISDIR ||
            snprintf(inner, sizeof inner, "%s/%s", path, e->d_name) >= (int)sizeof inner)
            continue;
        empty_folder(inner);
        unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
    }
    if (d)
        closedir(d);
}

void run_tidy(const struct program *p)
{
    empty_folder(folder);
    for (int i = 0; p->needs[i]; i++) {
        char from[600];
        find_needed(p->needs[i], from, sizeof from);
        if (symlink(from, in_run_folder(strrchr(from, '/') + 1)) != 0)
            perror(from);
    }
}

static void become(const struct program *p, const char *fault, const char *log)
{
    const struct rlimit limit = {TIME_LIMIT, TIME_LIMIT + 1};
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
    if (log)
        setenv("STDCL_FAULT_LOG", log, 1);
    if (fault)
        setenv("STDCL_FAULT", fault, 1);
    if (chdir(folder) != 0 || !freopen("../in", "r", stdin) || !freopen("stdout", "w", stdout) ||
        !freopen("stderr", "w", stderr))
        _exit(126);
    setrlimit(RLIMIT_CPU, &limit);
    alarm(WALL_LIMIT);
    execv(program, argv);
    _exit(127);
}

pid_t run_start(const struct program *p, const char *fault, const char *log)
{
    if (log)
        unlink(log);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        become(p, fault, log);
    return child;
}

int run_wait(pid_t child)
{
    int status = 0;
    pid_t ended;
    do
        ended = waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
    return ended == child && child > 0 ? status : -1;
}

/* ---- Files left. ----------------------------------------------------------------------------- */

bool result_keep(struct program *p)
{
    char *out = file_bytes(in_run_folder("stdout"), NULL);
    bool good = out && (p->good.text = program_result(p, out)) != NULL;
    for (int i = 0; good && p->outputs[i]; i++)
        good =
            (p->good.file[i] = file_bytes(in_run_folder(p->outputs[i]), &p->good.size[i])) != NULL;
    free(out);
    return good;
}

bool name_in(const char *name, const char *const *list)
{
    for (; *list; list++) {
        const char *slash = strrchr(*list, '/');
        if (strcmp(name, slash ? slash + 1 : *list) == 0)
            return true;
    }
    return false;
}

/* True if an output is in the folder of this name. */
static bool is_folder_of_outputs(const struct program *p, const char *name)
{
    const size_t length = strlen(name);
    for (int i = 0; p->outputs[i]; i++)
        if (strncmp(p->outputs[i], name, length) == 0 && p->outputs[i][length] == '/')
            return true;
    return false;
}

bool leaves_others(const struct program *p, bool (*allowed)(const char *), char *why, size_t size)
{
    static const char *const always[] = {".", "..", "stdout", "stderr", NULL};
    bool bad = false;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && !bad && (e = readdir(d));) {
        bad = !name_in(e->d_name, always) && !name_in(e->d_name, p->outputs) &&
              !name_in(e->d_name, p->needs) && !is_folder_of_outputs(p, e->d_name) &&
              !(allowed && allowed(e->d_name));
        if (bad)
            snprintf(why, size, "leaves %.200s", e->d_name);
    }
    if (d)
        closedir(d);
    return bad;
}

/* ---- Files. ---------------------------------------------------------------------------------- */

char *file_bytes(const char *path, size_t *size)
{
    char *bytes = NULL, *more;
    size_t used = 0, n;
    FILE *fp = fopen(path, "rb");
    do {
        more = fp ? realloc(bytes, used + 65537) : NULL;
        if (!more)
            break;
        bytes = more;
        n = fread(bytes + used, 1, 65536, fp);
        used += n;
        bytes[used] = 0;
    } while (n > 0);
    if (fp)
        fclose(fp);
    if (size)
        *size = used;
    return bytes;
}

bool file_is(const char *path, const char *bytes, size_t size)
{
    size_t found = 0;
    char *now = file_bytes(path, &found);
    const bool same = now && found == size && memcmp(now, bytes, size) == 0;
    free(now);
    return same;
}
