/* root.cl - types, vectors, r^-1 and m r^-3 of a vector, and what a pair of bodies adds; the host
 * puts the file in front of the force kernels.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_ROOT_CL
#define NBODY_ROOT_CL

/* Only FMA() fuses a product and a sum, in kernels of every shape. */
#pragma OPENCL FP_CONTRACT OFF

#ifndef WIDTH
#define WIDTH 8 /* bodies of a vector: 1, 4, 8 or 16 */
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
typedef long integer;
#define REAL double
#define INTEGER long
#else
typedef int integer;
#define REAL float
#define INTEGER int
#endif
#ifdef NBODY_STEP_CL /* step.cl stands in front and defines `real` as the state's type */
#define real REAL
#define real4 PASTE(REAL, 4)
#else
typedef REAL real;
typedef PASTE(REAL, 4) real4;
#endif
#if WIDTH == 1
typedef real vec;
typedef integer ivec;
#else
typedef PASTE(REAL, WIDTH) vec;
typedef PASTE(INTEGER, WIDTH) ivec;
#endif
#define C(x) ((real)(x))

/* Numbers of the state, as in step.cl: doubles in mixed precision, where interactions are floats.
 * wide: a vector of them. */
#ifdef MIXED
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define NUMBER double
#else
#define NUMBER REAL
#endif
#ifndef NBODY_STEP_CL
typedef NUMBER number;
typedef PASTE(NUMBER, 4) number4;
#endif
#if WIDTH == 1
typedef number wide;
#else
typedef PASTE(NUMBER, WIDTH) wide;
#endif
#if !defined(MIXED)
#define WIDEN(v) (v)
#elif WIDTH == 1
#define WIDEN(v) ((double)(v))
#else
#define WIDEN(v) PASTE(convert_double, WIDTH)(v)
#endif

/* Convert a comparison to the type that select() takes: scalar comparisons give int for any type.
 */
#if WIDTH == 1
#define IVEC(x) ((ivec)(x))
#else
#define IVEC(x) (x)
#endif

#define UNROLLED _Pragma("unroll")

/* For functions that take arrays or have barriers. PoCL 3.1 does not inline large functions with
 * barriers and then mixes up the local memory of groups. */
#define INLINED static inline __attribute__((always_inline))

/* Fused where the hardware does it in one instruction (not every compiler defines FP_FAST_FMA);
 * elsewhere a product and a sum, each rounded. mad() is unsuitable: compilers fuse it in some
 * places only, so bits would depend on the shape. */
#if defined(FP_FAST_FMAF) || defined(__FMA__) || defined(__AVX512F__) || defined(__aarch64__) ||   \
    defined(__NV_CL_C_VERSION)
#define FMA(a, b, c) fma(a, b, c)
#else
#define FMA(a, b, c) ((a) * (b) + (c))
#endif

/* ---- r^-1 and m r^-3 -------------------------------------------------------------------------
 * An estimate y of r2^-1/2 is improved with its residue e = 1 - r2 y^2 (exact, by fma) and the
 * series (1 - e)^-1/2 = 1 + e/2 + 3 e^2/8 + ..., (1 - e)^-3/2 = 1 + 3 e/2 + 15 e^2/8 + ...; the
 * estimate's error determines the number of terms, ORDER. ORDER 0 uses the plain estimate. */
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
#define ORDER 2 /* |e| < 4e-6: the estimate uses the upper half of x only */
static inline double estimate(double x)
{
    double y;
    asm volatile("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    return y;
}
#define ESTIMATE(x) estimate(x)
#elif RSQRT == 1 && !defined(DOUBLE) /* there is no native_rsqrt for doubles */
#define ORDER 0
#define ESTIMATE(x) native_rsqrt(x)
#else
#define ORDER 0
#define ESTIMATE(x) rsqrt(x)
#endif

/* m (1 + e (c1 + e (c2 + e c3))), up to ORDER terms. ORDER 3 includes the fourth term: for |e| <
 * d, e^4 equals d^2 e^2 to within d^4 / 8 (Lanczos's economisation), so its coefficient is added
 * to the second. */
#if ORDER == 1
#define SERIES(e, m, c1, c2, c3, c4) FMA((vec)(C(c1) * (m)), e, (vec)(m))
#elif ORDER == 2
#define SERIES(e, m, c1, c2, c3, c4)                                                               \
    FMA(FMA((vec)(C(c2) * (m)), e, (vec)(C(c1) * (m))), e, (vec)(m))
#elif ORDER == 3
#define SERIES(e, m, c1, c2, c3, c4)                                                               \
    FMA(FMA(FMA((vec)(C(c3) * (m)), e, (vec)(C((c2) + (c4)*0x1p-26) * (m))), e,                    \
            (vec)(C(c1) * (m))),                                                                   \
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

/* ---- What a pair adds. ----------------------------------------------------------------------- */

/* Vector d from WIDTH targets to a source body; r2: its square, softened. */
struct separation {
    vec x, y, z, r2;
};

static inline struct separation separation_of(vec x, vec y, vec z, vec eps2)
{
    return (struct separation){x, y, z, FMA(x, x, FMA(y, y, FMA(z, z, eps2)))};
}

/* Acceleration: a += G m r^-3 d. With UNIFORM the mass is left out. */
INLINED void add_force(struct separation d, real mass, vec *acc)
{
    const vec s = inverse_cube(d.r2, UNIFORM ? C(1) : mass);
    acc[0] = FMA(s, d.x, acc[0]);
    acc[1] = FMA(s, d.y, acc[1]);
    acc[2] = FMA(s, d.z, acc[2]);
}

/* Acceleration and jerk. With v the difference of velocities and s = G m r^-3: a += s d, jerk += s
 * (v - 3 (d v) r^-2 d). Pairs with r2 equal to `zero` are left out. */
INLINED void add_jerk(struct separation d, vec vx, vec vy, vec vz, real mass, real zero, vec *acc)
{
    const vec w = inverse_root(d.r2), ww = w * w;
    const vec s = select(mass * w * ww, (vec)C(0), IVEC(d.r2 == (vec)zero));
    const vec q = C(-3) * ww * FMA(d.x, vx, FMA(d.y, vy, d.z * vz));
    acc[0] = FMA(s, d.x, acc[0]);
    acc[1] = FMA(s, d.y, acc[1]);
    acc[2] = FMA(s, d.z, acc[2]);
    acc[3] = FMA(s, FMA(q, d.x, vx), acc[3]);
    acc[4] = FMA(s, FMA(q, d.y, vy), acc[4]);
    acc[5] = FMA(s, FMA(q, d.z, vz), acc[5]);
}

#endif
