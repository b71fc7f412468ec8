/* vectors.h - loops that compilers vectorize.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_VECTORS_H
#define LIFE_VECTORS_H

/* With compiler support, build a second version of a function for CPUs with 256-bit vectors, chosen
 * at load time. */
#if defined __x86_64__ && defined __GNUC__ && defined __gnu_linux__ && !defined __clang__ &&       \
    !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define LIFE_VECTORS __attribute__((target_clones("avx2", "default"), optimize("O3")))
#else
#define LIFE_VECTORS
#endif

/* Files that are compiled once for each instruction set (isa.h): bytes of a vector, and the name of
 * a function, such as circuit_rows_avx2. */
#ifndef LIFE_SET
#define LIFE_SET any
#define VECTOR_BYTES 16
#endif
#define LIFE_JOIN(name, set) name##_##set
#define LIFE_JOIN_EXPANDED(name, set) LIFE_JOIN(name, set)
#define LIFE_OF_SET(name) LIFE_JOIN_EXPANDED(name, LIFE_SET)

#endif
