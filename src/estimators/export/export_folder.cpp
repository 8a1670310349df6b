#include "estimators/export/export_folder.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/clock.h"
#include "base/log.h"
#include "base/platform.h"
#include "io/files/atomic_file.h"
#include "io/files/rename_exchange.h"
#include "io/files/stale_files.h"
#include "io/graphs/meta_graph.h"
#include "io/proto/text_format.h"

namespace runhooks {

namespace {

namespace fs = std::filesystem;

constexpr const char* kModels[] = {"saved_model.pb", "saved_model.pbtxt"};

bool has_entries(const std::string& folder) {
  return is_directory(folder) && !list_directory(folder).empty();
}

bool is_export(const std::string& folder) {
  return std::any_of(std::begin(kModels), std::end(kModels), [&folder](const char* name) {
    const std::string path = join_path(folder, name);
    return file_exists(path) && !is_directory(path);
  });
}

[[noreturn]] void throw_path_error(const char* problem,
                                   const std::string& path,
                                   const std::error_code& e) {
  throw_system(problem, path, e.default_error_condition().value());
}

void remove_folder(const std::string& path) {
  std::error_code error;
  fs::remove_all(fs_path(path), error);
  if (error) throw_path_error("Cannot remove", path, error);
}

// Removes a directory. A failure is only a warning, because leftovers only waste space.
void try_to_remove(const std::string& path) {
  try {
    remove_folder(path);
  } catch (const Error& error) {
    warn("export", str_cat("Could not delete an older export. ", error.message()));
  }
}

std::string real_folder(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(fs_path(path), error);
  return error ? path : path_text(real);
}

// Returns the leftovers of killed processes for exactly this path, without those of longer names
// that begin with it.
std::vector<std::string> leftovers_for(const std::string& path) {
  const std::string folder = parent_folder(path), name = base_name(path);
  std::vector<std::string> all;
  for (const std::string& leftover :
       stale_files(folder.empty() ? "." : folder, {name + kTemporaryMark})) {
    if (is_temporary_of(leftover, name) && is_directory(leftover)) all.push_back(leftover);
  }
  return all;
}

std::string path_inside(const std::string& folder) { return join_path(folder, "export"); }

std::string prepared_path(const std::string& path) { return path + ".ready"; }

bool is_unfinished(const std::string& name) {
  const auto is_temporary_of_path = [&name](const std::string& path) {
    return name.rfind(base_name(path) + kTemporaryMark, 0) == 0;
  };
  return is_temporary_of_path(path_inside("")) ||
         is_temporary_of_path(prepared_path(path_inside("")));
}

std::string unfinished_sibling(const std::string& path) {
  for (const std::string& leftover : leftovers_for(path)) try_to_remove(leftover);
  return temporary_path(path);
}

std::string graph_of_export(const std::string& folder) {
  const std::string binary = join_path(folder, kModels[0]);
  if (file_exists(binary)) return read_whole_file(binary);
  std::string bytes, problem;
  text_to_proto(read_whole_file(join_path(folder, kModels[1])), "SavedModel", &bytes, &problem);
  return bytes;
}

// Returns the paths of the files that belong to an export. Only exports of this package list their
// files in assets.extra.
std::set<std::string> exported_paths(const std::string& folder) {
  std::set<std::string> exported(std::begin(kModels), std::end(kModels));
  try {
    for (const std::string& bytes : read_saved_model(graph_of_export(folder), folder)) {
      const MetaGraphDef meta_graph = read_meta_graph(bytes, folder);
      for (const AssetFileDef& asset : asset_files(meta_graph, folder)) {
        exported.insert("assets/" + asset.filename);
      }
      const auto extra = meta_graph.collections.find(kExtraFiles);
      if (extra == meta_graph.collections.end()) continue;
      for (const std::string& name : extra->second.strings) exported.insert("assets.extra/" + name);
    }
  } catch (const Error&) {
    // A damaged export is replaced as well. Files of unknown origin are kept.
  }
  return exported;
}

bool is_exported_path(const std::string& path, const std::set<std::string>& exported) {
  return exported.count(path) > 0 || path == "variables/variables.index" ||
         path.rfind("variables/variables.data-", 0) == 0;
}

void link_or_copy(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (fs::is_symlink(from)) {
    fs::copy_symlink(from, to, error);
  } else {
    const bool is_linked = feature_enabled(SystemFeature::kHardLinks);
    if (is_linked) fs::create_hard_link(from, to, error);
    if (!is_linked || error) fs::copy_file(from, to, error);
  }
  if (error) throw_path_error("Cannot copy", path_text(from), error);
}

// Copies files of the old directory that no export wrote to the new one, unless the new export has
// a file of the same name.
void copy_foreign_files(const std::string& old, const std::string& new_export) {
  const std::set<std::string> exported = exported_paths(old);
  const fs::path root = fs_path(old);
  for (auto it = fs::recursive_directory_iterator(root); it != fs::recursive_directory_iterator();
       ++it) {
    const fs::directory_entry& entry = *it;
    const fs::path relative = entry.path().lexically_relative(root);
    const fs::path to = fs_path(new_export) / relative;
    const bool is_temporary = it.depth() == 0 && is_unfinished(path_text(relative));
    if (is_temporary) it.disable_recursion_pending();
    if (is_temporary || is_exported_path(path_text(relative), exported)) continue;
    if (fs::exists(fs::symlink_status(to))) continue;
    if (entry.is_directory() && !entry.is_symlink()) {
      const bool is_empty = fs::is_empty(entry.path());
      if (is_empty) create_directories(path_text(to));
      continue;
    }
    create_directories(path_text(to.parent_path()));
    link_or_copy(entry.path(), to);
  }
}

// --- replacing without atomic exchange, in steps that the next export completes

// Renames `ready` before removing it, so that a partly deleted export never looks complete.
void move_aside_and_remove(const std::string& ready, const std::string& path) {
  const std::string trash = temporary_path(path);
  try_to_remove(renames(ready, trash) ? trash : ready);
}

// For directories that cannot be renamed, such as mount points: moves the export to a temporary
// directory inside.
std::string prepare_inside(const std::string& from, const std::string& folder) {
  const std::string ready = temporary_path(prepared_path(path_inside(folder)));
  if (renames(from, ready)) return ready;
  // The renaming failed, because `from` is on another file system: copies the files instead.
  const std::string copy = temporary_path(path_inside(folder));
  std::error_code error;
  fs::copy(fs_path(from), fs_path(copy),
           fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
  if (error) {
    try_to_remove(copy);
    throw_path_error("Cannot replace", folder, error);
  }
  rename_file(copy, ready);
  move_aside_and_remove(from, folder);
  return ready;
}

// Moves entry by entry. The graph is removed first and moved last, so that no reader loads a
// mixture.
void replace_entries(const std::string& from, const std::string& folder) {
  for (const char* name : kModels) remove_file(join_path(folder, name));
  const auto is_model = [](const std::string& name) { return name.rfind(kModels[0], 0) == 0; };
  std::vector<std::string> names = list_directory(from);
  std::stable_partition(names.begin(), names.end(),
                        [&is_model](const std::string& name) { return !is_model(name); });
  for (const std::string& name : names) {
    const std::string to = join_path(folder, name);
    if (is_directory(to)) remove_folder(to);
    rename_file(join_path(from, name), to);
  }
}

// Replaces an export without an atomic exchange. Until the new export is in place, `*ready` is its
// current path.
void replace_by_steps(const std::string& from, const std::string& target, std::string* ready) {
  const std::string sibling = temporary_path(prepared_path(target));
  if (renames(from, sibling)) {
    *ready = sibling;
    const std::string old_export = temporary_path(target);
    if (replace_by_two_renames(sibling, target, old_export)) return try_to_remove(old_export);
  }
  *ready = prepare_inside(*ready, target);
  replace_entries(*ready, target);
  move_aside_and_remove(*ready, path_inside(target));
}

void rename_into_place(const std::string& from, const std::string& target) {
  if (!file_exists(target)) return rename_file(from, target);
  copy_foreign_files(target, from);
  if (rename_exchange(from, target)) return try_to_remove(from);
  std::string ready = from;
  try {
    replace_by_steps(from, target, &ready);
  } catch (const Error& error) {
    if (is_export(target)) {
      move_aside_and_remove(ready, ready == from ? from : target);
      throw;
    }
    std::vector<std::string> hints = error.hints();
    hints.push_back(str_cat("The new export is complete: ", ready,
                            ". The next export from another process moves it into place."));
    throw Error(error.code(), error.message(), hints);
  }
}

// Completes the work of a process that was killed while replacing an export.
void finish_replacing(const std::string& target) {
  for (const std::string& leftover : leftovers_for(path_inside(target))) try_to_remove(leftover);
  for (const std::string& path : {path_inside(target), target}) {
    for (const std::string& ready : leftovers_for(prepared_path(path))) {
      // Never replaces a directory with files that are not an export.
      const bool can_replace_target = path != target || is_export(target) || !has_entries(target);
      // The graph is moved last: if it is missing in `ready`, the new export is in place.
      if (!is_export(ready)) {
        try_to_remove(ready);
      } else if (can_replace_target) {
        rename_into_place(ready, target);
      }
    }
  }
}

constexpr size_t kDigits = 10;
constexpr int64_t kLastVersion = 9999999999;

std::vector<std::string> versions_in(const std::string& base) {
  std::vector<std::string> versions;
  for (const std::string& name : list_directory(base)) {
    const bool is_number =
        name.size() == kDigits && name.find_first_not_of("0123456789") == std::string::npos;
    if (is_number && is_directory(join_path(base, name))) versions.push_back(name);
  }
  return versions;
}

}  // namespace

std::string unfinished_export(const std::string& folder) {
  const std::string target = real_folder(strip_trailing_separators(folder));
  if (file_exists(target) && !is_directory(target)) {
    fail(Code::kAlreadyExists, "'", folder, "' is a file, not a folder.");
  }
  finish_replacing(target);
  if (!file_exists(target)) return unfinished_sibling(target);
  if (!is_export(target) && has_entries(target)) {
    throw Error(
        Code::kAlreadyExists,
        str_cat("'", folder, "' contains files that are not an export; nothing was changed."),
        {"Use a path that does not exist, is empty, or contains an export."});
  }
  const std::string parent = parent_folder(target);
  const bool can_use_sibling = is_writable_folder(parent.empty() ? "." : parent);
  return can_use_sibling ? unfinished_sibling(target) : temporary_path(path_inside(target));
}

std::string interrupted_export(const std::string& folder) {
  const std::string target = real_folder(strip_trailing_separators(folder));
  for (const std::string& path : {target, path_inside(target)}) {
    for (const std::string& ready : leftovers_for(prepared_path(path))) {
      if (is_export(ready)) return ready;
    }
  }
  return "";
}

std::string unfinished_version(const std::string& base) {
  return unfinished_sibling(path_inside(base));
}

void publish_export(const std::string& from, const std::string& folder) {
  rename_into_place(from, real_folder(strip_trailing_separators(folder)));
}

std::string publish_version(const std::string& from, const std::string& base) {
  auto seconds = static_cast<int64_t>(now_seconds());
  // The name of an existing version may be a time in the future, if the clock was wrong.
  const std::vector<std::string> versions = versions_in(base);
  const int64_t newest = versions.empty() ? 0 : std::stoll(versions.back());
  if (newest < kLastVersion) seconds = std::max(seconds, newest + 1);
  while (file_exists(join_path(base, str_cat(seconds)))) ++seconds;
  const std::string path = join_path(base, str_cat(seconds));
  rename_file(from, path);
  return path;
}

void remove_old_versions(const std::string& base, size_t keep) {
  const std::vector<std::string> versions = versions_in(base);
  for (size_t i = 0; i + keep < versions.size(); ++i) {
    // Renamed first, so that a partly deleted version does not look like an export.
    const std::string version = join_path(base, versions[i]),
                      trash = temporary_path(path_inside(base));
    if (renames(version, trash)) {
      try_to_remove(trash);
    } else {
      warn("export", str_cat("Could not delete an older export. Cannot rename ", version, "."));
    }
  }
}

}  // namespace runhooks
