/* browser.c - opens a link in the user's browser.
 *
 * The link contains the view's token, and all users of a machine can list the arguments of
 * programs. The browser therefore gets the name of a file that only its owner can read, and the
 * file redirects to the link.
 * SPDX-License-Identifier: MIT
 */
#include "browser.h"

#include "core/outfile.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static const char *const within[] = {"view.html", NULL};
static char folder[512];

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

/* A browser started in an ssh session would run on the wrong machine. */
static bool has_browser(void)
{
    return !is_set("SSH_CONNECTION") && (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"));
}

static bool write_redirect(const char *file, const char *link)
{
    const int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    FILE *fp = fd < 0 ? NULL : fdopen(fd, "w");
    if (!fp)
        return false;
    fprintf(fp,
            "<!doctype html><meta charset=\"utf-8\"><title>stdcl view</title>"
            "<meta http-equiv=\"refresh\" content=\"0;url=%s\"><a href=\"%s\">stdcl view</a>\n",
            link, link);
    return fclose(fp) == 0;
}

/* In a session of its own, so that Ctrl-C does not end it. */
static void spawn_browser(char *file)
{
    char *argv[] = {(char[]){"xdg-open"}, file, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t child;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    posix_spawnp(&child, argv[0], &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
}

void cli_browser_open(const char *link)
{
    char file[sizeof folder + 16];
    if (!has_browser() || outfile_folder(folder, sizeof folder, "view", within) < 0) {
        *folder = 0;
        return;
    }
    snprintf(file, sizeof file, "%s/%s", folder, within[0]);
    if (write_redirect(file, link))
        spawn_browser(file);
}

void cli_browser_close(void)
{
    if (*folder)
        outfile_folder_remove(folder);
    *folder = 0;
}
