/* internal.h - all of the engines' headers, for tests and benchmarks. Files of this room include
 * the headers they use.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_INTERNAL_H
#define LIFE_INTERNAL_H

#include "life/cells.h"
#include "life/circuit.h"
#include "life/counting.h"
#include "life/engine.h"
#include "life/family.h"
#include "life/grid.h"
#include "life/logic.h"
#include "life/reference.h"

#endif
