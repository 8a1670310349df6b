// Protobuf's wire format: WireWriter writes fields, WireReader iterates over them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace runhooks {

enum class WireType : int { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Append numbers that are not fields of a message, for tables and records. All numbers in files are
// little-endian.
void append_varint(std::string& out, uint64_t value);
void append_fixed32(std::string& out, uint32_t value);
void append_fixed64(std::string& out, uint64_t value);
inline uint32_t load_fixed32(const char* p) {
  const auto* b = reinterpret_cast<const uint8_t*>(p);
  return static_cast<uint32_t>(b[0]) | static_cast<uint32_t>(b[1]) << 8 |
         static_cast<uint32_t>(b[2]) << 16 | static_cast<uint32_t>(b[3]) << 24;
}
inline uint64_t load_fixed64(const char* p) {
  return load_fixed32(p) | static_cast<uint64_t>(load_fixed32(p + 4)) << 32;
}
// Converts numbers between native and little-endian byte order; does nothing on most machines.
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
constexpr bool kIsBigEndianHost = true;
#else
constexpr bool kIsBigEndianHost = false;
#endif
void swap_on_big_endian(void* numbers, size_t element_size, size_t count);

// Consumes a varint from the front of `bytes`; FALSE if it is incomplete.
bool take_varint(std::string_view& bytes, uint64_t* value);

// Writes the fields of a message. put_*() always writes the field, which members of a oneof and
// repeated fields need; add_*() omits zero and empty values, as proto3 does.
class WireWriter {
 public:
  WireWriter& put_varint(int field, uint64_t value);
  WireWriter& put_int(int field, int64_t value) {
    return put_varint(field, static_cast<uint64_t>(value));
  }
  WireWriter& put_fixed32(int field, uint32_t value);
  WireWriter& put_fixed64(int field, uint64_t value);
  WireWriter& put_float(int field, float value);
  WireWriter& put_double(int field, double value);
  WireWriter& put_bytes(int field, std::string_view value) {
    return put_size(field, value.size()).append(value);
  }
  // Writes the key and the size of a field of bytes; the caller must then append the bytes.
  WireWriter& put_size(int field, size_t size);
  WireWriter& put_message(int field, const WireWriter& message) {
    return put_bytes(field, message.bytes());
  }
  // Writes a nested message without a copy: write() adds its fields directly to this writer.
  template <typename Write>
  WireWriter& put_nested(int field, const Write& write) {
    put_key(field, WireType::kBytes);
    const size_t start = bytes_.size();
    bytes_.push_back(0);  // reserves a byte for the length, which usually suffices
    write();
    set_length(start);
    return *this;
  }

  WireWriter& add_int(int field, int64_t value) { return value ? put_int(field, value) : *this; }
  WireWriter& add_bool(int field, bool value) { return value ? put_int(field, 1) : *this; }
  WireWriter& add_fixed32(int field, uint32_t value) {
    return value ? put_fixed32(field, value) : *this;
  }
  // A negative zero is written, because its bits are not zero.
  WireWriter& add_float(int field, float value);
  WireWriter& add_double(int field, double value);
  WireWriter& add_bytes(int field, std::string_view value) {
    return value.empty() ? *this : put_bytes(field, value);
  }

  // Writes repeated numbers in packed form; writes no field for an empty list.
  template <typename Ints>
  WireWriter& add_packed_ints(int field, const Ints& values) {
    std::string packed;
    for (auto value : values)
      append_varint(packed, static_cast<uint64_t>(static_cast<int64_t>(value)));
    return add_bytes(field, packed);
  }
  WireWriter& add_packed_floats(int field, const float* values, size_t count);
  WireWriter& add_packed_doubles(int field, const double* values, size_t count);

  WireWriter& append(std::string_view fields) {
    bytes_.append(fields);
    return *this;
  }

  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }
  void reserve(size_t size) { bytes_.reserve(size); }
  void truncate(size_t size) { bytes_.resize(size); }

 private:
  void put_key(int field, WireType type) {
    append_varint(bytes_, static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(type));
  }
  void set_length(size_t start);
  std::string bytes_;
};

// Iterates over the fields of a message: `while (r.next()) if (r.field() == 1) name = r.text();`.
// Never reads outside `bytes`. Throws kDataLoss, naming `where`, for invalid data. `bytes` and
// `where` must outlive the reader.
class WireReader {
 public:
  WireReader(std::string_view bytes, std::string_view where) : remaining_(bytes), where_(where) {}

  bool next();
  int field() const { return field_; }
  WireType type() const { return type_; }
  std::string_view where() const { return where_; }

  // The value of the field. Each accessor throws if the wire type differs.
  uint64_t uint() const;
  int64_t integer() const { return static_cast<int64_t>(uint()); }
  int int32() const { return static_cast<int>(uint()); }
  bool boolean() const { return uint() != 0; }
  uint32_t fixed32() const;
  uint64_t fixed64() const;
  float float32() const;
  double float64() const;
  std::string_view bytes() const;
  std::string text() const { return std::string(bytes()); }
  WireReader message() const { return WireReader(bytes(), where_); }

  // Append the numbers of a repeated field, packed or not.
  void append_ints(std::vector<int64_t>& out) const;
  void append_floats(std::vector<float>& out) const;
  void append_doubles(std::vector<double>& out) const;

  [[noreturn]] void damaged(const std::string& problem) const;

 private:
  void expect(WireType type) const;

  std::string_view remaining_, where_, bytes_;
  int field_ = 0;
  WireType type_ = WireType::kVarint;
  uint64_t varint_or_size_ = 0;  // the value of a varint, or the size of bytes_
};

}  // namespace runhooks
