// Tensor bundles (checkpoints, version 2): a writer of one shard, a reader.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/file_access.h"
#include "io/checkpoint/bundle_format.h"
#include "io/files/atomic_file.h"

namespace runhooks {

// Writes PREFIX.data-00000-of-00001 and PREFIX.index, the same bytes that TensorFlow's Saver
// writes. The tensors are taken as they are when finish() runs; until then there is no file, and
// one that fails leaves none. Where a bundle of this name stands, its data file is never written
// to: one that holds the same stays as it is, and others get data files of other names
// (PREFIX.data-00000-of-00002), which come into effect with the new index, all at once.
class BundleWriter {
 public:
  explicit BundleWriter(std::string prefix) : prefix_(std::move(prefix)) {}

  void add(const std::string& name, const Tensor& tensor);
  // A part of the tensor `name`; one that is all of it is the same as add().
  void add_slice(const std::string& name,
                 const Shape& full_shape,
                 const TensorSlice& slice,
                 const Tensor& tensor);
  void finish();
  uint64_t bytes_written() const { return bytes_written_; }

 private:
  struct Item {
    std::string name;
    std::string key;
    Tensor tensor;
  };
  [[noreturn]] void throw_duplicate(const std::string& name) const;
  void add_item(const std::string& name, const std::string& key, const Tensor& tensor);
  std::map<std::string, BundleEntry> entries() const;
  void write(int num_shards);

  std::string prefix_;
  std::vector<Item> items_;
  std::map<std::string, BundleEntry> sliced_;
  std::set<std::string> keys_;
  uint64_t bytes_written_ = 0;
  bool finished_ = false;
};

class BundleReader {
 public:
  struct Info {
    std::string name;
    DType dtype;
    Shape shape;  // the full one
    bool is_sliced;
    std::vector<TensorSlice> slices;  // the parts it is kept in
  };

  // Reads the index; a file that is missing is kNotFound and is named.
  explicit BundleReader(std::string prefix, FileAccessPolicy rights = {});

  const std::string& prefix() const { return prefix_; }
  int num_shards() const { return static_cast<int>(shards_.size()); }
  // Whether it has just these entries, by their keys, wherever they lie.
  bool has_same(const std::map<std::string, BundleEntry>& entries) const;
  // Throws where a data file is shorter than the index says.
  void check_data_files() const;
  // In the order of their names.
  std::vector<Info> tensors() const;
  bool contains(const std::string& name) const { return entries_.count(name) > 0; }
  // Throws kNotFound where there is no such tensor.
  Info info(const std::string& name) const;
  // Checked against its checksum, put together where it is kept in parts.
  Tensor read(const std::string& name) const;
  // A part of it, however it is kept.
  Tensor read_slice(const std::string& name, const TensorSlice& slice) const;

 private:
  // A part of a tensor that has bytes of its own, and where it lies in the whole.
  struct Piece {
    TensorSlice place;
    const BundleEntry* entry;
  };
  void read_index();
  void find_shards(int num_shards);
  const BundleEntry& entry(const std::string& name) const;
  std::vector<Piece> pieces(const std::string& name, const BundleEntry& entry) const;
  // The data file that holds all bytes of the entry.
  InputFile& file_of(const std::string& name, const BundleEntry& entry) const;
  Tensor read_piece(const std::string& name,
                    const BundleEntry& entry,
                    const std::shared_ptr<StringDictionary>& dictionary) const;
  Tensor read_box(const std::string& name, const BundleEntry& entry, const TensorSlice& box) const;
  [[noreturn]] void damaged(const std::string& file,
                            const std::string& name,
                            const std::string& problem) const;

  std::string prefix_;
  FileAccessPolicy rights_;
  std::map<std::string, BundleEntry> entries_;              // by the names of tensors
  std::map<std::string, BundleEntry> parts_;                // by the keys of slices
  mutable std::vector<std::unique_ptr<InputFile>> shards_;  // opened when first read from
};

// Why what stands under this name is no checkpoint that can be read; "" where it is one. With
// `reads_all` all tensors are read.
std::string bundle_problem(const std::string& prefix, bool reads_all);
// Removes data files of this name that its index does not use.
void remove_unused_data_files(const std::string& prefix);

}  // namespace runhooks
