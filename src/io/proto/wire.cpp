#include "io/proto/wire.h"

#include <algorithm>

#include "base/bit_cast.h"

namespace runhooks {

namespace {

const char* type_name(WireType type) {
  switch (type) {
    case WireType::kVarint:
      return "a varint";
    case WireType::kFixed64:
      return "eight bytes";
    case WireType::kBytes:
      return "length-delimited";
    case WireType::kFixed32:
      return "four bytes";
  }
  return "unknown";
}

}  // namespace

void append_varint(std::string& out, uint64_t value) {
  if (value < 0x80) return out.push_back(static_cast<char>(value));
  char buffer[10];
  size_t n = 0;
  for (; value >= 0x80; value >>= 7) buffer[n++] = static_cast<char>((value & 0x7f) | 0x80);
  buffer[n++] = static_cast<char>(value);
  out.append(buffer, n);
}

void append_fixed32(std::string& out, uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift & 0xff);
}

void append_fixed64(std::string& out, uint64_t value) {
  append_fixed32(out, static_cast<uint32_t>(value));
  append_fixed32(out, static_cast<uint32_t>(value >> 32));
}

void swap_on_big_endian(void* numbers, size_t element_size, size_t count) {
  if (!kIsBigEndianHost || element_size < 2) return;
  auto* bytes = static_cast<char*>(numbers);
  for (size_t i = 0; i < count; ++i) {
    std::reverse(bytes + i * element_size, bytes + (i + 1) * element_size);
  }
}

bool take_varint(std::string_view& bytes, uint64_t* value) {
  uint64_t result = 0;
  for (size_t i = 0; i < bytes.size() && i < 10; ++i) {
    const auto byte = static_cast<uint8_t>(bytes[i]);
    if (i == 9 && byte > 1) return false;  // the tenth byte may hold only the 64th bit
    result |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      bytes.remove_prefix(i + 1);
      *value = result;
      return true;
    }
  }
  return false;
}

WireWriter& WireWriter::put_varint(int field, uint64_t value) {
  put_key(field, WireType::kVarint);
  append_varint(bytes_, value);
  return *this;
}

WireWriter& WireWriter::put_fixed32(int field, uint32_t value) {
  put_key(field, WireType::kFixed32);
  append_fixed32(bytes_, value);
  return *this;
}

WireWriter& WireWriter::put_fixed64(int field, uint64_t value) {
  put_key(field, WireType::kFixed64);
  append_fixed64(bytes_, value);
  return *this;
}

WireWriter& WireWriter::put_float(int field, float value) {
  return put_fixed32(field, bit_cast<uint32_t>(value));
}

WireWriter& WireWriter::put_double(int field, double value) {
  return put_fixed64(field, bit_cast<uint64_t>(value));
}

WireWriter& WireWriter::put_size(int field, size_t size) {
  put_key(field, WireType::kBytes);
  append_varint(bytes_, size);
  return *this;
}

void WireWriter::set_length(size_t start) {
  const size_t size = bytes_.size() - start - 1;
  if (size < 0x80) {
    bytes_[start] = static_cast<char>(size);
    return;
  }
  std::string length;
  append_varint(length, size);
  bytes_.replace(start, 1, length);
}

WireWriter& WireWriter::add_float(int field, float value) {
  return bit_cast<uint32_t>(value) ? put_float(field, value) : *this;
}

WireWriter& WireWriter::add_double(int field, double value) {
  return bit_cast<uint64_t>(value) ? put_double(field, value) : *this;
}

WireWriter& WireWriter::add_packed_floats(int field, const float* values, size_t count) {
  std::string packed;
  packed.reserve(4 * count);
  for (size_t i = 0; i < count; ++i) append_fixed32(packed, bit_cast<uint32_t>(values[i]));
  return add_bytes(field, packed);
}

WireWriter& WireWriter::add_packed_doubles(int field, const double* values, size_t count) {
  std::string packed;
  packed.reserve(8 * count);
  for (size_t i = 0; i < count; ++i) append_fixed64(packed, bit_cast<uint64_t>(values[i]));
  return add_bytes(field, packed);
}

void WireReader::damaged(const std::string& problem) const {
  fail(Code::kDataLoss, "Damaged message in '", std::string(where_), "': ", problem, ".");
}

bool WireReader::next() {
  if (remaining_.empty()) return false;
  uint64_t key;
  if (!take_varint(remaining_, &key)) damaged("it ends inside the key of a field");
  if (key >> 3 == 0 || key >> 3 >= (uint64_t{1} << 29)) damaged(str_cat("field number ", key >> 3));
  field_ = static_cast<int>(key >> 3);
  type_ = static_cast<WireType>(key & 7);
  size_t size = 0;
  switch (type_) {
    case WireType::kVarint:
      if (!take_varint(remaining_, &varint_or_size_))
        damaged(str_cat("field ", field_, " ends inside a varint"));
      return true;
    case WireType::kBytes:
      if (!take_varint(remaining_, &varint_or_size_))
        damaged(str_cat("field ", field_, " ends inside its length"));
      break;
    case WireType::kFixed64:
      varint_or_size_ = 8;
      break;
    case WireType::kFixed32:
      varint_or_size_ = 4;
      break;
    default:
      damaged(str_cat("field ", field_, " has wire type ", key & 7));
  }
  if (varint_or_size_ > remaining_.size()) {
    damaged(str_cat("field ", field_, " has ", varint_or_size_, " bytes, but only ",
                    remaining_.size(), " follow"));
  }
  size = static_cast<size_t>(varint_or_size_);
  bytes_ = remaining_.substr(0, size);
  remaining_.remove_prefix(size);
  return true;
}

void WireReader::expect(WireType type) const {
  if (type_ == type) return;
  damaged(str_cat("field ", field_, " should be ", type_name(type), " but is ", type_name(type_)));
}

uint64_t WireReader::uint() const {
  expect(WireType::kVarint);
  return varint_or_size_;
}

uint32_t WireReader::fixed32() const {
  expect(WireType::kFixed32);
  return load_fixed32(bytes_.data());
}

uint64_t WireReader::fixed64() const {
  expect(WireType::kFixed64);
  return load_fixed64(bytes_.data());
}

float WireReader::float32() const { return bit_cast<float>(fixed32()); }
double WireReader::float64() const { return bit_cast<double>(fixed64()); }

std::string_view WireReader::bytes() const {
  expect(WireType::kBytes);
  return bytes_;
}

void WireReader::append_ints(std::vector<int64_t>& out) const {
  if (type_ == WireType::kVarint) {
    out.push_back(integer());
    return;
  }
  uint64_t value;
  for (std::string_view rest = bytes(); !rest.empty();) {
    if (!take_varint(rest, &value)) damaged(str_cat("field ", field_, " ends inside a varint"));
    out.push_back(static_cast<int64_t>(value));
  }
}

void WireReader::append_floats(std::vector<float>& out) const {
  if (type_ == WireType::kFixed32) {
    out.push_back(float32());
    return;
  }
  const std::string_view packed = bytes();
  if (packed.size() % 4) damaged(str_cat("field ", field_, " is not a list of floats"));
  for (size_t i = 0; i < packed.size(); i += 4) {
    out.push_back(bit_cast<float>(load_fixed32(packed.data() + i)));
  }
}

void WireReader::append_doubles(std::vector<double>& out) const {
  if (type_ == WireType::kFixed64) {
    out.push_back(float64());
    return;
  }
  const std::string_view packed = bytes();
  if (packed.size() % 8) damaged(str_cat("field ", field_, " is not a list of doubles"));
  for (size_t i = 0; i < packed.size(); i += 8) {
    out.push_back(bit_cast<double>(load_fixed64(packed.data() + i)));
  }
}

}  // namespace runhooks
