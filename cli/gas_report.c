/* gas_report.c - the report of `stdcl gas`. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "device.h"
#include "interrupt.h"
#include "json.h"
#include "message.h"
#include "ranks.h"
#include "report.h"
#include "text.h"
#include "gas_job.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const double UNLIKELY =
    /* standard errors; a correct gas exceeds this once in two million runs */
    5;

static double pressure(const struct gas_job *job)
{
    return gas_pressure(job->n, job->energy.mean_energy, job->volume);
}

/* True if at least one sum is complete. An interrupted run may have none. */
static bool has_sum(const struct gas_job *job)
{
    return isfinite(job->seconds);
}

/* Units of the keys without a unit in their name: SI with --gas, else reduced, with k_B = 1. */
static void add_gas_units(const struct gas_job *job, json_t *report)
{
    static const struct cli_json_unit si[] = {
        {"temperature", "K"}, {"mass", "kg"},          {"mean_energy", "J"}, {"expected", "J"},
        {"volume", "m^3"},    {"standard_error", "J"}, {"pressure", "Pa"}};
    enum { N = sizeof si / sizeof *si };
    struct cli_json_unit unit[N];
    for (size_t i = 0; i < N; i++)
        unit[i] = (struct cli_json_unit){si[i].key, job->species >= 0 ? si[i].unit : "reduced"};
    cli_json_add_units(report, unit, N);
}

/* An interrupted run has null for each result of a sum, unless a sum is complete. */
static int gas_report_json(const struct gas_job *job, const char *device, bool interrupted)
{
    const struct gas_energy none = {NAN, NAN, NAN, NAN, NAN},
                            *e = has_sum(job) ? &job->energy : &none;
    json_t *report = json_pack(
        "{s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "program", "gas",
        "device", device, "n", (json_int_t)job->n, "temperature", cli_json_real(job->temperature),
        "mass", cli_json_real(job->mass), "mean_energy", cli_json_real(e->mean_energy), "expected",
        cli_json_real(e->expected), "standard_error", cli_json_real(e->standard_error), "sigmas",
        cli_json_real(e->sigmas), "seconds", cli_json_real(job->seconds), "bytes_per_s",
        cli_json_real(has_sum(job) ? gas_bytes(job->gas) / job->seconds : NAN), "molecules_per_s",
        cli_json_real(has_sum(job) ? (double)job->n / job->seconds : NAN), "interrupted",
        interrupted);
    if (interrupted)
        json_object_set_new(report, "molecules_done",
                            job->done < 0x1p63 ? json_integer((json_int_t)job->done)
                                               : cli_json_real(job->done));
    if (job->volume > 0) {
        json_object_set_new(report, "volume", cli_json_real(job->volume));
        json_object_set_new(report, "pressure", cli_json_real(has_sum(job) ? pressure(job) : NAN));
    }
    add_gas_units(job, report);
    const int status = cli_json_print(report);
    json_decref(report);
    return status;
}

static void gas_report_text(const struct gas_job *job, const char *device, FILE *fp)
{
    const struct gas_energy *e = &job->energy;
    const bool si = job->species >= 0;
    const char *joule = si ? " J" : "", *kelvin = si ? " K" : "", *pascal = si ? " Pa" : "";
    struct cli_text text;
    fprintf(fp, "%-16s%s\n", "device", device);
    fprintf(fp, "%-16s%llu%s%s, of mass %.6g%s, %s\n", "molecules", (unsigned long long)job->n,
            si ? " of " : "", si ? gas_species_list()[job->species].formula : "", job->mass,
            si ? " kg" : "",
            job->input    ? job->input
            : job->stored ? job->source == GAS_HOST ? "drawn by the host, stored"
                                                    : "drawn by the device, stored"
                          : "drawn by the device, not stored");
    fprintf(fp, "%-16s%.12g%s\n", "mean energy", e->mean_energy, joule);
    fprintf(fp, "%-16s%.12g%s, 3/2 k_B T\n", "expected", e->expected, joule);
    fprintf(fp, "%-16s%.3g%s\n", "standard error", e->standard_error, joule);
    fprintf(fp, "%-16s%+.2f standard errors\n", "deviation", e->sigmas);
    fprintf(fp, "%-16s%.9g%s, of %.9g%s\n", "temperature", e->temperature, kelvin, job->temperature,
            kelvin);
    if (job->volume > 0)
        fprintf(fp, "%-16s%.9g%s in a volume of %g%s\n", "pressure", pressure(job), pascal,
                job->volume, si ? " m^3" : "");
    fprintf(fp, "%-16s%s\n", "duration", cli_text_time(&text, job->seconds));
    fprintf(fp, "%-16s%s", "speed",
            cli_text_rate(&text, (double)job->n / job->seconds, "molecules/s"));
    if (job->stored)
        fprintf(fp, ", %s", cli_text_rate(&text, gas_bytes(job->gas) / job->seconds, "B/s"));
    for (size_t i = 0; i < job->histogram.n; i++)
        fprintf(fp, "\n%-16s%s", i ? "" : "written", job->histogram.item[i]);
    putc('\n', fp);
    cli_figures_report(&job->figures, 16, fp);
}

static void gas_report_lines(const struct gas_job *job, const char *device)
{
    struct cli_report report;
    FILE *fp = cli_report_begin(&report, stdout, 16);
    gas_report_text(job, device, fp);
    cli_report_end(&report, fp);
}

void gas_job_report_interrupted(const struct gas_job *job)
{
    const double total = fmin(job->progress.total, 0x1p63);
    char *device = cli_devices_name(job->context);
    if (cli_ranks_first() && job->common.json)
        gas_report_json(job, device, true);
    else if (cli_ranks_first() && !job->common.quiet)
        cli_interrupt_report((uint64_t)fmin(job->done, total), (uint64_t)total, "molecules",
                             stdout);
    free(device);
}

int gas_job_report(const struct gas_job *job)
{
    if (job->volume > 0 && !isfinite(pressure(job)))
        return cli_failed(
            "--volume: at '%g' the pressure exceeds the largest number, 1.8e308; give a larger volume",
            job->volume);
    char *device = cli_devices_name(job->context);
    int status = CLI_DONE;
    if (job->common.json)
        status = gas_report_json(job, device, false);
    else if (!job->common.quiet)
        gas_report_lines(job, device);
    free(device);
    if (!job->common.quiet && !job->input && fabs(job->energy.sigmas) > UNLIKELY)
        cli_warn(
            "the mean energy deviates by %.1f standard errors from the expected value, more than chance explains",
            job->energy.sigmas);
    return status;
}
