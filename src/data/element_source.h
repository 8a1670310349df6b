// What lives here: ElementSource, where the embedding language's own elements come from.
// Who may use it: data, the bindings.
// What it must not know: R.
#pragma once

#include "data/dataset.h"

namespace runhooks {

// What makes elements one by one; one that is read in several places is one stream.
class ElementSource : public Made {
 public:
  const char* kind() const override { return "a source of elements"; }
  virtual std::vector<DType> dtypes() const = 0;
  virtual std::vector<Shape> shapes() const = 0;
  // Element number `number` (from 0 on, for messages); FALSE at the end.
  virtual bool next(int64_t number, Components& element) = 0;
  // Back to the beginning, for another pass or another session.
  virtual void rewind() = 0;
  virtual NamedTensors save() const = 0;
  virtual void restore(const NamedTensors& state) = 0;
};

}  // namespace runhooks
