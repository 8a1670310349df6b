// Bytes and lines of text as numbers: DecodeRaw, DecodeCSV.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "graph/op_registry.h"
#include "tensor/output_dictionary.h"

namespace runhooks {

namespace {

// Elements as long as those of the output, one after another; all strings must be of one length.
class DecodeRawKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(0);
    const DType dtype = c.op().attr_type("out_type");
    const size_t size = dtype_size(dtype);
    const size_t length = x.num_elements() == 0 ? 0 : x.string_at(0).size();
    if (length % size != 0) {
      invalid_argument("Input to DecodeRaw has length ", static_cast<int64_t>(length),
                       " that is not a multiple of ", static_cast<int64_t>(size), ", the size of ",
                       dtype_name(dtype), ".");
    }
    Shape shape = x.shape();
    shape.append(static_cast<int64_t>(length / size));
    Tensor& out = c.allocate_output(0, dtype, shape);
    auto* to = static_cast<char*>(out.raw());
    for (int64_t i = 0; i < x.num_elements(); ++i, to += length) {
      const std::string& bytes = x.string_at(i);
      if (bytes.size() != length) {
        invalid_argument("DecodeRaw requires input strings to all be the same size, but element ",
                         i, " has size ", static_cast<int64_t>(bytes.size()),
                         " != ", static_cast<int64_t>(length), ".");
      }
      std::memcpy(to, bytes.data(), length);
    }
    if (swaps(c.op())) swap(static_cast<char*>(out.raw()), size, out.num_bytes());
    if (dtype == DType::kBool) normalize(out);
  }

 private:
  static bool swaps(const Operation& op) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return op.attr_bool("little_endian");
#else
    return !op.attr_bool("little_endian");
#endif
  }
  static void swap(char* bytes, size_t size, size_t total) {
    for (size_t at = 0; at < total; at += size) std::reverse(bytes + at, bytes + at + size);
  }
  // A bool of another byte than 0 and 1 has no value.
  static void normalize(Tensor& out) {
    auto* bytes = static_cast<unsigned char*>(out.raw());
    for (int64_t i = 0; i < out.num_elements(); ++i) bytes[i] = bytes[i] != 0;
  }
};

// The fields of one record (RFC 4180). Throws where quotes do not fit.
std::vector<std::string> split_record(const std::string& record, char delimiter, bool has_quotes) {
  std::vector<std::string> fields;
  size_t at = 0;
  const auto unquoted_end = [&] {
    const size_t end = std::min(record.find(delimiter, at), record.size());
    const bool is_bad = has_quotes && record.find('"', at) < end;
    if (is_bad) invalid_argument("Unquoted fields cannot have quotes inside");
    return end;
  };
  while (true) {
    std::string field;
    if (has_quotes && at < record.size() && record[at] == '"') {
      for (++at;; ++at) {
        if (at >= record.size()) {
          invalid_argument("Quoted field has to end with quote followed by delim or end");
        }
        if (record[at] != '"') {
          field += record[at];
        } else if (at + 1 < record.size() && record[at + 1] == '"') {
          field += record[at++];
        } else {
          ++at;
          break;
        }
      }
      if (at < record.size() && record[at] != delimiter) {
        invalid_argument("Quote inside a string has to be escaped by another quote");
      }
    } else {
      const size_t end = unquoted_end();
      field = record.substr(at, end - at);
      at = end;
    }
    fields.push_back(std::move(field));
    if (at >= record.size()) return fields;
    ++at;
  }
}

std::string without_line_end(const std::string& record) {
  size_t n = record.size();
  if (n > 0 && record[n - 1] == '\n') --n;
  if (n > 0 && record[n - 1] == '\r') --n;
  return record.substr(0, n);
}

class DecodeCsvKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const auto n = static_cast<size_t>(c.num_outputs());
    const auto& chosen = c.op().attr<std::vector<int64_t>>("select_cols");
    const Tensor& records = c.input(0);
    dictionaries_.resize(n);
    for (size_t i = 0; i < n; ++i) {
      const int output = static_cast<int>(i);
      if (c.input(1 + output).num_elements() > 1) {
        invalid_argument("There should only be 1 default per field but field ", output, " has ",
                         c.input(1 + output).num_elements(), ".");
      }
      Tensor& out = c.allocate_output(output, c.op().output_dtype(output), records.shape());
      if (out.dtype() == DType::kString) {
        out.set_dictionary(dictionaries_[i].for_elements(records.num_elements()));
      }
    }
    const char delimiter = c.op().attr<std::string>("field_delim")[0];
    const bool has_quotes = c.op().attr_bool("use_quote_delim");
    for (int64_t row = 0; row < records.num_elements(); ++row) {
      const std::vector<std::string> fields =
          split_record(without_line_end(records.string_at(row)), delimiter, has_quotes);
      const size_t wanted = chosen.empty() ? n : static_cast<size_t>(chosen.back()) + 1;
      if (fields.size() < wanted || (chosen.empty() && fields.size() > wanted)) {
        invalid_argument("Expect ", static_cast<int64_t>(wanted), " fields but have ",
                         static_cast<int64_t>(fields.size()), " in record ", row, ".");
      }
      for (size_t i = 0; i < n; ++i) {
        set(c, static_cast<int>(i), row,
            fields[chosen.empty() ? i : static_cast<size_t>(chosen[i])]);
      }
    }
  }

 private:
  static void set(KernelContext& c, int field, int64_t row, const std::string& text) {
    Tensor& out = c.output(field);
    const Tensor& otherwise = c.input(1 + field);
    if (text.empty() || text == c.op().attr<std::string>("na_value")) {
      if (otherwise.num_elements() == 0) {
        invalid_argument("Field ", field, " is required but missing in record ", row, "!");
      }
      if (out.dtype() == DType::kString) {
        out.data<int32_t>()[row] = out.dictionary()->code(otherwise.string_at(0));
      } else {
        const size_t size = dtype_size(out.dtype());
        std::memcpy(static_cast<char*>(out.raw()) + static_cast<size_t>(row) * size,
                    otherwise.raw(), size);
      }
      return;
    }
    char* end = nullptr;
    errno = 0;
    bool good = true;
    switch (out.dtype()) {
      case DType::kString:
        out.data<int32_t>()[row] = out.dictionary()->code(text);
        return;
      case DType::kFloat32:
        out.data<float>()[row] = std::strtof(text.c_str(), &end);
        break;
      case DType::kFloat64:
        out.data<double>()[row] = std::strtod(text.c_str(), &end);
        break;
      default: {
        const long long value = std::strtoll(text.c_str(), &end, 10);
        good = errno != ERANGE;
        if (out.dtype() == DType::kInt32) {
          good = good && value == static_cast<int32_t>(value);
          out.data<int32_t>()[row] = static_cast<int32_t>(value);
        } else {
          out.data<int64_t>()[row] = value;
        }
      }
    }
    while (end && *end == ' ') ++end;
    if (!good || (end && *end != '\0')) {
      invalid_argument("Field ", field, " in record ", row, " is not a valid ",
                       dtype_name(out.dtype()), ": ", text);
    }
  }
  std::vector<OutputDictionary> dictionaries_;
};

void decode_csv_shape(ShapeContext& c) {
  const Operation& op = c.op();
  const std::string& delimiter = op.attr<std::string>("field_delim");
  if (delimiter.size() != 1) {
    invalid_argument("field_delim should be only 1 char; got '", delimiter, "'.");
  }
  const auto& types = op.attr<std::vector<DType>>("OUT_TYPE");
  for (const DType dtype : types) {
    const bool good = dtype == DType::kString || dtype == DType::kFloat32 ||
                      dtype == DType::kFloat64 || dtype == DType::kInt32 || dtype == DType::kInt64;
    if (!good) invalid_argument("DecodeCSV cannot give fields of type ", dtype_name(dtype), ".");
  }
  const auto& chosen = op.attr<std::vector<int64_t>>("select_cols");
  if (!chosen.empty() && chosen.size() != types.size()) {
    invalid_argument("select_cols should match output size.");
  }
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i] < 0 || (i > 0 && chosen[i] <= chosen[i - 1])) {
      invalid_argument("select_cols should be strictly increasing and not negative.");
    }
  }
  for (int i = 1; i < c.num_inputs(); ++i) {
    const Shape& shape = c.input(i);
    if (shape.has_rank() && shape.rank() > 1) {
      invalid_argument("Shape of a default must be a length-0 or length-1 vector, or a scalar.");
    }
  }
  for (int i = 0; i < op.num_outputs(); ++i) c.set_output(i, c.input(0));
}

}  // namespace

RUNHOOKS_REGISTER_OP("DecodeRaw")
    .input("bytes: string")
    .output("output: out_type")
    .attr("out_type: {float, double, int32, uint8, int64, bool}")
    .attr("little_endian: bool = true")
    .shape([](ShapeContext& c) {
      Shape shape = c.input(0);
      if (shape.has_rank()) shape.append(Shape::kUnknownDim);
      c.set_output(0, shape);
    })
    .kernel(kernel_of<DecodeRawKernel>())
    .allocates_outputs()
    .not_differentiable()
    .r("decode_raw, io.decode_raw(input_bytes as bytes, out_type, little_endian = TRUE, name = NULL)")
    .summary("The bytes of strings as a vector of numbers.")
    .example("s{abcd,efgh} | out_type=int32");

RUNHOOKS_REGISTER_OP("DecodeCSV")
    .input("records: string")
    .input("record_defaults: OUT_TYPE")
    .output("output: OUT_TYPE")
    .attr("OUT_TYPE: list(type) >= 1")
    .attr("field_delim: string = ','")
    .attr("use_quote_delim: bool = true")
    .attr("na_value: string = ''")
    .attr("select_cols: list(int) = []")
    .shape(decode_csv_shape)
    .kernel(kernel_of<DecodeCsvKernel>())
    .allocates_outputs()
    .not_differentiable()
    .endpoint("raw_ops.DecodeCSV")
    .example("s{1,2} i{0}")
    .summary("The fields of lines of comma-separated values.");

}  // namespace runhooks
