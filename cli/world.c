/* world.c - the ranks of this run, which ranks.c joins and leaves; handlers of signals know them,
 * too.
 * SPDX-License-Identifier: MIT
 */
#include "cli.h"

stdcl_world *cli_world;

bool cli_ranks_first(void)
{
    return world_rank(cli_world) == 0;
}
