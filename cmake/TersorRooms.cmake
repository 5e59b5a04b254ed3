# SPDX-License-Identifier: Apache-2.0
# The three kinds of target a room may have, with the flags that all of them share.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

find_program(TERSOR_CCACHE ccache)
if(TERSOR_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TERSOR_CCACHE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${TERSOR_CCACHE})
endif()

# A torch file takes 1.3 GB and 20 s: never more than two at once.
set_property(GLOBAL APPEND PROPERTY JOB_POOLS tersor_torch=2)

add_library(tersor_flags INTERFACE)
# -ffp-contract=off: payload bytes must not depend on fused multiply-add (docs/architecture.md).
target_compile_options(tersor_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wundef>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${TERSOR_WERROR}>>:-Werror>
  # Correctly rounded, denormals kept: a kernel writes the same bytes as the CPU.
  $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false -prec-div=true -prec-sqrt=true -ftz=false
    -Xcompiler=-ffp-contract=off,-Wall -Xptxas=-warn-spills>
  $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${TERSOR_WERROR}>>:-Werror=all-warnings>)
# No path of the build folder here: ccache then serves one build folder from another.
target_include_directories(tersor_flags INTERFACE ${PROJECT_SOURCE_DIR})
if(TERSOR_SANITIZE)
  target_compile_options(tersor_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${TERSOR_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all>)
  target_link_options(tersor_flags INTERFACE -fsanitize=${TERSOR_SANITIZE})
endif()

# tersor_library(NAME [OBJECT] SOURCES ... [DEPS ...]): a static (or object) library `tersor_<NAME>`.
function(tersor_library name)
  cmake_parse_arguments(A "OBJECT" "" "SOURCES;DEPS" ${ARGN})
  if(A_OBJECT)
    add_library(tersor_${name} OBJECT ${A_SOURCES})
  else()
    add_library(tersor_${name} STATIC ${A_SOURCES})
  endif()
  target_link_libraries(tersor_${name} PUBLIC $<BUILD_INTERFACE:tersor_flags> ${A_DEPS})
endfunction()

# tersor_program(NAME SOURCES ... [DEPS ...]): an executable in <build>/bin/.
function(tersor_program name)
  cmake_parse_arguments(A "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE tersor_flags ${A_DEPS})
endfunction()

# tersor_test(NAME SOURCES ... [DEPS ...] [LABELS cpu|gpu|torch|nightly|golden|fuzz ...]): one Catch2 program and one
# ctest entry. A test that cannot run (no data, no device) prints a line that begins with "SKIPPED: " and returns 0:
# ctest then reports it as skipped, not as passed.
function(tersor_test name)
  cmake_parse_arguments(A "" "" "SOURCES;DEPS;LABELS" ${ARGN})
  add_executable(test_${name} ${A_SOURCES})
  target_link_libraries(test_${name} PRIVATE tersor_flags tersor_catch_main ${A_DEPS})
  set_target_properties(test_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND test_${name})
  if(NOT A_LABELS)
    set(A_LABELS cpu)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${A_LABELS}" SKIP_REGULAR_EXPRESSION "(^|\n)SKIPPED: "
                       TIMEOUT 600 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endfunction()
