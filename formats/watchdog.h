/* watchdog.h - a time limit for code of others that may never return, such as a library that reads
 * a damaged file. Private to formats/.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_WATCHDOG_H
#define FORMATS_WATCHDOG_H

#ifdef __cplusplus
extern "C" {
#endif

struct watchdog;

/* Run work(w, arg) in a thread of its own; return its status, 0 or -1 with clerror(). Return 1 if
 * it has used more than `seconds` of processor time: the thread cannot be ended and goes on, so
 * `arg`, and all that the work uses, must stay. Without a thread the work runs without a limit. */
int watchdog_run(int (*work)(struct watchdog *w, void *arg), void *arg, double seconds);

/* From the work: allow it more processor time. */
void watchdog_allow(struct watchdog *w, double seconds);

#ifdef __cplusplus
}
#endif
#endif
