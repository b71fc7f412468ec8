/* program.h - programs: parts, builds, caches in memory and on disk, embedded sources.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_PROGRAM_H
#define CORE_PROGRAM_H

#include "core/context.h"

struct program;

/* ---- build.c ---- */

/* A specialization constant's value for the next build. */
struct constant {
    cl_uint id;
    size_t size;
    unsigned char value[8];
};

/* One translation unit: source text, a SPIR-V module or one binary per device, and its builds. */
struct part {
    char *name;
    char *source; /* zero-terminated; NULL for binaries */
    size_t nbinary, *binary_size;
    unsigned char **binary;
    bool spirv; /* binary[0] is a module for every device */
    size_t nspecs;
    struct constant *spec;
    cl_program *program;                   /* per device */
    const struct stdcl_embedded *embedded; /* origin of the source, or NULL; not owned */
    bool keep;                             /* CLLD_CACHE */
};

void part_free(struct part *p, cl_uint ndev);

/* Fill in a part; `before` is text that precedes the source. False if out of memory. */
bool part_of_source(struct part *p, const char *name, const char *before, const char *source,
                    size_t size, cl_uint ndev);
bool part_of_binaries(struct part *p, const char *name, size_t n, char **bin, const size_t *size,
                      cl_uint ndev);

/* The header of a file from clsave, before the driver's binary. */
enum { BINARY_HEADER = 32 };
void binary_header_make(unsigned char header[BINARY_HEADER], const void *data, size_t size);

/* If data has such a header, skip it. -1 after fail() if the binary is not the one that was saved:
 * drivers crash on a part of a binary. */
int binary_unwrap(const char **data, size_t *size, const char *name, const char *call);

/* Return 0 if a file's bytes are source, NVIDIA's assembly, SPIR-V, or a binary with such a header,
 * else -1 after fail(): a driver's binary without the header may be damaged, and a file that ends
 * in .spv must be SPIR-V. */
int binary_file_check(const char *data, size_t size, const char *file, const char *call);

/* True for binaries: they contain zero bytes, or are NVIDIA's assembly. */
bool is_binary(const char *data, size_t size);

/* The compiler's messages for a part, with positions in the user's files; the caller frees them.
 * NULL if out of memory. */
char *part_build_log(const struct part *p, cl_device_id id, cl_program program);

/* Build all parts for all devices. Call with p->lock held, or before p is shared. 0, or -1 after
 * fail(). */
int program_build(struct program *p, const char *call);

/* Build a lazy program at its first use, with p->lock held. 0 if it is then built, or if it has a
 * p->refusal: it does not build, and is not compiled again at each use. -1 after fail() if the next
 * use may succeed. */
int program_build_once(struct program *p, const char *call);

/* Forget that p does not build. Call with p->lock held. */
void program_forget_refusal(struct program *p);

/* ---- spirv.c ---- */

/* True for SPIR-V of either byte order, by its first word. */
bool spirv_begins(const void *data, size_t size);

/* Return 0 if a module in this machine's byte order consists of whole instructions, else -1 after
 * fail(). */
int spirv_check(const void *data, size_t size, const char *name, const char *call);

/* Bytes of a specialization constant of the module; 0 if there is none with this number. */
size_t spirv_constant_size(const struct part *p, cl_uint id);

/* The declarations of a module's kernels in OpenCL C, with unsigned integers for all; the caller
 * frees it. NULL if out of memory. */
char *spirv_declarations(const struct part *p);

/* Create the program of a module with its specialization constants; NULL with the error if the
 * device takes none. spirv_failed then explains it: -1 after fail(). */
cl_program spirv_program(const struct part *p, const struct device *d, cl_int *err);
int spirv_failed(const struct part *p, const struct device *d, cl_int err, const char *call);

/* ---- program_cache.c ---- */

/* LRU cache of built programs, per device: the program built from this source with these options,
 * with a reference for the caller; NULL if there is none. */
cl_program program_cache_find(struct device *d, const char *source, const char *options);

/* Add a built program, if it is cacheable. If out of memory, nothing is added. */
void program_cache_add(struct device *d, cl_program program, const char *source,
                       const char *options);
void program_cache_free(struct device *d);

/* True if the program depends on nothing but the source text and the options. */
bool program_cache_applies(const char *source, const char *options);

/* ---- disk_cache.c ---- */

/* A program in the disk cache, or to be added to it; initially zero, with lock -1. */
struct disk_entry {
    char *key; /* `size` bytes */
    size_t size;
    int lock; /* descriptor of the locked lock file; -1: none */
    char path[CACHE_PATH];
};

/* The cached program, with a reference for the caller; NULL if it must be built. */
cl_program disk_cache_find(struct disk_entry *s, const struct device *d, const char *source,
                           const char *options);

/* Finish, and store the program that was built instead, if any and if its compiler printed
 * nothing: `log`, or NULL. */
void disk_cache_end(struct disk_entry *s, cl_program built, const char *log);

/* The binary of a program for its device; the caller frees it. NULL if there is none, with
 * OpenCL's error, if any. */
unsigned char *binary_of(cl_program program, size_t *size, cl_int *err);

/* FNV-1a over words of eight bytes, then the remaining bytes. */
uint64_t bytes_hash(const void *data, size_t size);

/* ---- program.c ---- */

struct program {
    struct program *next;
    CLCONTEXT *cp;
    int references;  /* held by the list of open programs and by searches; under cp's lock */
    char *options;   /* further build options */
    bool by_clbuild; /* opened with CLLD_NOBUILD */
    bool library;    /* opened by clopen_named: searched after the caller's programs */
    size_t nparts;
    struct part *part;
    pthread_mutex_t lock; /* guards the members below */
    bool built;
    struct failure refusal; /* why a lazy program does not build, without the call's name; code 0:
                               no build failed */
    struct kernel *kernels;
};

/* A program with room for n parts, not listed yet; NULL after fail(). */
struct program *program_new(CLCONTEXT *cp, size_t nparts, const char *options, const char *call);

/* Build, unless the flags defer that, and list the program as the newest. Takes over p. Flags are
 * clopen's, and CLLD_LIBRARY for clopen_named. */
#define CLLD_LIBRARY 0x40000000 /* distinct from all public flags */
void *program_open(struct program *p, bool complete, int flags, const char *call);

/* Free a program that is not listed. */
void program_free(struct program *p);

/* The program of a handle, if it is open in cp; else NULL after fail(). */
struct program *program_of(CLCONTEXT *cp, const void *handle, const char *call);

/* All open programs, each retained: the caller's, newest first, then the libraries'. NULL after
 * fail(). The caller of this function releases each and frees the array. */
struct program **program_retain_all(CLCONTEXT *cp, size_t *count, const char *call);

/* Add a reference to a program, which has one already. Release one: the last one frees it. */
void program_retain(struct program *p);
void program_release(struct program *p);

/* True if kernels are generated from a file of this name. */
bool source_is_template(const char *name);

/* ---- embed.c ---- */

/* The registered sources, oldest first, and their number; NULL if there are none. Not owned. */
const struct stdcl_embedded *embedded_sources(size_t *n);

/* The binary embedded beside a source for a device, or NULL. Not owned. */
const struct stdcl_embedded_binary *embedded_binary(const struct stdcl_embedded *source,
                                                    cl_device_id id);

/* ---- embed_open.c ---- */

/* Open all embedded kernels as one program; NULL after fail(). */
void *embedded_open_all(CLCONTEXT *cp, int flags, const char *call);

/* The embedded kernels, opened once per context, for calls that name no program.
 * embedded_unopened: true if such a call would open them. */
struct program *embedded_of(CLCONTEXT *cp, int flags, const char *call);
bool embedded_unopened(CLCONTEXT *cp);

/* ---- include.c ---- */

/* The folder of <stdcl.h> for kernels, "" if there is none. */
const char *include_folder(void);

/* Write the source of a kernel file; files included from folders with blanks in their names are
 * replaced by their whole paths. name NULL: write the text in front of a kernel file, in which a
 * #line directive begins each file; files beside these are replaced by their whole paths. */
void include_write_source(FILE *fp, const char *name, const char *source, size_t size);

/* The source of a kernel file with the text of the files that it includes in place of #include, for
 * reading declarations; conditional parts and #include of a file that is not found stay. The caller
 * frees it. NULL if the source includes nothing, or if out of memory. */
char *include_expand(const char *name, const char *source, const char *options);

/* ---- buildlog.c ---- */

/* Copy the file's name in a directive `#line N "name"`, unescaped and cut to `size`. False, and the
 * name unchanged, if the line is none with a name. */
bool line_directive_name(const char *line, char *name, size_t size);

/* A build's log with positions translated by the source's #line directives; the caller frees it. */
char *build_log_translate(const char *log, const char *source);

/* True for a log of PoCL without a compiler's error: PoCL could not read or write a file of its
 * kernel cache. */
bool build_log_gives_no_reason(const char *log);

#endif
