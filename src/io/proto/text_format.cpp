#include "io/proto/text_format.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <vector>

#include "base/bit_cast.h"
#include "base/number_text.h"
#include "io/proto/proto_schema.h"
#include "io/proto/wire.h"

namespace runhooks {

namespace {

void append_escaped(std::string& out, char c) {
  constexpr std::string_view specials = "\n\r\t\"'\\", letters = "nrt\"'\\";
  const size_t at = specials.find(c);
  out += '\\';
  if (at != std::string_view::npos) {
    out += letters[at];
    return;
  }
  const auto byte = static_cast<unsigned char>(c);
  for (int shift = 6; shift >= 0; shift -= 3) out += static_cast<char>('0' + (byte >> shift & 7));
}

}  // namespace

void append_quoted(std::string& out, std::string_view bytes) {
  out += '"';
  const auto is_plain = [](char c) {
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\'' && c != '\\';
  };
  for (size_t begin = 0; begin < bytes.size();) {
    size_t end = begin;
    while (end < bytes.size() && is_plain(bytes[end])) ++end;
    out.append(bytes.substr(begin, end - begin));
    if (end < bytes.size()) append_escaped(out, bytes[end]);
    begin = end + 1;
  }
  out += '"';
}

std::string double_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text;
  // Uses the fewest digits that identify the number.
  int digits = 1;
  for (; digits <= 17; ++digits) {
    text = format_text("%.*e", digits - 1, value);
    if (read_double(text.c_str(), nullptr) == value) break;
  }
  const size_t e = text.find('e');
  const int exponent = std::atoi(text.c_str() + e + 1);
  if (exponent < -4 || exponent >= 16) {
    const char sign = exponent < 0 ? '-' : '+';
    return text.substr(0, e) + format_text("e%c%02d", sign, std::abs(exponent));
  }
  return format_text("%.*f", std::max(digits - 1 - exponent, 1), value);
}

static double round_to_digits(float value, int digits) {
  return read_double(format_text("%.*g", digits, static_cast<double>(value)).c_str(), nullptr);
}

std::string float_text(float value) {
  if (!std::isfinite(value)) return double_text(value);
  for (int digits = 6; digits < 9; ++digits) {
    const double shorter = round_to_digits(value, digits);
    if (static_cast<float>(shorter) == value) return double_text(shorter);
  }
  return double_text(round_to_digits(value, 9));
}

namespace {

class TextWriter {
 public:
  TextWriter(std::string_view where, FloatText floats) : where_(where), floats_(floats) {}

  std::string write(std::string_view bytes, const ProtoMessage& message) {
    out_.reserve(3 * bytes.size());
    write_message(bytes, message);
    return std::move(out_);
  }

 private:
  struct Value {
    const ProtoField* field;
    uint64_t bits;
    std::string_view bytes;
  };
  struct Span {
    size_t begin, end;
  };

  static bool has_bytes(ProtoType type) {
    return type == ProtoType::kString || type == ProtoType::kBytes || type == ProtoType::kMessage ||
           type == ProtoType::kMap;
  }

  void collect_values(const WireReader& r, const ProtoField& field) {
    const auto add_bits = [&](uint64_t bits) { values_.push_back({&field, bits, {}}); };
    if (has_bytes(field.type)) {
      values_.push_back({&field, 0, r.bytes()});
    } else if (field.type == ProtoType::kFixed32) {
      add_bits(r.fixed32());
    } else if (field.type == ProtoType::kFloat) {
      std::vector<float> floats;
      r.append_floats(floats);
      for (float value : floats) add_bits(bit_cast<uint32_t>(value));
    } else if (field.type == ProtoType::kDouble) {
      std::vector<double> doubles;
      r.append_doubles(doubles);
      for (double value : doubles) add_bits(bit_cast<uint64_t>(value));
    } else if (r.type() == WireType::kVarint) {
      add_bits(r.uint());
    } else {
      std::vector<int64_t> ints;
      r.append_ints(ints);
      for (int64_t value : ints) add_bits(static_cast<uint64_t>(value));
    }
  }

  // Writes the fields sorted by number, and repeated values in their order.
  void write_message(std::string_view bytes, const ProtoMessage& message) {
    if (message.name == "Any" && write_any(bytes)) return;
    const size_t begin = values_.size();
    for (WireReader r(bytes, where_); r.next();) {
      if (const ProtoField* field = message.find(r.field())) collect_values(r, *field);
    }
    const auto first_value = values_.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto has_smaller_number = [](const Value& a, const Value& b) {
      return a.field->number < b.field->number;
    };
    if (!std::is_sorted(first_value, values_.end(), has_smaller_number)) {
      std::stable_sort(first_value, values_.end(), has_smaller_number);
    }
    const size_t end = values_.size();
    for (Span span{begin, begin}; span.begin < end; span.begin = span.end) {
      const ProtoField& field = *values_[span.begin].field;
      while (span.end < end && values_[span.end].field == &field) ++span.end;
      write_field(field, span);
    }
    values_.resize(begin);
  }

  bool write_any(std::string_view bytes) {
    std::string url;
    std::string_view value;
    for (WireReader r(bytes, where_); r.next();) {
      if (r.field() == 1) url = r.text();
      if (r.field() == 2) value = r.bytes();
    }
    const ProtoMessage* message = find_proto_message_of_url(url);
    if (message) write_block("[" + url + "]", value, *message);
    return message != nullptr;
  }

  void write_field(const ProtoField& field, const Span& span) {
    if (field.type == ProtoType::kMap) return write_map(field, span);
    if (field.type == ProtoType::kMessage) return write_messages(field, span);
    for (size_t i = field.is_repeated ? span.begin : span.end - 1; i < span.end; ++i) {
      const Value& value = values_[i];
      const bool is_default = has_bytes(field.type) ? value.bytes.empty() : value.bits == 0;
      if (is_default && !field.is_repeated && !field.is_in_oneof) continue;
      indent();
      out_.append(field.name).append(": ");
      if (has_bytes(field.type)) {
        append_quoted(out_, value.bytes);
      } else if (field.type == ProtoType::kEnum) {
        write_enum(field, static_cast<int32_t>(value.bits));
      } else {
        out_ += number_text(field, value.bits);
      }
      out_ += '\n';
    }
  }

  void write_messages(const ProtoField& field, const Span& span) {
    if (field.is_repeated || span.end - span.begin == 1) {
      for (size_t i = span.begin; i < span.end; ++i) {
        write_block(field.name, values_[i].bytes, *field.message);
      }
      return;
    }
    // A non-repeated message may occur several times; its parts must be merged. Concatenating their
    // bytes merges them.
    std::string joined;
    for (size_t i = span.begin; i < span.end; ++i) joined.append(values_[i].bytes);
    write_block(field.name, joined, *field.message);
  }

  void write_enum(const ProtoField& field, int32_t value) {
    const auto name = field.enumeration->names.find(value);
    if (name == field.enumeration->names.end()) {
      out_ += str_cat(value);
    } else {
      out_ += name->second;
    }
  }

  std::string number_text(const ProtoField& field, uint64_t bits) const {
    switch (field.type) {
      case ProtoType::kBool:
        return bits ? "true" : "false";
      case ProtoType::kInt32:
        return str_cat(static_cast<int32_t>(bits));
      case ProtoType::kInt64:
        return str_cat(static_cast<int64_t>(bits));
      case ProtoType::kUint32:
        return str_cat(static_cast<uint32_t>(bits));
      case ProtoType::kFloat: {
        const auto value = bit_cast<float>(static_cast<uint32_t>(bits));
        return floats_ == FloatText::kShortest ? float_text(value)
                                               : double_text(static_cast<double>(value));
      }
      case ProtoType::kDouble:
        return double_text(bit_cast<double>(bits));
      default:
        return str_cat(bits);
    }
  }

  // Writes entries sorted by key; of duplicate keys the last one counts.
  void write_map(const ProtoField& field, const Span& span) {
    struct Entry {
      std::string_view text;
      uint64_t number;
      std::string_view bytes;
      bool operator<(const Entry& other) const {
        return std::tie(text, number) < std::tie(other.text, other.number);
      }
    };
    const bool has_text_keys = has_bytes(field.message->fields[0].type);
    std::vector<Entry> entries;
    for (size_t i = span.begin; i < span.end; ++i) {
      Entry entry{{}, 0, values_[i].bytes};
      for (WireReader r(entry.bytes, where_); r.next();) {
        if (r.field() != 1) continue;
        if (has_text_keys) {
          entry.text = r.bytes();
        } else {
          entry.number = r.uint();
        }
      }
      entries.push_back(entry);
    }
    if (!std::is_sorted(entries.begin(), entries.end())) {
      std::stable_sort(entries.begin(), entries.end());
    }
    for (size_t i = 0; i < entries.size(); ++i) {
      const bool is_last = i + 1 == entries.size() || entries[i] < entries[i + 1];
      if (is_last) write_block(field.name, entries[i].bytes, *field.message, true);
    }
  }

  void indent() { out_.append(static_cast<size_t>(2 * depth_), ' '); }

  void write_block(const std::string& name,
                   std::string_view bytes,
                   const ProtoMessage& message,
                   bool is_map_entry = false) {
    if (depth_ >= kMaxProtoDepth) {
      fail(Code::kDataLoss, "Damaged message in '", std::string(where_), "': nested too deeply.");
    }
    indent();
    out_.append(name).append(" {\n");
    ++depth_;
    write_message(bytes, message);
    // The text of a map entry contains a value that is a message even if the entry omits it.
    const ProtoField* value = is_map_entry ? &message.fields[1] : nullptr;
    if (value && value->type == ProtoType::kMessage) {
      bool has_value = false;
      for (WireReader r(bytes, where_); !has_value && r.next();) has_value = r.field() == 2;
      if (!has_value) write_block(value->name, "", *value->message);
    }
    --depth_;
    indent();
    out_ += "}\n";
  }

  std::string_view where_;
  FloatText floats_;
  std::string out_;
  std::vector<Value> values_;  // a stack of the fields of all messages that are being written
  int depth_ = 0;
};

}  // namespace

std::string proto_to_text(std::string_view bytes,
                          const std::string& message,
                          std::string_view where,
                          FloatText floats) {
  const ProtoMessage* type = find_proto_message(message);
  if (!type) fail(Code::kInternal, "No message '", message, "' in the schema.");
  return TextWriter(where, floats).write(bytes, *type);
}

}  // namespace runhooks
