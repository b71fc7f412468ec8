/* outputs.h - the output files of a simulation (`stdcl nbody`, `stdcl life`): states, pictures,
 * films and tables.
 *
 * The suffix of a name selects the kind. All names are checked before the run. Pictures and
 * films of one name share their frames.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_OUTPUTS_H
#define STDCL_CLI_OUTPUTS_H

#include "options.h"

#include "formats/csv.h"

#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum cli_output_kind {
    CLI_OUTPUT_STATE, /* bodies, or a pattern */
    CLI_OUTPUT_PICTURE,
    CLI_OUTPUT_FILM,
    CLI_OUTPUT_TABLE,
    CLI_OUTPUT_SERIES, /* numbered files, handled by their owner */
    CLI_OUTPUT_OTHER   /* named by an option other than -o */
};

struct cli_output {
    enum cli_output_kind kind;
    const char *file;
    bool left_out;             /* not written: interrupted, or writing failed */
    bool replaces;             /* an older file had this name */
    bool piped;                /* film: frames are piped to ffmpeg and not kept */
    bool single;               /* picture: one, of the end */
    struct picture_film *film; /* the piped film, after its first frame */
};

struct cli_outputs {
    /* From the command line. */
    struct cli_strings names; /* of -o */
    size_t frames;            /* of --frames; 0: not given */
    size_t fps;               /* frames per second of films; 0: not given */
    bool keep_frames;         /* keep a film's frames as numbered pictures, for checkpoints */
    bool together;            /* all ranks write states */

    /* Results and state of the run. */
    struct cli_output *item;
    size_t n;
    bool default_frames;                 /* `frames` was not given: a film has the default */
    unsigned frames_done, frames_before; /* before: by the run that this one resumes */
    int status;                          /* exit status of the first output that failed */
};

/* Kind of output of a file name. */
enum cli_output_kind cli_output_kind(const char *file);

/* True for a picture or a film. */
bool cli_output_is_drawn(const struct cli_output *output);

/* True if -o names a picture or a film. Valid before outputs are added. The text names them in
 * tables of combinations. */
#define CLI_OUTPUTS_PICTURE "a picture (-o FILE.png, FILE.mp4, FILE.webm or FILE.gif)"
bool cli_outputs_will_draw(const struct cli_outputs *outputs);

bool cli_outputs_have(const struct cli_outputs *outputs, enum cli_output_kind kind);

void cli_outputs_add(struct cli_outputs *outputs, const char *file, enum cli_output_kind kind);

/* Functions that return int return an exit status, after printing a message. */

/* After all are added: fix the number of frames, check for libpng and ffmpeg, and check the
 * names. */
int cli_outputs_prepare(struct cli_outputs *outputs);

/* After prepare: check that every frame shows another step of a run of `total`. A film that has
 * frames by default gets fewer in a short run. unit: "steps" or "generations". */
int cli_outputs_check_frames(struct cli_outputs *outputs, uint64_t total, const char *unit);

/* Step of frame `i` in a run of `total` steps: the first frame at the start, the last at the
 * end. */
uint64_t cli_outputs_due(const struct cli_outputs *outputs, size_t i, uint64_t total);

/* Keep the exit status of writing an output in outputs->status (o NULL: a file that is not in the
 * list); the remaining outputs and the report follow. Collective: if one rank fails, all ranks
 * fail. */
void cli_outputs_keep_status(struct cli_outputs *outputs, struct cli_output *o, int status);

/* Draw the next frame of all pictures and films: draw(job, file), once per file. After a failed
 * frame a picture or film gets no more frames, and the run continues. */
void cli_outputs_frame(struct cli_outputs *outputs, int (*draw)(void *job, const char *file),
                       void *job);

/* Finish an output after writing it, or after it `failed`: a file abandoned after Ctrl-C is left
 * out and sets *interrupted. */
int cli_output_end(struct cli_output *o, int failed, bool *interrupted);

/* True if an older file keeps its place, because the run was interrupted `at_start`, before its
 * first step: a warning says so, and the output is left out. */
bool cli_output_keeps_older(struct cli_output *o, bool at_start);

/* cli_output_keeps_older for figures and other files that are written once, at the end: remove the
 * names of older files from the list. Collective. */
void cli_outputs_keep_older(struct cli_strings *names, bool at_start);

/* cli_output_keeps_older for series of pictures: leave out a series if a file has the name of its
 * first picture. Collective. */
void cli_outputs_keep_older_frames(struct cli_outputs *outputs);

/* After the last frame of an interrupted run: remove older pictures with higher numbers, up to
 * `frames`, so that the numbers of this series come from one run. */
void cli_outputs_remove_stale(const struct cli_outputs *outputs);

/* Join the frames to a film, or close a piped film. */
int cli_outputs_join(const struct cli_outputs *outputs, struct cli_output *film);

/* After a failure in the run: complete the films and the table of `outputs` with the frames and
 * rows so far. Outputs of the final state are not written. Not collective. */
void cli_outputs_cut_short(const struct cli_outputs *outputs, struct csv *table);

/* List the written files, one per line. */
void cli_outputs_report(const struct cli_outputs *outputs, FILE *fp);

void cli_outputs_free(struct cli_outputs *outputs);

#endif
