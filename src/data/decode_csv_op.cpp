// DecodeCSV: parses lines of text into numbers and strings.
#include <cstring>
#include <string_view>

#include "data/csv_columns.h"
#include "graph/op_registry.h"
#include "io/formats/csv_reader.h"
#include "tensor/output_dictionary.h"

namespace runhooks {

namespace {

// Splits a record into fields. Like TensorFlow, throws on misplaced quotes and unquoted line ends.
void split(CsvSplitter& splitter, const std::string& record, int64_t row) {
  switch (splitter.split(record, true)) {
    case CsvSplit::kRecord:
      if (record.empty() ||
          (splitter.size() == record.size() && record.back() != '\n' && record.back() != '\r')) {
        return;
      }
      [[fallthrough]];
    case CsvSplit::kStrayQuote:
      invalid_argument("Unquoted fields cannot have quotes/CRLFs inside, in record ", row, ".");
    case CsvSplit::kIncompleteRecord:
      invalid_argument("Quoted field has to end with quote followed by delim or end, in record ",
                       row, ".");
    case CsvSplit::kTextAfterQuote:
      invalid_argument("Quote inside a string has to be escaped by another quote, in record ", row,
                       ".");
  }
}

class DecodeCsvKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const auto n = static_cast<size_t>(c.num_outputs());
    const auto& selected_columns = c.op().attr<std::vector<int64_t>>("select_cols");
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
    CsvFormat format;
    format.delim = c.op().attr<std::string>("field_delim")[0];
    format.has_quotes = c.op().attr_bool("use_quote_delim");
    CsvSplitter splitter(format);
    const size_t num_expected =
        selected_columns.empty() ? n : static_cast<size_t>(selected_columns.back()) + 1;
    for (int64_t row = 0; row < records.num_elements(); ++row) {
      const std::string& record = records.string_at(row);
      split(splitter, record, row);
      const auto& fields = splitter.fields();
      if (fields.size() < num_expected ||
          (selected_columns.empty() && fields.size() > num_expected)) {
        invalid_argument("Expect ", static_cast<int64_t>(num_expected), " fields but have ",
                         static_cast<int64_t>(fields.size()), " in record ", row, ".");
      }
      for (size_t i = 0; i < n; ++i) {
        set_field(c, static_cast<int>(i), row,
                  fields[selected_columns.empty() ? i : static_cast<size_t>(selected_columns[i])]);
      }
    }
  }

 private:
  static void set_field(KernelContext& c, int field, int64_t row, std::string_view text) {
    Tensor& out = c.output(field);
    void* const element =
        static_cast<char*>(out.raw()) + static_cast<size_t>(row) * dtype_size(out.dtype());
    const Tensor& default_value = c.input(1 + field);
    if (text.empty() || text == c.op().attr<std::string>("na_value")) {
      if (default_value.num_elements() == 0) {
        invalid_argument("Field ", field, " is required but missing in record ", row, "!");
      }
      if (out.dtype() == DType::kString) {
        out.data<int32_t>()[row] = out.dictionary()->code(default_value.string_at(0));
      } else {
        std::memcpy(element, default_value.raw(), dtype_size(out.dtype()));
      }
      return;
    }
    if (out.dtype() == DType::kString) {
      out.data<int32_t>()[row] = out.dictionary()->code(std::string(text));
    } else if (!parse_number(out.dtype(), text, element)) {
      invalid_argument("Field ", field, " in record ", row, " is not a valid ",
                       dtype_name(out.dtype()), ": ", std::string(text));
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
    const bool is_supported = dtype == DType::kString || dtype == DType::kFloat32 ||
                              dtype == DType::kFloat64 || dtype == DType::kInt32 ||
                              dtype == DType::kInt64;
    if (!is_supported) invalid_argument("DecodeCSV does not support type ", dtype_name(dtype), ".");
  }
  const auto& selected_columns = op.attr<std::vector<int64_t>>("select_cols");
  if (!selected_columns.empty() && selected_columns.size() != types.size()) {
    invalid_argument("select_cols should match output size.");
  }
  for (size_t i = 0; i < selected_columns.size(); ++i) {
    if (selected_columns[i] < 0 || (i > 0 && selected_columns[i] <= selected_columns[i - 1])) {
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
    .summary("Parse lines of comma-separated values.");

}  // namespace runhooks
