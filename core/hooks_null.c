/* hooks_null.c - the core without the rooms that hang on it: nobody observes, nothing is generated.
 * A library that has them defines these two names there instead. SPDX-License-Identifier: MIT
 */
#include "core/observer.h"

const struct observer *const core_observer = NULL;
const struct generator *const core_generator = NULL;
