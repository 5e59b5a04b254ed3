# SPDX-License-Identifier: Apache-2.0
# TERSOR_CUDA_FOUND: whether an nvcc of CUDA 13 or later is at hand; then CMAKE_CUDA_COMPILER names it.
find_program(TERSOR_NVCC nvcc HINTS $ENV{CUDACXX} $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
set(TERSOR_CUDA_FOUND OFF)
if(TERSOR_NVCC)
  execute_process(COMMAND ${TERSOR_NVCC} --version OUTPUT_VARIABLE nvcc_version ERROR_QUIET)
  if(nvcc_version MATCHES "release ([0-9]+)" AND CMAKE_MATCH_1 GREATER_EQUAL 13)
    set(TERSOR_CUDA_FOUND ON)
    if(NOT CMAKE_CUDA_COMPILER)
      set(CMAKE_CUDA_COMPILER ${TERSOR_NVCC})
    endif()
  endif()
endif()
if(NOT CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 90) # one while developing and in CI; the release preset lists all
endif()
