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

  if(NOT sources)
    file(WRITE ${CMAKE_BINARY_DIR}/empty_${name}.cc "")
    set(sources ${CMAKE_BINARY_DIR}/empty_${name}.cc)
  endif()
  add_library(berth_${name} STATIC ${sources})
  list(TRANSFORM layer_USES PREPEND berth_)
  target_link_libraries(berth_${name} PUBLIC berth_dependencies ${layer_USES} ${layer_LIBRARIES})
  target_include_directories(berth_${name} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_options(berth_${name} PRIVATE ${BERTH_WARNINGS})
  target_precompile_headers(berth_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/precompiled.h)

  if(BERTH_TESTS AND tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE berth_${name} GTest::gtest_main)
    target_compile_options(${name}_test PRIVATE ${BERTH_WARNINGS})
    target_precompile_headers(${name}_test PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/precompiled.h)
    add_test(NAME unit.${name} COMMAND ${name}_test)
  endif()
endfunction()
