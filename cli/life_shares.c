/* life_shares.c - how many rows each rank of `stdcl life` has, by how fast it was (shares.c).
 * Results do not change.
 * SPDX-License-Identifier: MIT
 */
#include "life_job.h"

void life_shares_begin(struct life_job *job)
{
    cli_shares_begin(&job->shares.clock, job->seconds);
    job->shares.generation = life_generation(job->engine_of_run);
}

int life_shares_visit(struct life_job *job)
{
    const uint64_t now = life_generation(job->engine_of_run);
    double weight;
    if (world_size(cli_world) == 1 || now >= job->generations)
        return CLI_DONE;
    const double left =
                     (double)(job->generations - now) / (double)(now - job->shares.generation + 1),
                 looked = job->shares.clock.seconds;
    const struct cli_work own = {(double)life_rows(job->engine_of_run),
                                 cli_shares_busy(&job->shares.clock, job->seconds)};
    if (cli_shares_look(&job->shares.clock, own, job->seconds, left,
                        job->common.explain ? "rows" : NULL, &weight) != 0)
        return cli_failed_call(NULL);
    if (job->shares.clock.seconds != looked)
        job->shares.generation = now;
    return weight <= 0 || life_set_weight(job->engine_of_run, weight) == 0 ? CLI_DONE
                                                                           : cli_failed_call(NULL);
}
