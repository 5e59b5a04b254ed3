# SPDX-License-Identifier: Apache-2.0
# Third-party libraries, all from Debian 12 packages (scripts/setup installs them) except libtorch.
find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(Boost 1.74 REQUIRED) # headers: Boost.Math
find_path(TERSOR_MUSTACHE kainjow/mustache.hpp REQUIRED)
find_package(SQLiteCpp REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(sqlite3 REQUIRED IMPORTED_TARGET sqlite3)
find_package(Catch2 2.13 REQUIRED)

add_library(tersor_catch_main STATIC ${PROJECT_SOURCE_DIR}/tests/support/catch_main.cpp)
target_link_libraries(tersor_catch_main PUBLIC tersor_flags Catch2::Catch2)

if(TERSOR_CUDA)
  enable_language(CUDA)
  # CMake 3.25 does not know nvcc's C++20.
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  find_package(CUDAToolkit 13.0 REQUIRED)
endif()
if(TERSOR_TORCH)
  include(TersorTorch)
endif()
