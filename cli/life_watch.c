/* life_watch.c - `stdcl life --watch`: animation in the terminal.
 *
 * A character shows 1 x 2 cells as half blocks, or 2 x 4 as braille. Zoomed out, each dot stands
 * for 2^k x 2^k cells and is set if one of them is not 0; an unbounded plane can be zoomed out
 * to k = 50. If a dot is one cell, several states have the colours of pictures. Thirty times a
 * second the engine advances and the visible part is redrawn. The terminal's settings are
 * restored however the program ends, except by SIGKILL.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "interrupt.h"
#include "alloc.h"
#include "message.h"
#include "life_grid.h"
#include "life_output.h"
#include "life_plane.h"
#include "life_run.h"

#include "core/clock.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static const double FRAME_SECONDS = 1. / 30;
enum { MOST_ZOOM = 12, MOST_SPEED = 20, PLANE_ZOOM = 50, PLANE_SPEED = 60, TEXT_ROWS = 2 };
static const long long FARTHEST = 1LL << 60; /* limit of a plane's visible coordinates */

struct view {
    struct life_job *job;
    int columns, lines; /* size of the terminal, without the lines of text */
    long long x, y;     /* cell in the top left corner */
    int zoom;           /* a dot is 2^zoom cells wide */
    /* 2^speed generations per frame; below 0 one per 2^-speed frames */
    int speed;
    bool paused, quit, single;
    unsigned long long frame;
    unsigned char (*colour)[3]; /* colours of states; NULL: two states */
    unsigned char *state;       /* states of the visible cells, by dot; NULL: none */
    unsigned char ink[2];       /* current foreground and background state; 0: default colour */
    char *text;                 /* text of a frame, written at once */
    size_t used, room;
};

/* ---- The terminal. --------------------------------------------------------------------------- */

static struct termios before;
static volatile sig_atomic_t changed;

static const char ENTER[] = "\033[?1049h\033[?25l"; /* alternate screen, no cursor */
static const char LEAVE[] = "\033[0m\033[?25h\033[?1049l";

/* Restore the terminal; async-signal-safe. */
static void restore_terminal(void)
{
    if (!changed)
        return;
    changed = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
    if (write(STDOUT_FILENO, LEAVE, sizeof LEAVE - 1) < 0)
        return;
}

static void restore_terminal_and_die(int number)
{
    restore_terminal();
    signal(number, SIG_DFL);
    raise(number);
}

static int enter_watch(void)
{
    static const int fatal[] = {SIGHUP, SIGQUIT, SIGSEGV, SIGABRT};
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before) < 0)
        return cli_wrong("--watch needs a terminal as standard input and output");
    struct termios raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO); /* Ctrl-C stays a signal */
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    changed = 1;
    atexit(restore_terminal);
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        signal(fatal[i], restore_terminal_and_die);
    if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) < 0 ||
        write(STDOUT_FILENO, ENTER, sizeof ENTER - 1) < 0)
        return cli_failed("cannot change the terminal's settings");
    return CLI_DONE;
}

static void measure_terminal(struct view *v)
{
    struct winsize size;
    v->columns = 80;
    v->lines = 24;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 &&
        size.ws_row > TEXT_ROWS) {
        v->columns = size.ws_col;
        v->lines = size.ws_row;
    }
    v->lines -= TEXT_ROWS;
}

/* ---- Drawing. -------------------------------------------------------------------------------- */

static int dots_across(const struct view *v)
{
    return v->columns * (v->job->braille ? 2 : 1);
}
static int dots_down(const struct view *v)
{
    return v->lines * (v->job->braille ? 4 : 2);
}

static void append_bytes(struct view *v, const char *text, size_t length)
{
    if (v->used + length > v->room) {
        v->room = 2 * (v->used + length);
        v->text = cli_realloc(v->text, v->room, 1);
    }
    memcpy(v->text + v->used, text, length);
    v->used += length;
}

/* Append a character of three bytes of UTF-8. */
static void append_code(struct view *v, unsigned code)
{
    const char bytes[3] = {(char)(0xe0 | code >> 12), (char)(0x80 | (code >> 6 & 63)),
                           (char)(0x80 | (code & 63))};
    append_bytes(v, bytes, 3);
}

/* True if a dot's square has a live cell inside the grid. */
static bool dot_is_live(const struct life_cells *c, int zoom, size_t x, size_t y)
{
    const size_t side = (size_t)1 << zoom;
    const size_t right = (x + 1) * side < c->width ? (x + 1) * side : c->width;
    const size_t bottom = (y + 1) * side < c->height ? (y + 1) * side : c->height;
    for (size_t j = y * side; j < bottom; j++) {
        const uint64_t *row = c->word + j * c->stride;
        for (size_t i = x * side; i < right;) {
            /* from i to the end of its word or of the square */
            const size_t n = 64 - i % 64 < right - i ? 64 - i % 64 : right - i;
            const uint64_t mask = (n < 64 ? ((uint64_t)1 << n) - 1 : ~(uint64_t)0) << i % 64;
            if (row[i / 64] & mask)
                return true;
            i += n;
        }
    }
    return false;
}

/* Set the colours of two states; 0: the terminal's default. */
static void set_ink(struct view *v, unsigned char letter, unsigned char ground)
{
    char text[64];
    const unsigned char *a = v->colour[letter], *b = v->colour[ground];
    if (v->ink[0] == letter && v->ink[1] == ground)
        return;
    v->ink[0] = letter;
    v->ink[1] = ground;
    append_bytes(v, "\033[0m", 4);
    if (letter)
        append_bytes(v, text,
                     (size_t)snprintf(text, sizeof text, "\033[38;2;%d;%d;%dm", a[0], a[1], a[2]));
    if (ground)
        append_bytes(v, text,
                     (size_t)snprintf(text, sizeof text, "\033[48;2;%d;%d;%dm", b[0], b[1], b[2]));
}

static unsigned char visible_state(const struct view *v, const struct life_cells *c, int column,
                                   int line)
{
    return (size_t)column < c->width && (size_t)line < c->height
               ? v->state[(size_t)line * c->width + (size_t)column]
               : 0;
}

/* Set the colours of a character: one per half block; for braille that of its first live cell. */
static void choose_ink(struct view *v, const struct life_cells *c, int column, int line)
{
    unsigned char first = 0;
    for (int i = 0; i < 8 && !first && v->job->braille; i++)
        first = visible_state(v, c, 2 * column + i % 2, 4 * line + i / 2);
    const unsigned char upper = v->job->braille ? first : visible_state(v, c, column, 2 * line),
                        lower = v->job->braille ? 0 : visible_state(v, c, column, 2 * line + 1);
    set_ink(v, upper ? upper : lower, upper ? lower : 0);
}

static void append_cell(struct view *v, const struct life_cells *c, int zoom, int column, int line)
{
    static const unsigned char braille[4][2] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    static const unsigned blocks[4] = {' ', 0x2580, 0x2584, 0x2588}; /* upper, lower, full */
    unsigned code = 0;
    if (v->state)
        choose_ink(v, c, column, line);
    if (v->job->braille) {
        for (int j = 0; j < 4; j++)
            for (int i = 0; i < 2; i++)
                code |= dot_is_live(c, zoom, (size_t)(2 * column + i), (size_t)(4 * line + j))
                            ? braille[j][i]
                            : 0;
        append_code(v, 0x2800 + code);
        return;
    }
    code = dot_is_live(c, zoom, (size_t)column, (size_t)(2 * line));
    code |= dot_is_live(c, zoom, (size_t)column, (size_t)(2 * line + 1)) ? 2 : 0;
    if (code)
        append_code(
            v, blocks[v->state && code == 3 ? 1 : code]); /* the lower half shows the background */
    else
        append_bytes(v, " ", 1);
}

/* Append a line of `row`, below the cells, in reverse video and cut at the terminal's width. */
static void append_bar(struct view *v, int row, const char *text)
{
    char line[400];
    const int used = snprintf(line, sizeof line, "\033[%d;1H\033[7m%-*.*s\033[0m", v->lines + row,
                              v->columns, v->columns, text);
    if (used > 0)
        append_bytes(v, line, (size_t)used < sizeof line ? (size_t)used : sizeof line - 1);
}

static const char long_keys[] =
    " q quit, space pause, s step, + faster, - slower, arrows move, z out, Z in",
                  short_keys[] = " q quit, space pause, s step, +/- speed, arrows, z/Z zoom";

static void append_status(struct view *v, const char *population)
{
    char text[300], generation[LIFE_GENERATION_TEXT];
    snprintf(text, sizeof text, " generation %s, %s alive, %s%llu per frame%s, 1:%llu",
             life_job_generation_text(v->job, life_job_generation(v->job), generation), population,
             v->speed < 0 ? "1/" : "", 1ull << (v->speed < 0 ? -v->speed : v->speed),
             v->paused ? ", paused" : "", 1ull << v->zoom);
    append_bar(v, 1, text);
    append_bar(v, 2, (size_t)v->columns < strlen(long_keys) ? short_keys : long_keys);
}

/* Set the visible size; on a bounded plane move the corner so that the view stays inside. */
static void clamp_corner(struct view *v, size_t *width, size_t *height)
{
    const long long side = 1LL << v->zoom;
    const long long w = (long long)v->job->size.width, h = (long long)v->job->size.height;
    const long long across = dots_across(v) * side, down = dots_down(v) * side;
    *width = (size_t)(across < w ? across : w);
    *height = (size_t)(down < h ? down : h);
    if (v->job->bounds == LIFE_TORUS)
        return;
    v->x = v->x > w - (long long)*width ? w - (long long)*width : v->x;
    v->y = v->y > h - (long long)*height ? h - (long long)*height : v->y;
    v->x = v->x < 0 ? 0 : v->x;
    v->y = v->y < 0 ? 0 : v->y;
}

/* Get the nonzero cells of a grid of several states, and their states if a dot is a cell. */
static int get_visible_states(struct view *v, struct life_cells *c)
{
    const long long w = (long long)v->job->size.width, h = (long long)v->job->size.height,
                    x = (v->x % w + w) % w, y = (v->y % h + h) % h;
    unsigned char *row = cli_alloc(c->width, 1);
    int status = 0;
    if (v->zoom == 0)
        v->state = cli_alloc(c->width, c->height);
    for (size_t j = 0; j < c->height && status == 0; j++) {
        status = life_job_get_states(v->job, x, (long long)(((size_t)y + j) % (size_t)h), c->width,
                                     1, row);
        for (size_t i = 0; i < c->width && status == 0; i++)
            c->word[j * c->stride + i / 64] |= (uint64_t)(row[i] != 0) << i % 64;
        if (v->state && status == 0)
            memcpy(v->state + j * c->width, row, c->width);
    }
    free(row);
    return status;
}

/* Get the visible part of the grid, and the population. */
static int get_visible_grid(struct view *v, struct life_cells *c,
                            char population[LIFE_POPULATION_TEXT])
{
    size_t width, height;
    uint64_t n;
    clamp_corner(v, &width, &height);
    if (life_population(v->job->engine_of_run, &n) < 0 || life_cells_alloc(c, width, height) < 0)
        return -1;
    snprintf(population, LIFE_POPULATION_TEXT, "%llu", (unsigned long long)n);
    return v->colour ? get_visible_states(v, c) : life_get(v->job->engine_of_run, v->x, v->y, c);
}

/* Get the visible part of an unbounded plane, a bit per dot, and the population. */
static int get_visible_plane(struct view *v, struct life_cells *c,
                             char population[LIFE_POPULATION_TEXT])
{
    life *e = v->job->engine_of_run;
    if (life_population_text(e, population) < 0 ||
        life_cells_alloc(c, (size_t)dots_across(v), (size_t)dots_down(v)) < 0)
        return -1;
    if (v->colour && v->zoom == 0) {
        v->state = cli_alloc(c->width, c->height);
        if (life_job_get_states(v->job, v->x, v->y, c->width, c->height, v->state) < 0)
            return -1;
    }
    return life_get_zoomed(e, (unsigned)v->zoom, v->x >> v->zoom, v->y >> v->zoom, c);
}

static int draw_frame(struct view *v)
{
    struct life_cells c = {0};
    char population[LIFE_POPULATION_TEXT];
    const bool plane = life_job_unbounded(v->job);
    measure_terminal(v);
    v->state = NULL;
    if ((plane ? get_visible_plane : get_visible_grid)(v, &c, population) < 0) {
        life_cells_free(&c);
        free(v->state);
        return cli_failed_call(NULL);
    }
    v->used = 0;
    v->ink[0] = v->ink[1] = 0;
    for (int line = 0; line < v->lines; line++) {
        char start[24];
        append_bytes(v, start, (size_t)snprintf(start, sizeof start, "\033[%d;1H", line + 1));
        for (int column = 0; column < v->columns; column++)
            append_cell(v, &c, plane ? 0 : v->zoom, column, line);
    }
    if (v->state)
        set_ink(v, 0, 0);
    free(v->state);
    append_status(v, population);
    life_cells_free(&c);
    for (size_t done = 0; done < v->used;) {
        const ssize_t n = write(STDOUT_FILENO, v->text + done, v->used - done);
        if (n <= 0)
            break; /* drop this frame */
        done += (size_t)n;
    }
    return CLI_DONE;
}

/* ---- Keys. ----------------------------------------------------------------------------------- */

static void scroll(struct view *v, int dx, int dy)
{
    const long long side = 1LL << v->zoom;
    const long long x = v->x + dx * side * (dots_across(v) / 8 + 1),
                    y = v->y + dy * side * (dots_down(v) / 8 + 1);
    v->x = llabs(x) < FARTHEST ? x : v->x;
    v->y = llabs(y) < FARTHEST ? y : v->y;
}

/* Zoom about the middle of the view. */
static void change_zoom(struct view *v, int by)
{
    if (v->zoom + by < 0 || v->zoom + by > (life_job_unbounded(v->job) ? PLANE_ZOOM : MOST_ZOOM))
        return;
    v->x += dots_across(v) * (1LL << v->zoom) / 2;
    v->y += dots_down(v) * (1LL << v->zoom) / 2;
    v->zoom += by;
    v->x -= dots_across(v) * (1LL << v->zoom) / 2;
    v->y -= dots_down(v) * (1LL << v->zoom) / 2;
}

static void handle_key(struct view *v, char key)
{
    switch (key) {
    /* clang-format off */
    case ' ': v->paused = !v->paused; break;
    case 's': v->paused = v->single = true; break;
    case '+': case '=': v->speed += v->speed < (life_job_unbounded(v->job) ? PLANE_SPEED : MOST_SPEED); break;
    case '-': v->speed -= v->speed > -5; break;
    case 'h': case 'D': scroll(v, -1, 0); break; /* capitals end the escape sequences of arrow keys */
    case 'l': case 'C': scroll(v, 1, 0); break;
    case 'k': case 'A': scroll(v, 0, -1); break;
    case 'j': case 'B': scroll(v, 0, 1); break;
    case 'z': change_zoom(v, 1); break;
    case 'Z': change_zoom(v, -1); break;
    case 'q': v->quit = true; break;
    default: break;
        /* clang-format on */
    }
}

/* Handle keys until the time of the next frame. */
static void handle_keys_until(struct view *v, double time)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    do {
        const double left = time - seconds_now();
        if (poll(&input, 1, left > 0 ? (int)(1000 * left) : 0) > 0) {
            char keys[64];
            const ssize_t n = read(STDIN_FILENO, keys, sizeof keys);
            if (n <= 0) { /* the terminal was closed */
                v->quit = true;
                return;
            }
            for (ssize_t i = 0; i < n; i++) {
                if (keys[i] == '\033' && i + 2 < n && (keys[i + 1] == '[' || keys[i + 1] == 'O'))
                    i += 2;
                handle_key(v, keys[i]);
            }
        }
    } while (!v->quit && !cli_interrupted() && seconds_now() < time);
}

/* ---- The loop. ------------------------------------------------------------------------------- */

/* Generations of this frame: none while paused or between two steps of a slow run. */
static uint64_t frame_generations(struct view *v)
{
    const uint64_t left = v->job->generations - (life_job_generation(v->job) - v->job->started);
    uint64_t n = (uint64_t)1 << (v->speed < 0 ? 0 : v->speed);
    if (v->paused ? !v->single : v->speed < 0 && v->frame % (1ull << -v->speed) != 0)
        n = 0;
    else if (v->paused)
        n = 1;
    v->single = false;
    return n < left ? n : left;
}

/* Step and write the table like step_timed() of life_run.c, without batches. */
static int step_grid_once(struct view *v, uint64_t n)
{
    struct life_job *job = v->job;
    const double start = seconds_now();
    int status = CLI_DONE;
    if (cli_outputs_have(&job->outputs, CLI_OUTPUT_TABLE)) {
        for (; n && status == CLI_DONE; n--) {
            struct life_sample sample;
            if (life_trace(job->engine_of_run, 1, &sample) == 0)
                status = life_output_row(job, &sample);
            else if (life_job_stopped())
                break;
            else
                status = cli_failed_call(NULL);
        }
    } else if (life_step(job->engine_of_run, n) < 0 && !life_job_stopped()) {
        status = cli_failed_call(NULL);
    }
    job->seconds += seconds_now() - start;
    return status;
}

static int step_plane_view(struct view *v, uint64_t n)
{
    const double start = seconds_now();
    const int status =
        life_race_step(v->job, n) < 0 && !life_job_stopped() ? cli_failed_call(NULL) : CLI_DONE;
    v->job->seconds += seconds_now() - start;
    return status;
}

static int step_grid_view(struct view *v, uint64_t n)
{
    const uint64_t end = life_generation(v->job->engine_of_run) + n;
    int status;
    while (life_generation(v->job->engine_of_run) < end && !cli_interrupted()) {
        status = step_grid_once(
            v, life_edge_batch(v->job, end - life_generation(v->job->engine_of_run)));
        if (status != CLI_DONE)
            return status;
        if ((status = life_edge_look(v->job)) != CLI_DONE)
            return status;
    }
    return CLI_DONE;
}

static int step_view(struct view *v, uint64_t n)
{
    const double start = seconds_now();
    const int status = (life_job_unbounded(v->job) ? step_plane_view : step_grid_view)(v, n);
    /* Slow down if the device cannot keep up: long frames delay keys. */
    if (v->speed > 0 && seconds_now() - start > 3 * FRAME_SECONDS)
        v->speed--;
    return status;
}

/* Centre the view on the grid, or on the live cells of a plane, zoomed out until they fit. */
static void centre_view(struct view *v)
{
    struct life_job *job = v->job;
    struct life_box box;
    long long x = (long long)job->size.width / 2, y = (long long)job->size.height / 2;
    if (life_job_unbounded(job) && life_bounding_box(job->engine_of_run, &box) == 1) {
        const double left = life_number_double(box.left), right = life_number_double(box.right),
                     top = life_number_double(box.top), bottom = life_number_double(box.bottom);
        while (v->zoom < PLANE_ZOOM && ((right - left) > ldexp(dots_across(v), v->zoom) ||
                                        (bottom - top) > ldexp(dots_down(v), v->zoom)))
            v->zoom++;
        x = fabs(left + right) / 2 < (double)FARTHEST ? (long long)((left + right) / 2) : 0;
        y = fabs(top + bottom) / 2 < (double)FARTHEST ? (long long)((top + bottom) / 2) : 0;
    }
    v->x = x - dots_across(v) * (1LL << v->zoom) / 2;
    v->y = y - dots_down(v) * (1LL << v->zoom) / 2;
}

int life_job_watch(struct life_job *job)
{
    struct view v = {.job = job};
    unsigned char colour[256][3];
    int status = enter_watch();
    if (status != CLI_DONE)
        return status;
    life_pattern_colours(life_job_states(job),
                         job->transitions ? life_transitions_colour(job->transitions, 0) : NULL,
                         colour);
    v.colour = life_job_states(job) > 2 ? colour : NULL;
    measure_terminal(&v);
    centre_view(&v);
    while (status == CLI_DONE && !v.quit && !cli_interrupted()) {
        const double next = seconds_now() + FRAME_SECONDS;
        const uint64_t n = frame_generations(&v);
        if (n)
            status = step_view(&v, n);
        if (status == CLI_DONE)
            status = draw_frame(&v);
        v.frame++;
        handle_keys_until(&v, next);
    }
    restore_terminal();
    free(v.text);
    job->interrupted = cli_interrupted();
    return status;
}
