# The gas: velocities and their statistics; on the available devices and on two.
# SPDX-License-Identifier: MIT
stdcl_test(test_gas test_gas.c LIBS builds_once stdcl_gas)
stdcl_test_on_two(test_gas)
if(TARGET stdcl_command)
  stdcl_test(test_gas_command test_gas_command.c LIBS PkgConfig::JANSSON ARGS $<TARGET_FILE:stdcl_command>)
  add_dependencies(test_gas_command stdcl_command)
  if(HDF5_FOUND)
    target_compile_definitions(test_gas_command PRIVATE STDCL_HAVE_HDF5)
    target_link_libraries(test_gas_command PRIVATE PkgConfig::HDF5)
  endif()
endif()
