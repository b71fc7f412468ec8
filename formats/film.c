/* film.c - numbered series of pictures, and films by ffmpeg, from a series or from a pipe.
 * SPDX-License-Identifier: MIT
 */
#include "core/outfile.h"
#include "formats/filter.h"
#include "formats/picture.h"
#include "stdcl.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MESSAGE_SIZE = 300, USUAL_FPS = 25 };

/* ---- Names. ---------------------------------------------------------------------------------- */

/* The suffix with its point, or the empty end of the name. */
static const char *film_suffix_of(const char *file)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file,
               *point = strrchr(name, '.');
    return point && point > name ? point : name + strlen(name);
}

char *picture_frame_name(const char *file, unsigned index)
{
    size_t size = strlen(file) + 20;
    char *name = malloc(size);
    if (name)
        snprintf(name, size, "%.*s-%04u.png", (int)(film_suffix_of(file) - file), file, index);
    else
        clerror_set(ENOMEM, "%s: out of memory for the name of a frame", file);
    return name;
}

static bool is_called(const char *file, const char *suffix)
{
    return strcasecmp(film_suffix_of(file), suffix) == 0;
}

int picture_is_film(const char *file)
{
    return is_called(file, ".mp4") || is_called(file, ".webm") || is_called(file, ".gif");
}

/* ffmpeg's pattern for the frames, with other % signs doubled; relative names get "./", because
 * ffmpeg takes "a:b" for a protocol and "-a" for an option. */
static char *frame_pattern(const char *file)
{
    size_t stem = (size_t)(film_suffix_of(file) - file);
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

/* End a line: it replaces the message if it is not empty. After a full disk the last line may be
 * "Error initializing output stream 0:0 -- ", where the line before it has the cause. */
static void end_line(char line[MESSAGE_SIZE], size_t *length, char message[MESSAGE_SIZE])
{
    line[*length] = 0;
    const bool without_cause = *length >= 3 && strcmp(line + *length - 3, "-- ") == 0;
    if (*length && !(without_cause && *message))
        strcpy(message, line);
    *length = 0;
}

/* Keep the last line of the program's messages that has a cause. */
static void film_listen_to(int fd, char message[MESSAGE_SIZE])
{
    size_t length = 0;
    char buffer[512], line[MESSAGE_SIZE];
    ssize_t got;
    message[0] = 0;
    while ((got = read(fd, buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR)) {
        for (ssize_t i = 0; i < got; i++) {
            if (buffer[i] == '\n' || buffer[i] == '\r')
                end_line(line, &length, message);
            else if (length < MESSAGE_SIZE - 1)
                line[length++] = (char)(buffer[i] >= 32 && buffer[i] < 127 ? buffer[i] : '?');
        }
    }
    end_line(line, &length, message);
}

static int film_wait_for(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

/* A pipe that child processes do not inherit. */
static int make_pipe(int ends[2])
{
    if (pipe(ends) < 0)
        return -1;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return 0;
}

/* Start argv without a shell, its input from a descriptor or /dev/null (-1), its output to
 * /dev/null, its messages to a descriptor, and not in the foreground process group (Ctrl-C). -1
 * with errno. */
static pid_t start_quietly(char *const argv[], int input, int complaints)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t child;
    posix_spawn_file_actions_init(&actions);
    if (input < 0)
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    else
        posix_spawn_file_actions_adddup2(&actions, input, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, complaints, 2);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    const int code = posix_spawnp(&child, argv[0], &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    errno = code;
    return code ? -1 : child;
}

/* Run argv, which writes `out` (NULL: no file). Return its wait status, or -1 with errno if it did
 * not start. */
static int run_quietly(char *const argv[], const struct outfile *out, char message[MESSAGE_SIZE])
{
    int ends[2];
    if (make_pipe(ends) < 0)
        return -1;
    const pid_t child = start_quietly(argv, -1, ends[1]);
    const int code = errno;
    close(ends[1]);
    if (child >= 0 && out)
        outfile_set_writer(out, child);
    if (child >= 0)
        film_listen_to(ends[0], message);
    if (child >= 0 && out)
        outfile_set_writer(out, 0);
    close(ends[0]);
    errno = code;
    return child < 0 ? -1 : film_wait_for(child);
}

/* ---- Joining. -------------------------------------------------------------------------------- */

struct command {
    char *argv[40];
    int argc;
};

static void film_add(struct command *c, ...)
{
    va_list words;
    va_start(words, c);
    for (char *word; (word = va_arg(words, char *));)
        c->argv[c->argc++] = word;
    va_end(words);
    c->argv[c->argc] = NULL;
}

/* Even sides and 4:2:0 colours play everywhere. Without H.264 ffmpeg chooses the codec. A GIF gets
 * its own palette, undithered, so that the black between stars stays black. */
static void add_encoding(struct command *c, const char *file, bool h264)
{
    if (is_called(file, ".gif")) {
        film_add(c, "-filter_complex",
                 "[0:v]split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none", "-f", "gif",
                 NULL);
        return;
    }
    film_add(c, "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p", NULL);
    if (is_called(file, ".webm")) {
        film_add(c, "-crf", "24", "-b:v", "0", "-f", "webm", NULL);
        return;
    }
    if (h264)
        film_add(c, "-c:v", "libx264", "-crf", "18", NULL);
    else
        film_add(c, "-q:v", "3", NULL);
    film_add(c, "-movflags", "+faststart", "-f", "mp4", NULL);
}

static int encode(const char *pattern, const char *file, const struct outfile *out, unsigned count,
                  unsigned fps, bool h264, char message[MESSAGE_SIZE])
{
    const char *target = out->temporary ? out->temporary : file;
    char rate[16], frames[16], output[PATH_MAX + 2];
    struct command c = {.argc = 0};
    snprintf(rate, sizeof rate, "%u", fps);
    snprintf(frames, sizeof frames, "%u", count);
    snprintf(output, sizeof output, "%s%s", *target == '/' ? "" : "./", target);
    film_add(&c, "ffmpeg", "-nostdin", "-xerror", "-loglevel", "error", "-y", "-framerate", rate,
             "-start_number", "1", "-i", pattern, "-frames:v", frames, NULL);
    add_encoding(&c, file, h264);
    film_add(&c, output, NULL);
    return run_quietly(c.argv, out, message);
}

/* True if ffmpeg exited with 0 and wrote all of the film. Without -xerror, and in some versions
 * after closing the file, ffmpeg exits with 0 although the disk was full. */
static bool film_is_whole(const struct outfile *out, int status, const char *message)
{
    struct stat info;
    if (status != 0 || strstr(message, "Error "))
        return false;
    return !out->temporary || (stat(out->temporary, &info) == 0 && info.st_size > 0);
}

/* The last line that ffmpeg wrote; if there is none, what to look at. */
static const char *film_reason(int status, const char *message)
{
    if (*message)
        return message;
    return status == 0 ? "no message, and the film is empty: is the disk full?"
                       : "no message: does `ffmpeg -version` work?";
}

static int film_explain(const char *file, int status, const char *message)
{
    if (status < 0 && (errno == ENOENT || errno == EACCES))
        return clerror_set(
            ENOTSUP,
            "%s: the program ffmpeg, which makes films, is not installed; the frames are %.*s-0001.png "
            "and so on",
            file, (int)(film_suffix_of(file) - file), file);
    if (status < 0)
        return clerror_set(errno, "%s: ffmpeg cannot be started: %s", file, strerror(errno));
    if (WIFSIGNALED(status))
        return clerror_set(EINTR, "%s: ffmpeg was ended by signal %d; the frames are kept", file,
                           WTERMSIG(status));
    return clerror_set(EIO, "%s: ffmpeg failed (%s); the frames are kept", file,
                       film_reason(status, message));
}

int picture_join(const char *file, unsigned count, unsigned fps)
{
    struct outfile out;
    char message[MESSAGE_SIZE];
    if (!picture_is_film(file))
        return clerror_set(EINVAL, "%s: a film is called .mp4, .webm or .gif", file);
    char *pattern = frame_pattern(file);
    if (!pattern)
        return clerror_set(ENOMEM, "%s: out of memory for its name", file);
    if (outfile_open(&out, file) < 0) {
        free(pattern);
        return -1;
    }
    int status = encode(pattern, file, &out, count, fps ? fps : USUAL_FPS, true, message);
    if (status > 0 && WIFEXITED(status) && is_called(file, ".mp4"))
        status = encode(pattern, file, &out, count, fps ? fps : USUAL_FPS, false, message);
    free(pattern);
    if (film_is_whole(&out, status, message))
        return outfile_commit(&out);
    film_explain(file, status, message);
    outfile_discard(&out);
    return -1;
}

/* ---- Through a pipe. ------------------------------------------------------------------------- */

struct picture_film {
    struct outfile out;
    const char *file;
    pid_t child;
    int frames, complaints;
    char entry[32]; /* name of the frames */
    struct sigaction before;
};

/* True if this ffmpeg has H.264; must be known before frames go through a pipe. */
static bool has_h264(void)
{
    char message[MESSAGE_SIZE];
    struct command c = {.argc = 0};
    film_add(&c, "ffmpeg", "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i",
             "color=s=64x64:d=0.04", "-frames:v", "1", "-pix_fmt", "yuv420p", "-c:v", "libx264",
             "-f", "null", "/dev/null", NULL);
    return run_quietly(c.argv, NULL, message) == 0;
}

static pid_t start_film(const struct picture_film *f, unsigned fps, int input, int complaints)
{
    char rate[16], output[PATH_MAX + 2];
    struct command c = {.argc = 0};
    const char *target = f->out.temporary ? f->out.temporary : f->file;
    snprintf(rate, sizeof rate, "%u", fps ? fps : USUAL_FPS);
    snprintf(output, sizeof output, "%s%s", *target == '/' ? "" : "./", target);
    film_add(&c, "ffmpeg", "-xerror", "-loglevel", "error", "-y", "-f", "image2pipe", "-framerate",
             rate, "-c:v", "png", "-i", "-", NULL);
    add_encoding(&c, f->file, is_called(f->file, ".mp4") && has_h264());
    film_add(&c, output, NULL);
    return start_quietly(c.argv, input, complaints);
}

struct picture_film *picture_film_open(const char *file, unsigned fps)
{
    int frames[2] = {-1, -1}, complaints[2] = {-1, -1};
    struct picture_film *f = calloc(1, sizeof *f);
    if (!f)
        return clerror_set(ENOMEM, "%s: out of memory for a film", file), NULL;
    f->file = file;
    if (outfile_open(&f->out, file) < 0) {
        free(f);
        return NULL;
    }
    f->child = make_pipe(frames) == 0 && make_pipe(complaints) == 0
                   ? start_film(f, fps, frames[0], complaints[1])
                   : -1;
    const int code = errno;
    close(frames[0]);
    close(complaints[1]);
    f->frames = frames[1];
    f->complaints = complaints[0];
    if (f->child < 0) {
        close(f->frames);
        close(f->complaints);
        outfile_discard(&f->out);
        free(f);
        clerror_set(code, "%s: ffmpeg cannot be started: %s", file, strerror(code));
        return NULL;
    }
    outfile_set_writer(&f->out, f->child);
    snprintf(f->entry, sizeof f->entry, "/dev/fd/%d", f->frames);
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, &f->before);
    return f;
}

const char *picture_film_frame(const struct picture_film *film)
{
    return film->entry;
}

/* Wait for ffmpeg and report how it ended. */
static int end_film(struct picture_film *f, char message[MESSAGE_SIZE])
{
    close(f->frames);
    film_listen_to(f->complaints, message);
    outfile_set_writer(&f->out, 0);
    close(f->complaints);
    sigaction(SIGPIPE, &f->before, NULL);
    return film_wait_for(f->child);
}

int picture_film_close(struct picture_film *f)
{
    char message[MESSAGE_SIZE];
    const int ended = end_film(f, message);
    int status = -1;
    if (film_is_whole(&f->out, ended, message)) {
        status = outfile_commit(&f->out);
    } else {
        clerror_set(EIO, "%s: ffmpeg failed (%s)", f->file,
                    ended > 0 && WIFSIGNALED(ended) ? "ended by a signal"
                                                    : film_reason(ended, message));
        outfile_discard(&f->out);
    }
    free(f);
    return status;
}

void picture_film_discard(struct picture_film *f)
{
    char message[MESSAGE_SIZE];
    if (!f)
        return;
    kill(f->child, SIGKILL);
    (void)end_film(f, message);
    outfile_discard(&f->out);
    free(f);
}
