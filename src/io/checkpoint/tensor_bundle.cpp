#include "io/checkpoint/tensor_bundle.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/interrupt.h"
#include "base/parallel_for.h"
#include "base/suggestions.h"
#include "io/checkpoint/table.h"
#include "io/files/crc32c.h"
#include "io/proto/tensor_proto.h"

namespace runhooks {

void BundleWriter::throw_duplicate(const std::string& name) const {
  invalid_argument("Checkpoint '", prefix_, "' already has a tensor '", name, "'.");
}

void BundleWriter::add_item(const std::string& name, const std::string& key, const Tensor& tensor) {
  if (finished_) {
    fail(Code::kFailedPrecondition, "The checkpoint '", prefix_, "' has already been written.");
  }
  if (name.empty()) invalid_argument("A tensor in checkpoint '", prefix_, "' needs a name.");
  if (!tensor.is_valid() || dtype_size(tensor.dtype()) == 0) {
    invalid_argument("Tensor '", name, "' of type ", dtype_name(tensor.dtype()),
                     " cannot be saved to checkpoint '", prefix_, "'.");
  }
  if (!keys_.insert(key).second) throw_duplicate(name);
  items_.push_back({name, key, tensor});
}

void BundleWriter::add(const std::string& name, const Tensor& tensor) {
  add_item(name, name, tensor);
}

void BundleWriter::add_slice(const std::string& name,
                             const Shape& full_shape,
                             const TensorSlice& slice,
                             const Tensor& tensor) {
  if (!slice.lies_within(full_shape)) {
    invalid_argument("Slice ", slice.to_string(), " does not lie in the shape ", full_shape,
                     " of tensor '", name, "'.");
  }
  const auto previous = sliced_entries_.find(name);
  const bool is_first = previous == sliced_entries_.end();
  const DType dtype = is_first ? tensor.dtype() : previous->second.dtype;
  const Shape& shape = is_first ? full_shape : previous->second.shape;
  if (dtype != tensor.dtype() || shape != full_shape || tensor.shape() != Shape(slice.length)) {
    invalid_argument("Slice ", slice.to_string(), " of tensor '", name, "' is ",
                     dtype_name(tensor.dtype()), " of shape ", tensor.shape(), "; expected ",
                     dtype_name(dtype), " of shape ", shape, ".");
  }
  if (slice.covers(full_shape)) return add(name, tensor);
  if (is_first && keys_.count(name)) throw_duplicate(name);
  add_item(name, bundle_slice_key(name, slice), tensor);
  BundleEntry& entry = sliced_entries_[name];
  entry.dtype = dtype;
  entry.shape = full_shape;
  entry.slices.push_back(slice);
  keys_.insert(name);
}

namespace {

// Returns the existing bundle with this prefix, or NULL if it is missing or unreadable.
std::unique_ptr<BundleReader> existing_bundle(const std::string& prefix) {
  try {
    if (!file_exists(bundle_index_path(prefix))) return nullptr;
    auto current = std::make_unique<BundleReader>(prefix);
    current->check_data_files();
    return current;
  } catch (const Error&) {
    return nullptr;
  }
}

void remove_data_files(const std::string& prefix, int num_shards) {
  for (int i = 0; i < num_shards; ++i) {
    std::error_code ignored;  // called after another error, which the caller rethrows
    std::filesystem::remove(fs_path(bundle_data_path(prefix, i, num_shards)), ignored);
  }
}

// Builds the entry except its position in the file, and passes the encoded tensor to
// `consume_bytes`.
template <typename ConsumeBytes>
BundleEntry describe_tensor(const Tensor& tensor, ConsumeBytes consume_bytes) {
  BundleEntry entry;
  entry.dtype = tensor.dtype();
  entry.shape = tensor.shape();
  EncodedStrings strings;
  Tensor copy;
  std::string_view bytes;
  if (tensor.dtype() == DType::kString) {
    strings = encode_strings(tensor);
    bytes = strings.bytes;
  } else {
    bytes = tensor_bytes(tensor, copy);
    strings.crc = crc32c_parallel(bytes.data(), bytes.size());
  }
  entry.size = static_cast<int64_t>(bytes.size());
  entry.masked_crc = mask_crc(strings.crc);
  consume_bytes(bytes);
  return entry;
}

}  // namespace

std::map<std::string, BundleEntry> BundleWriter::entries() const {
  std::map<std::string, BundleEntry> all = sliced_entries_;
  for (const Item& item : items_)
    all[item.key] = describe_tensor(item.tensor, [](std::string_view) {});
  return all;
}

void BundleWriter::finish() {
  create_directories(parent_folder(prefix_));
  // Same order as TensorFlow's Saver: sorted by name, slices in order.
  std::stable_sort(items_.begin(), items_.end(),
                   [](const Item& a, const Item& b) { return a.name < b.name; });
  const bool had_index = file_exists(bundle_index_path(prefix_));
  const std::unique_ptr<BundleReader> current = existing_bundle(prefix_);
  // An equal index is not enough: the data files could be damaged.
  const bool is_up_to_date =
      current && current->has_same_content(entries()) && bundle_problem(prefix_, true).empty();
  if (!is_up_to_date) {
    // Data file names contain the number of shards. Uses another number than the existing bundle,
    // so that its data files are not overwritten.
    const int num_shards = current && current->num_shards() == 1 ? 2 : 1;
    write(num_shards);
    if (had_index || file_exists(bundle_data_path(prefix_, 0, 3 - num_shards))) {
      remove_unused_data_files(prefix_);
    }
  }
  finished_ = true;
  items_.clear();
}

// Writes all data to shard 0. If `num_shards` is 2, the second shard is empty. It only changes the
// file names, which contain the number of shards. So the data of an existing bundle with one shard
// are not overwritten.
void BundleWriter::write(int num_shards) {
  AtomicFile data(bundle_data_path(prefix_, 0, num_shards)), index(bundle_index_path(prefix_));
  std::map<std::string, std::string> entries;
  for (const Item& item : items_) {
    const auto offset = static_cast<int64_t>(data.bytes_written());
    BundleEntry entry =
        describe_tensor(item.tensor, [&data](std::string_view bytes) { data.write(bytes); });
    entry.offset = offset;
    entries[item.key] = write_bundle_entry(entry);
  }
  for (const auto& sliced : sliced_entries_)
    entries[sliced.first] = write_bundle_entry(sliced.second);
  TableBuilder table;
  BundleHeader header;
  header.num_shards = num_shards;
  table.add("", write_bundle_header(header));
  for (const auto& entry : entries) table.add(entry.first, entry.second);
  index.write(table.finish());
  // The index makes the checkpoint visible, so the data file is renamed first. Both are synced
  // before, so that only a rename can still fail.
  data.finish();
  index.finish();
  try {
    for (int i = 1; i < num_shards; ++i) {
      write_file_atomically(bundle_data_path(prefix_, i, num_shards), "");
    }
    data.commit();
    index.commit();
  } catch (const Error&) {
    remove_data_files(prefix_, num_shards);
    throw;
  }
  bytes_written_ = data.bytes_written() + index.bytes_written();
}

std::string bundle_problem(const std::string& prefix, bool reads_all) {
  try {
    const BundleReader reader(prefix);
    reader.check_data_files();
    const auto all = reads_all ? reader.tensors() : std::vector<BundleReader::Info>();
    for (const BundleReader::Info& tensor : all) reader.read(tensor.name);
    return "";
  } catch (const Error& error) {
    return error.message();
  }
}

void remove_unused_data_files(const std::string& prefix) {
  std::set<std::string> used_names;
  try {
    const int num_shards = BundleReader(prefix).num_shards();
    for (int i = 0; i < num_shards; ++i) {
      used_names.insert(base_name(bundle_data_path(prefix, i, num_shards)));
    }
  } catch (const Error&) {
    return;  // without the index, the files in use are unknown
  }
  const std::string folder = parent_folder(prefix), begin = base_name(prefix) + ".data-";
  for (const std::string& name : list_names_with_prefix(folder, begin)) {
    const bool is_data = name.size() == used_names.begin()->size();
    if (is_data && used_names.count(name) == 0) remove_file(join_path(folder, name));
  }
}

void BundleReader::throw_damaged(const std::string& file,
                                 const std::string& name,
                                 const std::string& problem) const {
  fail(Code::kDataLoss, "Damaged checkpoint '", file, "': tensor '", name, "' ", problem, ".");
}

BundleReader::BundleReader(std::string prefix, FileAccessPolicy policy)
    : prefix_(std::move(prefix)), policy_(std::move(policy)) {
  read_index();
}

void BundleReader::read_index() {
  const std::string path = bundle_index_path(prefix_);
  const TableEntries table = read_table(read_whole_file(policy_.readable(path)), path);
  if (table.empty() || !table[0].first.empty()) {
    fail(Code::kDataLoss, "Damaged checkpoint '", path, "': its first entry is not a header.");
  }
  const BundleHeader header = read_bundle_header(table[0].second, path);
  if (header.big_endian || header.min_consumer > 1) {
    fail(Code::kUnimplemented, "The checkpoint '", path, "' ",
         header.big_endian ? "was written on a big-endian machine"
                           : "needs a newer version of runhooks",
         "; it cannot be read.");
  }
  for (size_t i = 1; i < table.size(); ++i) {
    const std::string& key = table[i].first;
    const bool is_slice = key[0] == '\0';
    const std::string name = is_slice ? "(a slice)" : key;
    (is_slice ? slice_entries_ : entries_)[key] = read_bundle_entry(table[i].second, name, path);
  }
  check_shard_files(header.num_shards);
}

void BundleReader::check_shard_files(int num_shards) {
  constexpr int kMaxShards = 99999;  // file names have five digits
  if (num_shards < 0 || num_shards > kMaxShards) {
    fail(Code::kDataLoss, "Damaged checkpoint '", bundle_index_path(prefix_), "': it has ",
         num_shards, " data files.");
  }
  shards_.resize(static_cast<size_t>(num_shards));
  for (int i = 0; i < num_shards; ++i) {
    const std::string path = policy_.readable(bundle_data_path(prefix_, i, num_shards));
    if (!file_exists(path)) throw_system("Cannot read", path, ENOENT);
  }
}

bool BundleReader::has_same_content(const std::map<std::string, BundleEntry>& entries) const {
  std::map<std::string, BundleEntry> all_entries = entries_;
  all_entries.insert(slice_entries_.begin(), slice_entries_.end());
  return std::equal(all_entries.begin(), all_entries.end(), entries.begin(), entries.end(),
                    [](const auto& a, const auto& b) {
                      return a.first == b.first && a.second.dtype == b.second.dtype &&
                             a.second.shape == b.second.shape && a.second.size == b.second.size &&
                             a.second.masked_crc == b.second.masked_crc &&
                             a.second.slices == b.second.slices;
                    });
}

void BundleReader::check_data_files() const {
  for (const auto* entries : {&entries_, &slice_entries_}) {
    for (const auto& [name, entry] : *entries) {
      if (entry.slices.empty()) file_of(name, entry);
    }
  }
}

std::vector<BundleReader::Info> BundleReader::tensors() const {
  std::vector<Info> infos;
  for (const auto& item : entries_) infos.push_back(info(item.first));
  return infos;
}

BundleReader::Info BundleReader::info(const std::string& name) const {
  const BundleEntry& tensor = entry(name);
  return {name, tensor.dtype, tensor.shape, !tensor.slices.empty(), tensor.slices};
}

const BundleEntry& BundleReader::entry(const std::string& name) const {
  const auto entry = entries_.find(name);
  if (entry != entries_.end()) return entry->second;
  std::vector<std::string> names;
  for (const auto& item : entries_) names.push_back(item.first);
  std::vector<std::string> hints = did_you_mean(name, names);
  names.resize(std::min<size_t>(names.size(), 10));
  hints.push_back(str_cat("It holds ", entries_.size(), " tensors", names.empty() ? "" : ": ",
                          str_join(names, ", "), entries_.size() > names.size() ? ", ..." : "."));
  throw Error(Code::kNotFound, str_cat("Key ", name, " not found in checkpoint '", prefix_, "'."),
              hints);
}

std::vector<BundleReader::StoredSlice> BundleReader::stored_slices(const std::string& name,
                                                                   const BundleEntry& entry) const {
  if (entry.slices.empty()) return {{TensorSlice::whole(entry.shape), &entry}};
  std::vector<StoredSlice> stored_slices;
  for (size_t i = 0; i < entry.slices.size(); ++i) {
    const TensorSlice& slice = entry.slices[i];
    const auto stored = slice_entries_.find(entry.slice_keys[i]);
    if (stored == slice_entries_.end() || stored->second.dtype != entry.dtype ||
        stored->second.shape.dims() != slice.length) {
      throw_damaged(bundle_index_path(prefix_), name,
                    "has no entry for its slice " + slice.to_string());
    }
    stored_slices.push_back({slice, &stored->second});
  }
  return stored_slices;
}

InputFile& BundleReader::file_of(const std::string& name, const BundleEntry& entry) const {
  if (entry.shard < 0 || static_cast<size_t>(entry.shard) >= shards_.size()) {
    throw_damaged(bundle_index_path(prefix_), name,
                  str_cat("is in data file ", entry.shard, " of ", shards_.size()));
  }
  std::unique_ptr<InputFile>& shard = shards_[static_cast<size_t>(entry.shard)];
  if (!shard) {
    const auto count = static_cast<int>(shards_.size());
    const std::string path = bundle_data_path(prefix_, entry.shard, count);
    shard = std::make_unique<InputFile>(policy_.readable(path));
  }
  InputFile& file = *shard;
  const auto end = static_cast<uint64_t>(entry.offset + entry.size);
  if (end > file.size()) {
    throw_damaged(
        file.path(), name,
        str_cat("needs ", end, " bytes of the file, which has ", file.size(), ": it is truncated"));
  }
  return file;
}

namespace {

// Reads up to `size` bytes and computes their checksum. Reads several chunks in parallel, and
// checks for interrupts between these rounds.
size_t read_with_crc(InputFile& file, uint64_t offset, char* to, size_t size, uint32_t* crc) {
  constexpr size_t kChunkBytes = size_t{1} << 20, kMaxChunks = 8;
  struct Chunk {
    int64_t num_read = 0;
    int error = 0;
    uint32_t crc = 0;
  };
  *crc = 0;
  size_t num_read = 0;
  while (num_read < size) {
    if (num_read > 0) check_interrupt();
    const size_t begin = num_read,
                 round_bytes = std::min(size - num_read, kMaxChunks * kChunkBytes);
    const auto size_of = [=](size_t i) {
      return std::min(kChunkBytes, round_bytes - i * kChunkBytes);
    };
    const size_t count = (round_bytes - 1) / kChunkBytes + 1;
    std::array<Chunk, kMaxChunks> chunks;
    parallel_for(static_cast<int64_t>(count), [&](int64_t chunk_index) {
      const auto i = static_cast<size_t>(chunk_index);
      const size_t at = begin + i * kChunkBytes;
      Chunk& chunk = chunks[i];
      chunk.num_read = file.read_at_thread_safe(offset + at, to + at, size_of(i));
      if (chunk.num_read < 0) chunk.error = errno;
      if (chunk.num_read > 0) chunk.crc = crc32c(to + at, static_cast<size_t>(chunk.num_read));
    });
    for (size_t i = 0; i < count; ++i) {
      if (chunks[i].num_read < 0) throw_system("Cannot read", file.path(), chunks[i].error);
      const auto chunk_size = static_cast<size_t>(chunks[i].num_read);
      *crc = crc32c_combine(*crc, chunks[i].crc, chunk_size);
      num_read += chunk_size;
      if (chunk_size < size_of(i)) return num_read;
    }
  }
  return num_read;
}

Tensor read_numbers(InputFile& file, const BundleEntry& entry, uint32_t* crc) {
  Tensor tensor(entry.dtype, entry.shape);
  const size_t num_read = read_with_crc(file, static_cast<uint64_t>(entry.offset),
                                        static_cast<char*>(tensor.raw()), tensor.num_bytes(), crc);
  swap_on_big_endian(tensor.raw(), dtype_size(entry.dtype),
                     static_cast<size_t>(tensor.num_elements()));
  if (entry.dtype == DType::kBool) {
    // Reading a bool whose byte is neither 0 nor 1 would be undefined behaviour.
    auto* bytes = static_cast<uint8_t*>(tensor.raw());
    for (size_t i = 0; i < num_read; ++i) bytes[i] = bytes[i] != 0;
  }
  return tensor;
}

bool read_strings(InputFile& file, const BundleEntry& entry, Tensor& tensor, uint32_t* crc) {
  std::string bytes(static_cast<size_t>(entry.size), '\0');
  file.read_at(static_cast<uint64_t>(entry.offset), bytes.data(), bytes.size());
  return decode_strings(bytes, tensor, crc);
}

}  // namespace

Tensor BundleReader::read_stored_slice(const std::string& name,
                                       const BundleEntry& entry,
                                       const std::shared_ptr<StringDictionary>& dictionary) const {
  const bool is_string = entry.dtype == DType::kString;
  const int64_t count = entry.shape.num_elements();
  const auto element = static_cast<int64_t>(dtype_size(entry.dtype));
  if (is_string ? entry.size < count : entry.size != count * element) {
    throw_damaged(bundle_index_path(prefix_), name,
                  str_cat("of type ", dtype_name(entry.dtype), " and shape ", entry.shape, " has ",
                          entry.size, " bytes"));
  }
  InputFile& file = file_of(name, entry);
  uint32_t crc = 0;
  Tensor tensor;
  if (is_string) {
    tensor = Tensor(entry.dtype, entry.shape);
    tensor.set_dictionary(dictionary);
    if (!read_strings(file, entry, tensor, &crc)) {
      throw_damaged(file.path(), name, "has strings that do not match their lengths");
    }
  } else {
    tensor = read_numbers(file, entry, &crc);
  }
  if (mask_crc(crc) != entry.masked_crc)
    throw_damaged(file.path(), name, "does not match its checksum");
  return tensor;
}

namespace {

bool intersect(const TensorSlice& a, const TensorSlice& b, TensorSlice* common) {
  common->start.clear();
  common->length.clear();
  for (size_t i = 0; i < a.start.size(); ++i) {
    const int64_t begin = std::max(a.start[i], b.start[i]);
    const int64_t end = std::min(a.start[i] + a.length[i], b.start[i] + b.length[i]);
    if (end <= begin) return false;
    common->start.push_back(begin);
    common->length.push_back(end - begin);
  }
  return true;
}

// Copies the elements in `box` from one slice of a tensor to another. The box and the two slices
// are given in coordinates of the full tensor.
void copy_box(const TensorSlice& box,
              const Tensor& from,
              const TensorSlice& from_slice,
              Tensor& to,
              const TensorSlice& to_slice) {
  const size_t element = dtype_size(from.dtype());
  const auto rank = box.start.size();
  const size_t row = rank ? static_cast<size_t>(box.length[rank - 1]) : 1;
  const int64_t rows = box.num_elements() / static_cast<int64_t>(row);
  std::vector<int64_t> at = box.start;
  const auto offset_in = [&](const TensorSlice& slice) {
    int64_t offset = 0;
    for (size_t i = 0; i < rank; ++i) offset = offset * slice.length[i] + at[i] - slice.start[i];
    return static_cast<size_t>(offset) * element;
  };
  for (int64_t r = 0; r < rows; ++r) {
    std::memcpy(static_cast<char*>(to.raw()) + offset_in(to_slice),
                static_cast<const char*>(from.raw()) + offset_in(from_slice), row * element);
    for (size_t i = rank; i-- > 1;) {
      if (++at[i - 1] < box.start[i - 1] + box.length[i - 1]) break;
      at[i - 1] = box.start[i - 1];
    }
  }
}

}  // namespace

Tensor BundleReader::read_box(const std::string& name,
                              const BundleEntry& entry,
                              const TensorSlice& box) const {
  const auto dictionary = std::make_shared<StringDictionary>();
  const std::vector<StoredSlice> all = stored_slices(name, entry);
  for (const StoredSlice& stored_slice : all) {
    if (stored_slice.slice == box) return read_stored_slice(name, *stored_slice.entry, dictionary);
  }
  // Checks before allocating, so that a damaged file cannot cause a large allocation.
  int64_t missing = box.num_elements();
  TensorSlice common;
  for (const StoredSlice& stored_slice : all) {
    if (intersect(stored_slice.slice, box, &common)) missing -= common.num_elements();
  }
  if (missing != 0) {
    throw_damaged(bundle_index_path(prefix_), name, "has slices that do not cover all of it");
  }
  Tensor tensor = Tensor::zeros(entry.dtype, Shape(box.length));
  if (entry.dtype == DType::kString) {
    dictionary->code("");
    tensor.set_dictionary(dictionary);
  }
  for (const StoredSlice& stored_slice : all) {
    if (!intersect(stored_slice.slice, box, &common)) continue;
    copy_box(common, read_stored_slice(name, *stored_slice.entry, dictionary), stored_slice.slice,
             tensor, box);
  }
  return tensor;
}

Tensor BundleReader::read(const std::string& name) const {
  return read_slice(name, TensorSlice::whole(entry(name).shape));
}

Tensor BundleReader::read_slice(const std::string& name, const TensorSlice& slice) const {
  const BundleEntry& tensor = entry(name);
  if (dtype_size(tensor.dtype) == 0) {
    fail(Code::kUnimplemented, "Tensor '", name, "' in checkpoint '", prefix_, "' has data type ",
         static_cast<int>(tensor.dtype), ", which runhooks does not support.");
  }
  if (!slice.lies_within(tensor.shape)) {
    invalid_argument("Slice ", slice.to_string(), " does not lie in the shape ", tensor.shape,
                     " of tensor '", name, "' in checkpoint '", prefix_, "'.");
  }
  return read_box(name, tensor, slice);
}

}  // namespace runhooks
