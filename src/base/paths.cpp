#include "base/paths.h"

#include <algorithm>
#include <system_error>

#include "base/ascii.h"
#include "base/status.h"
#include "base/windows.h"

#if !defined(_WIN32) && !defined(__APPLE__)
#include <iconv.h>
#include <langinfo.h>
#endif

namespace runhooks {

namespace fs = std::filesystem;

namespace {

bool is_drive_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

size_t after_separators(const std::string& path, size_t at, PathStyle style) {
  while (at < path.size() && is_path_separator(path[at], style)) ++at;
  return at;
}
size_t after_name(const std::string& path, size_t at, PathStyle style) {
  while (at < path.size() && !is_path_separator(path[at], style)) ++at;
  return at;
}

// Returns the length of the root ("/", "C:", "C:\", "\\server\share\") and the separators after it.
size_t root_size(const std::string& path, PathStyle style) {
  const size_t begin = after_separators(path, 0, style);
  if (style == PathStyle::kPosix) return begin;
  if (begin == 0) {
    const bool has_drive = path.size() > 1 && path[1] == ':' && is_drive_letter(path[0]);
    return has_drive ? after_separators(path, 2, style) : 0;
  }
  if (begin != 2) return begin;
  const size_t share = after_separators(path, after_name(path, begin, style), style);
  return after_separators(path, after_name(path, share, style), style);
}

size_t base_name_begin(const std::string& path, PathStyle style) {
  const size_t root = root_size(path, style);
  size_t at = path.size();
  while (at > root && !is_path_separator(path[at - 1], style)) --at;
  return at;
}

// Existing folders are compared by the system, because it may ignore case: "Runs" and "runs".
bool is_equivalent_path(const fs::path& absolute_a, const fs::path& absolute_b) {
  if (absolute_a == absolute_b) return true;
  std::error_code ignored;
  if (fs::is_directory(absolute_a, ignored) && fs::equivalent(absolute_a, absolute_b, ignored))
    return true;
  return absolute_a.has_relative_path() && absolute_b.has_relative_path() &&
         absolute_a.filename() == absolute_b.filename() &&
         is_equivalent_path(absolute_a.parent_path(), absolute_b.parent_path());
}

}  // namespace

bool is_path_separator(char c, PathStyle style) {
  return c == '/' || (c == '\\' && style == PathStyle::kWindows);
}

bool is_absolute_path(const std::string& path, PathStyle style) {
  return root_size(path, style) > 0;
}

std::string join_path(const std::string& folder, const std::string& name, PathStyle style) {
  if (folder.empty() || is_absolute_path(name, style)) return name;
  return is_path_separator(folder.back(), style) ? folder + name : folder + "/" + name;
}

std::string parent_folder(const std::string& path, PathStyle style) {
  return strip_trailing_separators(path.substr(0, base_name_begin(path, style)), style);
}

std::string base_name(const std::string& path, PathStyle style) {
  return path.substr(base_name_begin(path, style));
}

std::string strip_trailing_separators(const std::string& path, PathStyle style) {
  const size_t root = root_size(path, style);
  size_t end = path.size();
  while (end > root && is_path_separator(path[end - 1], style)) --end;
  return path.substr(0, end);
}

bool is_path_within_folder(const std::string& path) {
  constexpr const char* kSeparators = "/\\";
  if (path.empty() || path.find('\0') != std::string::npos || path.find(':') == 1) return false;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find_first_of(kSeparators, begin), path.size());
    const std::string component = path.substr(begin, end - begin);
    if (component.empty() || component == "." || component == "..") return false;
    begin = end + 1;
  }
  return true;
}

bool is_same_path(const std::string& a, const std::string& b) {
  std::error_code error_a, error_b;
  const fs::path absolute_a =
      fs::weakly_canonical(fs::absolute(fs_path(a.empty() ? "." : a)), error_a);
  const fs::path absolute_b =
      fs::weakly_canonical(fs::absolute(fs_path(b.empty() ? "." : b)), error_b);
  if (error_a || error_b) return false;
  // Appending "/" and taking the parent makes "a/" equal to "a".
  return is_equivalent_path((absolute_a / "").parent_path(), (absolute_b / "").parent_path());
}

#if defined(_WIN32)

std::wstring wide_path(const std::string& path) {
  constexpr size_t kMaxPlainLength = 240;  // below MAX_PATH, as a folder must leave room for a name
  const std::string text = strip_trailing_separators(path);
  const auto size = static_cast<int>(text.size());
  std::wstring wide(text.size(), L'\0');
  const int length = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text.data(), size,
                                         wide.data(), static_cast<int>(wide.size()));
  if (length == 0 && size > 0) {
    fail(Code::kInvalidArgument, "The path '", path, "' is not valid UTF-8.");
  }
  wide.resize(static_cast<size_t>(length));
  std::replace(wide.begin(), wide.end(), L'/', L'\\');
  if (wide.size() < kMaxPlainLength || wide.rfind(L"\\\\?\\", 0) == 0) return wide;
  std::wstring full(size_t{1} << 15, L'\0');
  full.resize(
      GetFullPathNameW(wide.c_str(), static_cast<DWORD>(full.size()), full.data(), nullptr));
  if (full.empty() || full.rfind(L"\\\\.\\", 0) == 0) return wide;
  const bool is_share = full.rfind(L"\\\\", 0) == 0;
  return is_share ? L"\\\\?\\UNC" + full.substr(1) : L"\\\\?\\" + full;
}

fs::path fs_path(const std::string& path) { return fs::path(wide_path(path)); }

std::string path_text(const fs::path& path) {
  std::wstring wide = path.wstring();
  if (wide.rfind(L"\\\\?\\UNC\\", 0) == 0) {
    wide.erase(2, 6);
  } else if (wide.rfind(L"\\\\?\\", 0) == 0) {
    wide.erase(0, 4);
  }
  const auto size = static_cast<int>(wide.size());
  std::string text(wide.size() * 3, '\0');  // a UTF-16 unit takes at most three bytes
  const int length = WideCharToMultiByte(CP_UTF8, 0, wide.data(), size, text.data(),
                                         static_cast<int>(text.size()), nullptr, nullptr);
  text.resize(static_cast<size_t>(length));
  std::replace(text.begin(), text.end(), '\\', '/');
  return text;
}

#else

namespace {

#if defined(__APPLE__)
std::string convert_encoding(const std::string& text, bool /*to_system*/) { return text; }
#else
// Returns the text unchanged if the locale's encoding cannot represent it.
std::string convert_encoding(const std::string& text, bool to_system) {
  if (is_ascii(text)) return text;
  const std::string encoding = nl_langinfo(CODESET);
  if (ascii_lower(encoding) == "utf-8") return text;
  const iconv_t converter =
      to_system ? iconv_open(encoding.c_str(), "UTF-8") : iconv_open("UTF-8", encoding.c_str());
  if (converter == reinterpret_cast<iconv_t>(-1)) return text;
  std::string from = text, to(text.size() * 4, '\0');
  char *input = from.data(), *output = to.data();
  size_t input_left = from.size(), output_left = to.size();
  const size_t num_inexact = iconv(converter, &input, &input_left, &output, &output_left);
  iconv_close(converter);
  if (num_inexact != 0 || input_left > 0) return text;
  to.resize(to.size() - output_left);
  return to;
}
#endif

}  // namespace

std::string system_path(const std::string& path) { return convert_encoding(path, true); }
fs::path fs_path(const std::string& path) { return fs::path(system_path(path)); }
std::string path_text(const fs::path& path) { return convert_encoding(path.string(), false); }

#endif

}  // namespace runhooks
