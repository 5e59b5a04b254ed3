# SPDX-License-Identifier: Apache-2.0
# cmake --install BUILD --prefix DIR: what another project needs to use the codecs (examples/).
#   find_package(tersor 0.1 COMPONENTS codecs)  ->  tersor::codecs, C++; its archive linked whole, so that codecs register
#   find_package(tersor 0.1 COMPONENTS c)       ->  tersor::c, libtersor_codecs.so and its C headers
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The public headers; tests/install compiles each alone against the installed copy.
file(GLOB tersor_public_headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/compressors/api/*.hpp)
list(APPEND tersor_public_headers common/error.hpp common/nearest.hpp common/philox.hpp common/registry.hpp
     common/tensor.hpp
     compressors/spec/registry.hpp compressors/wire/frame.hpp)
set(tersor_include_dir ${CMAKE_INSTALL_INCLUDEDIR}/tersor)
set(tersor_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tersor)

foreach(header IN LISTS tersor_public_headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${PROJECT_SOURCE_DIR}/${header} DESTINATION ${tersor_include_dir}/${folder} COMPONENT codecs)
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/compressors/c_api/tersor_codecs.h ${PROJECT_SOURCE_DIR}/compressors/c_api/tersor_plugin.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT codecs)

set_target_properties(tersor_compressors_archive PROPERTIES EXPORT_NAME codecs_archive)
set_target_properties(tersor_codecs_c PROPERTIES EXPORT_NAME c)
target_include_directories(tersor_common INTERFACE $<INSTALL_INTERFACE:${tersor_include_dir}>)
target_compile_features(tersor_common INTERFACE cxx_std_20)
target_include_directories(tersor_codecs_c INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set_target_properties(tersor_common PROPERTIES EXPORT_NAME common)
install(TARGETS tersor_common tersor_compressors_archive tersor_codecs_c EXPORT tersor_targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT codecs
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT codecs)
install(EXPORT tersor_targets NAMESPACE tersor:: FILE tersorTargets.cmake DESTINATION ${tersor_package_dir} COMPONENT codecs)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tersorConfig.cmake.in ${PROJECT_BINARY_DIR}/tersorConfig.cmake
                              INSTALL_DESTINATION ${tersor_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tersorConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tersorConfig.cmake ${PROJECT_BINARY_DIR}/tersorConfigVersion.cmake
        DESTINATION ${tersor_package_dir} COMPONENT codecs)
