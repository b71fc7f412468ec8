/* vectors.h - loops that compilers vectorize.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_VECTORS_H
#define LIFE_VECTORS_H

/* With compiler support, build a second version of a function for CPUs with 256-bit vectors, chosen
 * at load time. LIFE_AVX2: a function with AVX2's intrinsics; call it only on CPUs that have it. */
#if defined __x86_64__ && defined __GNUC__ && defined __gnu_linux__ && !defined __clang__ &&       \
    !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define LIFE_VECTORS __attribute__((target_clones("avx2", "default"), optimize("O3")))
#define LIFE_AVX2 __attribute__((target("avx2")))
#else
#define LIFE_VECTORS
#endif

#endif
