/* life_balance.c - load balancing between the ranks of `stdcl life` (balance.c): rows are
 * divided by measured speed. Results do not change.
 * SPDX-License-Identifier: MIT
 */
#include "balance.h"
#include "command.h"
#include "message.h"
#include "ranks.h"
#include "life_plane.h"
#include "life_run.h"

#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdint.h>

void life_balance_begin(struct life_job *job)
{
    cli_balance_begin(&job->balance.clock, job->seconds);
    job->balance.generation = life_job_done(job);
}

int life_balance_visit(struct life_job *job)
{
    const uint64_t now = life_job_done(job);
    double weight;
    if (world_size(cli_world) == 1 || now >= job->generations)
        return CLI_DONE;
    const double left =
                     (double)(job->generations - now) / (double)(now - job->balance.generation + 1),
                 looked = job->balance.clock.seconds;
    const struct cli_work own = {(double)life_rows(job->engine_of_run),
                                 cli_balance_busy(&job->balance.clock, job->seconds)};
    if (cli_balance_update(&job->balance.clock, own, job->seconds, left,
                           job->common.explain ? "rows" : NULL, &weight) != 0)
        return cli_failed_call(NULL);
    if (job->balance.clock.seconds != looked)
        job->balance.generation = now;
    return weight <= 0 || life_set_weight(job->engine_of_run, weight) == 0 ? CLI_DONE
                                                                           : cli_failed_call(NULL);
}
