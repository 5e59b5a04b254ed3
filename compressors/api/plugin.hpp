// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace tersor::compressors {

/// Adds the codec of a shared object (compressors/c_api/tersor_plugin.h) to the registry, labelled
/// as a prototype; it stays for the life of the process. Throws Error(kMissing) where the file is
/// not there, Error(kUnsupported) where it is no plug-in of this version, its name is taken, or
/// others than root and this user could have written it (unless TERSOR_TRUST_PLUGINS is 1). Not
/// while another thread uses the registry.
void load_plugin(const std::string& path);

/// The plug-ins of TERSOR_PLUGINS, separated by colons; the registry calls it once, before it is
/// first read.
void load_plugins_of_environment();

}  // namespace tersor::compressors
