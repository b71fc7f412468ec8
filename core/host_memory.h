/* host_memory.h - bytes of memory that this process may use.
 *
 * Linux grants more memory than there is, and kills the process that uses it. Compare large
 * requests of the user's size with the least of: the machine's memory; the limits of the control
 * groups that hold the process (Slurm, Docker, systemd); its own limits (ulimit -v, -d).
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_HOST_MEMORY_H
#define CORE_HOST_MEMORY_H

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The number in a file; INFINITY without a file or a number, such as "max". */
static inline double host_memory_in_file(const char *path)
{
    double bytes;
    FILE *fp = fopen(path, "re");
    const int read = fp ? fscanf(fp, "%lf", &bytes) : 0;
    if (fp)
        fclose(fp);
    return read == 1 && bytes >= 0 ? bytes : INFINITY;
}

/* The least limit of a control group and of those above it: the files `name` from `mount`/`group`
 * up to `mount`. Inside a container the group's path may be that of the host, which is not there;
 * the mounted folder is then the container's own. */
static inline double host_memory_of_groups(const char *mount, const char *group, const char *name)
{
    char path[4096], file[4200];
    double least = INFINITY;
    snprintf(path, sizeof path, "%s%s", mount, group);
    for (char *end = path + strlen(path); end && end >= path + strlen(mount);
         end = strrchr(path, '/')) {
        *end = 0;
        snprintf(file, sizeof file, "%s/%s", path, name);
        least = fmin(least, host_memory_in_file(file));
    }
    return least;
}

/* The least limit of the control groups that the file `groups`, /proc/self/cgroup, lists; `mount`:
 * /sys/fs/cgroup. */
static inline double host_memory_of_cgroups(const char *groups, const char *mount)
{
    char line[4096], v1[4096];
    double least = INFINITY;
    FILE *fp = fopen(groups, "re");
    snprintf(v1, sizeof v1, "%.4000s/memory", mount);
    while (fp && fgets(line, sizeof line, fp)) {
        line[strcspn(line, "\n")] = 0;
        char *list = strchr(line, ':'), *group = list ? strchr(list + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = 0;
        if (strcmp(line, "0:") == 0) /* version 2: 0::/path */
            least = fmin(least, host_memory_of_groups(mount, group, "memory.max"));
        else if (strcmp(list + 1, "memory") == 0) /* version 1: 9:memory:/path */
            least = fmin(least, host_memory_of_groups(v1, group, "memory.limit_in_bytes"));
    }
    if (fp)
        fclose(fp);
    return least;
}

/* Number `field` of /proc/self/statm in bytes: 0 all mappings, 1 resident, 5 heap and private
 * mappings; 0 where there is no such file. */
static inline double host_memory_used(int field)
{
    unsigned long pages[6] = {0};
    FILE *fp = fopen("/proc/self/statm", "re");
    for (int i = 0; fp && i < 6 && fscanf(fp, "%lu", &pages[i]) == 1; i++)
        ;
    if (fp)
        fclose(fp);
    return (double)pages[field] * (double)sysconf(_SC_PAGESIZE);
}

/* Bytes that the process may have resident: of the machine and its control groups; 2^46 if nothing
 * is known. */
static inline double host_memory_resident(void)
{
    static _Atomic double known; /* threads may set it twice, to the same value */
    double bytes = known;
    if (!(bytes > 0)) {
        const double ram = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
        bytes = fmin(ram > 0 ? ram : 0x1p46,
                     host_memory_of_cgroups("/proc/self/cgroup", "/sys/fs/cgroup"));
        known = bytes;
    }
    return bytes;
}

static inline double host_memory_limit(int resource)
{
    struct rlimit limit;
    return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
               ? (double)limit.rlim_cur
               : INFINITY;
}

/* Bytes that the process may use in all. Equal in every call, so that choices made by it are
 * reproducible. */
static inline double host_memory(void)
{
    return fmin(host_memory_resident(),
                fmin(host_memory_limit(RLIMIT_AS), host_memory_limit(RLIMIT_DATA)));
}

/* Bytes that the process may use besides those it uses now. A twentieth stays free for page tables
 * and for small allocations. */
static inline double host_memory_left(void)
{
    double left = host_memory_resident() - host_memory_used(1);
    const double address = host_memory_limit(RLIMIT_AS), data = host_memory_limit(RLIMIT_DATA);
    if (isfinite(address))
        left = fmin(left, address - host_memory_used(0));
    if (isfinite(data))
        left = fmin(left, data - host_memory_used(5));
    return fmax(0.95 * left, 0);
}

#endif
