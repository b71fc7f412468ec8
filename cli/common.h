/* common.h - options of every command that runs kernels: device, report, profile, ranks.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_COMMON_H
#define STDCL_CLI_COMMON_H

#include "options.h"

#include <stdcl.h>

struct cli_profile {
    bool wanted;
    int format; /* CLPROF_TABLE, ... */
};
struct cli_common {
    struct cli_strings device; /* patterns in order, see device.h */
    bool json;
    bool quiet;
    bool explain;
    struct cli_profile profile;
    const char *trace; /* a file, or NULL */
    bool alone, share; /* of ranks; cli_ranks_join reads them first */
};
#define CLI_COMMON_OPTIONS(common)                                                                                                                                                                                                                                                       \
    CLI_GROUP("Common options"),                                                                                                                                                                                                                                                         \
        CLI_STRINGS(                                                                                                                                                                                                                                                                     \
            0, "device", "DEVICE", &(common)->device,                                                                                                                                                                                                                                    \
            "devices to use, repeatable: cpu, gpu, acc, all, a number of 'stdcl devices', or part of a device's, vendor's or platform's name; ':K' selects the K-th match, from 0 (default: the first GPU, else the first CPU; with several ranks: all GPUs of a host, else all CPUs)"), \
        CLI_FLAG(0, "json", &(common)->json, "report as one JSON object on standard output"),                                                                                                                                                                                            \
        CLI_PARSED_OPTIONAL(                                                                                                                                                                                                                                                             \
            0, "profile", "FORMAT", &(common)->profile, cli_read_profile,                                                                                                                                                                                                                \
            "time spent on the devices, printed to standard error as table, csv or json (default table)"),                                                                                                                                                                               \
        CLI_STRING(0, "trace", "FILE", &(common)->trace,                                                                                                                                                                                                                                 \
                   "timeline of all commands on the devices, for ui.perfetto.dev"),                                                                                                                                                                                                      \
        CLI_FLAG(0, "explain", &(common)->explain,                                                                                                                                                                                                                                       \
                 "print the tuned kernel shapes in use, and why, to standard error"),                                                                                                                                                                                                    \
        CLI_FLAG('q', "quiet", &(common)->quiet, "no progress and no report"),                                                                                                                                                                                                           \
        CLI_FLAG(                                                                                                                                                                                                                                                                        \
            0, "alone", &(common)->alone,                                                                                                                                                                                                                                                \
            "under mpirun or srun: independent runs, one per process, instead of the ranks of one job"),                                                                                                                                                                                 \
        CLI_FLAG(0, "share", &(common)->share,                                                                                                                                                                                                                                           \
                 "let several ranks use one device if a host has fewer devices than ranks")
#define CLI_COMMON_NAMES "device json profile trace explain quiet alone share"
void cli_common_free(struct cli_common *common);
cli_reader cli_read_profile; /* for the table above */

/* With --profile or --trace: check that the trace file can be written and start profiling the
 * context, unless it is NULL. */
int cli_profile_start(const struct cli_common *common, CLCONTEXT *context);

/* With --profile or --trace: print the profile to stderr and write the timeline. */
int cli_profile_report(const struct cli_common *common, CLCONTEXT *context);

/* With --explain: print a device, the engine's sentence about the tuning entry in use and the
 * kernel shape to stderr. Without: warn, once per program, if the user's tuning entries could not
 * be read; so call it always. */
void cli_explain(const struct cli_common *common, CLCONTEXT *context, unsigned dev,
                 const char *sentence, const char *shape);

#endif
