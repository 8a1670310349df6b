#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "base/ascii.h"
#include "base/number_text.h"
#include "io/proto/proto_schema.h"
#include "io/proto/text_format.h"
#include "io/proto/wire.h"

namespace runhooks {

namespace {

[[noreturn]] void throw_at(const std::string& position, const std::string& problem) {
  throw Error(Code::kInvalidArgument, position + problem);
}

bool is_letter(char c) { return is_ascii_alpha(c) || c == '_'; }

// Splits text into words, numbers, strings and single characters. Skips comments and white space.
class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) { advance(); }

  const std::string& token() const { return token_; }
  bool at_end() const { return token_.empty(); }
  bool is_string() const { return !token_.empty() && (token_[0] == '"' || token_[0] == '\''); }
  bool is_word() const {
    return !token_.empty() && (is_letter(token_[0]) || is_ascii_digit(token_[0]));
  }

  void advance() {
    skip_blanks();
    begin_ = at_;
    if (at_ < text_.size()) read_token();
    token_ = std::string(text_.substr(begin_, at_ - begin_));
  }

  bool consume(char character) {
    if (token_.size() != 1 || token_[0] != character) return false;
    advance();
    return true;
  }

  void expect(char character) {
    if (!consume(character)) throw_here(str_cat("Expected \"", character, "\"."));
  }

  std::string position() const {
    size_t line = 1, start = 0;
    for (size_t i = 0; i < begin_; ++i) {
      if (text_[i] == '\n') {
        ++line;
        start = i + 1;
      }
    }
    return str_cat(line, ":", begin_ - start + 1, " : ");
  }

  [[noreturn]] void throw_here(const std::string& problem) const {
    // Finds the start of the line. In the first line rfind() returns npos, and npos + 1 is 0.
    const size_t start = begin_ == 0 ? 0 : text_.rfind('\n', begin_ - 1) + 1;
    const std::string_view rest = text_.substr(start);
    const std::string line(at_end() ? std::string_view() : rest.substr(0, rest.find('\n')));
    throw_at(position(), str_cat("'", line, "': ", problem));
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v') {
        ++at_;
      } else {
        return;
      }
    }
  }

  void read_token() {
    const char c = text_[at_];
    if (c == '"' || c == '\'') return read_string(c);
    const bool is_number =
        is_ascii_digit(c) || ((c == '-' || c == '+' || c == '.') && at_ + 1 < text_.size() &&
                              (is_ascii_digit(text_[at_ + 1]) || text_[at_ + 1] == '.'));
    const bool is_negative_word = c == '-' && at_ + 1 < text_.size() && is_letter(text_[at_ + 1]);
    ++at_;
    if (!is_letter(c) && !is_number && !is_negative_word) return;
    while (at_ < text_.size()) {
      const char next = text_[at_];
      const bool is_sign_of_exponent = (next == '+' || next == '-') && is_number &&
                                       (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
      if (!is_letter(next) && !is_ascii_digit(next) && !(is_number && next == '.') &&
          !is_sign_of_exponent)
        return;
      ++at_;
    }
  }

  void read_string(char quote) {
    for (size_t i = at_ + 1; i < text_.size() && text_[i] != '\n'; ++i) {
      if (text_[i] == '\\') {
        ++i;
      } else if (text_[i] == quote) {
        at_ = i + 1;
        return;
      }
    }
    begin_ = at_;
    const std::string_view rest = text_.substr(at_);
    token_ = std::string(rest.substr(0, rest.find('\n')));
    throw_here("String missing ending quote: '" + token_);
  }

  std::string_view text_;
  size_t begin_ = 0, at_ = 0;
  std::string token_;
};

void append_utf8(std::string& out, unsigned code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  // Encodes `code` as UTF-8. The first byte starts with one 1 bit for each byte of the character.
  const int num_more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  const unsigned marker = 0xff & ~(0x7fu >> num_more);
  out += static_cast<char>(marker | (code >> (6 * num_more) & (0x3fu >> num_more)));
  for (int i = num_more; i-- > 0;) out += static_cast<char>(0x80 | (code >> (6 * i) & 0x3f));
}

unsigned parse_digits(const std::string& text, size_t& at, int base, int max_digits) {
  unsigned value = 0;
  for (int n = 0; n < max_digits && at < text.size() && hex_digit_value(text[at]) < base;
       ++n, ++at) {
    value = value * static_cast<unsigned>(base) + static_cast<unsigned>(hex_digit_value(text[at]));
  }
  return value;
}

// Removes quotes and escapes; keeps unknown escapes, as Python does.
std::string unquote(const std::string& token) {
  std::string out;
  const size_t end = token.size() - 1;
  for (size_t i = 1; i < end;) {
    if (token[i] != '\\' || i + 1 >= end) {
      out += token[i++];
      continue;
    }
    const char c = token[i + 1];
    const std::string_view names = "abfnrtv\\'\"", values = "\a\b\f\n\r\t\v\\'\"";
    const size_t index = names.find(c);
    i += 2;
    if (index != std::string_view::npos) {
      out += values[index];
    } else if (hex_digit_value(c) < 8) {
      out += static_cast<char>(parse_digits(token, --i, 8, 3));
    } else if ((c == 'x' || c == 'X') && i < end && hex_digit_value(token[i]) < 16) {
      out += static_cast<char>(parse_digits(token, i, 16, 2));
    } else if (c == 'u' || c == 'U') {
      append_utf8(out, parse_digits(token, i, 16, c == 'u' ? 4 : 8));
    } else {
      out += '\\';
      out += c;
    }
  }
  return out;
}

class TextParser {
 public:
  explicit TextParser(std::string_view text) : tokens_(text) {}

  std::string parse(const ProtoMessage& message) {
    WireWriter out;
    while (!tokens_.at_end()) parse_field(message, out);
    return out.take();
  }

 private:
  void parse_field(const ProtoMessage& message, WireWriter& out) {
    if (tokens_.token() == "[") return parse_bracketed(message, out);
    if (!tokens_.is_word()) {
      tokens_.throw_here(str_cat("Expected identifier or number, got ", tokens_.token(), "."));
    }
    const ProtoField* field = message.find(tokens_.token());
    if (!field) {
      throw_at(tokens_.position(), str_cat("Message type \"tensorflow.", message.name,
                                           "\" has no field named \"", tokens_.token(), "\"."));
    }
    tokens_.advance();
    if (field->message)
      tokens_.consume(':');
    else
      tokens_.expect(':');
    if (tokens_.consume('[')) {
      if (!tokens_.consume(']')) {
        do parse_value(*field, out);
        while (tokens_.consume(','));
        tokens_.expect(']');
      }
    } else {
      parse_value(*field, out);
    }
    if (!tokens_.consume(',')) tokens_.consume(';');
  }

  // Parses "[type.googleapis.com/tensorflow.X] { ... }" within an Any.
  void parse_bracketed(const ProtoMessage& message, WireWriter& out) {
    tokens_.advance();
    std::string url;
    for (; !tokens_.at_end() && tokens_.token() != "]"; tokens_.advance()) url += tokens_.token();
    const ProtoMessage* type = find_proto_message_of_url(url);
    if (message.name != "Any" || !type) {
      throw_at(tokens_.position(),
               str_cat("Message type \"tensorflow.", message.name, "\" does not have extensions."));
    }
    tokens_.expect(']');
    tokens_.consume(':');
    out.add_bytes(1, url).add_bytes(2, parse_block(*type));
  }

  std::string parse_block(const ProtoMessage& message) {
    const char end = tokens_.token() == "<" ? '>' : '}';
    if (!tokens_.consume('<')) tokens_.expect('{');
    if (++depth_ > kMaxProtoDepth) tokens_.throw_here("Nested too deeply.");
    WireWriter out;
    while (!tokens_.consume(end)) {
      if (tokens_.at_end()) tokens_.throw_here(str_cat("Expected \"", end, "\"."));
      parse_field(message, out);
    }
    --depth_;
    return out.take();
  }

  void parse_value(const ProtoField& field, WireWriter& out) {
    if (field.message) {
      out.put_bytes(field.number, parse_block(*field.message));
    } else if (field.type == ProtoType::kString || field.type == ProtoType::kBytes) {
      out.put_bytes(field.number, parse_string());
    } else if (field.type == ProtoType::kFloat) {
      out.put_float(field.number, static_cast<float>(parse_float()));
    } else if (field.type == ProtoType::kDouble) {
      out.put_double(field.number, parse_float());
    } else if (field.type == ProtoType::kFixed32) {
      out.put_fixed32(field.number, static_cast<uint32_t>(parse_integer()));
    } else if (field.type == ProtoType::kBool) {
      out.put_int(field.number, parse_bool());
    } else if (field.type == ProtoType::kEnum && !is_number()) {
      out.put_int(field.number, parse_enum(*field.enumeration));
    } else {
      out.put_varint(field.number, parse_integer());
    }
  }

  bool is_number() const {
    const std::string& token = tokens_.token();
    return !token.empty() && (is_ascii_digit(token[0]) || token[0] == '-' || token[0] == '+');
  }

  // Adjacent strings are concatenated.
  std::string parse_string() {
    if (!tokens_.is_string()) {
      tokens_.throw_here(str_cat("Expected string but found: '", tokens_.token(), "'"));
    }
    std::string value;
    for (; tokens_.is_string(); tokens_.advance()) value += unquote(tokens_.token());
    return value;
  }

  double parse_float() {
    std::string token = tokens_.token();
    if (token.size() > 1 && (token.back() == 'f' || token.back() == 'F') &&
        is_ascii_digit(token[token.size() - 2])) {
      token.pop_back();
    }
    char* end = nullptr;
    const bool is_hex = token.find_first_of("xX") != std::string::npos;
    const double value = read_double(token.c_str(), &end);
    if (token.empty() || *end || is_hex) {
      tokens_.throw_here("Couldn't parse float: " + tokens_.token());
    }
    tokens_.advance();
    return value;
  }

  uint64_t parse_integer() {
    const std::string& token = tokens_.token();
    char* end = nullptr;
    errno = 0;
    const bool is_negative = !token.empty() && token[0] == '-';
    const uint64_t value = is_negative ? static_cast<uint64_t>(std::strtoll(token.c_str(), &end, 0))
                                       : std::strtoull(token.c_str(), &end, 0);
    if (token.empty() || *end || errno) tokens_.throw_here("Couldn't parse integer: " + token);
    tokens_.advance();
    return value;
  }

  bool parse_bool() {
    const std::string token = tokens_.token();
    const bool is_true = token == "true" || token == "t" || token == "1" || token == "True";
    if (!is_true && token != "false" && token != "f" && token != "0" && token != "False") {
      tokens_.throw_here("Expected \"true\" or \"false\".");
    }
    tokens_.advance();
    return is_true;
  }

  int parse_enum(const ProtoEnum& enumeration) {
    const auto number = enumeration.numbers.find(tokens_.token());
    if (number == enumeration.numbers.end()) {
      tokens_.throw_here(str_cat("Enum type has no value named ", tokens_.token(), "."));
    }
    tokens_.advance();
    return number->second;
  }

  Tokenizer tokens_;
  int depth_ = 0;
};

}  // namespace

bool text_to_proto(std::string_view text,
                   const std::string& message,
                   std::string* bytes,
                   std::string* problem) {
  const ProtoMessage* type = find_proto_message(message);
  if (!type) fail(Code::kInternal, "No message '", message, "' in the schema.");
  try {
    *bytes = TextParser(text).parse(*type);
    return true;
  } catch (const Error& error) {
    *problem = error.message();
    return false;
  }
}

}  // namespace runhooks
