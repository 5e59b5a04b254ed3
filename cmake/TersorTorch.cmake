# SPDX-License-Identifier: Apache-2.0
# Interface target tersor_torch: libtorch 2.11 with Gloo (and NCCL where TERSOR_TORCH_CUDA is on).
# TERSOR_LIBTORCH (variable or environment) names a folder with include/ and lib/; by default it is the one that
# scripts/setup unpacks. The CPU variant links libtorch_cpu and libc10 alone: libtorch.so would pull in libtorch_cuda.
# docs/architecture.md says why that is the default even where the CUDA kernels are built.
option(TERSOR_TORCH_CUDA "Link libtorch_cuda and NCCL into tersor-worker" OFF)
set(TERSOR_TORCH_VERSION 2.11.0)

if(NOT TERSOR_LIBTORCH AND DEFINED ENV{TERSOR_LIBTORCH})
  set(TERSOR_LIBTORCH $ENV{TERSOR_LIBTORCH})
endif()
if(NOT TERSOR_LIBTORCH)
  set(tersor_cache $ENV{XDG_CACHE_HOME})
  if(NOT tersor_cache)
    set(tersor_cache $ENV{HOME}/.cache)
  endif()
  set(TERSOR_LIBTORCH ${tersor_cache}/tersor/libtorch-${TERSOR_TORCH_VERSION}/torch)
endif()
foreach(needed include/torch/csrc/api/include/torch/torch.h lib/libtorch_cpu.so lib/libc10.so)
  if(NOT EXISTS ${TERSOR_LIBTORCH}/${needed})
    message(FATAL_ERROR "libtorch: ${TERSOR_LIBTORCH}/${needed} is missing. Run scripts/setup, or set TERSOR_LIBTORCH to "
                        "a libtorch ${TERSOR_TORCH_VERSION} folder, or configure with -DTERSOR_TORCH=OFF.")
  endif()
endforeach()

find_path(TERSOR_GLOO_INCLUDE gloo/algorithm.h REQUIRED) # headers only: libtorch contains Gloo itself
cmake_path(GET TERSOR_LIBTORCH PARENT_PATH tersor_torch_root)
file(GLOB tersor_torch_wheel_dirs ${tersor_torch_root}/nvidia/*/lib)

set(tersor_torch_names torch_cpu c10)
set(tersor_torch_definitions USE_DISTRIBUTED USE_C10D_GLOO)
set(tersor_torch_link_options)
if(TERSOR_TORCH_CUDA)
  list(PREPEND tersor_torch_names torch torch_cuda c10_cuda)
  list(APPEND tersor_torch_definitions USE_C10D_NCCL)
  # Their registrations run when they are loaded, and no symbol of ours asks for them.
  list(APPEND tersor_torch_link_options LINKER:--no-as-needed)
endif()

add_library(tersor_torch INTERFACE)
target_include_directories(tersor_torch SYSTEM INTERFACE
  ${TERSOR_LIBTORCH}/include ${TERSOR_LIBTORCH}/include/torch/csrc/api/include ${TERSOR_GLOO_INCLUDE})
target_compile_definitions(tersor_torch INTERFACE ${tersor_torch_definitions})
target_link_options(tersor_torch INTERFACE ${tersor_torch_link_options})
foreach(dir IN LISTS tersor_torch_wheel_dirs)
  target_link_options(tersor_torch INTERFACE LINKER:-rpath-link,${dir})
endforeach()
# A full path to a shared library also sets the run path of the build tree; the libraries find the wheels themselves.
foreach(name IN LISTS tersor_torch_names)
  target_link_libraries(tersor_torch INTERFACE ${TERSOR_LIBTORCH}/lib/lib${name}.so)
endforeach()
target_link_libraries(tersor_torch INTERFACE Threads::Threads)
if(TERSOR_TORCH_CUDA)
  find_package(CUDAToolkit 13.0 REQUIRED)
  target_include_directories(tersor_torch SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
  file(GLOB tersor_nccl_include ${tersor_torch_root}/nvidia/nccl/include)
  target_include_directories(tersor_torch SYSTEM INTERFACE ${tersor_nccl_include})
endif()
