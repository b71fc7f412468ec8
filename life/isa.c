/* isa.c - the choice of the instruction set.
 * SPDX-License-Identifier: MIT
 */
#include "life/isa.h"

static const struct life_isa isa_any = {
    "any", circuit_rows_any, census_plane_step_any, NULL, NULL, NULL, NULL};

#ifdef __x86_64__
static const struct life_isa isa_avx2 = {
    "avx2",           circuit_rows_avx2, census_plane_step_avx2, NULL,
    lookups_row_avx2, lookups_bits_avx2, lookups_states_avx2};

static const struct life_isa isa_avx512 = {
    "avx512",         circuit_rows_avx512, census_plane_step_avx512, leaf_advance_avx512,
    lookups_row_avx2, lookups_bits_avx2,   lookups_states_avx2};

static const struct life_isa isa_vbmi = {
    "vbmi",           circuit_rows_avx512, census_plane_step_avx512, leaf_advance_avx512,
    lookups_row_vbmi, lookups_bits_vbmi,   lookups_states_vbmi};
#endif

const struct life_isa *life_isa(unsigned i)
{
    const struct life_isa *has[4];
    unsigned n = 0;
#ifdef __x86_64__
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
    if (avx512 && __builtin_cpu_supports("avx512vbmi"))
        has[n++] = &isa_vbmi;
    if (avx512)
        has[n++] = &isa_avx512;
    if (__builtin_cpu_supports("avx2"))
        has[n++] = &isa_avx2;
#endif
    has[n++] = &isa_any;
    return i < n ? has[i] : NULL;
}
