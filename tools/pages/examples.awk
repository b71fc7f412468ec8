# examples.awk - the blocks of C in Markdown pages, one after another, for the manual pages of the functions they call.
#   awk -f examples.awk page.md... >BLOCKS
# Each block is followed by a line with a form feed. The block after a comment "hero" is preferred: a line with a vertical
# tab precedes it. Blocks of kernels and of more than 40 lines are left out.
# SPDX-License-Identifier: MIT
FNR == 1 { inside = hero = 0 }
/^<!-- hero/ { hero = 1 }
/^```c$/ { inside = 1; block = ""; lines = 0; next }
/^```/ {
    if (inside && lines <= 40 && block !~ /__kernel|kernel void/)
        printf "%s%s\f\n", hero ? "\v\n" : "", block
    inside = hero = 0
    next
}
inside { block = block $0 "\n"; lines++ }
