// What lives here: names that nobody can foresee, and which of them were left behind by writers that were killed.
// Who may use it: every layer above io; who only wants stale files gone calls remove_stale_files().
// What it must not know: the formats of files, R.
#pragma once

#include <string>
#include <vector>

namespace runhooks {

// What stands between a name and what is added to it.
constexpr const char* kTemporaryMark = ".tmp";

// A name beside `path` for something that is put in its place later, file or folder.
std::string temporary_path(const std::string& path);

// Such names in a folder of processes that are gone, of what begins with one of `prefixes`.
std::vector<std::string> stale_files(const std::string& folder,
                                     const std::vector<std::string>& prefixes);

// Removes those of this one file, which is about to be written.
void remove_stale_of(const std::string& path);

}  // namespace runhooks
