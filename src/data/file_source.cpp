#include "data/file_source.h"

#include <algorithm>

#include "base/interrupt.h"
#include "base/log.h"
#include "io/files/atomic_file.h"

namespace runhooks {

namespace {

// Returns the strings of an argument, which are R strings or a tensor. If the tensor has no value
// yet, returns an empty vector.
std::vector<std::string> strings_argument(const Args& args, const std::string& name) {
  const Value* value = args.find(name);
  const Output* free_tensor = value ? value->get_if<Output>() : nullptr;
  const Tensor* tensor = value ? value->get_if<Tensor>() : nullptr;
  if (!free_tensor && !tensor) return args.texts(name);
  const DType dtype = free_tensor ? free_tensor->dtype() : tensor->dtype();
  const Shape& shape = free_tensor ? free_tensor->shape() : tensor->shape();
  if (dtype != DType::kString || (shape.has_rank() && shape.rank() > 1)) {
    invalid_argument(args.label(name), " must be a string or a vector of strings, not ",
                     dtype_name(dtype), " of shape ", shape, ".");
  }
  if (free_tensor) return {};
  std::vector<std::string> result;
  for (int64_t i = 0; i < tensor->num_elements(); ++i) result.push_back(tensor->string_at(i));
  return result;
}

}  // namespace

FileSource::FileSource(const Args& args) : files_(strings_argument(args, "filenames")) {
  compression_ = compression_from_name(args.text("compression_type", ""));
  accepts_streams_ = args.flag("stream", false);
  const std::string on_error = args.text("on_error", "stop");
  skips_errors_ = on_error == "skip";
  if (!skips_errors_ && on_error != "stop") {
    invalid_argument("`on_error` of ", args.owner(), " must be \"stop\" or \"skip\", not \"",
                     on_error, "\".");
  }
}

// --- FileCursor

bool FileCursor::open_next() {
  if (records_) return true;
  if (file_index_ >= source_.files().size()) return false;
  open();
  return true;
}

void FileCursor::open() {
  const std::string& path = source_.files()[file_index_];
  const FileKind kind = file_kind(path);
  is_stream_ = source_.accepts_streams() && (kind == FileKind::kPipe || kind == FileKind::kDevice);
  was_streamed_.resize(source_.files().size());
  if (was_streamed_[file_index_]) throw_stream_error("it can be read only once");
  if (is_stream_) {
    was_streamed_[file_index_] = true;
    size_ = fingerprint_ = 0;
  } else {
    InputFile file(path);
    size_ = file.size();
    fingerprint_ = file_fingerprint(file);
  }
  records_ = source_.open({path, is_stream_});
}

void FileCursor::throw_stream_error(const char* reason) const {
  throw Error(Code::kFailedPrecondition,
              str_cat("'", source_.files()[file_index_], "' is a stream: ", reason, "."),
              {"Use dataset_cache() to store the elements for further passes."});
}

void FileCursor::close() {
  log_skipped();
  records_.reset();
  ++file_index_;
}

void FileCursor::skip_record(const Error& error) {
  const bool is_bad_record =
      error.code() == Code::kDataLoss || error.code() == Code::kInvalidArgument;
  if (!source_.skips_errors() || !is_bad_record) throw error;
  if (num_skipped_++ == 0) first_skip_error_ = error.message();
  if (!records_->skip()) close();
}

void FileCursor::log_skipped() {
  if (num_skipped_ > 0) {
    log_deferred(
        LogLevel::kWarn,
        str_cat("Skipped ", num_skipped_, " ", source_.unit(), num_skipped_ == 1 ? "" : "s",
                " of '", source_.files()[file_index_], "'. First error: ", first_skip_error_));
  }
  num_skipped_ = 0;
  first_skip_error_.clear();
}

std::string FileCursor::location() const {
  if (!records_) return "";
  const FilePosition position = records_->position();
  const bool is_line = std::string(source_.unit()) == "line";
  return str_cat(is_line ? "Line " : "Record ", is_line ? position.lines : position.records,
                 " of '", source_.files()[file_index_], "'");
}

void FileCursor::rewind() {
  records_.reset();
  file_index_ = 0;
  num_skipped_ = 0;
  first_skip_error_.clear();
}

NamedTensors FileCursor::save() const {
  if (records_ && is_stream_) throw_stream_error("its position cannot be saved or restored");
  NamedTensors state = {{"file", Tensor::scalar(static_cast<int64_t>(file_index_))},
                        {"is_open", Tensor::scalar(records_ != nullptr)}};
  if (!records_) return state;
  const FilePosition position = records_->position();
  state["offset"] = Tensor::scalar(static_cast<int64_t>(position.offset));
  state["records"] = Tensor::scalar(position.records);
  state["lines"] = Tensor::scalar(position.lines);
  state["size"] = Tensor::scalar(static_cast<int64_t>(size_));
  state["fingerprint"] = Tensor::scalar(static_cast<int64_t>(fingerprint_));
  state["skipped"] = Tensor::scalar(num_skipped_);
  state["first_skipped"] = Tensor::string_scalar(first_skip_error_);
  return state;
}

void FileCursor::restore(const NamedTensors& state) {
  const int64_t file = state_count(state, "file"),
                count = static_cast<int64_t>(source_.files().size());
  const bool is_open = state_flag(state, "is_open");
  if (file > count || (is_open && file == count)) {
    fail(Code::kDataLoss, "Invalid saved file number ", file, " of ", count, ".");
  }
  rewind();
  if (!is_open) {
    file_index_ = static_cast<size_t>(file);
    return;
  }
  FilePosition position;
  position.offset = static_cast<uint64_t>(state_count(state, "offset"));
  position.records = state_count(state, "records");
  position.lines = state_count(state, "lines");
  const auto size = static_cast<uint64_t>(state_count(state, "size")),
             fingerprint = static_cast<uint64_t>(state_integer(state, "fingerprint"));
  const int64_t skipped = state_count(state, "skipped");
  const std::string first_skip_error = state_string(state, "first_skipped");
  file_index_ = static_cast<size_t>(file);
  open();
  if (size != size_ || fingerprint != fingerprint_) {
    records_.reset();
    fail(Code::kFailedPrecondition, "'", source_.files()[file_index_],
         "' has changed since its position was saved: it had ", size, " bytes and has ", size_,
         size == size_ ? " with different content" : "", ".");
  }
  if (source_.compression() == Compression::kNone && position.offset > size_) {
    fail(Code::kDataLoss, "'", source_.files()[file_index_], "' has ", size_, " bytes, not ",
         position.offset, ".");
  }
  records_->seek(position);
  num_skipped_ = skipped;
  first_skip_error_ = first_skip_error;
}

// --- FileIterator

bool FileIterator::next(ElementSink& sink) {
  if (!cursor_.next([&sink](FileRecords& records) { records.put(sink); })) return false;
  ++rows_seen_;
  return true;
}

NamedTensors FileIterator::save() const {
  NamedTensors state = cursor_.save();
  state["rows_seen"] = Tensor::scalar(rows_seen_);
  return state;
}

void FileIterator::restore(const NamedTensors& state) {
  const int64_t rows_seen = state_count(state, "rows_seen");
  cursor_.restore(state);
  rows_seen_ = rows_seen;
}

namespace {

// Reads a batch of strings into one tensor, without a tensor for each string.
class StringIterator : public FileIterator {
 public:
  using FileIterator::FileIterator;
  int64_t next_stacked(int64_t n, bool only_whole, ElementSink& sink) override {
    const auto dictionary = std::make_shared<StringDictionary>();
    std::vector<int32_t> codes;
    InterruptPoll poll;
    const auto take = [&](FileRecords& records) {
      auto& strings = static_cast<StringRecords&>(records);
      strings.check_text();
      codes.push_back(dictionary->code(strings.text()));
    };
    while (static_cast<int64_t>(codes.size()) < n && cursor_.next(take)) poll();
    const auto rows = static_cast<int64_t>(codes.size());
    rows_seen_ += rows;
    if (rows == 0 || (rows < n && only_whole)) return rows;
    Tensor& tensor = sink.allocate(0, DType::kString, Shape{rows});
    tensor.set_dictionary(dictionary);
    std::copy(codes.begin(), codes.end(), tensor.data<int32_t>());
    return rows;
  }
};

}  // namespace

void warn_invalid_utf8(const std::string& location) {
  log_deferred(LogLevel::kWarn,
               str_cat(location,
                       " is not valid UTF-8. Such strings are marked as bytes; convert the "
                       "file to UTF-8, for example with `iconv()`."),
               "encoding");
}

std::unique_ptr<DatasetIterator> FileSource::iterator(IteratorContext&) const {
  return std::make_unique<StringIterator>(self(this));
}

}  // namespace runhooks
