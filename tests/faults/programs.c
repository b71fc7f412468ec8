/* programs.c - the programs that run with a fault, and the errors of codes.txt. Add a program by
 * adding a line.
 * SPDX-License-Identifier: MIT
 */
#include "faults.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <errno.h>
#include <regex.h>
#include <stdlib.h>

#define EXAMPLE(name) "example_" name, "examples/example_" name

#define GAS "^(mean energy|deviation|temperature) .*"

/* Programs that end early are cheap; sizes are small because every call is a run. */
struct program programs[] = {
    {EXAMPLE("01_hello"), "^  add +[0-9]+", {0}, {0}, {0}},
    {"nbody",
     "bin/stdcl nbody --ic figure8 --device 0 --steps 4 --json -o n.tab -o n.csv",
     "\"(n|steps|energy[a-z_]*|momentum|virial_ratio)\": .*",
     {"n.tab", "n.csv"},
     {0},
     {0}},
    {"life",
     "bin/stdcl life --engine packed --size 64 -n 8 -o l.rle -o l.png --csv l.csv",
     "population .*",
     {"l.rle", "l.png", "l.csv"},
     {0},
     {0}},
    {EXAMPLE("02_memory"), ".*", {0}, {0}, {0}},
    {"gas", "bin/stdcl gas -n 1000", GAS, {0}, {0}, {0}},
    {"matmul", "bin/stdcl matmul -n 16 --repeat 1 -q -o c.npy", "", {"c.npy"}, {0}, {0}},
    {EXAMPLE("03_devices"), ".*", {0}, {0}, {0}},
    {"nbody_forces",
     "bin/stdcl nbody -n 64 --device 0 --steps 0 -q --forces f.csv -o n.png",
     "",
     {"f.csv", "n.png"},
     {0},
     {0}},
    {"gas_stored",
     "bin/stdcl gas -n 1000 --stored --sum tree --precision double",
     GAS,
     {0},
     {0},
     {0}},
    {EXAMPLE("04_templates"), "^[0-9]+ .*", {0}, {"examples/04_templates.clt"}, {0}},
    {"gas_histogram",
     "bin/stdcl gas -n 1000 --stored --source host --histogram h.csv",
     GAS,
     {"h.csv"},
     {0},
     {0}},
    {"nbody_checkpoint",
     "bin/stdcl nbody --ic figure8 --device 0 --steps 4 -q --checkpoint n.ckpt -o n.tab",
     "",
     {"n.ckpt", "n.tab"},
     {0},
     {0}},
    {EXAMPLE("05_profile"), "^saxpy +[0-9]+ times", {0}, {0}, {0}},
    {"life_census",
     "bin/stdcl life census --soups 3 --size 6 -q --csv l.csv",
     "",
     {"l.csv"},
     {0},
     {0}},
    {"life_sweep",
     "bin/stdcl life sweep rules.txt --soups 1 -n 4 -q --csv l.csv",
     "",
     {"l.csv"},
     {"tests/faults/rules.txt"},
     {0}},
    {"life_rule",
     "bin/stdcl life --engine packed --rule brain.rule --size 32 -n 4 -q -o l.rle",
     "",
     {"l.rle"},
     {"tests/faults/brain.rule"},
     {0}},
    {"life_states",
     "bin/stdcl life --engine packed --rule 345/2/4 --size 32 -n 4 -q -o l.rle --csv l.csv",
     "",
     {"l.rle", "l.csv"},
     {0},
     {0}},
    {"life_larger",
     "bin/stdcl life --engine packed --rule R5,C0,M1,S34..58,B34..45,NM --size 32 -n 4 -q -o l.rle",
     "",
     {"l.rle"},
     {0},
     {0}},
    {"life_side",
     "bin/stdcl life --engine packed -p gun.rle --rule B3/S23:T0,60 -n 70 -q -o l.mc",
     "",
     {"l.mc"},
     {"data/gun.rle"},
     {0}},
    {"life_lines",
     "bin/stdcl bgolly -m 9 -i 4 -q -q -o l.mc gun.rle",
     "^This is stdcl|^- stdcl",
     {"l.mc"},
     {"data/gun.rle"},
     {0}},
    {"life_stable",
     "bin/stdcl life --size 32 -n 12 --until-stable --engine global -q -o l.mc",
     "",
     {"l.mc"},
     {0},
     {0}},
    {"nbody_snapshots",
     "bin/stdcl nbody --ic figure8 --dt 1/64 --steps 2 --snapshots 1/32 -q -o s-%d.hdf5",
     "",
     {"s-0.hdf5", "s-1.hdf5", "s-series.csv", "s-series.xdmf"},
     {0},
     {0}},
    {EXAMPLE("06_errors"), "no error\\?", {0}, {0}, {0}},
    {"matmul_out_of_core",
     "bin/stdcl matmul -a a.npy -b a.npy -o c.npy --out-of-core -q",
     "",
     {"c.npy"},
     {"made/a.npy"},
     {0}},
    {"cluster_model", "bin/stdcl cluster-model --of life --plot m.svg", ".*", {"m.svg"}, {0}, {0}},
    {"matmul_streamed",
     "bin/stdcl matmul -n 64 --memory 250000 --precision double --repeat 1 -q -o c.npy",
     "",
     {"c.npy"},
     {0},
     {0}},
    {EXAMPLE("07_embedded"), ".*", {0}, {0}, {0}},
    {EXAMPLE("08_cg"), ".*", {0}, {0}, {0}},
    {EXAMPLE("09_halos"), ".*", {0}, {0}, {0}},
    {EXAMPLE("10_monte_carlo"), ".*", {0}, {0}, {0}},
    {"life_plane",
     "bin/stdcl life --engine hashlife -p gun.rle -n 64 --threads 1 -q -o l.mc --csv l.csv",
     "",
     {"l.mc", "l.csv"},
     {"data/gun.rle"},
     {0}},
    {"life_sparse",
     "bin/stdcl life --engine sparse -p gun.rle -n 60 -q -o l.mc --csv l.csv --step 30",
     "",
     {"l.mc", "l.csv"},
     {"data/gun.rle"},
     {0}},
    {"nbody_block",
     "bin/stdcl nbody -n 64 --steps 1 --integrator hermite4 --stepping block -q -o n.tab",
     "",
     {"n.tab"},
     {0},
     {0}},
    {"nbody_tree",
     "bin/stdcl nbody -n 200 --steps 1 --method tree -q -o n.tab",
     "",
     {"n.tab"},
     {0},
     {0}},
    {"nbody_resume",
     "bin/stdcl nbody --resume figure8.ckpt --steps 8 -q -o n.tab --checkpoint n.ckpt",
     "",
     {"n.tab", "n.ckpt"},
     {"made/figure8.ckpt"},
     {0}},
    {"nbody_ensemble",
     "bin/stdcl nbody -i solar.tab --ensemble 3 --steps 4 --dt 1 -q -o e.tab --checkpoint e.ckpt "
     "--collide merge --radius 0.01 --stop-distance 90 --csv e.csv",
     "",
     {"e.tab", "e.ckpt", "e.csv"},
     {"data/solar.tab"},
     {0}},
#ifdef STDCL_HAVE_VIEW
    {"nbody_record",
     "bin/stdcl nbody --ic figure8 --device 0 --steps 4 -q -o n.tab --record n.view",
     "",
     {"n.tab", "n.view"},
     {0},
     {0}},
    {"view_page",
     "bin/stdcl view small.view -q -o page.html",
     "",
     {"page.html"},
     {"made/small.view"},
     {0}},
#endif
    {"ranks", "tests/faults_ranks", ".*", {0}, {0}, {0}},
    {"svm", "tests/faults_svm", ".*", {0}, {0}, {0}},
#ifdef STDCL_HAVE_PYTHON
    {"python", "tests/faults_python", ".*", {0}, {0}, {0}},
#endif
    {"examples",
     "bin/stdcl examples copies",
     "copies: .*",
     {"copies/01_hello.c", "copies/04_templates.clt", "copies/10_monte_carlo.c", "copies/Makefile"},
     {0},
     {0}},
    {"devices", "bin/stdcl devices", ".*", {0}, {0}, {0}},
    {"check",
     "bin/stdcl check cli_add.cl",
     ".* compiles for .+:|^  cli_add\\(",
     {0},
     {"tests/kernels/cli_add.cl"},
     {0}},
    {"embed", "bin/stdcl embed cli_add.cl -o k.c", "", {"k.c"}, {"tests/kernels/cli_add.cl"}, {0}},
    {0},
};

const char *const programs_left_out[] = {
#ifndef STDCL_HAVE_VIEW
    "nbody_record",
    "view_page",
#endif
#ifndef STDCL_HAVE_PYTHON
    "python",
#endif
    NULL,
};

/* ---- Results. -------------------------------------------------------------------------------- */

char *program_result(const struct program *p, const char *out)
{
    regex_t regex;
    regmatch_t match;
    size_t used = 0;
    char *text = calloc(1, 2 * strlen(out) + 2);
    if (!text || !p->compares || !*p->compares)
        return text;
    if (regcomp(&regex, p->compares, REG_EXTENDED | REG_NEWLINE) != 0)
        return free(text), NULL;
    while (*out && regexec(&regex, out, 1, &match, 0) == 0) {
        const size_t length = (size_t)(match.rm_eo - match.rm_so);
        memcpy(text + used, out + match.rm_so, length);
        used += length;
        text[used++] = '\n';
        out += match.rm_eo + (out[match.rm_eo] != 0);
    }
    regfree(&regex);
    return text;
}

/* ---- Errors. --------------------------------------------------------------------------------- */

#define CODE(name)                                                                                 \
    {                                                                                              \
#name, name, WHOLE                                                                         \
    }
static const struct code known[] = {
    CODE(CL_DEVICE_NOT_FOUND),
    CODE(CL_DEVICE_NOT_AVAILABLE),
    CODE(CL_COMPILER_NOT_AVAILABLE),
    CODE(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    CODE(CL_OUT_OF_RESOURCES),
    CODE(CL_OUT_OF_HOST_MEMORY),
    CODE(CL_PROFILING_INFO_NOT_AVAILABLE),
    CODE(CL_MEM_COPY_OVERLAP),
    CODE(CL_IMAGE_FORMAT_NOT_SUPPORTED),
    CODE(CL_BUILD_PROGRAM_FAILURE),
    CODE(CL_MAP_FAILURE),
    CODE(CL_MISALIGNED_SUB_BUFFER_OFFSET),
    CODE(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    CODE(CL_KERNEL_ARG_INFO_NOT_AVAILABLE),
    CODE(CL_INVALID_VALUE),
    CODE(CL_INVALID_DEVICE_TYPE),
    CODE(CL_INVALID_PLATFORM),
    CODE(CL_INVALID_DEVICE),
    CODE(CL_INVALID_CONTEXT),
    CODE(CL_INVALID_QUEUE_PROPERTIES),
    CODE(CL_INVALID_COMMAND_QUEUE),
    CODE(CL_INVALID_HOST_PTR),
    CODE(CL_INVALID_MEM_OBJECT),
    CODE(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR),
    CODE(CL_INVALID_IMAGE_SIZE),
    CODE(CL_INVALID_SAMPLER),
    CODE(CL_INVALID_BINARY),
    CODE(CL_INVALID_BUILD_OPTIONS),
    CODE(CL_INVALID_PROGRAM),
    CODE(CL_INVALID_PROGRAM_EXECUTABLE),
    CODE(CL_INVALID_KERNEL_NAME),
    CODE(CL_INVALID_KERNEL_DEFINITION),
    CODE(CL_INVALID_KERNEL),
    CODE(CL_INVALID_ARG_INDEX),
    CODE(CL_INVALID_ARG_VALUE),
    CODE(CL_INVALID_ARG_SIZE),
    CODE(CL_INVALID_KERNEL_ARGS),
    CODE(CL_INVALID_WORK_DIMENSION),
    CODE(CL_INVALID_WORK_GROUP_SIZE),
    CODE(CL_INVALID_WORK_ITEM_SIZE),
    CODE(CL_INVALID_GLOBAL_OFFSET),
    CODE(CL_INVALID_EVENT_WAIT_LIST),
    CODE(CL_INVALID_EVENT),
    CODE(CL_INVALID_OPERATION),
    CODE(CL_INVALID_BUFFER_SIZE),
    CODE(CL_INVALID_GLOBAL_WORK_SIZE),
    CODE(CL_INVALID_PROPERTY),
    CODE(CL_INVALID_IMAGE_DESCRIPTOR),
    CODE(ENOMEM),
    CODE(EAGAIN),
    CODE(ENOSPC),
    CODE(EIO),
    CODE(EINTR),
    CODE(EACCES),
    {"short", 0, CUT_SHORT},
};

enum { CALLS_KNOWN = 100, CODES_OF_CALL = 20 };
static struct {
    char name[48];
    const struct code *code[CODES_OF_CALL];
    int n;
} call_table[CALLS_KNOWN];
static int calls;

static int find_call(const char *name)
{
    int i = 0;
    while (i < calls && strcmp(call_table[i].name, name) != 0)
        i++;
    return i;
}

static bool read_code_line(char *line)
{
    char *at = line, *word = strtok_r(at, " \n", &at);
    if (!word || *word == '#')
        return true;
    if (calls == CALLS_KNOWN)
        return false;
    const int to = calls;
    snprintf(call_table[to].name, sizeof call_table->name, "%s", word);
    while ((word = strtok_r(at, " \n", &at))) {
        size_t k = 0;
        if (strcmp(word, "=") == 0) { /* the errors of another call */
            const int from = find_call(strtok_r(at, " \n", &at));
            memcpy(call_table[to].code, call_table[from].code, sizeof call_table->code);
            call_table[to].n = call_table[from].n;
            break;
        }
        while (k < sizeof known / sizeof *known && strcmp(known[k].name, word) != 0)
            k++;
        if (k == sizeof known / sizeof *known || call_table[to].n == CODES_OF_CALL)
            return fprintf(stderr, "codes.txt: %s is not known\n", word), false;
        call_table[to].code[call_table[to].n++] = &known[k];
    }
    calls++;
    return true;
}

bool codes_read(void)
{
    char path[600], line[1024];
    bool good = true;
    snprintf(path, sizeof path, "%s/tests/faults/codes.txt", source);
    FILE *fp = fopen(path, "r");
    while (fp && good && fgets(line, sizeof line, fp))
        good = read_code_line(line);
    if (fp)
        fclose(fp);
    return fp && good;
}

const struct code *code_of(const char *call, long turn)
{
    const int i = find_call(call);
    return i < calls && call_table[i].n ? call_table[i].code[turn % call_table[i].n] : NULL;
}
