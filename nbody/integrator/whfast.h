/* whfast.h - options of whfast, for single runs and ensembles.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_WHFAST_H
#define STDCL_NBODY_WHFAST_H

#include "stdcl/nbody.h"

/* Return the entry of wh_correctors that the options choose; -1: none. */
int nbody_whfast_corrector(const struct nbody_whfast_options *o);

/* EINVAL if an option is invalid; the message begins with the public function's name. */
int nbody_whfast_check(const struct nbody_whfast_options *o, const char *function);

#endif
