/* hooks_null.c - null hooks, for the core alone: no observer and no generator. A library with these
 * rooms defines the two names there instead.
 * SPDX-License-Identifier: MIT
 */
#include "core/observer.h"

const struct observer *const core_observer = NULL;
const struct generator *const core_generator = NULL;
