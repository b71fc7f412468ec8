/* Philox4x32-10 against the published known answers, on the host and in a kernel.
 * The vectors come from the Random123 distribution, tests/kat_vectors, lines "philox4x32 10".
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdcl.h>

#include "stdcl/philox.h"

static const struct {
    philox4 counter;
    philox_u32 key[2];
    philox4 answer;
} known[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

static void philox_matches_known_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        philox4 r = philox4x32_10(known[i].counter, known[i].key[0], known[i].key[1]);
        assert_memory_equal(&r, &known[i].answer, sizeof r);
    }
}

static void philox_intervals_exclude_ends(void **state)
{
    (void)state;
    assert_true(philox_float(0) == 0.0f);
    assert_true(philox_float(0xffffffffu) < 1.0f);
    assert_true(philox_double(0, 0) > 0.0);
    assert_true(philox_double(0xffffffffu, 0xffffffffu) < 1.0);
    assert_true(philox_double(0, 0) + philox_double(0xffffffffu, 0xffffffffu) == 1.0);
}

/* Sixteen bins of each word over 2^16 counters: chi-square with 15 degrees of freedom stays
 * under 37.7 with probability 0.999. The draw is fixed, so the test either always passes or
 * never does. */
static void philox_words_are_uniform(void **state)
{
    (void)state;
    unsigned count[4][16] = {{0}};
    for (philox_u32 i = 0; i < 65536; i++) {
        philox4 r = philox4x32_10((philox4){i, 0, 0, 0}, 1, 0);
        count[0][r.x >> 28]++;
        count[1][r.y >> 28]++;
        count[2][r.z >> 28]++;
        count[3][r.w >> 28]++;
    }
    for (int word = 0; word < 4; word++) {
        double chi2 = 0;
        for (int b = 0; b < 16; b++) {
            double d = count[word][b] - 4096.0;
            chi2 += d * d / 4096.0;
        }
        assert_true(chi2 < 37.7);
        assert_true(chi2 > 2.0); /* too even would be as wrong */
    }
}

/* The header in a kernel, on every device, against the host: single draws and the known answers. */
static void philox_kernels_match_host(void **state)
{
    static const char source[] =
        "#include <stdcl/philox.h>\n" /* the layer knows where its headers are */
        "__kernel void draw(__global uint4 *out, uint k0, uint k1) {\n"
        "    uint i = get_global_id(0);\n"
        "    out[i] = philox4x32_10((uint4)(i, ~i, i * i, 0xffffffffu), k0, k1);\n"
        "}\n";
    enum { N = 1000 };
    CLCONTEXT *cp = stddev;
    (void)state;
    assert_non_null(cp);
    void *handle = clsopen(cp, source, CLLD_NOW);
    if (!handle)
        fail_msg("%s", clerror());
    cl_kernel krn = clsym(cp, handle, "draw", 0);
    assert_non_null(krn);
    philox4 *out = clmalloc(cp, N * sizeof *out, 0);
    assert_non_null(out);
    clndrange_t ndr = clndrange_init1d(0, N, 0);
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        memset(out, 0, N * sizeof *out);
        assert_true(clforka(cp, dev, krn, &ndr, CL_EVENT_NOWAIT, out, (cl_uint)7,
                            (cl_uint)0xfffffff9u) != (cl_event)-1);
        assert_true(clmsync(cp, dev, out, CL_MEM_HOST | CL_EVENT_NOWAIT) != (cl_event)-1);
        assert_true(clwait(cp, dev, CL_ALL_EVENT) != (cl_event)-1);
        for (philox_u32 i = 0; i < N; i++) {
            philox4 r = philox4x32_10((philox4){i, ~i, i * i, 0xffffffffu}, 7, 0xfffffff9u);
            assert_memory_equal(&out[i], &r, sizeof r);
        }
    }
    clfree(out);
    clclose(cp, handle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_matches_known_answers),
        cmocka_unit_test(philox_intervals_exclude_ends),
        cmocka_unit_test(philox_words_are_uniform),
        cmocka_unit_test(philox_kernels_match_host),
    };
    return cmocka_run_group_tests_name("philox", tests, NULL, NULL);
}
