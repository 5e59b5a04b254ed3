// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <map>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "common/nearest.hpp"

namespace tersor {

/// Everything of one kind (models, metrics, commands, ...), by name. An Entry has a member `name`,
/// a `static constexpr std::string_view kKind` for messages ("data set") and, where a file can get
/// it wrong, `std::string mistake() const`: why this entry cannot be used, or empty.
///
/// Entries come from static objects (Registrar) before main, where an exception would end in
/// std::terminate: what is wrong is kept, and thrown as Error(kInternal) whenever the registry is
/// read. Registering while another thread reads is not allowed.
template <class Entry>
class Registry {
 public:
  using Entries = std::map<std::string, Entry, std::less<>>;

  /// The program's one registry of this kind. Function-local, so that it exists whenever a
  /// registrar of another file runs.
  static Registry& instance() {
    static Registry registry;
    return registry;
  }

  void add(Entry entry, const std::source_location& where) {
    const std::string origin = std::string(where.file_name()) + ":" + std::to_string(where.line());
    const std::string name = entry.name;
    if constexpr (requires { entry.mistake(); }) {
      if (const std::string mistake = entry.mistake(); !mistake.empty())
        note(named(name) + " (" + origin + ") " + mistake);
    }
    if (const auto [found, is_new] = origins_.emplace(name, origin); !is_new)
      note(named(name) + " is registered twice: in " + found->second + " and in " + origin);
    entries_.emplace(name, std::move(entry));
  }

  bool contains(std::string_view name) const { return entries_.contains(name); }

  /// All of them. Throws Error(kInternal) with both places where a name was registered twice, and
  /// with the first `mistake`.
  const Entries& entries() const {
    if (!mistake_.empty()) throw Error(ErrorKind::kInternal, mistake_);
    return entries_;
  }

  /// Ascending.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, entry] : entries()) all.push_back(name);
    return all;
  }

  /// Throws Error(kUsage) with the nearest and the known names.
  const Entry& find(std::string_view name) const {
    const auto found = entries().find(name);
    if (found != entries_.end()) return found->second;
    throw Error(ErrorKind::kUsage, "unknown " + named(name) + known_names_hint(name, names()));
  }

 private:
  static std::string named(std::string_view name) {
    return std::string(Entry::kKind) + " '" + std::string(name) + "'";
  }
  void note(const std::string& mistake) {
    if (mistake_.empty()) mistake_ = mistake;
  }

  Entries entries_;
  std::map<std::string, std::string> origins_;
  std::string mistake_;  ///< the first; empty: none
};

/// Put one static object of this type at the end of the file that has the entry; no list names it.
template <class Entry>
class Registrar {
 public:
  explicit Registrar(Entry entry, std::source_location origin = std::source_location::current()) {
    Registry<Entry>::instance().add(std::move(entry), origin);
  }
};

}  // namespace tersor
