# Profiles, timelines, peaks, the tuning store and the search: on the devices there are and on two.
foreach(subject profile timeline peak tune)
  stdcl_test(test_${subject} test_${subject}.c LIBS PkgConfig::JANSSON)
  target_compile_definitions(test_${subject} PRIVATE LAYER_CHILD="/proc/self/exe")
  stdcl_test_on_two(test_${subject})
endforeach()
stdcl_test(test_search test_search.c)
