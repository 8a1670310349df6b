#include "io/checkpoint/bundle_format.h"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "base/number_text.h"
#include "io/files/crc32c.h"
#include "io/proto/tensor_proto.h"
#include "io/proto/wire.h"

namespace runhooks {

TensorSlice TensorSlice::whole(const Shape& shape) {
  TensorSlice slice;
  slice.length = shape.dims();
  slice.start.assign(slice.length.size(), 0);
  return slice;
}

int64_t TensorSlice::num_elements() const {
  int64_t n = 1;
  for (int64_t size : length) n *= size;
  return n;
}

bool TensorSlice::covers(const Shape& shape) const { return *this == whole(shape); }

bool TensorSlice::lies_within(const Shape& shape) const {
  if (rank() != shape.rank() || start.size() != length.size()) return false;
  for (int i = 0; i < rank(); ++i) {
    const auto at = static_cast<size_t>(i);
    const int64_t size = shape.dim(i);
    if (start[at] < 0 || length[at] < 0 || start[at] > size || length[at] > size - start[at]) {
      return false;
    }
  }
  return true;
}

std::string TensorSlice::to_string() const {
  std::string out;
  for (size_t i = 0; i < start.size(); ++i) {
    if (i) out += ",";
    out += str_cat(start[i], ":", length[i]);
  }
  return out;
}

std::string write_bundle_header(const BundleHeader& header) {
  WireWriter version, out;
  version.add_int(1, header.producer).add_int(2, header.min_consumer);
  return out.add_int(1, header.num_shards)
      .add_bool(2, header.big_endian)
      .put_message(3, version)
      .take();
}

BundleHeader read_bundle_header(std::string_view bytes, const std::string& path) {
  BundleHeader header;
  header.num_shards = 0;
  for (WireReader r(bytes, path); r.next();) {
    if (r.field() == 1) header.num_shards = r.int32();
    if (r.field() == 2) header.big_endian = r.boolean();
    if (r.field() != 3) continue;
    for (WireReader version = r.message(); version.next();) {
      if (version.field() == 1) header.producer = version.int32();
      if (version.field() == 2) header.min_consumer = version.int32();
    }
  }
  return header;
}

namespace {

WireWriter write_slice(const TensorSlice& slice) {
  WireWriter out;
  for (size_t i = 0; i < slice.start.size(); ++i) {
    out.put_message(1, WireWriter().add_int(1, slice.start[i]).put_int(2, slice.length[i]));
  }
  return out;
}

// Reads the position of a slice. In the file, a slice that spans a whole dimension may omit its
// length there. Such a length is -1 until resolve_slices() sets it.
TensorSlice read_slice(WireReader r) {
  TensorSlice slice;
  while (r.next()) {
    if (r.field() != 1) continue;
    int64_t start = 0, length = -1;
    for (WireReader extent = r.message(); extent.next();) {
      if (extent.field() == 1) start = extent.integer();
      if (extent.field() == 2) length = extent.integer();
    }
    slice.start.push_back(start);
    slice.length.push_back(length);
  }
  return slice;
}

// Sets the keys and missing lengths of an entry's slices; FALSE if a slice exceeds the tensor.
bool resolve_slices(const std::string& name, BundleEntry& entry) {
  for (TensorSlice& slice : entry.slices) {
    entry.slice_keys.push_back(bundle_slice_key(name, slice));
    for (int i = 0; i < std::min(slice.rank(), entry.shape.rank()); ++i) {
      const auto at = static_cast<size_t>(i);
      if (slice.length[at] == -1 && slice.start[at] == 0) slice.length[at] = entry.shape.dim(i);
    }
    if (!slice.lies_within(entry.shape)) return false;
  }
  return true;
}

}  // namespace

std::string write_bundle_entry(const BundleEntry& entry) {
  WireWriter out;
  out.add_int(1, static_cast<int>(entry.dtype));
  put_shape(out, 2, entry.shape);
  out.add_int(3, entry.shard).add_int(4, entry.offset).add_int(5, entry.size);
  out.add_fixed32(6, entry.masked_crc);
  for (const TensorSlice& slice : entry.slices) out.put_message(7, write_slice(slice));
  return out.take();
}

BundleEntry read_bundle_entry(std::string_view bytes,
                              const std::string& name,
                              const std::string& path) {
  BundleEntry entry;
  WireReader r(bytes, path);
  while (r.next()) {
    if (r.field() == 1) entry.dtype = static_cast<DType>(r.int32());
    if (r.field() == 2) entry.shape = read_shape(r.message());
    if (r.field() == 3) entry.shard = r.int32();
    if (r.field() == 4) entry.offset = r.integer();
    if (r.field() == 5) entry.size = r.integer();
    if (r.field() == 6) entry.masked_crc = r.fixed32();
    if (r.field() == 7) entry.slices.push_back(read_slice(r.message()));
  }
  if (!entry.shape.is_fully_defined()) {
    r.damaged(str_cat("tensor '", name, "' has shape ", entry.shape));
  }
  checked_num_elements(entry.shape, r);
  if (entry.offset < 0 || entry.size < 0 ||
      entry.offset > std::numeric_limits<int64_t>::max() - entry.size) {
    r.damaged(str_cat("tensor '", name, "' has ", entry.size, " bytes at ", entry.offset));
  }
  if (!resolve_slices(name, entry)) {
    r.damaged(str_cat("a slice of tensor '", name, "' does not lie in its shape ", entry.shape));
  }
  return entry;
}

namespace {

// Appends a number in an order-preserving encoding: the encoded bytes sort in the order of values.
void append_ordered_unsigned(std::string& out, uint64_t value) {
  std::string digits;
  for (; value; value >>= 8) digits.insert(digits.begin(), static_cast<char>(value & 0xff));
  out += static_cast<char>(digits.size());
  out += digits;
}

void append_ordered_string(std::string& out, std::string_view text) {
  for (char c : text) {
    out += c;
    if (c == '\0') out += '\xff';
    if (c == '\xff') out += '\0';
  }
  out.append("\0\1", 2);
}

// Like append_ordered_unsigned(), for signed numbers. Writes two's complement with n bytes and
// inverts the first n bits. They encode sign and length, so 7 n - 1 bits remain for the value.
void append_ordered_signed(std::string& out, int64_t value) {
  const uint64_t magnitude = static_cast<uint64_t>(value < 0 ? ~value : value);
  int n = 1;
  while (n < 10 && magnitude >= uint64_t{1} << (7 * n - 1)) ++n;
  char bytes[10];
  for (int i = 0; i < n; ++i) {
    const int shift = 8 * (n - 1 - i);
    const uint64_t part =
        shift < 64 ? static_cast<uint64_t>(value) >> shift : (value < 0 ? ~0ull : 0);
    bytes[i] = static_cast<char>(part & 0xff);
  }
  const unsigned header = 0xffffu << (16 - n) & 0xffffu;
  bytes[0] = static_cast<char>(bytes[0] ^ static_cast<char>(header >> 8));
  if (n > 1) bytes[1] = static_cast<char>(bytes[1] ^ static_cast<char>(header & 0xff));
  out.append(bytes, static_cast<size_t>(n));
}

}  // namespace

std::string bundle_slice_key(const std::string& name, const TensorSlice& slice) {
  std::string key;
  append_ordered_unsigned(key, 0);
  append_ordered_string(key, name);
  append_ordered_unsigned(key, slice.start.size());
  for (size_t i = 0; i < slice.start.size(); ++i) {
    append_ordered_signed(key, slice.start[i]);
    append_ordered_signed(key, slice.length[i]);
  }
  return key;
}

std::string bundle_index_path(const std::string& prefix) { return prefix + ".index"; }

std::string bundle_data_path(const std::string& prefix, int shard, int num_shards) {
  return prefix + format_text(".data-%05d-of-%05d", shard, num_shards);
}

namespace {

// Extends a checksum by the length of a string. As in TensorFlow, it covers the length as a
// fixed-width number, although the file stores a varint.
uint32_t extend_with_length(uint32_t crc, uint64_t length) {
  std::string bytes;
  if (length > std::numeric_limits<uint32_t>::max())
    append_fixed64(bytes, length);
  else
    append_fixed32(bytes, static_cast<uint32_t>(length));
  return crc32c_extend(crc, bytes.data(), bytes.size());
}

}  // namespace

EncodedStrings encode_strings(const Tensor& tensor) {
  EncodedStrings out;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const size_t length = tensor.string_at(i).size();
    append_varint(out.bytes, length);
    out.crc = extend_with_length(out.crc, length);
  }
  const size_t lengths = out.bytes.size();
  append_fixed32(out.bytes, mask_crc(out.crc));
  for (int64_t i = 0; i < tensor.num_elements(); ++i) out.bytes += tensor.string_at(i);
  out.crc = crc32c_extend(out.crc, out.bytes.data() + lengths, out.bytes.size() - lengths);
  return out;
}

bool decode_strings(std::string_view bytes, Tensor& tensor, uint32_t* crc) {
  const auto count = static_cast<size_t>(tensor.num_elements());
  std::vector<uint64_t> lengths(count);
  uint32_t lengths_crc = 0;
  for (uint64_t& length : lengths) {
    if (!take_varint(bytes, &length)) return false;
    lengths_crc = extend_with_length(lengths_crc, length);
  }
  if (bytes.size() < 4 || load_fixed32(bytes.data()) != mask_crc(lengths_crc)) return false;
  *crc = crc32c_extend(lengths_crc, bytes.data(), bytes.size());
  bytes.remove_prefix(4);
  for (size_t i = 0; i < count; ++i) {
    if (lengths[i] > bytes.size()) return false;
    tensor.data<int32_t>()[i] = tensor.dictionary()->code(bytes.substr(0, lengths[i]));
    bytes.remove_prefix(lengths[i]);
  }
  return bytes.empty();
}

}  // namespace runhooks
