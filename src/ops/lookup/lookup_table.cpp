#include <unordered_map>

#include "base/number_text.h"
#include "base/open_file.h"
#include "graph/op_registry.h"
#include "ops/array/copy_elements.h"

namespace runhooks {

namespace {

// Converts a key to text. All keys of a table have the same type, so different keys have different
// texts.
std::string key_text(const Tensor& x, int64_t i) {
  if (x.dtype() == DType::kString) return x.string_at(i);
  if (x.dtype() == DType::kInt64) return str_cat(x.data<int64_t>()[i]);
  return str_cat(x.data<int32_t>()[i]);
}

// A value, in the member for its type. int64 needs its own member, because a double cannot
// represent all of its values.
struct TableValue {
  double number = 0;
  int64_t integer = 0;
  std::string text;

  bool operator==(const TableValue& other) const {
    return number == other.number && integer == other.integer && text == other.text;
  }
};

TableValue value_at(const Tensor& x, int64_t i) {
  TableValue value;
  if (x.dtype() == DType::kString) {
    value.text = x.string_at(i);
  } else if (x.dtype() == DType::kInt64) {
    value.integer = x.data<int64_t>()[i];
  } else {
    value.number = x.number_at(i);
  }
  return value;
}

TableValue parse_value(const std::string& text, DType dtype) {
  TableValue value;
  if (dtype == DType::kString) {
    value.text = text;
  } else if (dtype == DType::kInt64) {
    value.integer = std::strtoll(text.c_str(), nullptr, 10);
  } else {
    value.number = read_double(text.c_str(), nullptr);
  }
  return value;
}

class LookupTable : public Resource {
 public:
  LookupTable(DType key, DType value) : key_dtype_(key), value_dtype_(value) {}
  const char* kind() const override { return "table"; }
  DType value_dtype() const { return value_dtype_; }
  void insert(const Tensor& keys, const Tensor& values) {
    if (keys.num_elements() != values.num_elements()) {
      invalid_argument("A table needs as many values as keys; got ", values.num_elements(), " and ",
                       keys.num_elements(), ".");
    }
    for (int64_t i = 0; i < keys.num_elements(); ++i) {
      insert(key_text(keys, i), value_at(values, i));
    }
  }
  void insert(const std::string& key, const TableValue& value) {
    const auto inserted = index_of_key_.emplace(key, static_cast<int64_t>(values_.size()));
    if (inserted.second) {
      values_.push_back(value);
    } else if (!(this->value(inserted.first->second) == value)) {
      fail(Code::kFailedPrecondition, "HashTable has different value for same key. Key '", key,
           "'.");
    }
  }
  int64_t find(const std::string& key) const {
    auto found = index_of_key_.find(key);
    return found == index_of_key_.end() ? -1 : found->second;
  }
  const TableValue& value(int64_t index) const { return values_[static_cast<size_t>(index)]; }
  int64_t size() const { return static_cast<int64_t>(values_.size()); }
  // Throws if the types of keys or values differ from the table's.
  void check_types(DType key, DType value) const {
    if (key != key_dtype_ || value != value_dtype_) {
      invalid_argument("Conflicting key/value dtypes ", dtype_name(key), "->", dtype_name(value),
                       " with a table of ", dtype_name(key_dtype_), "->", dtype_name(value_dtype_),
                       ".");
    }
  }
  bool is_initialized = false;

 private:
  DType key_dtype_, value_dtype_;
  std::unordered_map<std::string, int64_t> index_of_key_;
  std::vector<TableValue> values_;
};

class HashTableKernel : public Kernel {
 public:
  void prepare(KernelContext& c) override {
    const auto& shared = c.op().attr<std::string>("shared_name");
    const std::string name = "table/" + (shared.empty() ? c.op().name() : shared);
    const DType key = c.op().attr_type("key_dtype"), value = c.op().attr_type("value_dtype");
    auto& table = c.resources().get_or_create<LookupTable>(
        name, [key, value] { return std::make_unique<LookupTable>(key, value); });
    table.check_types(key, value);
    c.set_output_resource(0, &table);
  }
  void compute(KernelContext&) override {}
  bool computes() const override { return false; }
};

class TableImportKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    auto& table = c.input_resource<LookupTable>(0);
    table.check_types(c.input(1).dtype(), c.input(2).dtype());
    table.insert(c.input(1), c.input(2));
    table.is_initialized = true;
  }
};

// Reads one key and one value from each line of a file. Index -2 selects the whole line, -1 the
// line number, and other indices a field of the line.
class TableFileImportKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    auto& table = c.input_resource<LookupTable>(0);
    if (table.is_initialized) return;
    const std::string& path = c.input(1).string_at(0);
    TextFile file(c.file_access_policy().readable(path));
    const int64_t key = c.op().attr_int("key_index"), value = c.op().attr_int("value_index");
    const int64_t max_lines = c.op().attr_int("vocab_size");
    int64_t line_number = 0;
    for (std::string line; (max_lines < 0 || line_number < max_lines) && file.next(&line);
         ++line_number) {
      table.insert(field_of_line(c, line, key, line_number),
                   parse_value(field_of_line(c, line, value, line_number), table.value_dtype()));
    }
    if (line_number < max_lines) {
      invalid_argument("Invalid vocab_size in ", path, ": expected ", max_lines, " but got ",
                       line_number, ".");
    }
    table.is_initialized = true;
  }

 private:
  static std::string field_of_line(KernelContext& c,
                                   const std::string& line,
                                   int64_t index,
                                   int64_t line_number) {
    if (index == -2) return line;
    if (index == -1) return str_cat(line_number);
    const auto& delimiter = c.op().attr<std::string>("delimiter");
    if (delimiter.empty()) invalid_argument("The delimiter between fields must not be empty.");
    size_t begin = 0;
    for (int64_t i = 0; i < index; ++i) {
      begin = line.find(delimiter, begin);
      if (begin == std::string::npos) {
        invalid_argument("Line ", line_number + 1, " has no field ", index, ".");
      }
      begin += delimiter.size();
    }
    return line.substr(begin, line.find(delimiter, begin) - begin);
  }
};

class TableFindKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const auto& table = c.input_resource<LookupTable>(0);
    if (!table.is_initialized) {
      fail(Code::kFailedPrecondition, "Table not initialized.");
    }
    const Tensor &keys = c.input(1), &default_value = c.input(2);
    table.check_types(keys.dtype(), default_value.dtype());
    Tensor& out = c.allocate_output(0, default_value.dtype(), keys.shape());
    if (out.dtype() == DType::kString) {
      out.set_dictionary(dictionary_.for_elements(keys.num_elements()));
    }
    for (int64_t i = 0; i < keys.num_elements(); ++i) {
      const int64_t index = table.find(key_text(keys, i));
      set(out, i, index < 0 ? value_at(default_value, 0) : table.value(index));
    }
  }

 private:
  static void set(Tensor& out, int64_t i, const TableValue& x) {
    if (out.dtype() == DType::kString) out.data<int32_t>()[i] = out.dictionary()->code(x.text);
    if (out.dtype() == DType::kFloat32) out.data<float>()[i] = static_cast<float>(x.number);
    if (out.dtype() == DType::kFloat64) out.data<double>()[i] = x.number;
    if (out.dtype() == DType::kInt32) out.data<int32_t>()[i] = static_cast<int32_t>(x.number);
    if (out.dtype() == DType::kInt64) out.data<int64_t>()[i] = x.integer;
    if (out.dtype() == DType::kBool) out.data<bool>()[i] = x.number != 0;
  }
  OutputDictionary dictionary_;
};

class TableSizeKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    *c.output(0).data<int64_t>() = c.input_resource<LookupTable>(0).size();
  }
};

}  // namespace

#define RUNHOOKS_KEY_TYPES "{string, int32, int64}"
#define RUNHOOKS_VALUE_TYPES "{string, int32, int64, float, double, bool}"

RUNHOOKS_REGISTER_OP("HashTableV2")
    .output("table_handle: resource")
    .attr("container: string = ''")
    .attr("shared_name: string = ''")
    .attr("use_node_name_sharing: bool = false")
    .attr("key_dtype: " RUNHOOKS_KEY_TYPES)
    .attr("value_dtype: " RUNHOOKS_VALUE_TYPES)
    .shape(scalar_shape)
    .kernel(kernel_of<HashTableKernel>())
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.HashTableV2")
    .summary("A lookup table.");

// Registers the op that fills a table, under TensorFlow's two names.
#define RUNHOOKS_REGISTER_TABLE_IMPORT(type, Tkey, Tvalue) \
  RUNHOOKS_REGISTER_OP(type)                               \
      .input("table_handle: resource, table")              \
      .input("keys: " Tkey)                                \
      .input("values: " Tvalue)                            \
      .attr(Tkey ": " RUNHOOKS_KEY_TYPES)                  \
      .attr(Tvalue ": " RUNHOOKS_VALUE_TYPES)              \
      .shape(no_outputs)                                   \
      .kernel(kernel_of<TableImportKernel>())              \
      .stateful()                                          \
      .not_differentiable()                                \
      .endpoint("raw_ops." type)                           \
      .summary("Fills a lookup table from keys and values.")
RUNHOOKS_REGISTER_TABLE_IMPORT("InitializeTableV2", "Tkey", "Tval");
RUNHOOKS_REGISTER_TABLE_IMPORT("LookupTableImportV2", "Tin", "Tout");
#undef RUNHOOKS_REGISTER_TABLE_IMPORT

RUNHOOKS_REGISTER_OP("InitializeTableFromTextFileV2")
    .input("table_handle: resource, table")
    .input("filename: string, scalar")
    .attr("key_index: int >= -2")
    .attr("value_index: int >= -2")
    .attr("vocab_size: int = -1")
    .attr("delimiter: string = '\t'")
    .shape(no_outputs)
    .kernel(kernel_of<TableFileImportKernel>())
    .stateful()
    .reads_files()
    .not_differentiable()
    .endpoint("raw_ops.InitializeTableFromTextFileV2")
    .summary("Fills a lookup table from the lines of a file.");

RUNHOOKS_REGISTER_OP("LookupTableFindV2")
    .input("table_handle: resource, table")
    .input("keys: Tin")
    .input("default_value: Tout, scalar")
    .output("values: Tout")
    .attr("Tin: " RUNHOOKS_KEY_TYPES)
    .attr("Tout: " RUNHOOKS_VALUE_TYPES)
    .shape([](ShapeContext& c) { c.set_output(0, c.input(1)); })
    .kernel(kernel_of<TableFindKernel>())
    .stateful()
    .allocates_outputs()
    .not_differentiable()
    .endpoint("raw_ops.LookupTableFindV2")
    .summary("The values of keys, or a default.");

RUNHOOKS_REGISTER_OP("LookupTableSizeV2")
    .input("table_handle: resource, table")
    .output("size: int64")
    .shape(scalar_shape)
    .kernel(kernel_of<TableSizeKernel>())
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.LookupTableSizeV2")
    .summary("The number of keys in a lookup table.");

}  // namespace runhooks
