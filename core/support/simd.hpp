// SOUTHWELL_CLONES compiles a function once for each instruction set and lets the loader choose (x86-64 with
// ELF); elsewhere the baseline is used. Loops inside are marked `omp simd`, which needs no OpenMP runtime.
#pragma once
#include <cstdint> // on Linux it defines the C library: musl cannot choose at load time

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) &&                 \
    !defined(SOUTHWELL_NO_CLONES)
#define SOUTHWELL_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SOUTHWELL_CLONES
#endif

#if defined(__GNUC__)
#define SOUTHWELL_INLINE __attribute__((always_inline)) inline
#define SOUTHWELL_NOINLINE __attribute__((noinline))
#define SOUTHWELL_PREFETCH(address) __builtin_prefetch(address)
#else
#define SOUTHWELL_INLINE inline
#define SOUTHWELL_NOINLINE
#define SOUTHWELL_PREFETCH(address) ((void)(address))
#endif
