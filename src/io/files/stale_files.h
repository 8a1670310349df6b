// Names that nobody can foresee, and which of them were left behind by writers that were killed.
#pragma once

#include <string>
#include <vector>

namespace runhooks {

// What stands between a name and what is added to it.
constexpr const char* kTemporaryMark = ".tmp";

// A name beside `path` for something that is put in its place later, file or folder. Where it would
// be too long for the file system, it has the beginning of the name and a fingerprint of it.
std::string temporary_path(const std::string& path);
// Whether temporary_path() gave it for a file of this name.
bool is_temporary_of(const std::string& temporary, const std::string& name);

// Such names in a folder of processes that are gone, of what begins with one of `prefixes`. Of
// shortened names those are among them that may begin so: ask is_temporary_of().
std::vector<std::string> stale_files(const std::string& folder,
                                     const std::vector<std::string>& prefixes);

// Removes those of this one file, which is about to be written.
void remove_stale_of(const std::string& path);

}  // namespace runhooks
