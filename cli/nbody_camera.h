/* nbody_camera.h - pictures of `stdcl nbody`: projection, groups and paths.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_NBODY_CAMERA_H
#define STDCL_CLI_NBODY_CAMERA_H

#include "formats/picture.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nbody_job;

/* View direction of pictures; angles in degrees. */
struct nbody_camera {
    double azimuth, elevation, zoom;
    double orbit;    /* change of the azimuth from the start of the run to its end */
    double approach; /* factor of the magnification over the run */
    int follow;
};
extern const char *const nbody_follow_names[];
extern const char *const nbody_colour_by_names[];

/* Bodies per colour; groups are contiguous in the order of the bodies. */
struct nbody_groups {
    size_t n;
    size_t size[PICTURE_GROUPS];
};

/* Bodies as the camera sees them. */
struct nbody_scene {
    struct picture_options options; /* with time, frame and paths; they refer to the arrays below */
    char quantity[64];              /* of the colour bar, with its unit */
    size_t n;
    double *mass;
    double (*seen)[3];              /* positions, rotated and centred */
    double (*path)[3];              /* points of paths, likewise */
    float *speed;                   /* NULL: hue does not show it */
    uint8_t *group;                 /* NULL: hue does not show it */
    double (*pos)[3], (*places)[3]; /* the positions and points as they are */
    bool own;                       /* mass and pos are owned */
    bool orbits;                    /* places are osculating orbits, owned */
};

/* Functions that return int return an exit status, after printing a message. */

bool nbody_read_groups(const char *text, void *to, char *why, size_t size); /* parser of --groups */
void nbody_natural_groups(const struct nbody_job *job, struct nbody_groups *g); /* n = 0: none */
uint8_t nbody_group_of(const struct nbody_groups *g, size_t body);
int nbody_camera_prepare(struct nbody_job *job);        /* determine the bodies' groups */
bool nbody_camera_is_used(const struct nbody_job *job); /* true if there are pictures or figures */

/* Prepare a picture of the current bodies; close it even after a failure. */
int nbody_scene_open(struct nbody_job *job, struct nbody_scene *scene);
void nbody_scene_close(struct nbody_scene *scene);
int nbody_camera_draw(struct nbody_job *job,
                      const char *file); /* draw a picture of the current bodies */

#endif
