/* gas_output.c - the histogram of speeds, as a table and as a plot. */
#include "gas_job.h"

int gas_output_plan(const struct gas_job *job)
{
    (void)job;
    return CLI_DONE;
}

int gas_output_finish(const struct gas_job *job)
{
    (void)job;
    return CLI_DONE;
}
