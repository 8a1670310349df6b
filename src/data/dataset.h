// What lives here: Dataset (what the data are) and DatasetIterator (where one pass through them stands).
// Who may use it: data, estimators, the bindings.
// What it must not know: particular sources and transformations, models, R.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

// Where an iterator puts the components of an element.
class ElementSink {
 public:
  virtual ~ElementSink() = default;
  // A tensor for component i, to be filled by the caller: one at hand where it has this type and
  // shape.
  virtual Tensor& allocate(int i, DType dtype, const Shape& shape) = 0;
};

// How far an iterator has come, in numbers that can be written to a file and read back.
struct IteratorState {
  std::vector<int64_t> numbers;
};

class DatasetIterator {
 public:
  virtual ~DatasetIterator() = default;
  // The next element; FALSE at the end, then nothing has been allocated.
  virtual bool next(ElementSink& sink) = 0;
  virtual IteratorState save() const = 0;
  virtual void restore(const IteratorState& state) = 0;
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
};

// The next element of the dataset as tensors of the graph, by operations IteratorV2 and
// IteratorGetNext. A session begins anew at the first element.
std::vector<Output> next_element(Graph& graph, std::shared_ptr<const Dataset> dataset);

// The iterator that a session keeps for the IteratorV2 operation of this name; NULL before it is
// first used.
DatasetIterator* find_iterator(const ResourceManager& resources, const std::string& op_name);

}  // namespace runhooks
