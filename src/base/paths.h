// Splits and joins paths by the rules of an operating system, and converts them for system calls.
// Other code does not split paths itself.
#pragma once

#include <filesystem>
#include <string>

namespace runhooks {

// Paths are UTF-8. On Windows both slashes are separators, and a root is a drive ("C:\"), a share
// ("\\server\share\") or a separator. Elsewhere a backslash is part of a name.
enum class PathStyle { kPosix, kWindows };
#if defined(_WIN32)
constexpr PathStyle kPathStyle = PathStyle::kWindows;
#else
constexpr PathStyle kPathStyle = PathStyle::kPosix;
#endif

bool is_path_separator(char c, PathStyle style = kPathStyle);
// True if the path has a root; join_path() then ignores the folder.
bool is_absolute_path(const std::string& path, PathStyle style = kPathStyle);
std::string join_path(const std::string& folder,
                      const std::string& name,
                      PathStyle style = kPathStyle);
// Empty if the path has no parent.
std::string parent_folder(const std::string& path, PathStyle style = kPathStyle);
std::string base_name(const std::string& path, PathStyle style = kPathStyle);
// Strips trailing separators, except those of the root.
std::string strip_trailing_separators(const std::string& path, PathStyle style = kPathStyle);
// True if a relative path, joined to a folder, cannot leave that folder on any system.
bool is_path_within_folder(const std::string& path);
// True if both paths refer to the same file after following links; neither has to exist. File
// systems may ignore case or Unicode normalization.
bool is_same_path(const std::string& a, const std::string& b);

// Convert between UTF-8 and std::filesystem::path, whose narrow strings use the encoding of the
// system.
std::filesystem::path fs_path(const std::string& path);
std::string path_text(const std::filesystem::path& path);  // with "/" on Windows too

#if defined(_WIN32)
// UTF-16 path for Windows calls. Long paths get the prefix that lifts the 260-character limit.
std::wstring wide_path(const std::string& path);
#else
// Returns the path in the encoding of the locale, which R's own file functions use for names. It is
// unchanged on macOS, in UTF-8 locales, and if the encoding lacks one of its characters.
std::string system_path(const std::string& path);
#endif

}  // namespace runhooks
