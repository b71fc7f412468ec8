/* profile.c - --profile, --trace and --explain: time spent on the devices, and kernel shapes in
 * use. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "common.h"
#include "files.h"
#include "message.h"
#include "progress.h"
#include "ranks.h"
#include "report.h"

#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

bool cli_read_profile(const char *text, void *to, char *why, size_t size)
{
    static const char *const names[] = {"table", "csv", "json"};
    struct cli_profile *profile = to;
    for (int i = 0; i < 3; i++)
        if (!text || strcasecmp(text, names[i]) == 0) {
            *profile =
                (struct cli_profile){true, (const int[]){CLPROF_TABLE, CLPROF_CSV, CLPROF_JSON}[i]};
            return true;
        }
    snprintf(why, size, "unknown format '%s'; give one of table, csv, json", text);
    return false;
}

int cli_profile_start(const struct cli_common *common, CLCONTEXT *context)
{
    int status;
    if (!context || (!common->profile.wanted && !common->trace) || !cli_ranks_first())
        return CLI_DONE;
    if (common->trace && strcmp(common->trace, "-") == 0)
        return cli_wrong("--trace: standard output holds the report; give a file name");
    if (common->trace &&
        (status = cli_check_suffix("--trace", common->trace, "a timeline", ".json")) != CLI_DONE)
        return status;
    if (common->trace && (status = cli_check_output(common->trace)) != CLI_DONE)
        return status;
    return clprofile(context, common->trace ? CLPROF_EVERY : 1) < 0 ? cli_failed_call(NULL)
                                                                    : CLI_DONE;
}

int cli_profile_report(const struct cli_common *common, CLCONTEXT *context)
{
    int status = CLI_DONE;
    if (!context || !cli_ranks_first())
        return CLI_DONE;
    if (common->profile.wanted) {
        cli_line_wipe();
        fflush(stdout);
        if (clprofile_report(context, stderr, common->profile.format) < 0)
            status = cli_failed_call(NULL);
    }
    if (common->trace && clprofile_trace(context, common->trace) < 0)
        status = cli_failed_call(NULL);
    return status;
}

void cli_explain(const struct cli_common *common, CLCONTEXT *context, unsigned dev,
                 const char *sentence, const char *shape)
{
    static bool warned;
    const char *warning = warned ? NULL : cltune_warning();
    warned = true;
    if (warning)
        cli_warn("%s", warning);
    if (!common->explain || !cli_ranks_first())
        return;
    char name[256] = "(unknown name)";
    clGetDeviceInfo(clgetdevice(context, dev), CL_DEVICE_NAME, sizeof name, name, NULL);
    cli_line_wipe();
    struct cli_report report;
    FILE *fp = cli_report_begin(&report, stderr, 2);
    fprintf(fp, "device %u: %s\n  %s\n  %s\n", dev, name, sentence,
            shape && *shape ? shape : "(no words)");
    cli_report_end(&report, fp);
}
