# Gravity: models, forces on one device and on two, orbits and what they conserve, the ladder of kernels, the tree.
# SPDX-License-Identifier: MIT
stdcl_test(test_nbody_initial test_nbody_initial.c LIBS stdcl_nbody)
stdcl_test(test_nbody_physics test_nbody_physics.c BUILDS_ONCE LIBS stdcl_nbody TIMEOUT 120)
stdcl_test(test_nbody test_nbody.c BUILDS_ONCE LIBS stdcl_nbody TIMEOUT 300)
stdcl_test_on_two(test_nbody TIMEOUT 300)
stdcl_test(test_nbody_pieces test_nbody_pieces.c BUILDS_ONCE LIBS stdcl_nbody)
stdcl_test_on_two(test_nbody_pieces)
stdcl_test(test_nbody_ladder test_nbody_ladder.c BUILDS_ONCE LIBS stdcl_nbody TIMEOUT 120)
stdcl_test(test_nbody_failure test_nbody_failure.c BUILDS_ONCE LIBS stdcl_nbody ${CMAKE_DL_LIBS})
stdcl_test_on_two(test_nbody_failure)
stdcl_test(test_nbody_tree test_nbody_tree.c BUILDS_ONCE LIBS stdcl_nbody)
stdcl_test_on_two(test_nbody_tree)
stdcl_test(deep_nbody_tree_matrix test_nbody_tree_matrix.c LIBS stdcl_nbody TIMEOUT 1800)
stdcl_label(deep deep_nbody_tree_matrix)
# Runs by the tree beside direct sums: few bodies always, more of them in deep tests, 2^17 on a GPU (bench/studies).
stdcl_test(test_nbody_dynamics test_nbody_dynamics.c BUILDS_ONCE LIBS stdcl_nbody)
stdcl_test(deep_nbody_dynamics PROGRAM test_nbody_dynamics ARGS 8192 20)
stdcl_label(deep deep_nbody_dynamics)
