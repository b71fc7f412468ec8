/* world.c - the ranks of this run, joined and left by ranks.c and read by signal handlers.
 * SPDX-License-Identifier: MIT
 */
#include "ranks.h"

#include <stdbool.h>
#include <stdcl/world.h>

stdcl_world *cli_world;

bool cli_ranks_first(void)
{
    return world_rank(cli_world) == 0;
}
