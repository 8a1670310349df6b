// Replaces exports atomically: an export is written to a temporary directory and then moved.
#pragma once

#include <cstddef>
#include <string>

namespace runhooks {

// The graph collection that lists the files in `assets.extra`.
constexpr const char* kExtraFiles = "runhooks_assets_extra";

// Returns a new temporary path for an export to `folder` and removes leftovers of killed processes.
// Throws kAlreadyExists if the directory contains files that are not an export.
std::string unfinished_export(const std::string& folder);
std::string unfinished_version(const std::string& base);

// Moves a complete export to `folder`, atomically if the system can: a killed process leaves either
// the old or the new export. Files in the old export that no export wrote are kept. Without an
// atomic exchange, the next export completes what an interrupted one began:
//
//   <name>.<tmp>         being written; removed by the next export
//   <name>.ready.<tmp>   complete; moved into place by the next export
//   <name>               the current export
void publish_export(const std::string& from, const std::string& folder);
// Returns the path of a complete export for `folder` that a killed process did not move into place,
// or "".
std::string interrupted_export(const std::string& folder);

// Moves a complete export to `base`, named by the current time in seconds, or later if needed to be
// the newest. Returns its path.
std::string publish_version(const std::string& from, const std::string& base);
// Deletes all but the newest `keep` versions. Failures are warnings.
void remove_old_versions(const std::string& base, size_t keep);

}  // namespace runhooks
