#include "io/formats/arrow_stream.h"

#include <cmath>
#include <limits>
#include <string_view>

#include "io/proto/tensor_proto.h"

namespace runhooks {

namespace {

template <typename T>
struct ReleasedAtExit {
  T value = {};
  ~ReleasedAtExit() {
    if (value.release) value.release(&value);
  }
};

constexpr int64_t kMaxArrowRows = int64_t{1} << 40;

bool is_text(const std::string& format) {
  return format == "u" || format == "U" || format == "z" || format == "Z";
}

template <typename T>
int64_t load_arrow_integer(const void* values, int64_t i) {
  return static_cast<const T*>(values)[i];
}

struct ArrowFormat {
  char name;
  DType dtype;
  int64_t (*load)(const void* values, int64_t i);  // NULL unless the values are integers
};
constexpr ArrowFormat kArrowFormats[] = {
    {'b', DType::kBool, nullptr},
    {'c', DType::kInt8, load_arrow_integer<int8_t>},
    {'C', DType::kUint8, load_arrow_integer<uint8_t>},
    {'s', DType::kInt16, load_arrow_integer<int16_t>},
    {'S', DType::kInt32, load_arrow_integer<uint16_t>},
    {'i', DType::kInt32, load_arrow_integer<int32_t>},
    {'I', DType::kInt64, load_arrow_integer<uint32_t>},
    {'l', DType::kInt64, load_arrow_integer<int64_t>},
    {'f', DType::kFloat32, nullptr},
    {'g', DType::kFloat64, nullptr},
};

// Returns the entry of kArrowFormats, a list of fixed-width types; NULL for other formats.
const ArrowFormat* find_arrow_format(const std::string& name) {
  for (const ArrowFormat& format : kArrowFormats) {
    if (name.size() == 1 && name[0] == format.name) return &format;
  }
  return nullptr;
}

bool bit_at(const void* bits, int64_t i) {
  return (static_cast<const uint8_t*>(bits)[i / 8] >> (i % 8)) & 1;
}

const void* buffer_of(const ArrowArray& array, int64_t k, const std::string& name) {
  const bool has_buffer = k < array.n_buffers && array.buffers && array.buffers[k];
  if (!has_buffer) fail(Code::kDataLoss, "Column '", name, "' of an Arrow stream has no values.");
  return array.buffers[k];
}

bool is_null(const ArrowArray& array, int64_t i) {
  const bool has_bits =
      array.null_count != 0 && array.n_buffers > 0 && array.buffers && array.buffers[0];
  return has_bits && !bit_at(array.buffers[0], i);
}

template <typename Offset>
std::string_view text_at(const void* offsets, const void* bytes, int64_t i) {
  const Offset begin = static_cast<const Offset*>(offsets)[i],
               end = static_cast<const Offset*>(offsets)[i + 1];
  if (begin < 0 || end < begin || (end > begin && !bytes))
    fail(Code::kDataLoss, "A string of an Arrow stream is damaged.");
  return end == begin ? std::string_view()
                      : std::string_view(static_cast<const char*>(bytes) + begin,
                                         static_cast<size_t>(end - begin));
}

std::string_view text_at(const ArrowArray& array,
                         const std::string& format,
                         const std::string& name,
                         int64_t i) {
  const void* offsets = buffer_of(array, 1, name);
  const void* bytes = array.n_buffers > 2 ? array.buffers[2] : nullptr;
  return format == "U" || format == "Z" ? text_at<int64_t>(offsets, bytes, i)
                                        : text_at<int32_t>(offsets, bytes, i);
}

}  // namespace

ArrowReader::ArrowReader(ArrowArrayStream* stream) : stream_(*stream) {
  if (!stream->release) {
    fail(Code::kFailedPrecondition, "The Arrow stream has been read before.");
  }
  stream->release = nullptr;
  try {
    read_schema();
  } catch (...) {
    stream_.release(&stream_);
    throw;
  }
}

ArrowReader::~ArrowReader() {
  if (stream_.release) stream_.release(&stream_);
}

void ArrowReader::check(int status, const char* part) {
  if (status == 0) return;
  const char* last_error = stream_.get_last_error(&stream_);
  fail(Code::kDataLoss, "Cannot read the ", part,
       " of an Arrow stream: ", last_error ? last_error : "unknown error", ".");
}

void ArrowReader::read_schema() {
  ReleasedAtExit<ArrowSchema> schema;
  check(stream_.get_schema(&stream_, &schema.value), "schema");
  const bool has_columns = schema.value.format && std::string(schema.value.format) == "+s" &&
                           schema.value.n_children > 0 && schema.value.children;
  if (!has_columns) invalid_argument("An Arrow stream must contain records with columns.");
  for (int64_t k = 0; k < schema.value.n_children; ++k) {
    const ArrowSchema* column = schema.value.children[k];
    if (!column || !column->format || (column->dictionary && !column->dictionary->format)) {
      fail(Code::kDataLoss, "Column ", k + 1, " of an Arrow stream has no format.");
    }
    add_column(*column);
  }
}

void ArrowReader::add_column(const ArrowSchema& schema) {
  const std::string name = schema.name ? schema.name : "", format = schema.format;
  const std::string dictionary_format = schema.dictionary ? schema.dictionary->format : "";
  const ArrowFormat* fixed_width = find_arrow_format(format);
  DType dtype = is_text(format) ? DType::kString : DType::kInvalid;
  if (schema.dictionary) {
    const bool is_valid = fixed_width && fixed_width->load && is_text(dictionary_format);
    dtype = is_valid ? DType::kString : DType::kInvalid;
  } else if (fixed_width) {
    dtype = fixed_width->dtype;
  }
  if (dtype == DType::kInvalid) {
    throw Error(Code::kInvalidArgument,
                str_cat("Column '", name, "' of an Arrow stream has format '", format,
                        "', which tensors do not support."),
                {"Convert or remove the column."});
  }
  names_.push_back(name);
  formats_.push_back(format);
  dictionary_formats_.push_back(dictionary_format);
  dtypes_.push_back(dtype);
}

bool ArrowReader::next(std::vector<Tensor>* columns) {
  ReleasedAtExit<ArrowArray> batch;
  check(stream_.get_next(&stream_, &batch.value), "next batch");
  if (!batch.value.release) return false;
  const ArrowArray& array = batch.value;
  if (array.n_children != static_cast<int64_t>(names_.size()) || array.length < 0 ||
      array.offset < 0 || !array.children || array.length > kMaxArrowRows ||
      array.offset > kMaxArrowRows) {
    fail(Code::kDataLoss, "A batch of an Arrow stream does not match its schema.");
  }
  columns->clear();
  for (size_t k = 0; k < names_.size(); ++k) {
    if (!array.children[k]) {
      fail(Code::kDataLoss, "Column '", names_[k], "' of an Arrow stream is missing in a batch.");
    }
    const ArrowArray& child = *array.children[k];
    if (child.offset < 0 || child.length < array.offset + array.length) {
      fail(Code::kDataLoss, "Column '", names_[k], "' of an Arrow stream is too short.");
    }
    columns->push_back(read_column(k, child, child.offset + array.offset, array.length));
  }
  num_rows_read_ += array.length;
  return true;
}

Tensor ArrowReader::read_column(size_t k,
                                const ArrowArray& array,
                                int64_t offset,
                                int64_t n) const {
  Tensor tensor(dtypes_[k], Shape{n});
  if (tensor.dtype() == DType::kString) {
    tensor.set_dictionary(std::make_shared<StringDictionary>());
  }
  const bool is_float = tensor.dtype() == DType::kFloat32 || tensor.dtype() == DType::kFloat64;
  const std::string& format = formats_[k];
  const ArrowFormat* fixed_width = find_arrow_format(format);
  for (int64_t row = 0; row < n; ++row) {
    const int64_t i = offset + row;
    const bool is_missing = is_null(array, i);
    if (is_missing && !is_float) {
      invalid_argument("Column '", names_[k], "' of an Arrow stream has no value in row ",
                       num_rows_read_ + row + 1, "; only float columns may have missing values.");
    }
    if (is_float) {
      const void* values = buffer_of(array, 1, names_[k]);
      if (tensor.dtype() == DType::kFloat32) {
        tensor.data<float>()[row] = is_missing ? std::numeric_limits<float>::quiet_NaN()
                                               : static_cast<const float*>(values)[i];
      } else {
        tensor.data<double>()[row] = is_missing ? std::numeric_limits<double>::quiet_NaN()
                                                : static_cast<const double*>(values)[i];
      }
    } else if (tensor.dtype() == DType::kBool) {
      tensor.data<bool>()[row] = bit_at(buffer_of(array, 1, names_[k]), i);
    } else if (!dictionary_formats_[k].empty()) {
      const int64_t code = fixed_width->load(buffer_of(array, 1, names_[k]), i);
      const ArrowArray* dictionary = array.dictionary;
      if (!dictionary || code < 0 || code >= dictionary->length ||
          is_null(*dictionary, dictionary->offset + code)) {
        fail(Code::kDataLoss, "Column '", names_[k], "' of an Arrow stream has code ", code,
             ", which is not in its dictionary.");
      }
      tensor.data<int32_t>()[row] = tensor.dictionary()->code(
          text_at(*dictionary, dictionary_formats_[k], names_[k], dictionary->offset + code));
    } else if (tensor.dtype() == DType::kString) {
      tensor.data<int32_t>()[row] = tensor.dictionary()->code(text_at(array, format, names_[k], i));
    } else {
      store_integer(tensor, row, fixed_width->load(buffer_of(array, 1, names_[k]), i));
    }
  }
  return tensor;
}

}  // namespace runhooks
