# The layer's tests: each program runs twice, on the devices there are and on two PoCL devices.
add_executable(two_devices two_devices.c)
target_link_libraries(two_devices PRIVATE stdcl_flags OpenCL::OpenCL)

# stdcl_test_on_two(NAME [TIMEOUT s]): the program of test NAME again, on two devices.
function(stdcl_test_on_two name)
  stdcl_test(${name}_on_two PROGRAM two_devices ARGS $<TARGET_FILE:${name}> ${ARGN})
endfunction()

foreach(subject memory sync image loader kernel event)
  stdcl_test(test_layer_${subject} test_layer_${subject}.c)
  stdcl_test_on_two(test_layer_${subject})
endforeach()
