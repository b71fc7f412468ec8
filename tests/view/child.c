/* child.c - a run without devices, for viewers: rotating bodies, or cells, until it gets "quit" or
 * its input ends.
 *
 *   view_child points|cells|replay|many [ADDRESS]        many: a million bodies
 *
 * Prints its links; for each input line the bytes of the heap in use, including the libraries';
 * and at the end the number of steps and the maximum milliseconds of one call of the view.
 * SPDX-License-Identifier: MIT
 */
#include "core/clock.h"
#include "stdcl/view.h"

#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BODIES = 20000, MANY = 1000000, SIDE = 256 };

static double longest;

static void note_line(double start)
{
    const double took = seconds_now() - start;
    longest = took > longest ? took : longest;
}

static void show_bodies(view *v, uint64_t step)
{
    static float pos[MANY][3], vel[MANY][3];
    const size_t count = view_bodies_wanted(v);
    const uint32_t *order = view_sample_order(v);
    for (size_t k = 0; k < count; k++) {
        const float angle = (float)order[k] + 1e-3F * (float)step,
                    radius = 1 + (float)(order[k] % 100);
        pos[k][0] = radius * cosf(angle);
        pos[k][1] = radius * sinf(angle);
        vel[k][0] = radius;
    }
    const double start = seconds_now();
    view_show_points(v, &(struct view_points){.at = {1e-3 * (double)step, step, 0},
                                              .count = count,
                                              .pos = (const float(*)[3])pos,
                                              .vel = (const float(*)[3])vel});
    note_line(start);
}

static void show_cells(view *v, uint64_t step)
{
    struct view_region r[VIEW_REGIONS];
    struct view_cells c[VIEW_REGIONS];
    const int n = view_regions_wanted(v, r);
    for (int i = 0; i < n; i++) {
        unsigned char *body = calloc(view_cells_bytes(&r[i], 2) + 1, 1);
        for (size_t k = 0; k < view_cells_bytes(&r[i], 2); k++)
            body[k] = (unsigned char)(r[i].x + r[i].y + (int64_t)(k + step));
        c[i] = (struct view_cells){r[i], body};
    }
    const double start = seconds_now();
    view_show_cells(v, (struct view_moment){(double)step, step, 0}, 17, n, c);
    note_line(start);
    for (int i = 0; i < n; i++)
        free((void *)(uintptr_t)c[i].body);
}

static int input_ended(void)
{
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
    char c = 0;
    if (poll(&p, 1, 0) <= 0)
        return 0;
    if (read(STDIN_FILENO, &c, 1) <= 0)
        return 1;
    if (c == '\n') {
        const struct mallinfo2 m = mallinfo2();
        printf("%zu bytes\n", m.uordblks + m.hblkhd);
        fflush(stdout);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const int cells = argc > 1 && strcmp(argv[1], "cells") == 0,
              replay = argc > 1 && strcmp(argv[1], "replay") == 0;
    static const char *const rows[] = {"time", "", "sine", "", NULL};
    struct view_options o = {.program = "child",
                             .title = "a \"run\" \xff of <b>tests</b>",
                             .address = argc > 2 ? argv[2] : NULL,
                             .rate = 240,
                             .budget = 100,
                             .can = VIEW_CAN_PAUSE | VIEW_CAN_STEP | VIEW_CAN_SPEED | VIEW_CAN_QUIT,
                             .rows = rows};
    if (replay) {
        o.frames = 9;
        o.can |= VIEW_CAN_SEEK;
    }
    if (cells)
        o.cells =
            (struct view_field){.width = SIDE, .height = SIDE, .bounds = "torus", .rule = "B3/S23"};
    else
        o.points = (struct view_bodies){
            .total = argc > 1 && strcmp(argv[1], "many") == 0 ? MANY : BODIES, .moving = 1};
    view *v = view_open(&o);
    if (!v)
        return fprintf(stderr, "%s\n", clerror()), clerrno == ENOTSUP ? 77 : 1;
    printf("%s\n%s\n%s\n", view_url(v, 0), view_url(v, 1), view_tunnel(v));
    fflush(stdout);
    struct view_command c = {.ask = VIEW_RUN};
    int paused = 0;
    uint64_t step = 0;
    while (c.ask != VIEW_QUIT && !input_ended()) {
        while (view_next_command(v, &c) && c.ask != VIEW_QUIT) {
            paused = c.ask == VIEW_PAUSE ? 1 : c.ask == VIEW_RUN ? 0 : paused;
            step = c.ask == VIEW_SEEK ? (uint64_t)c.value : step;
        }
        view_set_state(
            v, &(struct view_state){.paused = paused, .fraction = NAN, .frame = replay ? step : 0});
        step = paused ? step : replay ? (step + 1) % 9 : step + 1;
        if (view_due(v))
            (cells ? show_cells : show_bodies)(v, step);
        if (step % 64 == 0)
            view_add_row(v, (const double[]){(double)step, sin((double)step)});
        view_wait(v, 0.002);
    }
    view_end(v, "told to end");
    view_close(v);
    printf("%llu steps, %.0f ms\n", (unsigned long long)step, 1e3 * longest);
    return 0;
}
