// FunctionIterator: base of iterators that call a function on each element.
#pragma once

#include <memory>
#include <utility>

#include "data/dataset_function.h"
#include "data/one_input_dataset.h"

namespace runhooks {

// D is a Transformation with a member function(), which returns the DatasetFunction. Names of the
// saved state of the function begin with "function/".
template <typename D>
class FunctionIterator : public TransformationIterator<D> {
 public:
  FunctionIterator(std::shared_ptr<const D> dataset, IteratorContext& context)
      : TransformationIterator<D>(std::move(dataset), context),
        function_(this->dataset_->function().instantiate(context)) {}

 protected:
  NamedTensors save_own() const override {
    NamedTensors state;
    add_subtree(state, "function/", function_->save());
    return state;
  }
  void restore_own(const NamedTensors& state) override {
    function_->restore(subtree(state, "function/"));
  }

  std::unique_ptr<DatasetFunction::Instance> function_;
};

}  // namespace runhooks
