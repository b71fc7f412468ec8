# Unity builds (-DCMAKE_UNITY_BUILD=ON, as in `make run`): CMake compiles several C files of a library
# as one, so that the compiler reads common headers once. This applies to the libraries and to the
# command, not to examples, benchmarks and tests.
#
# Each file listed here defines a static name, a type or a constant that another file of its library
# also defines, so CMake compiles it alone. The test house_unity reports files that belong here.
# Three files are listed for tests: one replaces cli/main.c, one template/template_lua.c, and one has
# the linker redirect calls to tune/tune.c, which it does only between objects.
# SPDX-License-Identifier: MIT
set(alone
  core/kernel.c core/kernel_text.c core/outfile.c
  formats/figure_metadata.c formats/life_rle.c formats/particles.c formats/particles_hdf5.c
  formats/particles_hdf5_write.c formats/particles_header.c formats/particles_text.c
  formats/particles_tipsy.c formats/plot.c formats/unzip.c
  arrays/segments.c arrays/select.c arrays/sort.c arrays/tune.c
  nbody/ensemble/ensemble.c nbody/ensemble/ensemble_sample.c nbody/force/added_forces.c
  nbody/force/added_kernel.c nbody/force/baseline.c nbody/force/external_field.c
  nbody/force/force_check.c nbody/force/kernels.c nbody/force/law_table.c
  nbody/integrator/block_steps.c nbody/integrator/host_steps.c nbody/integrator/integrate_yoshida4.c
  nbody/integrator/rungs.c nbody/integrator/update.c nbody/reference/nbody_ref_ensemble.c
  nbody/simulation/diagnose.c nbody/simulation/nbody.c nbody/structure/elements.c
  nbody/structure/structure_device.c
  life/annotations.c life/bytes_table.c life/census.c life/census_ship.c life/device_grid.c
  life/engine_bitplanes.c life/engine_padded.c life/neumann.c life/packed.c life/packed_block.c
  life/pairs.c life/rule.c life/sparse.c life/topology.c
  matmul/cpu.c matmul/grid.c matmul/host.c matmul/out_of_core.c matmul/ranks.c matmul/skinny.c
  matmul/tune.c
  template/template_lua.c tune/tune.c view/serve.c
  cli/gas_view.c cli/life_choice.c cli/life_grid.c cli/life_output.c cli/life_plane.c cli/life_run.c
  cli/life_view.c cli/life_watch.c cli/main.c cli/matmul_ranks.c cli/nbody_camera.c cli/nbody_collide.c
  cli/nbody_ensemble.c cli/nbody_figure.c cli/nbody_steps.c cli/nbody_view.c)
foreach(file IN LISTS alone)
  string(REGEX MATCH "^[^/]+" room ${file})
  set_source_files_properties(${PROJECT_SOURCE_DIR}/${file} DIRECTORY ${PROJECT_SOURCE_DIR}/${room}
    PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endforeach()
set(CMAKE_UNITY_BUILD OFF) # for the folders after this line
