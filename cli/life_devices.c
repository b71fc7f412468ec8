/* life_devices.c - `stdcl life census` and `stdcl life sweep` open devices, work and report.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "common.h"
#include "device.h"
#include "interrupt.h"
#include "life_run.h"

int life_job_on_devices(struct life_job *job, bool needed, int (*work)(void *arg), void *arg)
{
    int status = needed ? cli_devices_open(&job->common.device, &job->context) : CLI_DONE;
    if (status != CLI_DONE)
        return status;
    if ((status = cli_profile_start(&job->common, job->context)) != CLI_DONE)
        return status;
    if ((status = work(arg)) != CLI_DONE)
        return status;
    if ((status = cli_profile_report(&job->common, job->context)) != CLI_DONE)
        return status;
    return cli_first_failure(job->outputs.status,
                             job->interrupted ? cli_interrupt_status(CLI_DONE) : CLI_DONE);
}
