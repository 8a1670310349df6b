#include "dataset_kinds.h"

#include "data/element_source.h"
#include "data/in_memory.h"
#include "io/files/atomic_file.h"
#include "io/files/record.h"

using namespace runhooks;

namespace runhooks_test {

Value number(int64_t x) { return Value::of(x); }

DatasetPtr rows_of(int64_t n) {
  const auto components = std::make_shared<ValueList>();
  Tensor numbers(DType::kFloat32, Shape{n, 2});
  std::vector<std::string> strings;
  for (int64_t i = 0; i < n; ++i) {
    numbers.data<float>()[2 * i] = static_cast<float>(i);
    numbers.data<float>()[2 * i + 1] = static_cast<float>(-i);
    strings.push_back(str_cat("w", i % 5));
  }
  components->push_back(Value::of(numbers));
  components->push_back(Value::of(Tensor::strings({n}, strings)));
  return dataset_of("TensorSliceDataset", {{"components", Value::of(components)}});
}

Value function_value(const DatasetPtr& input, const DatasetFunction::Builder& builder) {
  const auto function = DatasetFunction::make(input->dtypes(), input->shapes(), builder);
  return Value::of(std::shared_ptr<CoreObject>(std::const_pointer_cast<DatasetFunction>(function)));
}

DatasetPtr doubled(const DatasetPtr& input, int64_t num_parallel_calls, bool noisy) {
  const auto builder = [noisy](Graph& g, const std::vector<Output>& args) {
    std::vector<Output> results = args;
    results[0] = g.op("Add", {args[0], args[0]});
    if (noisy) {
      const Output shape = g.op("Shape", {args[0]}).attr("out_type", DType::kInt32);
      const Output noise = g.op("RandomUniform", {shape}).attr("dtype", DType::kFloat32);
      results[0] = g.op("Add", {results[0], g.op("Cast", {noise}).attr("DstT", args[0].dtype())});
    }
    return results;
  };
  return dataset_of("MapDataset",
                    {{"function", function_value(input, builder)},
                     {"num_parallel_calls", number(num_parallel_calls)}},
                    input);
}

DatasetPtr filtered(const DatasetPtr& input, double threshold, const char* type) {
  const auto builder = [threshold](Graph& g, const std::vector<Output>& args) {
    const Output x = g.op("Cast", {args[0]}).attr("DstT", DType::kFloat32);
    const Output all = g.op("Reshape", {x, g.constant(Tensor::vector<int32_t>({-1}))});
    const Output axis = g.constant(Tensor::scalar<int32_t>(0));
    const Output max_value = g.op("Max", {all, axis});
    return std::vector<Output>{
        g.op("GreaterEqual", {max_value, g.scalar(DType::kFloat32, threshold)})};
  };
  return dataset_of(type, {{"predicate", function_value(input, builder)}}, input);
}

Value repeating_function(const DatasetPtr& input, int64_t count, bool shuffles) {
  std::shared_ptr<const Dataset> pattern;
  const auto builder = [&](Graph&, const std::vector<Output>& args) {
    const auto components = std::make_shared<ValueList>();
    for (const Output& argument : args) components->push_back(Value::of(argument));
    DatasetPtr dataset = dataset_of("TensorDataset", {{"components", Value::of(components)}});
    dataset = dataset_of("RepeatDataset", {{"count", number(count)}}, dataset);
    if (shuffles) dataset = dataset_of("ShuffleDataset", {{"buffer_size", number(2)}}, dataset);
    pattern = dataset;
    return dataset->free_tensors();
  };
  const auto function = DatasetFunction::make(input->dtypes(), input->shapes(), builder);
  return Value::of(
      std::shared_ptr<CoreObject>(std::make_shared<DatasetValuedFunction>(function, pattern)));
}

// Returns a function whose value is the constant `n` or, if n is 0, the first component of an
// element modulo 3.
Value int64_function(const DatasetPtr& input, int64_t n) {
  return function_value(input, [n](Graph& g, const std::vector<Output>& args) {
    if (n > 0) return std::vector<Output>{g.constant(Tensor::scalar(n))};
    return std::vector<Output>{g.op("FloorMod", {args[0], g.constant(Tensor::scalar<int64_t>(3))})};
  });
}

DatasetPtr grouped(const DatasetPtr& input) {
  return dataset_of("GroupByWindowDataset",
                    {{"key_func", int64_function(input, 0)},
                     {"window_size_func", int64_function(range_of(1), 4)}},
                    input);
}

DatasetPtr flat_mapped(const DatasetPtr& input) {
  return dataset_of("FlatMapDataset", {{"map_func", repeating_function(input, 2, false)}}, input);
}

DatasetPtr interleaved(const DatasetPtr& input, int64_t cycle, int64_t block) {
  return dataset_of("InterleaveDataset",
                    {{"map_func", repeating_function(input, 3, true)},
                     {"cycle_length", number(cycle)},
                     {"block_length", number(block)}},
                    input);
}

Value list_of(const std::vector<DatasetPtr>& datasets) {
  const auto list = std::make_shared<ValueList>();
  for (const DatasetPtr& dataset : datasets) {
    list->push_back(Value::of(std::shared_ptr<CoreObject>(dataset)));
  }
  return Value::of(list);
}

DatasetPtr scanned(const DatasetPtr& input) {
  const auto first = std::make_shared<ValueList>();
  first->push_back(Value::of(Tensor::scalar<int64_t>(0)));
  const auto state = dataset_of("TensorDataset", {{"components", Value::of(first)}});
  const DatasetPtr pairs = dataset_of("ZipDataset", {{"datasets", list_of({state, input})}});
  const auto builder = [](Graph& g, const std::vector<Output>& args) {
    const Output sum = g.op("Add", {args[0], args[1]});
    return std::vector<Output>{sum, sum};
  };
  return dataset_of("ScanDataset",
                    {{"initial_state", Value::of(std::shared_ptr<CoreObject>(state))},
                     {"scan_func", function_value(pairs, builder)}},
                    input);
}

DatasetPtr windows(const DatasetPtr& input,
                   int64_t size,
                   int64_t shift,
                   bool batched,
                   int64_t stride,
                   bool drop_remainder) {
  const auto window = dataset_of("WindowDataset",
                                 {{"size", number(size)},
                                  {"shift", number(shift)},
                                  {"stride", number(stride)},
                                  {"drop_remainder", Value::of(drop_remainder)}},
                                 input);
  if (!batched) return window;
  std::shared_ptr<const Dataset> pattern;
  const auto builder = [&](Graph& g, const std::vector<Output>&) {
    pattern = dataset_of("BatchDataset", {{"batch_size", number(size)}},
                         argument_dataset(g, 0, window->inner(0)));
    return std::vector<Output>();
  };
  const auto function = DatasetFunction::make(window->dtypes(), window->shapes(), builder);
  return dataset_of(
      "FlatMapDataset",
      {{"map_func", Value::of(std::shared_ptr<CoreObject>(
                        std::make_shared<DatasetValuedFunction>(function, pattern)))}},
      window);
}

// --- elements computed by a function

namespace {

class CountingStream : public ElementStream {
 public:
  bool next(int64_t, Components& element) override {
    if (position_ == kElements) return false;
    element.push_back(Tensor::scalar<int64_t>(position_++));
    return true;
  }
  void rewind() override { position_ = 0; }
  NamedTensors save() const override { return {{"at", Tensor::scalar(position_)}}; }
  void restore(const NamedTensors& state) override {
    const int64_t position = state_integer(state, "at");
    if (position < 0 || position > kElements)
      fail(Code::kDataLoss, "There is no element ", position, ".");
    position_ = position;
  }

 private:
  static constexpr int64_t kElements = 20;
  int64_t position_ = 0;
};

class CountingSource : public ElementSource {
 public:
  std::vector<DType> dtypes() const override { return {DType::kInt64}; }
  std::vector<Shape> shapes() const override { return {Shape()}; }
  std::unique_ptr<ElementStream> open() override { return std::make_unique<CountingStream>(); }
  const std::string& declared_schema() const override { return schema_; }

 private:
  std::string schema_ = "counts";
};

DatasetPtr generated() {
  return dataset_of(
      "GeneratorDataset",
      {{"source", Value::of(std::shared_ptr<CoreObject>(std::make_shared<CountingSource>()))}});
}

DatasetPtr in_batches(bool shuffle, int64_t epochs) {
  InMemoryOptions options;
  options.batch_size = 3;
  options.num_epochs = epochs;
  options.shuffle = shuffle;
  return in_memory_dataset({Tensor::vector<float>({1, 2, 3, 4, 5, 6, 7})}, options);
}

Value text(const std::string& x) { return Value::of(x); }

template <typename T>
Value values(const std::vector<T>& items) {
  const auto all = std::make_shared<ValueList>();
  for (const T& item : items) all->push_back(Value::of(item));
  return Value::of(all);
}

}  // namespace

std::vector<DatasetPtr> datasets_in_memory() {
  const auto single_value = std::make_shared<ValueList>();
  single_value->push_back(Value::of(Tensor::scalar<float>(2)));
  return {
      generated(), in_batches(true, 3), in_batches(false, 0),
      dataset_of("TensorDataset", {{"components", Value::of(single_value)}}), range_of(20),
      rows_of(20), dataset_of("BatchDataset", {{"batch_size", number(3)}}, rows_of(20)),
      dataset_of("TakeDataset", {{"count", number(12)}}, rows_of(20)),
      dataset_of("UniqueDataset", {},
                 dataset_of("RepeatDataset", {{"count", number(3)}}, range_of(7))),
      dataset_of("SkipDataset", {{"count", number(5)}}, rows_of(20)),
      dataset_of("IgnoreErrorsDataset", {}, rows_of(20)), grouped(range_of(20)),
      scanned(range_of(20)), dataset_of("RepeatDataset", {}, rows_of(7)),
      dataset_of("ShuffleDataset", {{"buffer_size", number(6)}}, rows_of(20)),
      dataset_of("RepeatDataset", {{"count", number(3)}},
                 dataset_of("ShuffleDataset", {{"buffer_size", number(9)}}, rows_of(7))),
      dataset_of("ShuffleAndRepeatDataset", {{"buffer_size", number(5)}, {"count", number(3)}},
                 rows_of(7)),
      doubled(rows_of(20)), doubled(rows_of(20), 1, true), doubled(rows_of(20), 3),
      filtered(rows_of(20), 6), flat_mapped(rows_of(20)), interleaved(rows_of(20), 3, 2),
      interleaved(interleaved(rows_of(20), 2, 1), 3, 2),
      dataset_of("PrefetchDataset", {{"buffer_size", number(4)}}, doubled(rows_of(20), 1, true)),
      dataset_of("ShardDataset", {{"num_shards", number(3)}, {"index", number(1)}}, rows_of(20)),
      dataset_of("PaddedBatchDataset", {{"batch_size", number(3)}}, rows_of(20)),
      dataset_of("ZipDataset",
                 {{"datasets",
                   list_of({rows_of(20), dataset_of("ShuffleDataset", {{"buffer_size", number(5)}},
                                                    range_of(15))})}}),
      dataset_of("ConcatenateDataset",
                 {{"other", Value::of(std::shared_ptr<CoreObject>(range_of(5)))}}, range_of(7)),
      dataset_of("SampleFromDatasets", {{"datasets", list_of({range_of(9), range_of(6)})}}),
      dataset_of("ChooseFromDatasets",
                 {{"datasets", list_of({range_of(9), range_of(4)})},
                  {"choice_dataset", Value::of(std::shared_ptr<CoreObject>(dataset_of(
                                         "RepeatDataset", {{"count", number(6)}}, range_of(2))))}}),
      filtered(dataset_of("ShuffleDataset", {{"buffer_size", number(4)}}, rows_of(20)), 1,
               "TakeWhileDataset"),
      dataset_of(
          "RepeatDataset", {{"count", number(3)}},
          dataset_of("CacheDataset", {},
                     dataset_of("ShuffleDataset", {{"buffer_size", number(9)}}, rows_of(7)))),
      windows(range_of(20), 3, 2, false), windows(range_of(20), 3, 5, true),
      dataset_of("ShuffleDataset", {{"buffer_size", number(4)}},
                 windows(range_of(20), 3, 2, false)),
      // A shuffle of elements with different shapes, and windows of windows.
      dataset_of(
          "ShuffleDataset", {{"buffer_size", number(4)}},
          dataset_of("BatchDataset", {{"batch_size", number(3)}}, doubled(rows_of(20), 1, true))),
      dataset_of("ShuffleDataset", {{"buffer_size", number(4)}}, doubled(rows_of(20))),
      dataset_of("PrefetchDataset", {{"buffer_size", number(2)}},
                 windows(windows(range_of(20), 2, 1, false), 2, 1, false))};
}

// --- files

namespace {

std::string file_of(const std::string& folder, const std::string& name, const std::string& bytes) {
  const std::string path = join_path(folder, name);
  write_file_atomically(path, bytes);
  return path;
}

std::string records_of(const std::string& path, Compression compression) {
  RecordWriter writer(path, compression);
  for (int i = 0; i < 9; ++i) writer.write(str_cat("record ", i));
  writer.close();
  return path;
}

NamedValues columns_of() {
  using Texts = std::vector<std::string>;
  return {{"num_fields", number(2)},
          {"names", values(Texts{"x", "w"})},
          {"fields", values(std::vector<int64_t>{0, 1})},
          {"dtypes", values(Texts{"float32", "string"})},
          {"defaults", values(Texts{"-1", ""})},
          {"required", values(Texts{})}};
}

}  // namespace

std::vector<DatasetPtr> datasets_of_files(const std::string& folder) {
  using Texts = std::vector<std::string>;
  std::string records;
  for (int i = 0; i < 9; ++i) records += str_cat(i, ",w", i, "\n");
  const std::string lines = file_of(folder, "lines", records),
                    fixed = file_of(folder, "fixed", "aaabbbcccdddeeefff");
  NamedValues csv = columns_of();
  csv.insert(csv.end(), {{"filenames", values(Texts{lines, lines})},
                         {"has_header", Value::of(false)},
                         {"header", values(Texts{})}});
  const auto text_lines = dataset_of("TextLineDataset", {{"filenames", values(Texts{lines})}});
  return {
      text_lines,
      dataset_of("CsvDataset", csv),
      dataset_of("DecodeDelimDataset", columns_of(), text_lines),
      dataset_of("TFRecordDataset",
                 {{"filenames", text(records_of(join_path(folder, "plain"), Compression::kNone))}}),
      dataset_of("TFRecordDataset",
                 {{"filenames", text(records_of(join_path(folder, "gzip"), Compression::kGzip))},
                  {"compression_type", text("GZIP")}}),
      dataset_of("FixedLengthRecordDataset",
                 {{"filenames", values(Texts{fixed})}, {"record_bytes", number(3)}}),
      dataset_of("FileListDataset", {{"filenames", values(Texts{lines, fixed})}}),
      dataset_of("RepeatDataset", {{"count", number(3)}},
                 dataset_of("FileCacheDataset", {{"filename", text(join_path(folder, "cache"))}},
                            range_of(6)))};
}

}  // namespace runhooks_test
