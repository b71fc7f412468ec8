/* film.c - numbered series of pictures, and films of them by the program ffmpeg.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/outfile.h"
#include "formats/filter.h"
#include "formats/picture.h"
#include "stdcl.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MESSAGE_SIZE = 300 };

/* ---- Names. ---------------------------------------------------------------------------------- */

/* The suffix with its point, or the empty end of the name. */
static const char *suffix_of(const char *file)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file, *point = strrchr(name, '.');
    return point && point > name ? point : name + strlen(name);
}

char *picture_frame_name(const char *file, unsigned index)
{
    size_t size = strlen(file) + 20;
    char *name = malloc(size);
    if (name)
        snprintf(name, size, "%.*s-%04u.png", (int)(suffix_of(file) - file), file, index);
    else
        clerror_set(ENOMEM, "%s: no memory for the name of a frame", file);
    return name;
}

int picture_is_film(const char *file)
{
    return strcasecmp(suffix_of(file), ".mp4") == 0 || strcasecmp(suffix_of(file), ".gif") == 0;
}

/* The pattern by which ffmpeg finds the frames, its own % signs doubled; relative names get "./", or
 * ffmpeg takes "a:b" for a protocol and "-a" for an option. */
static char *frame_pattern(const char *file)
{
    size_t stem = (size_t)(suffix_of(file) - file);
    char *pattern = malloc(2 * stem + 20), *out = pattern;
    if (!pattern)
        return NULL;
    if (*file != '/')
        out += sprintf(out, "./");
    for (size_t i = 0; i < stem; i++) {
        if (file[i] == '%')
            *out++ = '%';
        *out++ = file[i];
    }
    strcpy(out, "-%04d.png");
    return pattern;
}

int picture_can_join(void)
{
    return filter_there("ffmpeg");
}

/* ---- Running ffmpeg. ------------------------------------------------------------------------- */

/* Keeps the last line that is not empty of what the program says. */
static void listen_to(int fd, char message[MESSAGE_SIZE])
{
    size_t length = 0;
    bool fresh = true; /* the next byte starts a line */
    char buffer[512];
    ssize_t got;
    message[0] = 0;
    while ((got = read(fd, buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR)) {
        for (ssize_t i = 0; i < got; i++) {
            if (buffer[i] == '\n' || buffer[i] == '\r') {
                fresh = true;
                continue;
            }
            length = fresh ? 0 : length;
            fresh = false;
            if (length < MESSAGE_SIZE - 1)
                message[length++] = (char)(buffer[i] >= 32 && buffer[i] < 127 ? buffer[i] : '?');
            message[length] = 0;
        }
    }
}

static int wait_for(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

/* Runs argv without a shell, its input and output nowhere and its complaints in `message`. Returns its
 * wait status, or -1 with errno when it did not start. */
static int run_quietly(char *const argv[], char message[MESSAGE_SIZE])
{
    posix_spawn_file_actions_t actions;
    int ends[2];
    pid_t child;
    if (pipe(ends) < 0)
        return -1;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    if (ends[1] != 2)
        posix_spawn_file_actions_addclose(&actions, ends[1]);
    int code = posix_spawnp(&child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (code == 0)
        listen_to(ends[0], message);
    close(ends[0]);
    errno = code;
    return code ? -1 : wait_for(child);
}

/* ---- Joining. -------------------------------------------------------------------------------- */

struct command {
    char *argv[40];
    int argc;
};

static void add(struct command *c, ...)
{
    va_list words;
    va_start(words, c);
    for (char *word; (word = va_arg(words, char *));)
        c->argv[c->argc++] = word;
    va_end(words);
    c->argv[c->argc] = NULL;
}

/* Films play everywhere with even sides and 4:2:0 colours; H.264 may be missing from ffmpeg, then its own
 * choice is taken. A GIF gets a palette of its own, undithered so that the black between the stars stays
 * black. */
static void add_encoding(struct command *c, bool gif, bool h264)
{
    if (gif) {
        add(c, "-filter_complex", "[0:v]split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none", "-f",
            "gif", NULL);
        return;
    }
    add(c, "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p", NULL);
    if (h264)
        add(c, "-c:v", "libx264", "-crf", "18", NULL);
    else
        add(c, "-q:v", "3", NULL);
    add(c, "-movflags", "+faststart", "-f", "mp4", NULL);
}

static int encode(const char *pattern, const char *target, unsigned count, unsigned fps, bool gif, bool h264,
                  char message[MESSAGE_SIZE])
{
    char rate[16], frames[16], output[PATH_MAX + 2];
    struct command c = {.argc = 0};
    snprintf(rate, sizeof rate, "%u", fps);
    snprintf(frames, sizeof frames, "%u", count);
    snprintf(output, sizeof output, "%s%s", *target == '/' ? "" : "./", target);
    add(&c, "ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-framerate", rate, "-start_number", "1", "-i",
        pattern, "-frames:v", frames, NULL);
    add_encoding(&c, gif, h264);
    add(&c, output, NULL);
    return run_quietly(c.argv, message);
}

static int explain(const char *file, int status, const char *message)
{
    if (status < 0 && (errno == ENOENT || errno == EACCES))
        return clerror_set(
            ENOTSUP,
            "%s: the program ffmpeg, which makes films, is not installed; the frames are %.*s-0001.png "
            "and so on",
            file, (int)(suffix_of(file) - file), file);
    if (status < 0)
        return clerror_set(errno, "%s: ffmpeg cannot be started: %s", file, strerror(errno));
    if (WIFSIGNALED(status))
        return clerror_set(EINTR, "%s: ffmpeg was ended by signal %d; the frames are kept", file,
                           WTERMSIG(status));
    return clerror_set(EIO, "%s: ffmpeg failed (%s); the frames are kept", file,
                       *message ? message : "without a word");
}

int picture_join(const char *file, unsigned count, unsigned fps)
{
    struct outfile out;
    char message[MESSAGE_SIZE];
    bool gif = strcasecmp(suffix_of(file), ".gif") == 0;
    if (!picture_is_film(file))
        return clerror_set(EINVAL, "%s: a film is called .mp4 or .gif", file);
    char *pattern = frame_pattern(file);
    if (!pattern)
        return clerror_set(ENOMEM, "%s: no memory for its name", file);
    if (outfile_open(&out, file) < 0) {
        free(pattern);
        return -1;
    }
    const char *target = out.temporary ? out.temporary : file;
    int status = encode(pattern, target, count, fps ? fps : 25, gif, true, message);
    if (status > 0 && WIFEXITED(status) && !gif)
        status = encode(pattern, target, count, fps ? fps : 25, gif, false, message);
    free(pattern);
    if (status == 0)
        return outfile_commit(&out);
    explain(file, status, message);
    outfile_discard(&out);
    return -1;
}
