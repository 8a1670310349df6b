#include "io/files/plain_data.h"

#include "io/files/atomic_file.h"
#include "io/proto/wire.h"

namespace runhooks {

namespace {

// The serialized form is a protocol buffer message of type Data:
//
//   message Data { int32 kind = 1; bytes numbers = 2; repeated Text texts = 3;
//                  repeated Data items = 4; repeated Attribute attributes = 5; }
//   message Text { bytes bytes = 1; int32 mark = 2; }
//   message Attribute { string name = 1; Data value = 2; }
//
// The top-level message starts with field 15, the version of the format.
constexpr int kVersionField = 15;
constexpr int64_t kVersion = 1;
const std::string kPlainMagic = "runhooks plain data\n";

using Kind = PlainData::Kind;
using Text = PlainData::Text;

// Converts between native and little-endian byte order.
void convert_byte_order(Kind kind, std::string& numbers) {
  const size_t size = kind == Kind::kComplex ? 8 : PlainData::element_size(kind);
  if (size > 1) swap_on_big_endian(numbers.data(), size, numbers.size() / size);
}

WireWriter write_value(const PlainData& data, int depth) {
  if (depth > kMaxPlainDepth) {
    invalid_argument("Cannot write lists nested more than ", kMaxPlainDepth, " deep.");
  }
  WireWriter out;
  out.add_int(1, static_cast<int>(data.kind));
  std::string numbers = data.numbers;
  convert_byte_order(data.kind, numbers);
  out.add_bytes(2, numbers);
  for (const Text& text : data.texts) {
    WireWriter message;
    message.add_bytes(1, text.bytes).add_int(2, static_cast<int>(text.mark));
    out.put_message(3, message);
  }
  for (const PlainData& item : data.items) out.put_message(4, write_value(item, depth + 1));
  for (const auto& attribute : data.attributes) {
    WireWriter message;
    message.add_bytes(1, attribute.first);
    message.put_message(2, write_value(attribute.second, depth + 1));
    out.put_message(5, message);
  }
  return out;
}

Text read_text(WireReader r) {
  Text text;
  while (r.next()) {
    if (r.field() == 1) text.bytes = r.text();
    if (r.field() != 2) continue;
    if (r.uint() > 2) r.damaged("a string with an unknown encoding mark");
    text.mark = static_cast<Text::Mark>(r.uint());
  }
  if (text.bytes.find('\0') != std::string::npos) r.damaged("a string that contains a zero byte");
  return text;
}

PlainData read_value(WireReader r, int depth);

std::pair<std::string, PlainData> read_attribute(WireReader r, int depth) {
  std::pair<std::string, PlainData> attribute;
  while (r.next()) {
    if (r.field() == 1) attribute.first = r.text();
    if (r.field() == 2) attribute.second = read_value(r.message(), depth);
  }
  const bool is_name = !attribute.first.empty() && attribute.first.find('\0') == std::string::npos;
  if (!is_name) r.damaged("an attribute without a name");
  return attribute;
}

void check_value(const WireReader& r, const PlainData& data) {
  const size_t size = PlainData::element_size(data.kind);
  const bool is_consistent = (size ? data.numbers.size() % size == 0 : data.numbers.empty()) &&
                             (data.texts.empty() || data.kind == Kind::kCharacter) &&
                             (data.items.empty() || data.kind == Kind::kList) &&
                             (data.attributes.empty() || data.kind != Kind::kNull);
  if (!is_consistent) r.damaged("a vector whose fields do not match its kind");
}

PlainData read_value(WireReader r, int depth) {
  if (depth > kMaxPlainDepth) r.damaged("lists that are nested too deeply");
  PlainData data;
  while (r.next()) {
    switch (r.field()) {
      case 1:
        if (r.uint() > static_cast<uint64_t>(Kind::kList)) r.damaged("a vector of unknown kind");
        data.kind = static_cast<Kind>(r.uint());
        break;
      case 2:
        data.numbers = r.text();
        break;
      case 3:
        data.texts.push_back(read_text(r.message()));
        break;
      case 4:
        data.items.push_back(read_value(r.message(), depth + 1));
        break;
      case 5:
        data.attributes.push_back(read_attribute(r.message(), depth + 1));
        break;
      default:
        break;
    }
  }
  check_value(r, data);
  convert_byte_order(data.kind, data.numbers);
  return data;
}

}  // namespace

size_t PlainData::element_size(Kind kind) {
  switch (kind) {
    case Kind::kLogical:
    case Kind::kInteger:
      return 4;
    case Kind::kDouble:
      return 8;
    case Kind::kComplex:
      return 16;
    case Kind::kRaw:
      return 1;
    default:
      return 0;
  }
}

size_t PlainData::length() const {
  const size_t size = element_size(kind);
  return size ? numbers.size() / size : texts.size() + items.size();
}

std::string write_plain_data(const PlainData& data) {
  WireWriter out;
  out.put_int(kVersionField, kVersion);
  return out.append(write_value(data, 0).bytes()).take();
}

PlainData read_plain_data(std::string_view bytes, std::string_view where) {
  WireReader version_reader(bytes, where);
  if (!version_reader.next() || version_reader.field() != kVersionField)
    version_reader.damaged("not plain data");
  if (version_reader.integer() != kVersion) {
    fail(Code::kDataLoss, "The plain data in '", std::string(where), "' are of version ",
         version_reader.integer(), "; this runhooks reads version ", kVersion, ".");
  }
  return read_value(WireReader(bytes, where), 0);
}

void write_plain_file(const std::string& path, const PlainData& data) {
  write_file_atomically(path, str_cat(kPlainMagic, write_plain_data(data)));
}

PlainData read_plain_file(const std::string& path) {
  const std::string bytes = read_whole_file(path);
  if (bytes.compare(0, kPlainMagic.size(), kPlainMagic) != 0) {
    fail(Code::kDataLoss, "'", path, "' is not a file of plain data.");
  }
  return read_plain_data(std::string_view(bytes).substr(kPlainMagic.size()), path);
}

}  // namespace runhooks
