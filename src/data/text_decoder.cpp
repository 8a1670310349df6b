#include "data/text_decoder.h"

#include <algorithm>

#include "base/unicode.h"

namespace runhooks {

namespace {

constexpr int32_t kInvalidCharacter = 0xFFFD;
constexpr size_t kFirstNonAscii = 128;

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < kFirstNonAscii; });
}

}  // namespace

TextDecoder::TextDecoder(const Args& args) : name_(args.text("encoding", "")) {
  const Value* table = args.find("decoding");
  const Tensor* tensor = table ? table->get_if<Tensor>() : nullptr;
  if (!tensor) return;
  const std::string& text = tensor->string_at(0);
  const char* const end = text.data() + text.size();
  for (const char* position = text.data(); position < end;) {
    const Rune rune = rune_at(position, end);
    characters_.push_back(
        rune.value == kInvalidCharacter ? "" : std::string(position, position + rune.length));
    position += rune.length;
  }
  if (characters_.size() == kFirstNonAscii) return;
  invalid_argument("`decoding` of ", args.owner(), " must have 128 characters.");
}

bool TextDecoder::decode(std::string_view* text, std::string* decoded) const {
  if (!has_encoding() || is_ascii(*text)) return true;
  if (characters_.empty()) return is_utf8(*text);
  decoded->clear();
  for (const char c : *text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < kFirstNonAscii) {
      *decoded += c;
      continue;
    }
    const std::string& character = characters_[byte - kFirstNonAscii];
    if (character.empty()) return false;
    *decoded += character;
  }
  *text = *decoded;
  return true;
}

void TextDecoder::throw_invalid(const std::string& location, std::string_view text) const {
  std::string byte;
  for (const char c : text) {
    const auto value = static_cast<unsigned char>(c);
    if (value < kFirstNonAscii ||
        (!characters_.empty() && !characters_[value - kFirstNonAscii].empty()))
      continue;
    constexpr const char* kDigits = "0123456789abcdef";
    byte = str_cat(" (byte 0x", kDigits[value / 16], kDigits[value % 16], ")");
    break;
  }
  const std::string suffix = characters_.empty() ? "" : byte;
  invalid_argument(location, " is not valid ", name_, suffix,
                   ". Give the encoding of the file as `encoding`.");
}

}  // namespace runhooks
