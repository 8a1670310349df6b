// Paths as text, joined and taken apart by the rules of a system, and their forms for its calls.
#pragma once

#include <filesystem>
#include <string>

namespace runhooks {

// Paths are UTF-8. On Windows both separators separate, and a root is a drive ("C:\"), a share
// ("\\server\share\") or a separator. Elsewhere a backslash is part of a name.
enum class PathStyle { kPosix, kWindows };
#if defined(_WIN32)
constexpr PathStyle kPathStyle = PathStyle::kWindows;
#else
constexpr PathStyle kPathStyle = PathStyle::kPosix;
#endif

bool is_path_separator(char c, PathStyle style = kPathStyle);
// Whether the path has a root, and so cannot be put below a folder.
bool is_absolute_path(const std::string& path, PathStyle style = kPathStyle);
std::string join_path(const std::string& folder,
                      const std::string& name,
                      PathStyle style = kPathStyle);
// "" where the path has none
std::string parent_folder(const std::string& path, PathStyle style = kPathStyle);
std::string base_name(const std::string& path, PathStyle style = kPathStyle);
// Without separators at its end, but for its root.
std::string without_end_separators(const std::string& path, PathStyle style = kPathStyle);
// Whether a path is relative and none of its parts leads out of the folder that it is put below, on
// any system.
bool stays_inside(const std::string& path);
// Whether both lead to the same place, links followed; neither need be there. File systems may
// ignore case or the composition of letters.
bool is_same_path(const std::string& a, const std::string& b);

// On Windows the narrow strings of std::filesystem are in the code page of the process. These are
// UTF-8 everywhere.
std::filesystem::path fs_path(const std::string& path);
std::string path_text(const std::filesystem::path& path);
// Of a relative path, for files that other systems read: "/" is the separator.
std::string portable_path_text(const std::filesystem::path& path);

#if defined(_WIN32)
// UTF-16 for calls of Windows. Long paths get the prefix that lifts the limit of 260 characters.
std::wstring wide_path(const std::string& path);
#endif

}  // namespace runhooks
