/* whfast.h - options of whfast, for single runs and ensembles.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_WHFAST_H
#define STDCL_NBODY_WHFAST_H

#include <stdbool.h>

#include "stdcl/nbody.h"

/* Numbers per body of the tangent vector and its sums (whfast_steps.h), in planes. */
enum { NBODY_TANGENT_PLANES = 13 };

/* Return the entry of wh_correctors that the options choose; -1: none. */
int nbody_whfast_corrector(const struct nbody_whfast_options *o);

/* EINVAL if an option is invalid; the message begins with the public function's name. */
int nbody_whfast_check(const struct nbody_whfast_options *o, bool megno, const char *function);

/* Return the results of a tangent vector's sums, `stride` apart, in the units of the sums. */
struct nbody_chaos nbody_whfast_chaos(const double *sums, size_t stride);

#endif
