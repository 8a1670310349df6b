#include "data/data_fingerprint.h"

#include <algorithm>
#include <cstdio>

#include "base/fingerprint.h"
#include "base/number_text.h"
#include "data/in_memory.h"

namespace runhooks {

namespace {

uint64_t hash_bytes(const void* bytes, size_t size) {
  return size == 0 ? 0 : fingerprint64(std::string_view(static_cast<const char*>(bytes), size));
}

template <typename T>
uint64_t hash_vector(const std::vector<T>& items) {
  return hash_bytes(items.data(), items.size() * sizeof(T));
}

// Hashes the text of strings, because their codes depend on the strings that the process has read
// before.
uint64_t hash_strings(const Tensor& tensor) {
  const StringDictionary& dictionary = *tensor.dictionary();
  std::vector<uint64_t> hashes(static_cast<size_t>(dictionary.size()));  // by code
  std::vector<bool> is_hashed(hashes.size());
  uint64_t hash = 0;
  const int32_t* codes = tensor.data<int32_t>();
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const auto code = static_cast<size_t>(codes[i]);
    if (!is_hashed[code]) {
      is_hashed[code] = true;
      hashes[code] = fingerprint64(std::string_view(dictionary.at(codes[i])));
    }
    hash = fingerprint_cat64(hash, hashes[code]);
  }
  return hash;
}

uint64_t whole_file_fingerprint(InputFile& file) {
  std::vector<char> bytes(1 << 20);
  uint64_t hash = fingerprint64(static_cast<int64_t>(file.size())), offset = 0;
  while (const size_t got = file.read_at(offset, bytes.data(), bytes.size())) {
    hash = fingerprint_cat64(hash, hash_bytes(bytes.data(), got));
    offset += got;
  }
  return hash;
}

}  // namespace

void DataFingerprint::add(uint64_t part) { fingerprint_ = fingerprint_cat64(fingerprint_, part); }

void DataFingerprint::add(std::string_view text) { add(fingerprint64(text)); }

void DataFingerprint::add(const Tensor& tensor) {
  add(str_cat(dtype_name(tensor.dtype()), tensor.shape()));
  if (tensor.num_elements() == 0) return;
  add(tensor.dtype() == DType::kString ? hash_strings(tensor)
                                       : hash_bytes(tensor.raw(), tensor.num_bytes()));
}

void DataFingerprint::add(const InMemoryColumn& column) {
  if (column.views) {
    add(str_cat(dtype_name(column.dtype()), column.shape()));
    const auto rows = static_cast<size_t>(column.views->rows());
    for (const ColumnView& from : column.views->columns()) {
      add(from.doubles ? hash_bytes(from.doubles, rows * sizeof *from.doubles)
                       : hash_bytes(from.integers, rows * sizeof *from.integers));
    }
    return;
  }
  if (!column.sparse) {
    if (column.tensor.is_valid()) add(column.tensor);
    return;
  }
  const SparseRows& rows = *column.sparse;
  add(static_cast<uint64_t>(rows.width));
  add(hash_vector(rows.starts));
  add(hash_vector(rows.columns));
  add(hash_vector(rows.values));
}

std::string DataFingerprint::description() const {
  constexpr size_t kMaxDescribed = 5;
  std::vector<std::string> shown(
      descriptions_.begin(),
      descriptions_.begin() + static_cast<long>(std::min(kMaxDescribed, descriptions_.size())));
  if (descriptions_.size() > kMaxDescribed) {
    shown.push_back(
        str_cat(static_cast<unsigned long>(descriptions_.size() - kMaxDescribed), " more"));
  }
  if (shown.empty()) return "no data of its own";
  const std::string number = format_text("%016llx", static_cast<unsigned long long>(fingerprint_));
  return str_cat(str_join(shown, ", "), " (content ", number, ")");
}

void add_columns(DataFingerprint& fingerprint,
                 const std::vector<InMemoryColumn>& columns,
                 const LazyFingerprint& cache) {
  fingerprint.add(cache([&columns] {
    DataFingerprint columns_fingerprint;
    for (const InMemoryColumn& column : columns) columns_fingerprint.add(column);
    return columns_fingerprint.fingerprint();
  }));
  constexpr size_t kMaxDescribed = 8;
  std::vector<std::string> types;
  for (size_t k = 0; k < std::min(kMaxDescribed, columns.size()); ++k) {
    const bool is_bound = columns[k].sparse || columns[k].views || columns[k].tensor.is_valid();
    types.push_back(is_bound ? str_cat(dtype_name(columns[k].dtype()), columns[k].shape())
                             : "not known yet");
  }
  if (columns.size() > kMaxDescribed) types.push_back("...");
  fingerprint.describe("in memory " + str_join(types, ", "));
}

// --- files

uint64_t file_fingerprint(InputFile& file) {
  constexpr uint64_t kBlock = 4096, kBlocks = 16;
  const uint64_t size = file.size();
  uint64_t hash = fingerprint64(static_cast<int64_t>(size));
  char bytes[kBlock];
  const uint64_t last = size > kBlock ? size - kBlock : 0;
  // In a small file, the blocks overlap or touch, so all bytes are hashed.
  const uint64_t blocks = std::min(kBlocks, size / kBlock + 1);
  for (uint64_t i = 0; i < blocks; ++i) {
    const uint64_t offset = blocks == 1 ? 0 : last / (blocks - 1) * i;
    const size_t got = file.read_at(i + 1 == blocks ? last : offset, bytes, kBlock);
    hash = fingerprint_cat64(hash, hash_bytes(bytes, got));
  }
  return hash;
}

void FileFingerprints::refresh(const std::string& path, Entry& entry) {
  if (file_kind(path) != FileKind::kRegular) {
    entry = Entry();
    return;
  }
  const uint64_t size = file_size(path);
  const double time = modification_time(path);
  if (entry.exists && entry.size == size && entry.time == time) return;
  constexpr uint64_t kMaxWholeFile = uint64_t{256} << 20;
  InputFile file(path);
  const uint64_t fingerprint =
      size <= kMaxWholeFile ? whole_file_fingerprint(file)
                            : fingerprint_cat64(file_fingerprint(file),
                                                fingerprint64(static_cast<int64_t>(time * 1e6)));
  entry = {true, size, fingerprint, time};
}

void FileFingerprints::add_files_to(DataFingerprint& fingerprint,
                                    const std::vector<std::string>& paths) const {
  if (paths.empty()) return;  // the paths come from a graph tensor whose value is not known yet
  const std::lock_guard<std::mutex> lock(mutex_);
  entries_.resize(paths.size());
  uint64_t bytes = 0;
  size_t missing = 0;
  for (size_t i = 0; i < paths.size(); ++i) {
    refresh(paths[i], entries_[i]);
    fingerprint.add(entries_[i].fingerprint);
    bytes += entries_[i].size;
    missing += !entries_[i].exists && file_kind(paths[i]) != FileKind::kPipe;
  }
  constexpr size_t kNames = 3;
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(kNames, paths.size()); ++i) names.push_back(base_name(paths[i]));
  if (paths.size() > kNames) names.push_back("...");
  std::string text = str_cat(static_cast<unsigned long>(paths.size()),
                             paths.size() == 1 ? " file of " : " files of ",
                             static_cast<unsigned long>(bytes), " bytes (", str_join(names, ", "));
  if (missing > 0) text += str_cat("; not there: ", static_cast<unsigned long>(missing));
  fingerprint.describe(text + ")");
}

}  // namespace runhooks
