// What lives here: ElementSource, where the embedding language's own elements come from, and a stream of them.
// Who may use it: data, the bindings.
// What it must not know: R.
#pragma once

#include "data/dataset.h"

namespace runhooks {

// Elements one by one, for one iterator.
class ElementStream {
 public:
  virtual ~ElementStream() = default;
  // Element number `number` (from 0 on, for messages); FALSE at the end.
  virtual bool next(int64_t number, Components& element) = 0;
  // Back to the beginning, for another pass.
  virtual void rewind() = 0;
  virtual NamedTensors save() const = 0;
  virtual void restore(const NamedTensors& state) = 0;
};

class ElementSource : public CoreObject {
 public:
  const char* kind() const override { return "a source of elements"; }
  virtual std::vector<DType> dtypes() const = 0;
  virtual std::vector<Shape> shapes() const = 0;
  // A stream at the first element, which knows nothing of others. Of a source that can be read once
  // only the second one is kFailedPrecondition.
  virtual std::unique_ptr<ElementStream> open() = 0;
  // What it says that its elements are: a query, a schema.
  virtual const std::string& declared() const = 0;
};

}  // namespace runhooks
