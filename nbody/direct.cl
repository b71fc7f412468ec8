/* direct.cl - the sums over all pairs: accelerations, their derivatives, potentials.
 *
 *              j = from .. to: bodies that attract, split over group_id(1)
 *            +---------------+---------------+--
 *   bodies i | group (0, 0)  | group (0, 1)  |     an item holds ITEMS vectors of WIDTH bodies i in
 *   that     +---------------+---------------+--   registers, and meets every j of its group's span
 *   are      | group (1, 0)  | group (1, 1)  |
 *   pulled   +---------------+---------------+--   partial[split][component][row]: a later kernel adds
 *            :               :               :     the splits in order, so sums never depend on timing
 *
 * posm[j] = {x, y, z, G m}; bodies that pad the array have G m = 0 and are so far away that r^-3 is 0
 * (which UNIFORM relies on). On a GPU a "vector" is one number, and a group copies TILE bodies j at a time to
 * local memory; on a CPU a group is one item, and its vectors are SIMD registers. Sums run over BLOCK bodies
 * before they are added to the total, so that rounding errors grow with BLOCK + N / BLOCK instead of N.
 * The plain-C twin is nbody_ref_forces in nbody_ref.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef GROUP
#define GROUP 1 /* work-items of a group */
#endif
#ifndef WIDTH
#define WIDTH 8 /* bodies of a vector: 1, 4, 8 or 16 */
#endif
#ifndef ITEMS
#define ITEMS 4 /* vectors of an item */
#endif
#ifndef TILE
#define TILE 16 /* bodies j fetched at once; with LOCAL a multiple of GROUP */
#endif
#ifndef LOCAL
#define LOCAL 0 /* 1: fetched into local memory by the whole group */
#endif
#ifndef UNROLL
#define UNROLL 1 /* of the loop over a tile */
#endif
#ifndef BLOCK
#define BLOCK 256 /* bodies j summed before they join the total; a multiple of TILE */
#endif
#ifndef RSQRT
#define RSQRT 2 /* 0 rsqrt(), 1 native_rsqrt(), 2 the hardware's estimate, corrected if need be */
#endif

#ifndef UNIFORM
#define UNIFORM 0 /* 1: all bodies have the same mass, and `forces` multiplies by it at the end */
#endif

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)
#ifdef DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
typedef double4 real4;
typedef long integer;
#define REAL double
#define INTEGER long
#else
typedef float real;
typedef float4 real4;
typedef int integer;
#define REAL float
#define INTEGER int
#endif
#if WIDTH == 1
typedef real vec;
typedef integer ivec;
#else
typedef PASTE(REAL, WIDTH) vec;
typedef PASTE(INTEGER, WIDTH) ivec;
#endif
#define C(x) ((real)(x))

/* Fused, where the hardware does it in one step (not every compiler says so in FP_FAST_FMA). */
#if defined(FP_FAST_FMAF) || defined(__FMA__) || defined(__AVX512F__) || defined(__aarch64__) || \
    defined(__NV_CL_C_VERSION)
#define FMA(a, b, c) fma(a, b, c)
#else
#define FMA(a, b, c) mad(a, b, c)
#endif

/* ---- r^-1 and m r^-3 -------------------------------------------------------------------------
 * An estimate y of r2^-1/2 is improved with its residue e = 1 - r2 y^2 (exact, by fma) and the
 * series (1 - e)^-1/2 = 1 + e/2 + 3 e^2/8 + ..., (1 - e)^-3/2 = 1 + 3 e/2 + 15 e^2/8 + ...; the
 * number of terms is what the estimate's error asks for. ORDER 0 takes it as it is. */
#if RSQRT == 2 && defined(__AVX512F__) && !defined(DOUBLE) && WIDTH == 16
#define ORDER 1 /* |e| < 1.3e-4 */
#define ESTIMATE(x) __builtin_ia32_rsqrt14ps512_mask(x, x, (ushort)0xffff)
#elif RSQRT == 2 && defined(__AVX__) && !defined(DOUBLE) && WIDTH == 8
#define ORDER 2 /* |e| < 7.4e-4 */
#define ESTIMATE(x) __builtin_ia32_rsqrtps256(x)
#elif RSQRT == 2 && defined(__SSE__) && !defined(DOUBLE) && WIDTH == 4
#define ORDER 2
#define ESTIMATE(x) __builtin_ia32_rsqrtps(x)
#elif RSQRT == 2 && defined(__AVX512F__) && defined(DOUBLE) && WIDTH == 8
#define ORDER 3 /* |e| < 2^-13 */
#define ESTIMATE(x) __builtin_ia32_rsqrt14pd512_mask(x, x, (uchar)0xff)
#elif RSQRT == 2 && defined(__NV_CL_C_VERSION) && !defined(DOUBLE) && WIDTH == 1
#define ORDER 0 /* relative error 2^-22.4 */
static inline float estimate(float x)
{
    float y;
    asm volatile("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#define ESTIMATE(x) estimate(x)
#elif RSQRT == 2 && defined(__NV_CL_C_VERSION) && defined(DOUBLE) && WIDTH == 1
#define ORDER 2 /* |e| < 4e-6: the estimate is made from the upper half of x */
static inline double estimate(double x)
{
    double y;
    asm volatile("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    return y;
}
#define ESTIMATE(x) estimate(x)
#elif RSQRT == 1 && !defined(DOUBLE) /* there is none for doubles */
#define ORDER 0
#define ESTIMATE(x) native_rsqrt(x)
#else
#define ORDER 0
#define ESTIMATE(x) rsqrt(x)
#endif

/* m (1 + e (c1 + e (c2 + e c3))), as far as ORDER asks. With ORDER 3 the fourth term counts too: where
 * |e| < d, e^4 is d^2 e^2 to within d^4 / 8 (Lanczos's economisation), so its share goes to the second. */
#if ORDER == 1
#define SERIES(e, m, c1, c2, c3, c4) FMA((vec)(C(c1) * (m)), e, (vec)(m))
#elif ORDER == 2
#define SERIES(e, m, c1, c2, c3, c4) \
    FMA(FMA((vec)(C(c2) * (m)), e, (vec)(C(c1) * (m))), e, (vec)(m))
#elif ORDER == 3
#define SERIES(e, m, c1, c2, c3, c4)                                                              \
    FMA(FMA(FMA((vec)(C(c3) * (m)), e, (vec)(C((c2) + (c4) * 0x1p-26) * (m))), e, (vec)(C(c1) * (m))), \
        e, (vec)(m))
#endif

static inline vec inverse_root(vec r2)
{
    const vec y = ESTIMATE(r2);
#if ORDER == 0
    return y;
#else
    const vec e = FMA(-r2, y * y, (vec)C(1));
    return y * SERIES(e, C(1), 1. / 2, 3. / 8, 5. / 16, 35. / 128);
#endif
}

static inline vec inverse_cube(vec r2, real m)
{
    const vec y = ESTIMATE(r2), yy = y * y;
#if ORDER == 0 && UNIFORM
    return y * yy;
#elif ORDER == 0
    return m * y * yy;
#else
    const vec e = FMA(-r2, yy, (vec)C(1));
    return y * yy * SERIES(e, m, 3. / 2, 15. / 8, 35. / 16, 315. / 128);
#endif
}

/* ---- Which bodies an item holds, and how a group meets the others. --------------------------- */

/* The row of the first body of vector k; a launch begins at row `top`. */
#define ROW(k) (top + ((get_group_id(0) * ITEMS + (k)) * GROUP + get_local_id(0)) * WIDTH)

/* Component c (0..3) of WIDTH bodies that follow each other. */
static inline vec load_component(global const real4 *p, int c)
{
    vec v;
    for (int lane = 0; lane < WIDTH; lane++)
        ((real *)&v)[lane] = ((global const real *)(p + lane))[c];
    return v;
}

/* Stores a vector of one component, or with `add` adds it to what an earlier launch found. */
static inline void store(global real *to, vec v, uint add)
{
    for (int lane = 0; lane < WIDTH; lane++)
        to[lane] = ((real *)&v)[lane] + (add ? to[lane] : C(0));
}

#if LOCAL
#define TILE_OF(name) local real4 name[TILE]
#define COPY_TILE(tile, source, j)                              \
    for (uint t_ = get_local_id(0); t_ < TILE; t_ += GROUP)     \
        tile[t_] = source[(j) + t_];
#define FETCH2(tile1, source1, tile2, source2, j)               \
    do {                                                        \
        barrier(CLK_LOCAL_MEM_FENCE);                           \
        COPY_TILE(tile1, source1, j)                            \
        COPY_TILE(tile2, source2, j)                            \
        barrier(CLK_LOCAL_MEM_FENCE);                           \
    } while (0)
#define FETCH(tile, source, j)                                  \
    do {                                                        \
        barrier(CLK_LOCAL_MEM_FENCE);                           \
        COPY_TILE(tile, source, j)                              \
        barrier(CLK_LOCAL_MEM_FENCE);                           \
    } while (0)
#define FETCHED(tile, source, j, t) tile[t]
#else
#define TILE_OF(name)
#define FETCH(tile, source, j) ((void)0)
#define FETCH2(tile1, source1, tile2, source2, j) ((void)0)
#define FETCHED(tile, source, j, t) source[(j) + (t)]
#endif

/* The bodies among from .. to that group_id(1) sums; `span` is a multiple of TILE. */
#define SPAN_BEGIN(from, span) ((from) + (uint)get_group_id(1) * (span))
#define SPAN_END(from, to, span) min(SPAN_BEGIN(from, span) + (span), to)
#define UNROLLED _Pragma("unroll")

/* A comparison as select() wants it: scalar comparisons give int whatever is compared. */
#if WIDTH == 1
#define IVEC(x) ((ivec)(x))
#else
#define IVEC(x) (x)
#endif

/* ---- Kernels. --------------------------------------------------------------------------------
 * first: the index in posm of row 0; rows: the length of a plane of `partial`; top: the first row of this launch, which
 * has as many as there are groups for; eps2 > 0, also when the softening is zero: so small then that it changes only
 * pulls between bodies less than 5e-9 apart, and a body's pull on itself is finite times zero. */

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void forces(
    global const real4 *restrict posm, global real *restrict partial, uint first, uint rows, uint top,
    uint from, uint to, uint span, uint add, real eps2)
{
    vec x[ITEMS], y[ITEMS], z[ITEMS], sx[ITEMS], sy[ITEMS], sz[ITEMS];
    UNROLLED for (int k = 0; k < ITEMS; k++) {
        x[k] = load_component(posm + first + ROW(k), 0);
        y[k] = load_component(posm + first + ROW(k), 1);
        z[k] = load_component(posm + first + ROW(k), 2);
        sx[k] = sy[k] = sz[k] = (vec)C(0);
    }
    TILE_OF(tile);
    const uint end = SPAN_END(from, to, span);
    for (uint block = SPAN_BEGIN(from, span); block < end; block += BLOCK) {
        vec ax[ITEMS], ay[ITEMS], az[ITEMS];
        UNROLLED for (int k = 0; k < ITEMS; k++) ax[k] = ay[k] = az[k] = (vec)C(0);
        for (uint j = block; j < min(block + BLOCK, end); j += TILE) {
            FETCH(tile, posm, j);
#pragma unroll UNROLL
            for (uint t = 0; t < TILE; t++) {
                const real4 b = FETCHED(tile, posm, j, t);
                UNROLLED for (int k = 0; k < ITEMS; k++) {
                    const vec dx = b.x - x[k], dy = b.y - y[k], dz = b.z - z[k];
                    const vec r2 = FMA(dx, dx, FMA(dy, dy, FMA(dz, dz, (vec)eps2)));
                    const vec s = inverse_cube(r2, UNIFORM ? C(1) : b.w);
                    ax[k] = FMA(s, dx, ax[k]);
                    ay[k] = FMA(s, dy, ay[k]);
                    az[k] = FMA(s, dz, az[k]);
                }
            }
        }
        UNROLLED for (int k = 0; k < ITEMS; k++) sx[k] += ax[k], sy[k] += ay[k], sz[k] += az[k];
    }
    global real *out = partial + get_group_id(1) * 3 * (size_t)rows;
    UNROLLED for (int k = 0; k < ITEMS; k++) {
        const vec m = UNIFORM ? load_component(posm + first + ROW(k), 3) : (vec)C(1);
        sx[k] *= m, sy[k] *= m, sz[k] *= m;
        store(out + ROW(k), sx[k], add);
        store(out + rows + ROW(k), sy[k], add);
        store(out + 2 * (size_t)rows + ROW(k), sz[k], add);
    }
}

/* phi of every row: minus the sum over j != i of G m_j / (r^2 + eps2)^1/2, one plane per split. A pair
 * with r2 equal to `zero` is left out: without softening zero is eps2, and bodies at one place do not
 * count; with softening zero is negative, and all pairs count. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void potentials(
    global const real4 *restrict posm, global real *restrict partial, uint first, uint rows, uint top,
    uint from, uint to, uint span, uint add, real eps2, real zero)
{
    vec x[ITEMS], y[ITEMS], z[ITEMS], sum[ITEMS];
    ivec self[ITEMS];
    UNROLLED for (int k = 0; k < ITEMS; k++) {
        x[k] = load_component(posm + first + ROW(k), 0);
        y[k] = load_component(posm + first + ROW(k), 1);
        z[k] = load_component(posm + first + ROW(k), 2);
        for (int lane = 0; lane < WIDTH; lane++)
            ((integer *)&self[k])[lane] = first + ROW(k) + lane;
        sum[k] = (vec)C(0);
    }
    TILE_OF(tile);
    const uint end = SPAN_END(from, to, span);
    for (uint block = SPAN_BEGIN(from, span); block < end; block += BLOCK) {
        vec phi[ITEMS];
        UNROLLED for (int k = 0; k < ITEMS; k++) phi[k] = (vec)C(0);
        for (uint j = block; j < min(block + BLOCK, end); j += TILE) {
            FETCH(tile, posm, j);
#pragma unroll UNROLL
            for (uint t = 0; t < TILE; t++) {
                const real4 b = FETCHED(tile, posm, j, t);
                UNROLLED for (int k = 0; k < ITEMS; k++) {
                    const vec dx = b.x - x[k], dy = b.y - y[k], dz = b.z - z[k];
                    const vec r2 = FMA(dx, dx, FMA(dy, dy, FMA(dz, dz, (vec)eps2)));
                    const ivec none = IVEC(self[k] == (ivec)(integer)(j + t)) | IVEC(r2 == (vec)zero);
                    phi[k] -= select(b.w * inverse_root(r2), (vec)C(0), none);
                }
            }
        }
        UNROLLED for (int k = 0; k < ITEMS; k++) sum[k] += phi[k];
    }
    UNROLLED for (int k = 0; k < ITEMS; k++)
        store(partial + get_group_id(1) * (size_t)rows + ROW(k), sum[k], add);
}

/* Accelerations and their time derivatives, planes 0-2 and 3-5 of each split; velocities beside the
 * positions, velo[j] = {vx, vy, vz, unused}. With dr = x_j - x_i, dv = v_j - v_i, s = G m_j r^-3:
 * a += s dr, jerk += s (dv - 3 (dr dv) r^-2 dr). `zero` as above. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void jerks(
    global const real4 *restrict posm, global const real4 *restrict velo,
    global real *restrict partial, uint first, uint rows, uint top, uint from, uint to, uint span,
    uint add, real eps2, real zero)
{
    vec at[ITEMS][6], total[ITEMS][6]; /* x y z vx vy vz; a and jerk */
    UNROLLED for (int k = 0; k < ITEMS; k++) UNROLLED for (int c = 0; c < 3; c++) {
        at[k][c] = load_component(posm + first + ROW(k), c);
        at[k][c + 3] = load_component(velo + first + ROW(k), c);
        total[k][c] = total[k][c + 3] = (vec)C(0);
    }
    TILE_OF(tile);
    TILE_OF(vtile);
    const uint end = SPAN_END(from, to, span);
    for (uint block = SPAN_BEGIN(from, span); block < end; block += BLOCK) {
        vec sum[ITEMS][6];
        UNROLLED for (int k = 0; k < ITEMS; k++)
            UNROLLED for (int c = 0; c < 6; c++) sum[k][c] = (vec)C(0);
        for (uint j = block; j < min(block + BLOCK, end); j += TILE) {
            FETCH2(tile, posm, vtile, velo, j);
#pragma unroll UNROLL
            for (uint t = 0; t < TILE; t++) {
                const real4 b = FETCHED(tile, posm, j, t), v = FETCHED(vtile, velo, j, t);
                UNROLLED for (int k = 0; k < ITEMS; k++) {
                    const vec dx = b.x - at[k][0], dy = b.y - at[k][1], dz = b.z - at[k][2];
                    const vec dvx = v.x - at[k][3], dvy = v.y - at[k][4], dvz = v.z - at[k][5];
                    const vec r2 = FMA(dx, dx, FMA(dy, dy, FMA(dz, dz, (vec)eps2)));
                    const vec w = inverse_root(r2), ww = w * w;
                    const vec s = select(b.w * w * ww, (vec)C(0), IVEC(r2 == (vec)zero));
                    const vec q = C(-3) * ww * FMA(dx, dvx, FMA(dy, dvy, dz * dvz));
                    sum[k][0] = FMA(s, dx, sum[k][0]);
                    sum[k][1] = FMA(s, dy, sum[k][1]);
                    sum[k][2] = FMA(s, dz, sum[k][2]);
                    sum[k][3] = FMA(s, FMA(q, dx, dvx), sum[k][3]);
                    sum[k][4] = FMA(s, FMA(q, dy, dvy), sum[k][4]);
                    sum[k][5] = FMA(s, FMA(q, dz, dvz), sum[k][5]);
                }
            }
        }
        UNROLLED for (int k = 0; k < ITEMS; k++)
            UNROLLED for (int c = 0; c < 6; c++) total[k][c] += sum[k][c];
    }
    global real *out = partial + get_group_id(1) * 6 * (size_t)rows;
    UNROLLED for (int k = 0; k < ITEMS; k++)
        UNROLLED for (int c = 0; c < 6; c++) store(out + c * (size_t)rows + ROW(k), total[k][c], add);
}
