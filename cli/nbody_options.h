/* nbody_options.h - the options of `stdcl nbody`, and names of their values.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_NBODY_OPTIONS_H
#define STDCL_CLI_NBODY_OPTIONS_H

#include <stdbool.h>
#include <stdcl/nbody.h>

struct nbody_job;

/* Names of the enumerations in stdcl/nbody.h, in their order, ended by NULL. */
extern const char *const nbody_model_names[];
extern const char *const nbody_precision_names[];

/* Values of --ic: the models in their order, then NBODY_IC_SOLAR and NBODY_IC_LIST. */
enum { NBODY_IC_SOLAR = NBODY_GALAXY + 1, NBODY_IC_LIST };
extern const char *const nbody_ic_names[];

const char *const *nbody_integrator_names(void);
extern const char *const nbody_kernel_names[];
extern const char *const nbody_method_names[];
extern const char *const nbody_stepping_names[];
extern const char *const nbody_coordinates_names[];

/* Orders of the correctors of whfast. */
extern const char *const nbody_corrector_names[];
int nbody_corrector_order(int name);

/* Parse the command line. Return true to continue; false to exit with *status. */
bool nbody_options_parse(struct nbody_job *job, int argc, char **argv, int *status);

#endif
