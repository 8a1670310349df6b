#include "data/resumable_input.h"

#include "base/fingerprint.h"
#include "base/log.h"

namespace runhooks {

namespace {

uint64_t of_bytes(const void* bytes, size_t size) {
  return fingerprint64(std::string_view(static_cast<const char*>(bytes), size));
}

// By their words: codes depend on what else the process has read.
uint64_t of_strings(const Tensor& tensor) {
  const StringDictionary& dictionary = *tensor.dictionary();
  std::vector<uint64_t> words(static_cast<size_t>(dictionary.size()));
  std::vector<bool> is_known(words.size());
  uint64_t all = 0;
  const int32_t* codes = tensor.data<int32_t>();
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const auto code = static_cast<size_t>(codes[i]);
    if (!is_known[code]) {
      is_known[code] = true;
      words[code] = fingerprint64(std::string_view(dictionary.at(codes[i])));
    }
    all = fingerprint_cat64(all, words[code]);
  }
  return all;
}

uint64_t of_column(const InMemoryColumn& column) {
  if (column.sparse) {
    const SparseRows& rows = *column.sparse;
    const uint64_t starts = of_bytes(rows.starts.data(), rows.starts.size() * sizeof(int64_t));
    const uint64_t columns = of_bytes(rows.columns.data(), rows.columns.size() * sizeof(int32_t));
    const uint64_t values = of_bytes(rows.values.data(), rows.values.size() * sizeof(double));
    return fingerprint_cat64(fingerprint_cat64(starts, columns), values);
  }
  const Tensor& tensor = column.tensor;
  if (tensor.num_elements() == 0) return 0;
  if (tensor.dtype() == DType::kString) return of_strings(tensor);
  return of_bytes(tensor.raw(), tensor.num_bytes());
}

class ResumableInput : public Saveable {
 public:
  ResumableInput(SaveablePtr position, uint64_t content, int64_t rows, int64_t num_epochs)
      : position_(std::move(position)),
        content_(static_cast<int64_t>(content)),
        rows_(rows),
        num_epochs_(num_epochs) {}

  const std::string& name() const override { return position_->name(); }

  std::vector<SaveSpec> save(ResourceManager& resources) override {
    std::vector<SaveSpec> specs = position_->save(resources);
    has_saved_ = true;
    const int64_t epoch = integer_of(specs, "state/epoch");
    const bool at_row_end = integer_of(specs, "state/position") == rows_;
    const bool ended = num_epochs_ > 0 && epoch + (at_row_end ? 1 : 0) >= num_epochs_;
    specs.push_back({name() + "content", Tensor::scalar(content_), nullptr});
    specs.push_back({name() + "ended", Tensor::scalar(static_cast<int64_t>(ended)), nullptr});
    return specs;
  }

  Assign read(const TensorSource& source, const ResourceManager& resources) override {
    const auto found = [&](const char* part) { return source.find(name() + part).has_value(); };
    if (!found("content") || !found("ended")) return {};
    // a session that took the place of a lost one: its training has not ended
    if (has_saved_) return position_->read(source, resources);
    if (integer_in(source, "ended") != 0) return {};
    const char* kAnew = "The training before stopped in the middle of ";
    if (integer_in(source, "content") != content_) {
      log_always(LogLevel::kInfo, str_cat(kAnew, "other data; these begin at the first row."));
      return {};
    }
    try {
      return position_->read(source, resources);
    } catch (const Error& error) {
      if (error.code() != Code::kFailedPrecondition) throw;
      log_always(LogLevel::kInfo,
                 str_cat(kAnew, "data that were read in another way; they begin anew. ",
                         str_join(error.hints(), " ")));
      return {};
    }
  }

 private:
  int64_t integer_of(const std::vector<SaveSpec>& specs, const char* part) const {
    NamedTensors state;
    for (const SaveSpec& spec : specs) state[spec.name] = spec.tensor;
    return state_integer(state, name() + part);
  }
  int64_t integer_in(const TensorSource& source, const char* part) const {
    return state_integer({{part, source.read(name() + part)}}, part);
  }

  SaveablePtr position_;
  int64_t content_, rows_, num_epochs_;
  bool has_saved_ = false;
};

}  // namespace

uint64_t content_fingerprint(const std::vector<InMemoryColumn>& columns,
                             const std::vector<std::string>& names) {
  uint64_t all = fingerprint64(std::string_view(str_join(names, "\n")));
  for (const InMemoryColumn& column : columns) all = fingerprint_cat64(all, of_column(column));
  return all;
}

SaveablePtr make_resumable_input(const Output& handle,
                                 uint64_t content,
                                 int64_t rows,
                                 int64_t num_epochs) {
  return std::make_shared<ResumableInput>(make_saveable_from_iterator(handle), content, rows,
                                          num_epochs);
}

}  // namespace runhooks
