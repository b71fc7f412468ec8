/* message.h - error messages and warnings of the command.
 *
 * Each prints one sentence, without a final dot or newline, as "stdcl NAME: sentence" to stderr.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_MESSAGE_H
#define STDCL_CLI_MESSAGE_H

#include <stdbool.h>

/* Prefix of messages, "stdcl NAME"; set by main. */
extern const char *cli_program;

/* Print a usage error and return CLI_WRONG. */
int cli_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print a failure and return CLI_FAILED. */
int cli_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print cli_reason(), as "while DOING: reason" unless doing is NULL. Return CLI_FAILED, or the
 * status of an interruption if a signal caused the failure. */
int cli_failed_call(const char *doing);

/* cli_failed_call for an engine that could not be created. Return CLI_WRONG if the engine rejected
 * its options (EINVAL without an OpenCL error). */
int cli_refused_call(void);

/* True if a file was abandoned because the time limit after Ctrl-C passed; prints a warning then.
 */
bool cli_write_abandoned(void);

/* clerror() without its leading "NAME: " or "NAME_verb: ", which would repeat "stdcl NAME: ". */
const char *cli_reason(void);

/* Print "stdcl NAME: warning: sentence". */
void cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* On a rank: keep the first failure for cli_ranks_end instead of printing it. Ranks other than the
 * `first` print no warnings. */
void cli_message_keep(bool first);

/* The kept failure, or "". */
const char *cli_message_kept(void);

/* On rank 0: print the kept failure now, because the run continues and a later failure is no
 * consequence. Elsewhere without effect. cli_message_forget: on any rank, drop it. */
void cli_message_release(void);
void cli_message_forget(void);

/* Print a sentence as a failure is printed. */
void cli_message_print(const char *sentence);

#endif
