// What lives here: Dataset (what the data are) and DatasetIterator (where one pass through them stands).
// Who may use it: data, hooks, estimators, the bindings.
// What it must not know: particular sources and transformations, models, R.
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

// The components of an element. One that is a dataset is a variant (Tensor::variant()).
using Components = std::vector<Tensor>;

// Where an iterator puts the components of an element.
class ElementSink {
 public:
  virtual ~ElementSink() = default;
  // A tensor for component i, to be filled by the caller: one at hand where it has this type and
  // shape.
  virtual Tensor& allocate(int i, DType dtype, const Shape& shape) = 0;
  // Component i from a tensor that the caller may change afterwards.
  void copy(int i, const Tensor& value);
  // Component i, a tensor that nobody changes from now on.
  virtual void put(int i, Tensor value) { copy(i, value); }
  void emit_all_rows(Components components);
};

// Takes elements as tensors, new ones each time.
class ComponentsSink : public ElementSink {
 public:
  Tensor& allocate(int i, DType dtype, const Shape& shape) override;
  void put(int i, Tensor value) override;
  Components take() { return std::move(components_); }

 private:
  Components components_;
};

class PackedRowCache;

// Rows in memory of which elements are one each: who only chooses among elements hands on numbers.
class RowTable {
 public:
  virtual ~RowTable() = default;
  virtual int64_t num_rows() const = 0;
  // A row as an element.
  virtual void put(int64_t number, ElementSink& sink) const = 0;
  // `n` rows stacked, as one element.
  virtual void put_stacked(const int64_t* numbers, int64_t n, ElementSink& sink) const = 0;
  // These rows will be asked for, if not at once: what is far away in memory may be fetched.
  virtual void expect(const int64_t* /*numbers*/, int64_t /*n*/) const {}
  // For one iterator in which so many rows wait: a place for them; NULL where it is of no use.
  virtual std::shared_ptr<PackedRowCache> make_row_cache(int64_t /*waiting*/) const { return nullptr; }
};

struct Seeds {
  uint64_t seed = 0, seed2 = 0;
};

// Where iterators have their seeds from, as TensorFlow combines them: the graph's and the
// dataset's own; where nobody gave one they are drawn from the embedding language's generator.
class IteratorContext {
 public:
  IteratorContext() = default;
  explicit IteratorContext(const Graph& graph);

  Seeds seeds(std::optional<int64_t> own);
  // For iterators that are made later, on any thread: draws now what it may need then.
  IteratorContext fork();
  NamedTensors save() const;
  void restore(const NamedTensors& state);

 private:
  bool has_graph_seed_ = false, has_root_ = false;
  uint64_t graph_seed_ = 0, root_ = 0;
  int64_t used_ = 0;  // seeds given out that nobody had chosen
};

class DatasetIterator {
 public:
  virtual ~DatasetIterator() = default;
  // The next element; FALSE at the end, then nothing has been put.
  virtual bool next(ElementSink& sink) = 0;
  // Where the dataset has a row_table(): the numbers of up to `n` next elements; returns how many,
  // fewer only at the end. Each is one row seen.
  virtual int64_t next_rows(int64_t n, int64_t* numbers);
  // Where rows that next_rows() has given lie side by side, as the table has them; NULL: nowhere.
  virtual const PackedRowCache* make_row_cache() const { return nullptr; }
  // Up to `n` elements stacked to one, or none where `only_whole` and there are fewer; returns how
  // many it has taken.
  virtual int64_t next_stacked(int64_t n, bool only_whole, ElementSink& sink);
  // Some of the next elements, up to `n`, stacked to one; returns how many, 0 at the end. One where
  // reading several at once is no faster.
  virtual int64_t next_block(int64_t n, ElementSink& sink);
  // Back to the first element, for another pass; random numbers go on.
  virtual void rewind() = 0;
  // How far it has come, seeds included: an iterator of the same pipeline that takes it over goes
  // on with the same elements. Those of what it reads from are below paths of their own.
  virtual NamedTensors save() const = 0;
  // A state that cannot be one of this pipeline is kDataLoss.
  virtual void restore(const NamedTensors& state) = 0;
  // Rows delivered so far, and whole passes through the data.
  virtual int64_t rows_seen() const = 0;
  virtual int64_t epoch() const { return 0; }
  // Where the last element stands, for messages: "Line 3 of 'a.csv'"; empty where nobody knows.
  virtual std::string place() const { return ""; }
};

// What is known when an iterator begins: the values of tensors of the graph. Where the tensors are
// those of a function's graph, when it is called, its arguments that are datasets, too.
struct TensorBindings {
  const std::vector<Output>& tensors;
  const Components& values;
  const Components* arguments = nullptr;
  const Graph* graph = nullptr;  // of the function
  // NULL where it is not known.
  const Tensor* find(const Output& tensor) const;
};

class DataFingerprint;

class Dataset : public CoreObject, public std::enable_shared_from_this<Dataset> {
 public:
  const char* kind() const override { return "a dataset"; }
  // The components of an element; the batch dimension is unknown where a batch may be short.
  virtual std::vector<DType> dtypes() const = 0;
  virtual std::vector<Shape> shapes() const = 0;
  virtual std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const = 0;
  // for tests; lint: allow caller
  std::unique_ptr<DatasetIterator> make_iterator() const {
    IteratorContext context;
    return iterator(context);
  }
  // For people: of what make_dataset() has made its type and arguments.
  virtual std::string description() const;
  // What its elements depend on, but for seeds, is in two parts: what is done with the data, and
  // the data themselves. A state is good for a pipeline in which both are the same.
  virtual std::string steps() const;
  DataFingerprint content() const;
  virtual void add_content(DataFingerprint& content) const;
  // TRUE where an iterator calls the embedding language: no other thread may ask for elements.
  virtual bool runs_on_main_thread() const { return false; }
  // TRUE where it is known that there is always another element: nobody reads it to its end.
  virtual bool is_endless() const { return false; }
  // The rows that its elements are; NULL where they are made otherwise. Its iterators give numbers
  // of these rows as well as elements.
  virtual const RowTable* row_table() const { return nullptr; }
  // TRUE where TensorFlow makes one op of it and of a repeat behind it: this one does not begin a
  // pass behind the last one.
  virtual bool fuses_with_repeat() const { return false; }
  // TRUE where it, or what it reads from, is one of several parts of some data.
  virtual bool is_part() const { return reads_part_; }
  // The elements of this one for one of several readers, one by one.
  std::shared_ptr<const Dataset> shard_by_element(int64_t readers, int64_t reader) const;
  // Whether its elements are of files, by whatever way.
  virtual bool reads_files() const { return false; }
  // Its part for one of several readers, who deal the files among them or, where these are fewer,
  // their records; NULL where it reads none, or where the parts would not be the whole together.
  virtual std::shared_ptr<const Dataset> shard_by_file(int64_t /*readers*/,
                                                       int64_t /*reader*/) const {
    return nullptr;
  }
  // Of what component k, which is a dataset, is: its types and shapes are those of the real ones.
  virtual std::shared_ptr<const Dataset> inner(size_t k) const;

  // Arguments may be tensors of a graph, at any depth, and functions may use such: then this is a
  // pattern, of which their values make the dataset. Whoever keeps a pattern keeps their graph.
  std::vector<Output> unknowns() const;
  std::shared_ptr<const Dataset> with_values(const TensorBindings& known) const;
  // FALSE where values may make another dataset of it.
  virtual bool is_known() const { return is_known_; }

 protected:
  // What can be said of a number before it is known: a constant's value; else nothing.
  std::optional<int64_t> constant_or_nullopt(const std::string& argument) const;
  std::shared_ptr<const Dataset> given_dataset(const std::string& name) const;
  // The same kind with another argument.
  std::shared_ptr<const Dataset> with_argument(const std::string& name, Value value) const;
  // TRUE for an argument that says which the data are: add_content() has it, steps() has not.
  virtual bool identifies_data(const std::string& /*argument*/) const { return false; }
  // For iterators, which keep their dataset.
  template <typename D>
  static std::shared_ptr<const D> self(const D* dataset) {
    return std::static_pointer_cast<const D>(dataset->shared_from_this());
  }

 private:
  friend std::shared_ptr<Dataset> make_dataset(const std::string& type, const Args& args);
  virtual std::shared_ptr<const Dataset> replaced(const TensorBindings&) const { return nullptr; }
  // Throws where numbers do not go together; asked when all of them are known.
  virtual void validate_arguments(const Args& /*args*/) const {}
  // The datasets that an argument is, or has.
  static void each_dataset(const Value& value, const std::function<void(const Dataset&)>& visit);
  std::string type_;
  Args args_;
  int depth_ = 1;  // with what it reads from
  bool is_known_ = true;
  bool reads_part_ = false;
};

// A dataset of a registered kind. Where a number is a tensor that is not known yet it is 1.
std::shared_ptr<Dataset> make_dataset(const std::string& type, const Args& args);

// Of a pattern whose tensors are constants, or follow from such, the dataset. Throws where a tensor
// has no value of its own: it is fed, or may change.
std::shared_ptr<const Dataset> with_constants(const std::shared_ptr<const Dataset>& dataset);
// Whether that can be done.
bool has_constants_only(const Dataset& dataset);

// Registers a kind of datasets: the function that makes it of its arguments, the R function that
// does (datasets.R is written of these lines), what arguments are, what it is. An argument of the
// kind "dataset" is what it reads from. Kinds whose R function is no more than a call of the core
// have their examples in the R function's name's file below inst/examples/datasets.
#define RUNHOOKS_REGISTER_DATASET(type, make, ...)                                       \
  [[maybe_unused]] static const bool RUNHOOKS_CONCAT(dataset_registered_, __COUNTER__) = \
      Factory<Dataset>::instance().add(type, make, __VA_ARGS__)

// The handle of an iterator in the graph, an operation IteratorV2. With a dataset, which may depend
// on constants, a session begins at its first element; without (NULL) when an initializer has been
// run.
Output make_iterator_op(Graph& graph,
                        const std::vector<DType>& dtypes,
                        const std::vector<Shape>& shapes,
                        std::shared_ptr<const Dataset> dataset);
// The operation that makes the iterator begin with the first element of the dataset, for the values
// that its tensors have then.
Operation* make_iterator_initializer(const Output& iterator,
                                     std::shared_ptr<const Dataset> dataset,
                                     const std::string& name = "MakeIterator");
// The components of the iterator's next element, an operation IteratorGetNext.
std::vector<Output> iterator_get_next(const Output& iterator,
                                      const std::string& name = "IteratorGetNext");
// That of an iterator that begins by itself.
std::vector<Output> next_element(Graph& graph, std::shared_ptr<const Dataset> dataset);

// The position of the iterator with this handle (an output of IteratorV2), as checkpoints keep it;
// who wants it saved adds it to the collection `saveable_objects` or to a saver.
SaveablePtr make_saveable_from_iterator(const Output& handle,
                                        ResumeMismatch on_other_data = ResumeMismatch::kStop);

}  // namespace runhooks
