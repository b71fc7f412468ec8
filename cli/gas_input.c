/* gas_input.c - velocities from files. */
#include "gas_job.h"

int gas_input_read(struct gas_job *job)
{
    return cli_failed("'%s': files are not read yet", job->input);
}

int gas_input_give(struct gas_job *job)
{
    const int failed = job->precision == GAS_DOUBLE ? gas_set_velocities(job->gas, job->velocity)
                                                    : gas_set_velocities_single(job->gas, job->velocity);
    gas_input_free(job);
    return failed ? cli_failed_call(NULL) : CLI_DONE;
}

void gas_input_free(struct gas_job *job)
{
    free(job->velocity);
    job->velocity = NULL;
}
