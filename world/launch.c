/* launch.c - launcher detection, and the plugin for the launcher's MPI.
 *
 * Launchers set environment variables that say how many processes they started, each MPI its own.
 * Only for several processes is a plugin opened: $STDCL_MPI, else world-site.so, which `make mpi`
 * builds, else the plugin of the launcher's MPI. Plugins are in stdcl/ beside the library, or in
 * lib/stdcl/ of a folder above the program, so that an installation can be moved.
 * SPDX-License-Identifier: MIT
 */
#include "world/internal.h"
#include "world/threads.h"

#include "core/reserved.h"
#include "world/drain_stdio.h"

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* ---- The launcher. --------------------------------------------------------------------------- */

/* In this order: Slurm's variables are set too when mpirun was started in a Slurm job. */
static const struct launcher {
    const char *size, *rank; /* environment variables */
    const char *plugin;      /* the launcher's MPI; NULL: any */
} launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "openmpi"},
    {"PMI_SIZE", "PMI_RANK", "mpich"},
    {"MPI_LOCALNRANKS", "MPI_LOCALRANKID", "mpich"},
    {"FLUX_JOB_SIZE", "FLUX_TASK_RANK", NULL},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", NULL},
};

static int environment_number(const char *variable, int otherwise)
{
    const char *text = getenv(variable);
    return text && *text ? atoi(text) : otherwise;
}

/* The launcher of several processes, or NULL. */
static const struct launcher *launcher_find(void)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (environment_number(launchers[i].size, 1) > 1)
            return &launchers[i];
    return NULL;
}

int world_launched(int *rank)
{
    const struct launcher *l = launcher_find();
    if (rank)
        *rank = l ? environment_number(l->rank, 0) : 0;
    return l ? environment_number(l->size, 1) : 1;
}

/* ---- The plugin. ----------------------------------------------------------------------------- */

/* Path of the library or program that contains this code. */
static bool path_of_this_code(char path[PATH_MAX])
{
    static const char here = 0;
    Dl_info self;
    if (dladdr((const void *)&here, &self) && self.dli_fname && strchr(self.dli_fname, '/') &&
        realpath(self.dli_fname, path))
        return true;
    return realpath("/proc/self/exe", path) != NULL;
}

enum { LEVELS = 3 }; /* parent folders that are searched */

static bool plugin_find(const char *name, char *path, size_t size)
{
    char folder[PATH_MAX];
    if (!path_of_this_code(folder))
        return false;
    for (int level = 0; level <= LEVELS; level++) {
        char *slash = strrchr(folder, '/');
        if (!slash)
            return false;
        *slash = 0;
        snprintf(path, size, "%s%s/stdcl/world-%s.so", folder, level ? "/" STDCL_LIBDIR : "", name);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

/* Open a plugin and return its table. The plugin stays open, as MPI must. */
static const struct transport *plugin_open(const char *path)
{
    void *file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct transport *by = file ? dlsym(file, "stdcl_world_transport") : NULL;
    if (!by)
        clerror_set(ENOENT, "world_join: %s is no plugin that can be opened: %s", path, dlerror());
    else if (by->abi != TRANSPORT_ABI) {
        clerror_set(ENOENT, "world_join: %s belongs to another version of stdcl; build it again",
                    path);
        by = NULL;
    }
    return by;
}

/* Open $STDCL_MPI, else the site's plugin, else the first of `names` that exists. */
static const struct transport *plugin_choose(const char *const *names, const char *started)
{
    char path[PATH_MAX + 64];
    const char *wish = secure_getenv("STDCL_MPI");
    if (wish && *wish)
        return plugin_open(wish);
    if (plugin_find("site", path, sizeof path))
        return plugin_open(path);
    for (size_t i = 0; names[i]; i++)
        if (plugin_find(names[i], path, sizeof path))
            return plugin_open(path);
    clerror_set(
        ENOENT,
        "world_join: %s, but stdcl was installed without world-%s.so, by which its ranks talk; install the package "
        "libstdcl-%s1 of Debian; elsewhere an MPI with its compiler, and build stdcl again, or only the plugin by `make mpi "
        "MPICC=mpicc`",
        started, names[0], names[0]);
    return NULL;
}

/* ---- A start without end. -------------------------------------------------------------------- */

/* MPI_Init returns once all ranks have called it, and cannot be interrupted. */
struct start {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ended;
    struct world_options options;
};

/* End the process if MPI has not started in time: the launcher then ends all ranks. Rank 0 has a
 * second more to say why. */
static void *start_watch(void *start)
{
    struct start *s = start;
    struct timespec until;
    double seconds;
    int rank, status = 0;
    char host[HOST_BYTES] = "", text[SENTENCE_BYTES];
    world_launched(&rank);
    (void)timeout_read(&seconds);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)ceil(seconds) + (rank > 0);
    pthread_mutex_lock(&s->lock);
    while (!s->ended && status == 0)
        status = pthread_cond_timedwait(&s->changed, &s->lock, &until);
    if (!s->ended) {
        gethostname(host, sizeof host - 1);
        snprintf(text, sizeof text,
                 "rank %d on %s has waited %g s for MPI to start: another rank does not answer; "
                 "$STDCL_TIMEOUT is how long it may wait",
                 rank, host, seconds);
        s->options.on_abort(s->options.arg, text);
        drain_stdio();
        _exit(EXIT_FAILURE);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* Call `join` of a transport under a watch. */
static int start_transport(const struct transport *by, const struct world_options *options,
                           int communicator, void **state, int *rank, int *size, int *background,
                           char *transport_name, char *why)
{
    struct start s = {.lock = PTHREAD_MUTEX_INITIALIZER, .options = options_with_defaults(options)};
    pthread_condattr_t by_clock;
    pthread_t thread;
    pthread_condattr_init(&by_clock);
    pthread_condattr_setclock(&by_clock, CLOCK_MONOTONIC);
    pthread_cond_init(&s.changed, &by_clock);
    pthread_condattr_destroy(&by_clock);
    const bool watched = pthread_create(&thread, NULL, start_watch, &s) == 0;
    const int status = by->join(communicator, state, rank, size, background, transport_name, why);
    pthread_mutex_lock(&s.lock);
    s.ended = true;
    pthread_cond_signal(&s.changed);
    pthread_mutex_unlock(&s.lock);
    if (watched)
        pthread_join(thread, NULL);
    pthread_cond_destroy(&s.changed);
    return status;
}

/* ---- Joined. --------------------------------------------------------------------------------- */

static stdcl_world *world_start(const struct transport *by, int communicator,
                                const struct world_options *options)
{
    void *state = NULL;
    int rank = 0, size = 1, background = 0;
    char transport_name[TRANSPORT_WHY] = "", why[TRANSPORT_WHY] = "";
    if (start_transport(by, options, communicator, &state, &rank, &size, &background,
                        transport_name, why) != 0) {
        clerror_set(EPROTO, "world_join: %s cannot start: %s", by->names, why);
        return NULL;
    }
    return world_make(by, state, rank, size, background != 0, transport_name, NULL, options);
}

/* Refuse a plugin that sees another number of processes than the launcher started: each process
 * would believe that it is alone and do the whole job. */
static stdcl_world *check_launched_size(stdcl_world *w, int launched)
{
    if (!w || w->size == launched)
        return w;
    clerror_set(
        ENOTCONN,
        "world_join: the launcher started %d processes, but %s, which the plugin uses, sees %d: it is another MPI's launcher; "
        "start it with that MPI's own mpiexec, under Slurm with srun --mpi=pmix, or let $STDCL_MPI name the plugin of the "
        "launcher's MPI",
        launched, w->transport_name, w->size);
    world_leave(w);
    return NULL;
}

/* Check on all ranks that $STDCL_TIMEOUT is valid and the version of stdcl is the same. */
static stdcl_world *check_agreement(stdcl_world *w)
{
    double seconds;
    if (!w || (world_reduce_status(w, timeout_read(&seconds)) == 0 &&
               world_check_equal(w, "stdcl version", STDCL_VERSION) == 0))
        return w;
    const int code = clerrno;
    const char *sentence = clerror();
    char *why = sentence ? strdup(sentence) : NULL;
    world_abort(w, 1, why);
    clerror_set(code, "%s", why ? why : "world_join: the ranks are not of one mind");
    free(why);
    return NULL;
}

stdcl_world *world_join(const struct world_options *options)
{
    const struct launcher *l = launcher_find();
    if (options && reserved_check("world_join", options->reserved) != 0)
        return NULL;
    double timeout;
    if (!l)
        return timeout_read(&timeout) == 0 ? world_of_threads(NULL, 0, NULL, true, options) : NULL;
    char started[64];
    const bool pmix = getenv("PMIX_RANK") != NULL;
    const char *const names[] = {l->plugin                   ? l->plugin
                                 : pmix || !getenv("PMI_FD") ? "openmpi"
                                                             : "mpich",
                                 l->plugin                   ? NULL
                                 : pmix || !getenv("PMI_FD") ? "mpich"
                                                             : "openmpi",
                                 NULL};
    const int launched = environment_number(l->size, 1);
    snprintf(started, sizeof started, "the launcher started %d processes", launched);
    const struct transport *by = plugin_choose(names, started);
    return by ? check_agreement(check_launched_size(world_start(by, -1, options), launched)) : NULL;
}

stdcl_world *world_from_plugin(const char *plugin, int communicator,
                               const struct world_options *options)
{
    if (!plugin || (options && reserved_check("world_from_plugin", options->reserved) != 0)) {
        if (!plugin)
            clerror_set(EINVAL, "world_from_plugin: no plugin is named");
        return NULL;
    }
    const char *const names[] = {plugin, NULL};
    const struct transport *by =
        strchr(plugin, '/') ? plugin_open(plugin) : plugin_choose(names, "the program has MPI");
    return by ? check_agreement(world_start(by, communicator, options)) : NULL;
}
