/* launch.c - which launcher started this process, and the plugin for its MPI.
 *
 * Launchers say in the environment how many processes there are, each MPI's in its own way. Only
 * then a plugin is opened: $STDCL_MPI, else world-site.so, which `make mpi` builds, else the one of
 * the launcher's MPI. It lies in stdcl/ beside the library, or in lib/stdcl/ of a folder above the
 * program, wherever that was moved to.
 * SPDX-License-Identifier: MIT
 */
#include "world/internal.h"

#include "core/reserved.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/* ---- The launcher. --------------------------------------------------------------------------- */

/* In the order in which they are asked: Slurm's are there too when mpirun was started in one of its
 * jobs. */
static const struct launcher {
    const char *size, *rank; /* variables */
    const char *plugin;      /* which MPI it starts; NULL: any */
} launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "openmpi"},
    {"PMI_SIZE", "PMI_RANK", "mpich"},
    {"MPI_LOCALNRANKS", "MPI_LOCALRANKID", "mpich"},
    {"FLUX_JOB_SIZE", "FLUX_TASK_RANK", NULL},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", NULL},
};

static int number_in(const char *variable, int otherwise)
{
    const char *text = getenv(variable);
    return text && *text ? atoi(text) : otherwise;
}

/* The launcher of several processes, or NULL. */
static const struct launcher *find_launcher(void)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (number_in(launchers[i].size, 1) > 1)
            return &launchers[i];
    return NULL;
}

int world_launched(int *rank)
{
    const struct launcher *l = find_launcher();
    if (rank)
        *rank = l ? number_in(l->rank, 0) : 0;
    return l ? number_in(l->size, 1) : 1;
}

/* ---- The plugin. ----------------------------------------------------------------------------- */

/* The file that this code is in, a library or a program. */
static bool own_file(char path[PATH_MAX])
{
    static const char here = 0;
    Dl_info self;
    if (dladdr((const void *)&here, &self) && self.dli_fname && strchr(self.dli_fname, '/') &&
        realpath(self.dli_fname, path))
        return true;
    return realpath("/proc/self/exe", path) != NULL;
}

enum { LEVELS = 3 }; /* folders above that of this code that are tried */

static bool find_plugin(const char *name, char *path, size_t size)
{
    char folder[PATH_MAX];
    if (!own_file(folder))
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

/* The table of the plugin in a file; it stays open, as MPI's own parts are. */
static const struct transport *open_plugin(const char *path)
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

/* Which of the plugins there is: the one that was wished for, the site's, or one of these. */
static const struct transport *choose_plugin(const char *const *names, const char *started)
{
    char path[PATH_MAX + 64];
    const char *wish = getenv("STDCL_MPI");
    if (wish && *wish)
        return open_plugin(wish);
    if (find_plugin("site", path, sizeof path))
        return open_plugin(path);
    for (size_t i = 0; names[i]; i++)
        if (find_plugin(names[i], path, sizeof path))
            return open_plugin(path);
    clerror_set(
        ENOENT,
        "world_join: %s, but stdcl was installed without world-%s.so, by which its ranks talk; install the package "
        "libstdcl-%s1 of Debian; elsewhere an MPI with its compiler, and build stdcl again, or only the plugin by `make mpi "
        "MPICC=mpicc`",
        started, names[0], names[0]);
    return NULL;
}

/* ---- Joined. --------------------------------------------------------------------------------- */

static stdcl_world *start(const struct transport *by, int communicator,
                          const struct world_options *options)
{
    void *state = NULL;
    int rank = 0, size = 1, background = 0;
    char carrier[TRANSPORT_WHY] = "", why[TRANSPORT_WHY] = "";
    if (by->join(communicator, &state, &rank, &size, &background, carrier, why) != 0) {
        clerror_set(EPROTO, "world_join: %s cannot start: %s", by->names, why);
        return NULL;
    }
    return world_make(by, state, rank, size, background != 0, carrier, NULL, options);
}

/* Each process would think that it is alone, and all would do the same. */
static stdcl_world *of_size(stdcl_world *w, int launched)
{
    if (!w || w->size == launched)
        return w;
    clerror_set(
        EPROTO,
        "world_join: the launcher started %d processes, but %s, which the plugin uses, sees %d: it is another MPI's launcher; "
        "start it with that MPI's own mpiexec, under Slurm with srun --mpi=pmix, or let $STDCL_MPI name the plugin of the "
        "launcher's MPI",
        launched, w->carrier, w->size);
    world_leave(w);
    return NULL;
}

/* All know their patience, and are of one version. */
static stdcl_world *of_one_mind(stdcl_world *w)
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
    const struct launcher *l = find_launcher();
    if (options && reserved_check("world_join", options->reserved) != 0)
        return NULL;
    double patience;
    if (!l)
        return timeout_read(&patience) == 0 ? world_of_threads(NULL, 0, NULL, true, options) : NULL;
    char started[64];
    const bool pmix = getenv("PMIX_RANK") != NULL;
    const char *const names[] = {l->plugin                   ? l->plugin
                                 : pmix || !getenv("PMI_FD") ? "openmpi"
                                                             : "mpich",
                                 l->plugin                   ? NULL
                                 : pmix || !getenv("PMI_FD") ? "mpich"
                                                             : "openmpi",
                                 NULL};
    const int launched = number_in(l->size, 1);
    snprintf(started, sizeof started, "the launcher started %d processes", launched);
    const struct transport *by = choose_plugin(names, started);
    return by ? of_one_mind(of_size(start(by, -1, options), launched)) : NULL;
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
        strchr(plugin, '/') ? open_plugin(plugin) : choose_plugin(names, "the program has MPI");
    return by ? of_one_mind(start(by, communicator, options)) : NULL;
}
