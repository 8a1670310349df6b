// What lives here: Dataset (what the data are) and DatasetIterator (where one pass through them stands).
// Who may use it: data, estimators, the bindings.
// What it must not know: particular sources and transformations, models, R.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/saveable.h"

namespace runhooks {

// The components of an element.
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
};

// Takes elements as tensors, new ones each time.
class ComponentsSink : public ElementSink {
 public:
  Tensor& allocate(int i, DType dtype, const Shape& shape) override;
  Components take() { return std::move(components_); }

 private:
  Components components_;
};

class DatasetIterator {
 public:
  virtual ~DatasetIterator() = default;
  // The next element; FALSE at the end, then nothing has been allocated.
  virtual bool next(ElementSink& sink) = 0;
  // How far it has come, seeds included: an iterator of the same pipeline that takes it over goes
  // on with the same elements. Those of what it reads from are below paths of their own.
  virtual NamedTensors save() const = 0;
  // A state that cannot be one of this pipeline is kDataLoss.
  virtual void restore(const NamedTensors& state) = 0;
  // Rows delivered so far, and whole passes through the data.
  virtual int64_t rows_seen() const = 0;
  virtual int64_t epoch() const = 0;
};

class Dataset {
 public:
  virtual ~Dataset() = default;
  // The components of an element; the batch dimension is unknown where a batch may be short.
  virtual std::vector<DType> dtypes() const = 0;
  virtual std::vector<Shape> shapes() const = 0;
  virtual std::unique_ptr<DatasetIterator> make_iterator() const = 0;
  // What its elements depend on, but for their values and for seeds: a state is good for pipelines
  // of the same description.
  virtual std::string description() const = 0;
  // TRUE where an iterator calls the embedding language: no other thread may ask for elements.
  virtual bool runs_on_main_thread() const { return false; }
};

// The next element of the dataset as tensors of the graph, by operations IteratorV2 and
// IteratorGetNext. A session begins anew at the first element.
std::vector<Output> next_element(Graph& graph, std::shared_ptr<const Dataset> dataset);

// The position of the iterator with this handle (an output of IteratorV2), as checkpoints keep it.
// It is restored into the same pipeline only; who wants it saved adds it to the collection
// `saveable_objects` or to a saver.
SaveablePtr make_saveable_from_iterator(const Output& handle);

// The iterator that a session keeps for the IteratorV2 operation of this name; NULL before it is
// first used.
DatasetIterator* find_iterator(const ResourceManager& resources, const std::string& op_name);

}  // namespace runhooks
