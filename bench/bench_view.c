/* bench_view.c - cost of the viewer: view_due without viewers, and frames of bodies by coding.
 *
 *   bench_view [BODIES]
 *
 * Bodies circle a centre by a 256th of a turn per frame. The tests read frames back; this program
 * prints their bytes per body and CPU time, medians of nine.
 * SPDX-License-Identifier: MIT
 */
#include "common.h"

#include "core/clock.h"
#include "view/window.h"

#include <math.h>
#include <stdio.h>

enum { RUNS = 9 };

static void move_bench_bodies(struct shown *s, float *angle, const float *radius, int frame)
{
    float(*pos)[3] = (float(*)[3])(void *)s->first.at;
    for (size_t i = 0; i < s->n; i++) {
        const float a = angle[i] + (float)frame * 0.0245F / sqrtf(radius[i]);
        pos[i][0] = radius[i] * cosf(a);
        pos[i][1] = radius[i] * sinf(a);
        pos[i][2] = 0.01F * cosf(3 * a);
    }
    s->sequence++;
}

static void coding(struct shown *s, const struct about *about, float *angle, const float *radius,
                   int wanted)
{
    const struct want want = {.count = s->n, .coding = wanted};
    struct frame_box box = {.set = false};
    struct quantised *was[2] = {NULL, NULL};
    struct bytes b = {0};
    double seconds[RUNS], bytes[RUNS];
    for (int i = -2; i < RUNS; i++) {
        move_bench_bodies(s, angle, radius, i + 2);
        b.used = 0;
        const uint64_t start = ns_of_clock(CLOCK_THREAD_CPUTIME_ID);
        if (!frame_points(&b, s, about, &want, &box, was))
            die("frame_points");
        if (i >= 0) {
            seconds[i] = 1e-9 * (double)(ns_of_clock(CLOCK_THREAD_CPUTIME_ID) - start);
            bytes[i] = (double)b.used / (double)s->n;
        }
    }
    printf("coding %d       %6.2f ms a frame   %5.2f bytes a body\n", wanted,
           1e3 * bench_median(seconds, RUNS), bench_median(bytes, RUNS));
    bytes_free(&b);
    quantised_drop(was[0]);
    quantised_drop(was[1]);
}

static void idle(void)
{
    enum { TIMES = 10000000 };
    view *v = view_open(&(struct view_options){.program = "bench", .points.total = 1});
    if (!v)
        die("view_open");
    int due = 0;
    const uint64_t start = ns_now();
    for (int i = 0; i < TIMES; i++)
        due += view_due(v);
    printf("no viewers     %6.2f ns a burst    (%d pictures)\n", (double)(ns_now() - start) / TIMES,
           due);
    view_close(v);
}

int main(int argc, char **argv)
{
    const size_t n = argc > 1 ? (size_t)strtoull(argv[1], NULL, 10) : 1 << 20;
    struct about about = {.options.points.total = n};
    struct shown s = {.n = n};
    float *angle = malloc((n + 1) * sizeof *angle), *radius = malloc((n + 1) * sizeof *radius);
    if (!angle || !radius || !bytes_more(&s.first, n * 3 * sizeof(float)))
        die("malloc");
    for (size_t i = 0; i < n; i++) {
        angle[i] = (float)(i * 2654435761u % 6283) * 1e-3F;
        radius[i] = 0.1F + (float)(i * 40503u % 10007) * 1e-3F;
    }
    printf("%zu bodies\n", n);
    for (int wanted = RAW; wanted <= DIFFERENCES_PACKED; wanted++)
        coding(&s, &about, angle, radius, wanted);
    idle();
    shown_free(&s);
    free(angle);
    free(radius);
    return 0;
}
