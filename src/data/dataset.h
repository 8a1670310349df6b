// Dataset: a lazy description of an input pipeline. DatasetIterator: reads the elements of a
// dataset, and can save its position.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/resume_mismatch.h"
#include "graph/factory.h"
#include "graph/graph.h"
#include "graph/saveable.h"

namespace runhooks {

// The components of an element. A component that is a dataset is a variant (Tensor::variant()).
using Components = std::vector<Tensor>;

// Receives the components of an element from an iterator.
class ElementSink {
 public:
  virtual ~ElementSink() = default;
  // Returns the tensor of component i, which the caller fills. A tensor of this type and shape is
  // reused.
  virtual Tensor& allocate(int i, DType dtype, const Shape& shape) = 0;
  // Sets component i to a copy of `value`, so the caller may change `value` afterwards.
  void copy(int i, const Tensor& value);
  // Sets component i to `value`, which must not change afterwards.
  virtual void put(int i, Tensor value) { copy(i, value); }
  // Sets all components with put().
  void emit(Components components);
};

// Collects elements as newly allocated tensors.
class ComponentsSink : public ElementSink {
 public:
  Tensor& allocate(int i, DType dtype, const Shape& shape) override;
  void put(int i, Tensor value) override;
  Components take() { return std::move(components_); }

 private:
  Components components_;
};

class PackedRowCache;

// A table in memory whose rows are the elements. Iterators that only select or reorder
// elements pass on row numbers instead of elements.
class RowTable {
 public:
  virtual ~RowTable() = default;
  virtual int64_t num_rows() const = 0;
  // Emits one row as an element.
  virtual void put(int64_t number, ElementSink& sink) const = 0;
  // Emits `n` rows, stacked into one element.
  virtual void put_stacked(const int64_t* numbers, int64_t n, ElementSink& sink) const = 0;
  // Hints that these rows will be read soon, so that they are loaded into the CPU cache.
  virtual void prefetch(const int64_t* /*numbers*/, int64_t /*n*/) const {}
  // Creates a cache for an iterator that buffers `buffer_size` rows; NULL if it would not help.
  virtual std::shared_ptr<PackedRowCache> make_row_cache(int64_t /*buffer_size*/) const {
    return nullptr;
  }
};

struct Seeds {
  uint64_t seed = 0, seed2 = 0;
};

// Provides the seeds of iterators, combined from the graph's seed and the dataset's seed as in
// TensorFlow. Without either, the seed comes from R's generator.
class IteratorContext {
 public:
  IteratorContext() = default;
  explicit IteratorContext(const Graph& graph);

  Seeds seeds(std::optional<int64_t> dataset_seed);
  // Returns a context for iterators that are created later, on any thread. Its seeds do not depend
  // on seeds that this context issues afterwards.
  IteratorContext fork();
  NamedTensors save() const;
  void restore(const NamedTensors& state);

 private:
  bool has_graph_seed_ = false, has_root_ = false;
  uint64_t graph_seed_ = 0, root_ = 0;
  int64_t num_issued_ = 0;  // number of automatic seeds issued
};

// TensorFlow's values for a dataset whose number of elements is infinite or unknown.
constexpr int64_t kInfiniteCardinality = -1, kUnknownCardinality = -2;

class DatasetIterator {
 public:
  virtual ~DatasetIterator() = default;
  // Emits the next element; returns false, and emits nothing, at the end.
  virtual bool next(ElementSink& sink) = 0;
  // Writes the row numbers of up to `n` next elements, if the dataset has a row_table(). Returns
  // their count, which is less than `n` only at the end.
  virtual int64_t next_rows(int64_t n, int64_t* numbers);
  // Returns the cache that holds the rows whose numbers next_rows() returns, or NULL.
  virtual const PackedRowCache* row_cache() const { return nullptr; }
  // Stacks up to `n` elements into one. With `only_whole`, emits nothing if fewer than `n` remain.
  // Returns the number of elements read.
  virtual int64_t next_stacked(int64_t n, bool only_whole, ElementSink& sink);
  // Stacks between 1 and `n` of the next elements; returns their number, 0 at the end. The default
  // reads one element. Iterators override it if reading several at once is faster.
  virtual int64_t next_block(int64_t n, ElementSink& sink);
  // Restarts at the first element for another pass; random streams continue.
  virtual void rewind() = 0;
  // Saves the position, including seeds. An iterator of the same pipeline that restores it
  // continues with the same elements. Names of the state of an input begin with a prefix such as
  // "input/".
  virtual NamedTensors save() const = 0;
  // Throws kDataLoss if the state cannot belong to this pipeline.
  virtual void restore(const NamedTensors& state) = 0;
  // Returns how many rows of the data the elements returned so far contain.
  virtual int64_t rows_seen() const = 0;
  // Returns the number of complete passes through the data.
  virtual int64_t epoch() const { return 0; }
  // The location of the last element, for messages ("Line 3 of 'a.csv'"); empty if unknown.
  virtual std::string location() const { return ""; }
};

// Values of the graph tensors that a dataset depends on. They are bound when an iterator of the
// dataset is created. If a dataset function returns the dataset, they are bound when the function
// is called, and `arguments` holds the function's arguments.
struct TensorBindings {
  const std::vector<Output>& tensors;
  const Components& values;
  const Components* arguments = nullptr;
  const Graph* graph = nullptr;  // the function's graph
  // Returns the value of a tensor, or NULL if it has none.
  const Tensor* find(const Output& tensor) const;
};

class DataFingerprint;

class Dataset : public CoreObject, public std::enable_shared_from_this<Dataset> {
 public:
  const char* kind() const override { return "a dataset"; }
  // Types and shapes of components. The batch dimension is unknown if a batch may be short.
  virtual std::vector<DType> dtypes() const = 0;
  virtual std::vector<Shape> shapes() const = 0;
  virtual std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const = 0;
  // for tests; lint: allow caller
  std::unique_ptr<DatasetIterator> make_iterator() const {
    IteratorContext context;
    return iterator(context);
  }
  // Readable description, built from the type and arguments passed to make_dataset().
  virtual std::string description() const;
  // The elements depend on the transformations, described by pipeline_signature(), on the data,
  // identified by data_fingerprint(), and on seeds. A saved position is valid if the first two
  // match.
  virtual std::string pipeline_signature() const;
  DataFingerprint data_fingerprint() const;
  // Adds the data of this dataset and its inputs.
  virtual void add_data_to(DataFingerprint& fingerprint) const;
  // True if an iterator calls R code; it must then run on the main thread.
  virtual bool runs_on_main_thread() const { return false; }
  // True if the dataset certainly never ends, so it must not be read to its end.
  virtual bool is_endless() const { return false; }
  // Returns the number of elements if it follows from the arguments without reading data.
  virtual int64_t cardinality() const { return kUnknownCardinality; }
  // The table whose rows the elements are, or NULL. With a table, iterators also support
  // next_rows().
  virtual const RowTable* row_table() const { return nullptr; }
  // True if TensorFlow fuses this dataset with a following `repeat()`, which then starts no extra
  // pass.
  virtual bool fuses_with_repeat() const { return false; }
  // True if this dataset or its input is one of several shards of the data.
  virtual bool is_part() const { return is_shard_; }
  // Returns the shard of reader `reader`, from 0: every `readers`-th element.
  std::shared_ptr<const Dataset> shard_by_element(int64_t readers, int64_t reader) const;
  // True if the elements come from files, directly or indirectly.
  virtual bool reads_files() const { return false; }
  // Returns the shard of reader `reader`, from 0: every `readers`-th file, or every `readers`-th
  // record if there are fewer files than readers. NULL if no files are read, or if the shards
  // together would not have the same elements as this dataset.
  virtual std::shared_ptr<const Dataset> shard_by_file(int64_t /*readers*/,
                                                       int64_t /*reader*/) const {
    return nullptr;
  }
  // If component k of the elements is a dataset, returns a dataset with the types and shapes of
  // that component.
  virtual std::shared_ptr<const Dataset> inner(size_t k) const;

  // Arguments and functions may depend on graph tensors, at any depth. bind() replaces these free
  // tensors by their values. Owners of an unbound dataset must keep its graph alive.
  std::vector<Output> free_tensors() const;
  std::shared_ptr<const Dataset> bind(const TensorBindings& bindings) const;
  // False if the dataset has free tensors.
  virtual bool is_bound() const { return is_bound_; }

 protected:
  // Returns the value of a number argument, or nullopt if it is a tensor that is not constant.
  std::optional<int64_t> constant_or_nullopt(const std::string& argument) const;
  // Returns the argument `name`, which must be a dataset.
  std::shared_ptr<const Dataset> input_argument(const std::string& name) const;
  // Returns a dataset of the same kind, with one argument replaced.
  std::shared_ptr<const Dataset> with_argument(const std::string& name, Value value) const;
  // True if an argument identifies the data, such as a file name: it counts for the data
  // fingerprint, not for the pipeline signature.
  virtual bool identifies_data(const std::string& /*argument*/) const { return false; }
  // Returns a shared pointer to `dataset`. Iterators hold it to keep their dataset alive.
  template <typename D>
  static std::shared_ptr<const D> self(const D* dataset) {
    return std::static_pointer_cast<const D>(dataset->shared_from_this());
  }

 private:
  friend std::shared_ptr<Dataset> make_dataset(const std::string& type, const Args& args);
  // Returns the dataset that replaces this one when it is bound; NULL to bind the arguments.
  virtual std::shared_ptr<const Dataset> replaced(const TensorBindings&) const { return nullptr; }
  // Throws if arguments are inconsistent. Called when all numbers are bound.
  virtual void validate_arguments(const Args& /*args*/) const {}
  // Visits each dataset in the value of an argument.
  static void each_dataset(const Value& value, const std::function<void(const Dataset&)>& visit);
  std::string type_;
  Args args_;
  int depth_ = 1;  // number of datasets from this one to the farthest source, including both
  bool is_bound_ = true;
  bool is_shard_ = false;
};

// Creates a dataset of a registered kind. Until they are bound, numbers that depend on tensors
// count as 1.
std::shared_ptr<Dataset> make_dataset(const std::string& type, const Args& args);

// Binds a dataset whose free tensors are constants or derived from constants. Throws if one of the
// tensors is fed or may change.
std::shared_ptr<const Dataset> with_constants(const std::shared_ptr<const Dataset>& dataset);
// True if with_constants() would succeed.
bool has_constants_only(const Dataset& dataset);

// Registers a kind of dataset under `type`: its factory, its R function, its arguments as lines of
// ArgSpec, and a summary. tools/datasets.R generates the R functions from these lines. An argument
// of kind "dataset" is an input. Examples of the generated functions are in
// inst/examples/datasets, in files named after the function.
#define RUNHOOKS_REGISTER_DATASET_AS(type, make, ...)                                    \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(dataset_registered_, __COUNTER__) = \
      Factory<Dataset>::instance().add(type, make, __VA_ARGS__)

// Registers class `Class`, which is constructed from its arguments, under its name.
#define RUNHOOKS_REGISTER_DATASET(Class, ...)                                                     \
  RUNHOOKS_REGISTER_DATASET_AS(                                                                   \
      #Class,                                                                                     \
      [](const Args& args) -> std::shared_ptr<Dataset> { return std::make_shared<Class>(args); }, \
      __VA_ARGS__)

// Adds an IteratorV2 operation and returns its handle. Each session starts at the first element of
// `dataset`, which may depend on constants. If it is NULL, an initializer must run first.
Output make_iterator_op(Graph& graph,
                        const std::vector<DType>& dtypes,
                        const std::vector<Shape>& shapes,
                        std::shared_ptr<const Dataset> dataset);
// Adds an operation that restarts the iterator at the first element of `dataset`. When it runs, it
// binds the current values of the tensors that the dataset depends on.
Operation* make_iterator_initializer(const Output& iterator,
                                     std::shared_ptr<const Dataset> dataset,
                                     const std::string& name = "MakeIterator");
// Adds an IteratorGetNext operation and returns the components of the next element.
std::vector<Output> iterator_get_next(const Output& iterator,
                                      const std::string& name = "IteratorGetNext");
// Creates an iterator that needs no initializer, and returns the components of its next element.
std::vector<Output> next_element(Graph& graph, std::shared_ptr<const Dataset> dataset);

// Returns an object that saves and restores the position of the iterator with this handle, an
// output of IteratorV2. To use it, add it to the collection `saveable_objects` or to a saver.
SaveablePtr make_saveable_from_iterator(const Output& handle,
                                        ResumeMismatch on_other_data = ResumeMismatch::kStop);

}  // namespace runhooks
