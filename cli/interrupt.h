/* interrupt.h - Ctrl-C and the signals of batch systems.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_INTERRUPT_H
#define STDCL_CLI_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Record the signals that are ignored, so that they stay ignored even if a driver installs
 * handlers. Call it first in main. */
void cli_interrupt_begin(void);

/* From now on, the first SIGINT, SIGTERM, SIGHUP or SIGUSR2 only sets a flag. A second one kills
 * the process; so does the first if cli_interrupted is not called within two seconds, unless there
 * are several ranks. */
void cli_interrupt_catch(void);

/* cli_interrupt_catch without the deadline of two seconds, for searches with steps as long as a
 * compilation. */
void cli_interrupt_catch_without_deadline(void);

/* Set the text that goes to standard output if the deadline kills the process, such as the JSON
 * object of an interrupted run; NULL: none. Not owned: it must stay valid until it is replaced. */
void cli_interrupt_last_words(const char *text);

/* Block SIGQUIT around the first query of the driver, and restore its handler: LLVM, in drivers
 * that compile with it, installs a handler that takes SIGQUIT for a crash. A SIGQUIT in between
 * stays pending. */
void cli_interrupt_block_quit(void);
void cli_interrupt_restore_quit(void);

/* From now on, no work is in progress: a signal prints no promise to finish it. */
void cli_interrupt_idle(void);

/* True if the call that has just failed is a build that a signal broke: compilers remove their
 * files on a signal. */
bool cli_interrupt_broke_build(void);

/* cli_interrupt_broke_build for a build whose error is not OpenCL's last. */
bool cli_interrupt_arrives(void);

/* True after the first signal, of any rank. Call it between pieces of work; if true, finish soon,
 * apart from writing files. */
bool cli_interrupted(void);

/* True if the time limit for writing files has passed, see outfile_limit. */
bool cli_interrupt_deadline_passed(void);

/* Print the last line of a report: interrupted after `done` of `of` units (steps, generations,
 * soups). of = 0: unknown. */
void cli_interrupt_report(uint64_t done, uint64_t of, const char *units, FILE *fp);

/* 128 + the signal, or `otherwise` if there was none. */
int cli_interrupt_status(int otherwise);

/* Set the flag for a signal that a different rank received. */
void cli_interrupt_set(int signal_number);

#endif
