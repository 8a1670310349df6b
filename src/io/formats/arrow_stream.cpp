#include "io/formats/arrow_stream.h"

#include <cmath>
#include <limits>
#include <string_view>

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

DType dtype_of_format(const std::string& format) {
  if (is_text(format)) return DType::kString;
  if (format.size() != 1) return DType::kInvalid;
  switch (format[0]) {
    case 'b':
      return DType::kBool;
    case 'c':
      return DType::kInt8;
    case 'C':
      return DType::kUint8;
    case 's':
      return DType::kInt16;
    case 'S':
    case 'i':
      return DType::kInt32;
    case 'I':
    case 'l':
      return DType::kInt64;
    case 'f':
      return DType::kFloat32;
    case 'g':
      return DType::kFloat64;
    default:
      return DType::kInvalid;
  }
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

int64_t integer_at(const void* values, char format, int64_t i) {
  switch (format) {
    case 'c':
      return static_cast<const int8_t*>(values)[i];
    case 'C':
      return static_cast<const uint8_t*>(values)[i];
    case 's':
      return static_cast<const int16_t*>(values)[i];
    case 'S':
      return static_cast<const uint16_t*>(values)[i];
    case 'i':
      return static_cast<const int32_t*>(values)[i];
    case 'I':
      return static_cast<const uint32_t*>(values)[i];
    default:
      return static_cast<const int64_t*>(values)[i];
  }
}

void set_integer(Tensor& tensor, int64_t row, int64_t value) {
  switch (tensor.dtype()) {
    case DType::kInt8:
      tensor.data<int8_t>()[row] = static_cast<int8_t>(value);
      break;
    case DType::kUint8:
      tensor.data<uint8_t>()[row] = static_cast<uint8_t>(value);
      break;
    case DType::kInt16:
      tensor.data<int16_t>()[row] = static_cast<int16_t>(value);
      break;
    case DType::kInt32:
      tensor.data<int32_t>()[row] = static_cast<int32_t>(value);
      break;
    default:
      tensor.data<int64_t>()[row] = value;
  }
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
  std::string values;
  DType dtype = dtype_of_format(format);
  if (schema.dictionary) {
    values = schema.dictionary->format;
    const bool has_integer_codes =
        format.size() == 1 && std::string_view("cCsSiIl").find(format) != std::string_view::npos;
    dtype = has_integer_codes && is_text(values) ? DType::kString : DType::kInvalid;
  }
  if (dtype == DType::kInvalid) {
    throw Error(Code::kInvalidArgument,
                str_cat("Column '", name, "' of an Arrow stream has format '", format,
                        "', which tensors do not support."),
                {"Convert or remove the column."});
  }
  names_.push_back(name);
  formats_.push_back(format);
  dictionary_formats_.push_back(values);
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
      const int64_t code = integer_at(buffer_of(array, 1, names_[k]), format[0], i);
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
      set_integer(tensor, row, integer_at(buffer_of(array, 1, names_[k]), format[0], i));
    }
  }
  return tensor;
}

}  // namespace runhooks
