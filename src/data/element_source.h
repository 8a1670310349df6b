// ElementSource and ElementStream: elements that R code produces.
#pragma once

#include "data/dataset.h"

namespace runhooks {

// Produces elements for one iterator.
class ElementStream {
 public:
  virtual ~ElementStream() = default;
  // Produces the next element; returns false at the end. `number`, from 0, is for messages.
  virtual bool next(int64_t number, Components& element) = 0;
  // Restarts for another pass.
  virtual void rewind() = 0;
  virtual NamedTensors save() const = 0;
  virtual void restore(const NamedTensors& state) = 0;
};

// Opens streams of elements, one for each iterator.
class ElementSource : public CoreObject {
 public:
  const char* kind() const override { return "a source of elements"; }
  virtual std::vector<DType> dtypes() const = 0;
  virtual std::vector<Shape> shapes() const = 0;
  // Opens an independent stream that starts at the first element. Throws kFailedPrecondition if the
  // source can be read only once and was opened before.
  virtual std::unique_ptr<ElementStream> open() = 0;
  // The source's own description of its elements, such as a query or schema.
  virtual const std::string& declared_schema() const = 0;
};

}  // namespace runhooks
