/* environment.c - checks the environment variables that configure the library: an invalid value is
 * reported when a context is opened, not ignored.
 * SPDX-License-Identifier: MIT
 */
#include "core/environment.h"

#include "core/clock.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

/* The value must be one of these words. */
static int check_word(const char *name, const char *value, const char *words)
{
    const size_t length = strlen(value);
    for (const char *word = words; !strchr(value, ' ') && (word = strstr(word, value)); word++)
        if ((word == words || word[-1] == ' ') && (!word[length] || word[length] == ' '))
            return 0;
    return fail(EINVAL, 0, "clcontext: %s is \"%s\"; allowed values: %s", name, value, words);
}

static int check_seconds(const char *name, const char *value, const char *unused)
{
    char *end;
    const double seconds = seconds_read(value, &end);
    (void)unused;
    return end != value && !*end && isfinite(seconds) && seconds > 0
               ? 0
               : fail(EINVAL, 0, "clcontext: %s is \"%s\"; give a number of seconds above 0", name,
                      value);
}

/* The value must be a folder, which contains `file` if that is named. */
static int check_folder(const char *name, const char *value, const char *file)
{
    char path[4096];
    struct stat about;
    if (stat(value, &about) != 0 || !S_ISDIR(about.st_mode))
        return fail(EINVAL, 0, "clcontext: %s is \"%s\", which is no folder", name, value);
    snprintf(path, sizeof path, "%s/%s", value, file);
    return !*file || access(path, R_OK) == 0
               ? 0
               : fail(EINVAL, 0, "clcontext: %s is \"%s\", and there is no %s in that folder", name,
                      value, file);
}

int environment_check(void)
{
    static const struct {
        const char *name, *what;
        int (*check)(const char *name, const char *value, const char *what);
    } variables[] = {
        {"STDCL_DEBUG", "0 1 2", check_word},       {"STDCL_ARG_INFO", "source", check_word},
        {"STDCL_DEVICE_BUILDS", "0 1", check_word}, {"STDCL_KERNEL_PATH", "", check_folder},
        {"STDCL_INCLUDE", "stdcl.h", check_folder}, {"STDCL_SLICE", "", check_seconds},
        {"STDCL_TIMED", "", check_seconds},         {"STDCL_CACHE", "0 1", check_word},
    };
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i].name);
        if (value && *value && variables[i].check(variables[i].name, value, variables[i].what) != 0)
            return -1;
    }
    return 0;
}

int environment_number(const char *name, const char *value, long least, long most, long *number)
{
    char *end;
    errno = 0;
    *number = strtol(value, &end, strncasecmp(value, "0x", 2) == 0 ? 16 : 10);
    return end != value && !*end && errno == 0 && *number >= least && *number <= most
               ? 0
               : fail(EINVAL, 0, "clcontext: %s is \"%s\"; give a whole number, %ld to %ld", name,
                      value, least, most);
}
