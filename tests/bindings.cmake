# The interface from other languages. C++: once in each of the standards that stdcl.hpp is for.
# SPDX-License-Identifier: MIT
foreach(standard 17 20)
  add_executable(test_stdcl_hpp${standard} test_stdcl_hpp.cpp)
  target_link_libraries(test_stdcl_hpp${standard} PRIVATE stdcl_static stdcl_nbody stdcl_life stdcl_gas stdcl_matmul m)
  target_compile_options(test_stdcl_hpp${standard} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Weffc++)
  set_target_properties(test_stdcl_hpp${standard} PROPERTIES CXX_STANDARD ${standard})
  if(STDCL_WERROR)
    target_compile_options(test_stdcl_hpp${standard} PRIVATE -Werror)
  endif()
  add_test(NAME test_stdcl_hpp${standard} COMMAND test_stdcl_hpp${standard})
  set_tests_properties(test_stdcl_hpp${standard} PROPERTIES TIMEOUT 900)
endforeach()

# Python: the system's own interpreter first, whose numpy is a package.
find_program(STDCL_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(STDCL_PYTHON NAMES python3)
foreach(module numpy pycparser)
  set(have_${module} FALSE)
  if(STDCL_PYTHON)
    execute_process(COMMAND ${STDCL_PYTHON} -c "import ${module}" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(NOT failed)
      set(have_${module} TRUE)
    endif()
  endif()
endforeach()

if(NOT have_numpy OR STDCL_SANITIZE)
  stdcl_absent(test_python "numpy is not installed, or the build has a sanitizer")
else()
  add_test(NAME test_python COMMAND ${STDCL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/test_stdcl.py)
  set_tests_properties(test_python PROPERTIES TIMEOUT 900 ENVIRONMENT
    "PYTHONPATH=${PROJECT_SOURCE_DIR}/python;PYTHONDONTWRITEBYTECODE=1;STDCL_LIBRARY=${PROJECT_BINARY_DIR}/install/libstdcl.so.1;STDCL_LAYOUT=${CMAKE_CURRENT_SOURCE_DIR}/install/layout.txt")
endif()

# What is made from the headers is up to date.
if(have_pycparser)
  add_test(NAME house_bindings COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/house/bindings.sh ${PROJECT_SOURCE_DIR}
    ${STDCL_PYTHON} ${CMAKE_C_COMPILER})
else()
  stdcl_absent(house_bindings "pycparser is not installed")
endif()
