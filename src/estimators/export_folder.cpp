#include "estimators/export_folder.h"

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

[[noreturn]] void throw_at(const char* problem, const std::string& path, const std::error_code& e) {
  throw_system(problem, path, e.default_error_condition().value());
}

void remove_folder(const std::string& path) {
  std::error_code error;
  fs::remove_all(fs_path(path), error);
  if (error) throw_at("Cannot remove", path, error);
}

// What is no use any more only takes room.
void try_to_remove(const std::string& path) {
  try {
    remove_folder(path);
  } catch (const Error& error) {
    warn("export", str_cat("An older export stays: ", error.message()));
  }
}

// The folder itself where the path is a link to it.
std::string real_folder(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(fs_path(path), error);
  return error ? path : path_text(real);
}

// What killed processes left of exports for this path, not for others whose names begin with its.
std::vector<std::string> left_for(const std::string& path) {
  const std::string folder = parent_folder(path), name = base_name(path);
  std::vector<std::string> all;
  for (const std::string& left :
       stale_files(folder.empty() ? "." : folder, {name + kTemporaryMark})) {
    if (is_temporary_of(left, name) && is_directory(left)) all.push_back(left);
  }
  return all;
}

// Where exports for a folder that cannot have any beside it are made, and versions in a folder.
std::string inside(const std::string& folder) { return join_path(folder, "export"); }

// A complete export that is about to come into the place of `path`.
std::string ready_for(const std::string& path) { return path + ".ready"; }

// The first part of such a path.
bool is_unfinished(const std::string& name) {
  const auto begins = [&name](const std::string& path) {
    return name.rfind(base_name(path) + kTemporaryMark, 0) == 0;
  };
  return begins(inside("")) || begins(ready_for(inside("")));
}

std::string unfinished_beside(const std::string& path) {
  for (const std::string& left : left_for(path)) try_to_remove(left);
  return temporary_path(path);
}

// --- what stays of an export that is replaced

std::string graph_of_export(const std::string& folder) {
  const std::string binary = join_path(folder, kModels[0]);
  if (file_exists(binary)) return read_whole_file(binary);
  std::string bytes, problem;
  text_to_proto(read_whole_file(join_path(folder, kModels[1])), "SavedModel", &bytes, &problem);
  return bytes;
}

// The paths of an export's own files. Those in `assets.extra` are listed by our exports only.
std::set<std::string> own_files(const std::string& folder) {
  std::set<std::string> own(std::begin(kModels), std::end(kModels));
  try {
    for (const std::string& bytes : read_saved_model(graph_of_export(folder), folder)) {
      const MetaGraphDef meta_graph = read_meta_graph(bytes, folder);
      for (const AssetFileDef& asset : asset_files(meta_graph, folder)) {
        own.insert("assets/" + asset.filename);
      }
      const auto extra = meta_graph.collections.find(kExtraFiles);
      if (extra == meta_graph.collections.end()) continue;
      for (const std::string& name : extra->second.strings) own.insert("assets.extra/" + name);
    }
  } catch (const Error&) {
    // a damaged one is replaced as well; files stay where nobody knows whose they are
  }
  return own;
}

bool is_own(const std::string& path, const std::set<std::string>& own) {
  return own.count(path) > 0 || path == "variables/variables.index" ||
         path.rfind("variables/variables.data-", 0) == 0;
}

// The same file under another name, which costs nothing; a copy where the system has no such names.
void keep_file(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (fs::is_symlink(from)) {
    fs::copy_symlink(from, to, error);
  } else {
    const bool is_linked = feature_enabled(SystemFeature::kHardLinks);
    if (is_linked) fs::create_hard_link(from, to, error);
    if (!is_linked || error) fs::copy_file(from, to, error);
  }
  if (error) throw_at("Cannot copy", path_text(from), error);
}

// Into the new export goes what is in the old one, is none of its files and has no new one of its
// name.
void keep_others(const std::string& old, const std::string& made) {
  const std::set<std::string> own = own_files(old);
  const fs::path root = fs_path(old);
  for (auto it = fs::recursive_directory_iterator(root); it != fs::recursive_directory_iterator();
       ++it) {
    const fs::directory_entry& entry = *it;
    const fs::path relative = entry.path().lexically_relative(root), to = fs_path(made) / relative;
    const bool is_made = it.depth() == 0 && is_unfinished(path_text(relative));
    if (is_made) it.disable_recursion_pending();
    if (is_made || is_own(portable_path_text(relative), own)) continue;
    if (fs::exists(fs::symlink_status(to))) continue;
    if (entry.is_directory() && !entry.is_symlink()) {
      const bool is_empty = fs::is_empty(entry.path());
      if (is_empty) create_directories(path_text(to));
      continue;
    }
    create_directories(path_text(to.parent_path()));
    keep_file(entry.path(), to);
  }
}

// --- where names cannot be exchanged: several steps, which the next export ends for who is killed

// What is deleted in part must not be taken for complete.
void discard(const std::string& ready, const std::string& path) {
  const std::string gone = temporary_path(path);
  try_to_remove(renames(ready, gone) ? gone : ready);
}

// Within a folder that cannot be renamed, such as where a disk is mounted: a complete one among
// its entries.
std::string ready_inside(const std::string& from, const std::string& folder) {
  const std::string ready = temporary_path(ready_for(inside(folder)));
  if (renames(from, ready)) return ready;
  // from another disk
  const std::string copy = temporary_path(inside(folder));
  std::error_code error;
  fs::copy(fs_path(from), fs_path(copy), fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
  if (error) {
    try_to_remove(copy);
    throw_at("Cannot replace", folder, error);
  }
  rename_file(copy, ready);
  discard(from, folder);
  return ready;
}

// Entry by entry. The graph goes first and comes last, so that nobody loads a mixture of two.
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

// `*ready` is where the new one stands at each moment, until it is in its place.
void replace_by_steps(const std::string& from, const std::string& place, std::string* ready) {
  const std::string beside = temporary_path(ready_for(place));
  if (renames(from, beside)) {
    *ready = beside;
    const std::string aside = temporary_path(place);
    if (exchange_by_two(beside, place, aside)) return try_to_remove(aside);
  }
  *ready = ready_inside(*ready, place);
  replace_entries(*ready, place);
  discard(*ready, inside(place));
}

void put_in_place(const std::string& from, const std::string& place) {
  if (!file_exists(place)) return rename_file(from, place);
  keep_others(place, from);
  if (rename_exchange(from, place)) return try_to_remove(from);
  std::string ready = from;
  try {
    replace_by_steps(from, place, &ready);
  } catch (const Error& error) {
    if (is_export(place)) {
      discard(ready, ready == from ? from : place);
      throw;
    }
    std::vector<std::string> hints = error.hints();
    hints.push_back(str_cat("The new export is complete and stands in ", ready,
                            ": the next one of another process puts it in its place."));
    throw Error(error.code(), error.message(), hints);
  }
}

// Of who was killed between the steps.
void finish_replacing(const std::string& place) {
  for (const std::string& left : left_for(inside(place))) try_to_remove(left);
  for (const std::string& path : {inside(place), place}) {
    for (const std::string& ready : left_for(ready_for(path))) {
      // what has come there since is none of ours
      const bool is_for_it = path != place || is_export(place) || !has_entries(place);
      // without its graph, which goes last, all of it is in its place
      if (!is_export(ready)) {
        try_to_remove(ready);
      } else if (is_for_it) {
        put_in_place(ready, place);
      }
    }
  }
}

// --- versions: folders that are called by seconds

constexpr size_t kDigits = 10;
constexpr int64_t kLastVersion = 9999999999;

// The oldest first.
std::vector<std::string> versions_in(const std::string& base) {
  std::vector<std::string> versions;
  for (const std::string& name : list_directory(base)) {
    const bool is_number = name.size() == kDigits &&
                           name.find_first_not_of("0123456789") == std::string::npos;
    if (is_number && is_directory(join_path(base, name))) versions.push_back(name);
  }
  return versions;
}

}  // namespace

std::string unfinished_export(const std::string& folder) {
  const std::string place = real_folder(without_end_separators(folder));
  if (file_exists(place) && !is_directory(place)) {
    fail(Code::kAlreadyExists, "'", folder, "' is a file, not a folder.");
  }
  finish_replacing(place);
  if (!file_exists(place)) return unfinished_beside(place);
  // of versions before this one
  if (!is_export(place) && has_entries(place)) {
    throw Error(Code::kAlreadyExists,
                str_cat("'", folder, "' is a folder of other files and no export: it is left alone."),
                {"Give the path of a folder that is not there, is empty, or has an export."});
  }
  const std::string parent = parent_folder(place);
  const bool is_beside = can_write_in(parent.empty() ? "." : parent);
  return is_beside ? unfinished_beside(place) : temporary_path(inside(place));
}

std::string interrupted_export(const std::string& folder) {
  const std::string place = real_folder(without_end_separators(folder));
  for (const std::string& path : {place, inside(place)}) {
    for (const std::string& ready : left_for(ready_for(path))) {
      if (is_export(ready)) return ready;
    }
  }
  return "";
}

std::string unfinished_version(const std::string& base) { return unfinished_beside(inside(base)); }

void place_export(const std::string& from, const std::string& folder) {
  put_in_place(from, real_folder(without_end_separators(folder)));
}

std::string place_version(const std::string& from, const std::string& base) {
  auto seconds = static_cast<int64_t>(now_seconds());
  // an older one may have been given a second that is still to come
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
    // what is deleted in part must not look like an export
    const std::string version = join_path(base, versions[i]), gone = temporary_path(inside(base));
    if (renames(version, gone)) {
      try_to_remove(gone);
    } else {
      warn("export", str_cat("An older export stays: ", version, " cannot be renamed."));
    }
  }
}

}  // namespace runhooks
