// Reads and writes tensor bundles, the files of version 2 checkpoints.
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

// Writes PREFIX.data-00000-of-00001 and PREFIX.index, byte for byte as TensorFlow's Saver does.
// finish() reads the tensors and creates the files; if it fails it leaves none. It never modifies
// the data files of an existing bundle. If an existing bundle has the same content, nothing is
// written. Otherwise the data get another file name (PREFIX.data-00000-of-00002), and renaming the
// index switches to the new data atomically.
class BundleWriter {
 public:
  explicit BundleWriter(std::string prefix) : prefix_(std::move(prefix)) {}

  void add(const std::string& name, const Tensor& tensor);
  // Adds one slice of the tensor `name`; a slice that covers the whole tensor equals add().
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
  std::map<std::string, BundleEntry> sliced_entries_;  // entries of tensors added by add_slice()
  std::set<std::string> keys_;
  uint64_t bytes_written_ = 0;
  bool finished_ = false;
};

class BundleReader {
 public:
  struct Info {
    std::string name;
    DType dtype;
    Shape shape;
    bool is_sliced;
    std::vector<TensorSlice> slices;  // empty unless is_sliced
  };

  // Reads the index. Throws kNotFound for a missing file.
  explicit BundleReader(std::string prefix, FileAccessPolicy policy = {});

  const std::string& prefix() const { return prefix_; }
  int num_shards() const { return static_cast<int>(shards_.size()); }
  // Whether the bundle has exactly these entries, regardless of their positions.
  bool has_same_content(const std::map<std::string, BundleEntry>& entries) const;
  // Throws if a data file is shorter than the index requires.
  void check_data_files() const;
  std::vector<Info> tensors() const;
  bool contains(const std::string& name) const { return entries_.count(name) > 0; }
  // Throws kNotFound if the tensor does not exist.
  Info info(const std::string& name) const;
  // Reads the whole tensor, also if the file contains it in slices. Throws if a checksum is wrong.
  Tensor read(const std::string& name) const;
  // Reads a slice of the tensor, which need not be a slice in the file.
  Tensor read_slice(const std::string& name, const TensorSlice& slice) const;

 private:
  struct StoredSlice {
    TensorSlice slice;
    const BundleEntry* entry;
  };
  void read_index();
  void check_shard_files(int num_shards);
  const BundleEntry& entry(const std::string& name) const;
  std::vector<StoredSlice> stored_slices(const std::string& name, const BundleEntry& entry) const;
  InputFile& file_of(const std::string& name, const BundleEntry& entry) const;
  Tensor read_stored_slice(const std::string& name,
                           const BundleEntry& entry,
                           const std::shared_ptr<StringDictionary>& dictionary) const;
  Tensor read_box(const std::string& name, const BundleEntry& entry, const TensorSlice& box) const;
  [[noreturn]] void throw_damaged(const std::string& file,
                                  const std::string& name,
                                  const std::string& problem) const;

  std::string prefix_;
  FileAccessPolicy policy_;
  std::map<std::string, BundleEntry> entries_;        // by the names of the tensors
  std::map<std::string, BundleEntry> slice_entries_;  // by the keys of the slices
  mutable std::vector<std::unique_ptr<InputFile>> shards_;
};

// Returns the reason why the bundle cannot be read; "" if it can be read. With `reads_all`, also
// reads every tensor.
std::string bundle_problem(const std::string& prefix, bool reads_all);
// Removes data files of this prefix that the index does not use.
void remove_unused_data_files(const std::string& prefix);

}  // namespace runhooks
