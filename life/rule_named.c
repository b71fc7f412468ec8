/* rule_named.c - rules of several states that have a name: LifeHistory, JvN29 and so on.
 * SPDX-License-Identifier: MIT
 */
#include "life/rule_program.h"

#include <errno.h>

life_transitions *life_transitions_named(const char *text)
{
    life_transitions *t = life_neumann_rule(text);
    return t || clerrno != ENOENT ? t : life_annotated_rule(text);
}
