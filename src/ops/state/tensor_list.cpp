#include "ops/state/tensor_list.h"

#include <cstring>

#include "graph/op_registry.h"
#include "ops/math/integer_math.h"

namespace runhooks {

TensorList TensorList::resized(size_t size) const {
  TensorList list(dtype_, element_shape_);
  list.elements_->assign(elements_->begin(),
                         elements_->begin() + static_cast<std::ptrdiff_t>(std::min(size_, size)));
  list.elements_->resize(size);
  list.size_ = size;
  return list;
}

TensorList TensorList::with_pushed(const Tensor& element) const {
  // An empty list may outlive the run. If the new list shared its vector, the elements would stay
  // allocated.
  const bool is_longest = size_ > 0 && elements_->size() == size_;
  TensorList list = is_longest ? *this : resized(size_);
  list.elements_->push_back(element);
  ++list.size_;
  return list;
}

TensorList TensorList::with_popped() const {
  TensorList list = *this;
  --list.size_;
  return list;
}

TensorList TensorList::with_element(size_t i, const Tensor& element) const {
  TensorList list = resized(size_);
  (*list.elements_)[i] = element;
  return list;
}

Tensor list_tensor(TensorList list) {
  return Tensor::variant(std::make_shared<TensorList>(std::move(list)));
}

const TensorList& list_of_tensor(const Tensor& variant) {
  if (variant.dtype() != DType::kVariant || !variant.object()) {
    invalid_argument("Input handle is not a list.");
  }
  return *static_cast<const TensorList*>(variant.object().get());
}

namespace {

template <typename T>
void add_to(Tensor& sum, const Tensor& x) {
  for (int64_t i = 0; i < sum.num_elements(); ++i) {
    sum.data<T>()[i] = wrapping_add(sum.data<T>()[i], x.data<T>()[i]);
  }
}

Tensor sum_of_lists(const std::vector<const TensorList*>& lists);

Tensor sum_of_elements(const std::vector<const Tensor*>& parts) {
  if (parts.empty()) return Tensor();
  if (parts.size() == 1) return *parts[0];
  if (parts[0]->dtype() == DType::kVariant) {
    std::vector<const TensorList*> lists;
    for (const Tensor* part : parts) lists.push_back(&list_of_tensor(*part));
    return sum_of_lists(lists);
  }
  Tensor sum = parts[0]->copy();
  for (size_t k = 1; k < parts.size(); ++k) {
    if (parts[k]->shape() != sum.shape()) {
      invalid_argument("Elements of lists that are added must have one shape; got ", sum.shape(),
                       " and ", parts[k]->shape(), ".");
    }
    switch (sum.dtype()) {
      case DType::kFloat32:
        add_to<float>(sum, *parts[k]);
        break;
      case DType::kFloat64:
        add_to<double>(sum, *parts[k]);
        break;
      case DType::kInt32:
        add_to<int32_t>(sum, *parts[k]);
        break;
      case DType::kInt64:
        add_to<int64_t>(sum, *parts[k]);
        break;
      default:
        invalid_argument("Lists of ", dtype_name(sum.dtype()), " cannot be added.");
    }
  }
  return sum;
}

Tensor sum_of_lists(const std::vector<const TensorList*>& lists) {
  TensorList sum = lists[0]->resized(lists[0]->size());
  TensorList result(sum.dtype(), sum.element_shape());
  for (size_t i = 0; i < sum.size(); ++i) {
    std::vector<const Tensor*> parts;
    for (const TensorList* list : lists) {
      if (list->size() != sum.size()) {
        invalid_argument("Lists that are added must have one length; got ", sum.size(), " and ",
                         list->size(), ".");
      }
      if (list->element(i).is_valid()) parts.push_back(&list->element(i));
    }
    result = result.with_pushed(sum_of_elements(parts));
  }
  return list_tensor(std::move(result));
}

// Replaces numbers by zeros. Strings are kept, because they have no gradients.
TensorList zeros_like_list(const TensorList& list) {
  TensorList zeros(list.dtype(), list.element_shape());
  for (size_t i = 0; i < list.size(); ++i) {
    const Tensor& x = list.element(i);
    if (!x.is_valid()) {
      zeros = zeros.with_pushed(Tensor());
    } else if (x.dtype() == DType::kVariant) {
      zeros = zeros.with_pushed(list_tensor(zeros_like_list(list_of_tensor(x))));
    } else {
      zeros =
          zeros.with_pushed(x.dtype() == DType::kString ? x : Tensor::zeros(x.dtype(), x.shape()));
    }
  }
  return zeros;
}

class ListZerosKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    c.output(0) = list_tensor(zeros_like_list(list_of_tensor(c.input(0))));
  }
};

class ListSumKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    std::vector<const TensorList*> lists;
    for (int i = 0; i < c.num_inputs(); ++i) lists.push_back(&list_of_tensor(c.input(i)));
    c.output(0) = sum_of_lists(lists);
  }
};

}  // namespace

std::unique_ptr<Kernel> make_list_zeros() { return std::make_unique<ListZerosKernel>(); }
std::unique_ptr<Kernel> make_list_sum() { return std::make_unique<ListSumKernel>(); }

}  // namespace runhooks
