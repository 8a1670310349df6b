// Unpredictable names for temporary files, and detection of temporary files of killed processes.
#pragma once

#include <string>
#include <vector>

namespace runhooks {

constexpr const char* kTemporaryMark = ".tmp";

// Returns a temporary name next to `path`, for a file or directory that is later renamed. If it
// would be too long, it consists of a prefix of the original name and the name's fingerprint.
std::string temporary_path(const std::string& path);
// Whether temporary_path() can have returned `temporary` for a file called `name`.
bool is_temporary_of(const std::string& temporary, const std::string& name);

// Returns the temporary files that dead processes have left for files whose names start with one of
// `prefixes`. For shortened names this is a guess; check the result with is_temporary_of().
std::vector<std::string> stale_files(const std::string& folder,
                                     const std::vector<std::string>& prefixes);

// Removes temporary files that dead processes left for `path`; ignores errors.
void remove_stale_temporaries(const std::string& path);

}  // namespace runhooks
