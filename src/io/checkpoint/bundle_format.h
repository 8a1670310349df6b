// Encodes and decodes the parts of a tensor bundle: index entries, keys of slices, and strings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace runhooks {

// A box within a tensor: start and length along each dimension.
struct TensorSlice {
  std::vector<int64_t> start, length;

  static TensorSlice whole(const Shape& shape);
  int rank() const { return static_cast<int>(start.size()); }
  int64_t num_elements() const;
  // Whether the slice is the whole tensor.
  bool covers(const Shape& shape) const;
  bool lies_within(const Shape& shape) const;
  bool operator==(const TensorSlice& o) const { return start == o.start && length == o.length; }
  std::string to_string() const;
};

struct BundleEntry {
  DType dtype = DType::kInvalid;
  Shape shape;
  int shard = 0;
  int64_t offset = 0, size = 0;
  uint32_t masked_crc = 0;
  // Slices of a partitioned tensor; each has a separate entry.
  std::vector<TensorSlice> slices;
  // Keys of the entries of the slices. A length that the file omits is -1 in the key.
  std::vector<std::string> slice_keys;
};

struct BundleHeader {
  int num_shards = 1;
  bool big_endian = false;
  int producer = 1, min_consumer = 0;
};

std::string write_bundle_header(const BundleHeader& header);
BundleHeader read_bundle_header(std::string_view bytes, const std::string& path);

std::string write_bundle_entry(const BundleEntry& entry);
// Throws kDataLoss, naming `path` and `name`, if the entry is invalid.
BundleEntry read_bundle_entry(std::string_view bytes,
                              const std::string& name,
                              const std::string& path);

// Returns the key of a slice's entry. Keys sort by name and then by the position of the slice.
std::string bundle_slice_key(const std::string& name, const TensorSlice& slice);

// Return PREFIX.index and a path such as PREFIX.data-00000-of-00001.
std::string bundle_index_path(const std::string& prefix);
std::string bundle_data_path(const std::string& prefix, int shard, int num_shards);

// A string tensor is stored as the lengths followed by the strings. `crc` is computed as TensorFlow
// does, and differs from the checksum of `bytes`.
struct EncodedStrings {
  std::string bytes;
  uint32_t crc = 0;
};
EncodedStrings encode_strings(const Tensor& tensor);
// Stores the strings in `tensor`, which must have a dictionary. FALSE if the bytes do not encode as
// many strings as the tensor has elements.
bool decode_strings(std::string_view bytes, Tensor& tensor, uint32_t* crc);

}  // namespace runhooks
