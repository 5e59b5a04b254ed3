// SPDX-License-Identifier: Apache-2.0
#include "common/system_reason.hpp"

#include <cerrno>
#include <system_error>

namespace tersor {
namespace {

const char* remedy_of(int error) {
  switch (error) {
    case EMFILE: return "; this process has no descriptor left: raise `ulimit -n`";
    case ENFILE: return "; the machine has no descriptor left: raise fs.file-max";
    case EFBIG: return "; raise the limit of file sizes (`ulimit -f`)";
    case EDQUOT: return "; the quota of that disk is used up";
    case ENOBUFS: return "; the kernel has no memory for sockets";
    default: return "";
  }
}

}  // namespace

std::string system_reason(int error) {
  return std::generic_category().message(error) + remedy_of(error);
}

}  // namespace tersor
