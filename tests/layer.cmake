# The layer's tests: each program runs twice, on the devices there are and on two PoCL devices.
add_executable(two_devices two_devices.c)
target_link_libraries(two_devices PRIVATE stdcl_flags OpenCL::OpenCL)

# What test_layer_context and test_layer_error start in environments of their own.
add_executable(layer_child layer_child.c)
target_link_libraries(layer_child PRIVATE stdcl_flags stdcl_static)

# stdcl_test_on_two(NAME [TIMEOUT s]): the program of test NAME again, on two devices.
function(stdcl_test_on_two name)
  stdcl_test(${name}_on_two PROGRAM two_devices ARGS $<TARGET_FILE:${name}> ${ARGN})
endfunction()

foreach(subject context memory sync image loader kernel event error threads)
  stdcl_test(test_layer_${subject} test_layer_${subject}.c)
  target_compile_definitions(test_layer_${subject} PRIVATE
    LAYER_CHILD="$<TARGET_FILE:layer_child>")
  add_dependencies(test_layer_${subject} layer_child)
  stdcl_test_on_two(test_layer_${subject})
endforeach()
