/* balance.h - load balancing between ranks of different speed.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_BALANCE_H
#define STDCL_CLI_BALANCE_H

struct cli_balance {
    double seconds, waited; /* at the last check: computing, waiting */
    double next;            /* seconds until the next check */
    int looks;              /* checks so far, modulo 3 */
};

/* Work of a rank since the last check. */
struct cli_work {
    double work; /* in any unit */
    double busy; /* seconds not spent waiting for other ranks */
};

/* Start measuring at `seconds` of computing. */
void cli_balance_begin(struct cli_balance *s, double seconds);

/* Busy seconds since the last check, of a rank that waits for others in the computing thread. */
double cli_balance_busy(const struct cli_balance *s, double seconds);

/* Collective. If a check is due, set *weight to this rank's speed, provided that dividing the work
 * by speed saves more time than it costs; otherwise to 0. `seconds`: computing so far; `left`:
 * remaining work as a multiple of the work since the last check. Report the new division of `what`
 * unless `what` is NULL. -1 after clerror_set. */
int cli_balance_update(struct cli_balance *s, struct cli_work own, double seconds, double left,
                       const char *what, double *weight);

#endif
