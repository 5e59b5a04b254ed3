# SPDX-License-Identifier: Apache-2.0
# tersor_embed(OUTPUT FUNCTION NAMESPACE ROOT FILES ...): writes a C++ file that defines
#   std::vector<std::pair<std::string_view, std::string_view>> NAMESPACE::FUNCTION()
# with each file's path relative to ROOT and its text. A changed file reconfigures the build.
function(tersor_embed output function namespace root)
  set(entries "")
  foreach(file IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(RELATIVE_PATH name ${root} ${file})
    file(READ ${file} text)
    string(APPEND entries "      {R\"_(${name})_\", R\"_embed_(${text})_embed_\"},\n")
  endforeach()
  set(code "// Written by CMake from the files that it names.
#include <string_view>
#include <utility>
#include <vector>

namespace ${namespace} {
std::vector<std::pair<std::string_view, std::string_view>> ${function}();
std::vector<std::pair<std::string_view, std::string_view>> ${function}() {
  return {
${entries}  };
}
}  // namespace ${namespace}
")
  set(old "")
  if(EXISTS ${output})
    file(READ ${output} old)
  endif()
  if(NOT "${old}" STREQUAL "${code}")
    file(WRITE ${output} "${code}")
  endif()
endfunction()
