# One set of precompiled headers for all libraries, made by the first, and one for all tests.
function(berth_precompile target owner)
  if(target STREQUAL owner)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()

# berth_unity(sources io_test ROOT): unless BERTH_UNITY is off, puts files in the place of the list that include
# those of the list, several each. ROOT is the folder that their paths begin with, and an include directory.
function(berth_unity list name root)
  if(NOT BERTH_UNITY OR NOT ${list})
    return()
  endif()
  # Which files may share one depends on what is in them.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${${list}})
  execute_process(
    COMMAND ${BERTH_PYTHON} ${CMAKE_SOURCE_DIR}/tools/unity-sources ${root} ${CMAKE_BINARY_DIR}/unity/${name}
            ${${list}}
    OUTPUT_VARIABLE written
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" written "${written}")
  set(${list} ${written} PARENT_SCOPE)
endfunction()

# berth_layer(io USES base LIBRARIES OpenSSL::SSL): one folder, one library, one unit-test program.
#
# Takes every *.cc below the folder; files that end in _test.cc go into <folder>_test. Which folders
# a folder may include is written in tools/layers.txt and checked by tools/check-layers.
function(berth_layer name)
  cmake_parse_arguments(layer "" "" "USES;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")

  if(NOT BERTH_UNITY STREQUAL "TESTS")
    berth_unity(sources ${name} ${CMAKE_CURRENT_SOURCE_DIR})
  endif()
  berth_unity(tests ${name}_test ${CMAKE_CURRENT_SOURCE_DIR})
  if(NOT sources)
    file(WRITE ${CMAKE_BINARY_DIR}/empty_${name}.cc "")
    set(sources ${CMAKE_BINARY_DIR}/empty_${name}.cc)
  endif()
  add_library(berth_${name} STATIC ${sources})
  list(TRANSFORM layer_USES PREPEND berth_)
  target_link_libraries(berth_${name} PUBLIC berth_dependencies ${layer_USES} ${layer_LIBRARIES})
  target_include_directories(berth_${name} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_options(berth_${name} PRIVATE ${BERTH_WARNINGS})
  berth_precompile(berth_${name} berth_base ${CMAKE_CURRENT_SOURCE_DIR}/precompiled.h)

  if(BERTH_TESTS AND tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE berth_${name} GTest::gtest_main)
    target_compile_options(${name}_test PRIVATE ${BERTH_TEST_OPTIONS})
    berth_precompile(${name}_test base_test ${CMAKE_CURRENT_SOURCE_DIR}/precompiled.h <gtest/gtest.h>)
    add_test(NAME unit.${name} COMMAND ${name}_test)
    if(NOT TARGET unit_tests)
      add_custom_target(unit_tests)
    endif()
    add_dependencies(unit_tests ${name}_test)
  endif()
endfunction()
