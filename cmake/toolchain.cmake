# Warnings, sanitizers, ccache and mold: how every target of ours is compiled.

find_program(CCACHE ccache)
if(CCACHE)
  # base_dir makes paths relative, so a clone in another folder hits the same cache entries (a flag
  # that holds an absolute path would spoil that); precompiled headers need the sloppiness.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
endif()

find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# A quarter of the time a process takes to begin (decision 57). Sanitizers want the shared ones.
if(NOT BERTH_SANITIZE AND NOT BERTH_FUZZ)
  add_link_options(-static-libstdc++ -static-libgcc)
endif()

set(CMAKE_CXX_FLAGS_DEBUG "-Og -g1")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

set(BERTH_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)

# Tests are compiled once and run once: optimising them takes longer than it saves. What they do themselves need not
# be looked at for undefined behaviour, which takes as long again.
set(BERTH_TEST_OPTIONS ${BERTH_WARNINGS} -O0)
if(BERTH_UNITY)
  # Warns of a type in a header that has a member from an anonymous namespace; here the "header" is a .cc file.
  list(APPEND BERTH_TEST_OPTIONS -Wno-subobject-linkage)
  if(NOT BERTH_UNITY STREQUAL "TESTS")
    list(APPEND BERTH_WARNINGS -Wno-subobject-linkage)
  endif()
endif()
if(BERTH_SANITIZE MATCHES "undefined")
  list(APPEND BERTH_TEST_OPTIONS -fno-sanitize=undefined)
endif()

if(BERTH_SANITIZE)
  add_compile_options(-fsanitize=${BERTH_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${BERTH_SANITIZE})
  if(BERTH_SANITIZE STREQUAL "thread")
    add_compile_options(-Wno-tsan)  # Asio's fences, which TSan does not model, are no fault of ours.
  endif()
endif()
