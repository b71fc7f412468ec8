/* life_start.c - a plane without edges at the start: its engine, and the pattern on it.
 * SPDX-License-Identifier: MIT
 */
#include "life_job.h"

/* What engines call meanwhile: ends a step at Ctrl-C, or when its time is over. */
static int tell(void *arg, double fraction)
{
    struct life_job *job = arg;
    (void)fraction; /* of a call; the plane's generation tells as much of the run */
    if (job->progress.unit)
        cli_progress_update(&job->progress,
                            (double)(endless_generation(&job->endless) - job->started), NULL);
    cli_window_listen(&job->window);
    return cli_interrupted() || (job->race.until > 0 && seconds_now() >= job->race.until);
}

/* Of several devices the first. */
int life_start_device(struct life_job *job)
{
    if (job->context)
        return CLI_DONE;
    const int status = cli_devices_open(&job->common.device, &job->context);
    char *names =
        status == CLI_DONE && clgetndev(job->context) > 1 ? cli_devices_name(job->context) : NULL;
    if (names && job->common.device.n)
        cli_warn("--engine sparse computes on one device, the first of %s", names);
    free(names);
    return status == CLI_DONE ? cli_profile_start(&job->common, job->context) : status;
}

static hashlife *make_tree(struct life_job *job)
{
    return hashlife_create(&(struct hashlife_options){.rule = job->transitions ? NULL : job->rule,
                                                      .transitions = job->transitions,
                                                      .memory = (size_t)job->memory,
                                                      .threads = (unsigned)job->threads,
                                                      .progress = tell,
                                                      .arg = job});
}

static life_sparse *make_sparse(struct life_job *job)
{
    if (job->transitions) {
        clerror_set(EINVAL, "life_sparse: the rule %s is of a file, which HashLife has", job->rule);
        return NULL;
    }
    return life_sparse_create(&(struct life_sparse_options){.ctx = job->context,
                                                            .rule = job->rule,
                                                            .memory = (size_t)job->memory,
                                                            .progress = tell,
                                                            .arg = job});
}

int life_start_make(struct life_job *job, int engine, struct life_endless *e)
{
    *e = (struct life_endless){.started = job->started};
    if (engine == LIFE_HASHLIFE)
        e->tree = make_tree(job);
    else
        e->sparse = make_sparse(job);
    if (e->sparse)
        cli_explain(&job->common, job->context, 0, life_sparse_explain(e->sparse),
                    life_sparse_shape(e->sparse));
    return e->tree || e->sparse ? 0 : -1;
}

/* In tiles, or, of a file with a grid that --rule has taken away and of cells of several states, in
 * one rectangle. */
static int fill_cells(const struct life_job *job, struct life_endless *e)
{
    const struct life_plane *plane = &job->plane;
    const struct life_pattern *pattern = job->pattern.word ? &job->pattern : &plane->p;
    const struct life_place at = job->at;
    const long long x = at.given          ? at.x
                        : pattern->placed ? pattern->x
                                          : -(long long)(pattern->width / 2),
                    y = at.given          ? at.y
                        : pattern->placed ? pattern->y - 1
                                          : -(long long)(pattern->height / 2) - 1;
    int status = 0;
    for (size_t i = 0; i < plane->tiles && status == 0; i++) {
        struct life_tile *t = &plane->tile[i];
        status = endless_put(e, x + t->x, y + t->y, &(struct life_cells){64, 64, 1, t->row});
    }
    const long long left = x + (long long)pattern->left, top = y + (long long)pattern->top;
    if (pattern->state)
        return hashlife_put_states(e->tree, left, top, pattern->columns, pattern->rows,
                                   pattern->state);
    if (pattern->word)
        status = endless_put(
            e, left, top,
            &(struct life_cells){pattern->columns, pattern->rows, pattern->stride, pattern->word});
    return status;
}

int life_start_fill(const struct life_job *job, struct life_endless *e)
{
    return life_squares_fill(job, e) < 0 ? -1 : fill_cells(job, e);
}

int life_start_open(struct life_job *job)
{
    const int status = job->engine == LIFE_SPARSE ? life_start_device(job) : CLI_DONE;
    if (status != CLI_DONE)
        return status;
    if (life_start_make(job, job->engine, &job->endless) < 0)
        return cli_refused_call();
    if (life_start_fill(job, &job->endless) < 0)
        return cli_failed_call(job->input);
    if (!job->race.open)
        life_start_done(job);
    return CLI_DONE;
}

void life_start_done(struct life_job *job)
{
    life_plane_free(&job->plane);
    life_pattern_free(&job->pattern);
}
