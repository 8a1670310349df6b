// What lives here: ElementQueue, elements that were made and not yet asked for; iterators that work ahead keep one.
// Who may use it: data.
// What it must not know: where elements come from, R.
#pragma once

#include <deque>
#include <vector>

#include "data/dataset.h"

namespace runhooks {

struct Element {
  Components components;
  // How far the source was when it gave the element.
  int64_t rows_seen = 0, epoch = 0;
};

class ElementQueue {
 public:
  ElementQueue(std::vector<DType> dtypes, std::vector<Shape> shapes)
      : dtypes_(std::move(dtypes)), shapes_(std::move(shapes)) {}

  size_t size() const { return elements_.size(); }
  bool empty() const { return elements_.empty(); }
  void push(Element element) { elements_.push_back(std::move(element)); }
  Element pop();
  void clear() { elements_.clear(); }

  // The tensors themselves are the state. One of elements of another type or shape is kDataLoss.
  NamedTensors save() const;
  void restore(const NamedTensors& state);

 private:
  std::vector<DType> dtypes_;
  std::vector<Shape> shapes_;
  std::deque<Element> elements_;
};

}  // namespace runhooks
