#include "io/proto/text_format.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "io/proto/proto_schema.h"
#include "io/proto/wire.h"

namespace runhooks {

std::string quote_text(std::string_view bytes) {
  std::string out = "\"";
  for (char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    constexpr std::string_view specials = "\n\r\t\"'\\", letters = "nrt\"'\\";
    const size_t at = specials.find(c);
    if (at != std::string_view::npos) {
      out += '\\';
      out += letters[at];
    } else if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      char octal[5];
      std::snprintf(octal, sizeof octal, "\\%03o", byte);
      out += octal;
    }
  }
  return out + '"';
}

std::string double_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[40];
  // The fewest digits that give the number back.
  int digits = 1;
  for (; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*e", digits - 1, value);
    if (std::strtod(text, nullptr) == value) break;
  }
  const int exponent = std::atoi(std::strchr(text, 'e') + 1);
  if (exponent < -4 || exponent >= 16) {
    std::string out(text, std::strchr(text, 'e'));
    std::snprintf(text, sizeof text, "e%c%02d", exponent < 0 ? '-' : '+', std::abs(exponent));
    return out + text;
  }
  const int decimals = std::max(digits - 1 - exponent, 1);
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string float_text(float value) {
  if (!std::isfinite(value)) return double_text(value);
  for (int digits = 6; digits < 9; ++digits) {
    char text[40];
    std::snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(value));
    const double shorter = std::strtod(text, nullptr);
    if (static_cast<float>(shorter) == value) return double_text(shorter);
  }
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
  return double_text(std::strtod(text, nullptr));
}

namespace {

// ---------------------------------------------------------------- bytes to text

class TextWriter {
 public:
  TextWriter(std::string_view where, FloatText floats) : where_(where), floats_(floats) {}

  std::string write(std::string_view bytes, const ProtoMessage& message) {
    write_message(bytes, message);
    return std::move(out_);
  }

 private:
  // The values of one field in the order of the file.
  struct Values {
    std::vector<uint64_t> numbers;  // the bits
    std::vector<std::string_view> bytes;
  };

  static bool is_text(ProtoType type) {
    return type == ProtoType::kString || type == ProtoType::kBytes || type == ProtoType::kMessage ||
           type == ProtoType::kMap;
  }

  static void collect(const WireReader& r, const ProtoField& field, Values& values) {
    if (is_text(field.type)) {
      values.bytes.push_back(r.bytes());
    } else if (field.type == ProtoType::kFixed32) {
      values.numbers.push_back(r.fixed32());
    } else if (field.type == ProtoType::kFloat || field.type == ProtoType::kDouble) {
      collect_floats(r, field.type, values);
    } else {
      std::vector<int64_t> ints;
      r.append_ints(ints);
      values.numbers.insert(values.numbers.end(), ints.begin(), ints.end());
    }
  }

  static void collect_floats(const WireReader& r, ProtoType type, Values& values) {
    std::vector<float> floats;
    std::vector<double> doubles;
    if (type == ProtoType::kFloat)
      r.append_floats(floats);
    else
      r.append_doubles(doubles);
    for (float value : floats) {
      uint32_t bits;
      std::memcpy(&bits, &value, sizeof bits);
      values.numbers.push_back(bits);
    }
    for (double value : doubles) {
      uint64_t bits;
      std::memcpy(&bits, &value, sizeof bits);
      values.numbers.push_back(bits);
    }
  }

  void write_message(std::string_view bytes, const ProtoMessage& message) {
    if (message.name == "Any" && write_any(bytes)) return;
    std::map<int, Values> fields;
    for (WireReader r(bytes, where_); r.next();) {
      const ProtoField* field = message.find(r.field());
      if (field) collect(r, *field, fields[field->number]);
    }
    for (const auto& item : fields) write_field(*message.find(item.first), item.second);
  }

  // A message of a known type stands under the name of its type instead of in bytes.
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

  void write_field(const ProtoField& field, const Values& values) {
    if (field.type == ProtoType::kMap) return write_map(field, values.bytes);
    if (field.type == ProtoType::kMessage) {
      if (field.is_repeated) {
        for (std::string_view bytes : values.bytes) write_block(field.name, bytes, *field.message);
      } else {
        // Parts of one message that come one by one are merged, which is to say joined.
        std::string joined;
        for (std::string_view bytes : values.bytes) joined.append(bytes);
        write_block(field.name, joined, *field.message);
      }
      return;
    }
    const size_t count = is_text(field.type) ? values.bytes.size() : values.numbers.size();
    for (size_t i = field.is_repeated || count == 0 ? 0 : count - 1; i < count; ++i) {
      const bool is_default =
          is_text(field.type) ? values.bytes[i].empty() : values.numbers[i] == 0;
      if (is_default && !field.is_repeated && !field.is_in_oneof) continue;
      write_line(field, is_text(field.type) ? quote_text(values.bytes[i])
                                            : number_text(field, values.numbers[i]));
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
      case ProtoType::kEnum: {
        const auto found = field.enumeration->names.find(static_cast<int>(bits));
        if (found != field.enumeration->names.end()) return found->second;
        return str_cat(static_cast<int32_t>(bits));
      }
      case ProtoType::kFloat: {
        const auto low = static_cast<uint32_t>(bits);
        float value;
        std::memcpy(&value, &low, sizeof value);
        return floats_ == FloatText::kShortest ? float_text(value)
                                               : double_text(static_cast<double>(value));
      }
      case ProtoType::kDouble: {
        double value;
        std::memcpy(&value, &bits, sizeof value);
        return double_text(value);
      }
      default:
        return str_cat(bits);
    }
  }

  void write_map(const ProtoField& field, const std::vector<std::string_view>& entries) {
    const ProtoField& key = field.message->fields[0];
    const bool text_keys = is_text(key.type);
    // The last entry of a key counts. Numbers are padded so that they sort as numbers.
    std::map<std::string, std::string_view> sorted;
    for (std::string_view entry : entries) {
      std::string sort_key(text_keys ? 0 : 20, '0');
      for (WireReader r(entry, where_); r.next();) {
        if (r.field() != 1) continue;
        const std::string number = text_keys ? "" : str_cat(r.uint());
        sort_key = text_keys ? r.text() : std::string(20 - number.size(), '0') + number;
      }
      sorted[sort_key] = entry;
    }
    for (const auto& entry : sorted) write_block(field.name, entry.second, *field.message, true);
  }

  void indent() { out_.append(static_cast<size_t>(2 * depth_), ' '); }

  void write_line(const ProtoField& field, const std::string& value) {
    indent();
    out_ += field.name + ": " + value + "\n";
  }

  void write_block(const std::string& name,
                   std::string_view bytes,
                   const ProtoMessage& message,
                   bool is_map_entry = false) {
    if (depth_ >= kMaxProtoDepth) {
      fail(Code::kDataLoss, "Damaged message in '", std::string(where_), "': nested too deeply.");
    }
    indent();
    out_ += name + " {\n";
    ++depth_;
    write_message(bytes, message);
    // An entry's message is shown even if the bytes leave it out.
    const ProtoField* value = is_map_entry ? &message.fields[1] : nullptr;
    if (value && value->type == ProtoType::kMessage) {
      bool has_value = false;
      for (WireReader r(bytes, where_); r.next();) has_value = has_value || r.field() == 2;
      if (!has_value) write_block(value->name, "", *value->message);
    }
    --depth_;
    indent();
    out_ += "}\n";
  }

  std::string_view where_;
  FloatText floats_;
  std::string out_;
  int depth_ = 0;
};

}  // namespace

std::string proto_to_text(std::string_view bytes,
                          const std::string& message,
                          std::string_view where,
                          FloatText floats) {
  const ProtoMessage* found = find_proto_message(message);
  if (!found) fail(Code::kInternal, "No message '", message, "' in the schema.");
  return TextWriter(where, floats).write(bytes, *found);
}

}  // namespace runhooks
