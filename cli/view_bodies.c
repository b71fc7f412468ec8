/* view_bodies.c - files of bodies for `stdcl view`, one frame each. Each file is read when it
 * is shown, so a series may be long.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "alloc.h"
#include "message.h"
#include "view_job.h"

#include "formats/particles.h"

#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Read a file with positions. */
static int read_body_file(const char *file, struct particles *p)
{
    if (particles_read(file, p) < 0)
        return cli_failed_call(NULL);
    if (!p->primary)
        return CLI_DONE;
    particles_free(p);
    return cli_failed("%s: has orbital elements; convert it first: stdcl nbody -i %s --steps 0 -o "
                      "FILE.tab",
                      file, file);
}

static int show_body_file(void *arg, int last)
{
    struct view_job *job = arg;
    struct particles p;
    if (read_body_file(job->file.item[job->frame], &p) != CLI_DONE)
        return CLI_FAILED;
    const uint32_t *order = view_sample_order(job->window.view);
    const size_t wanted = view_bodies_wanted(job->window.view);
    float(*pos)[3] = cli_alloc(wanted + 1, sizeof *pos),
    (*vel)[3] = cli_alloc(wanted + 1, sizeof *vel);
    size_t count = 0;
    for (size_t k = 0; order && k < job->about.points.total && count < wanted; k++)
        for (int c = 0; order[k] < p.n && c < 3; c++) {
            pos[count][c] = (float)p.pos[order[k]][c];
            vel[count][c] = (float)p.vel[order[k]][c];
            count += c == 2;
        }
    const struct view_points points = {.at = {p.time, job->frame, last},
                                       .count = count,
                                       .pos = (const float(*)[3])pos,
                                       .vel = (const float(*)[3])vel};
    const int status = order && view_show_points(job->window.view, &points) == 0
                           ? CLI_DONE
                           : cli_failed_call(NULL);
    free(pos);
    free(vel);
    particles_free(&p);
    return status;
}

int view_bodies_open(struct view_job *job)
{
    struct particles first, end;
    const char *const *file = job->file.item;
    const size_t n = job->file.n;
    if (read_body_file(file[0], &first) != CLI_DONE)
        return CLI_FAILED;
    if (read_body_file(file[n - 1], &end) != CLI_DONE) {
        particles_free(&first);
        return CLI_FAILED;
    }
    job->frames = n;
    job->show = show_body_file;
    job->about =
        (struct view_options){.program = "nbody",
                              .title = cli_window_name(file[0]),
                              .step = "file",
                              .from = first.time,
                              .to = end.time,
                              .points = {.total = first.n > end.n ? first.n : end.n, .moving = 1}};
    particles_free(&first);
    particles_free(&end);
    return CLI_DONE;
}
