// ElementCopier: moves elements of tensors of any type, for kernels that only rearrange elements.
#pragma once

#include <algorithm>
#include <memory>

#include "tensor/copy_rows.h"
#include "tensor/output_dictionary.h"
#include "tensor/tensor.h"

namespace runhooks {

// Positions and lengths count elements. A string element is a code in the dictionary of its tensor.
// If all sources have the same dictionary, the output shares it. Otherwise the output has its own
// dictionary, and strings are encoded again.
class ElementCopier {
 public:
  // Prepares copying elements of source(0) ... source(n - 1) to `out`.
  template <typename Source>
  void begin(Tensor& out, int n, Source source) {
    out_ = &out;
    size_ = dtype_size(out.dtype());
    if (out.dtype() != DType::kString) return;
    std::shared_ptr<StringDictionary> common;
    bool has_several_dictionaries = false;
    for (int k = 0; k < n; ++k) {
      const Tensor& tensor = source(k);
      if (tensor.num_elements() == 0) continue;
      has_several_dictionaries =
          has_several_dictionaries || (common && common != tensor.dictionary());
      common = tensor.dictionary();
    }
    if (has_several_dictionaries || !common)
      common = own_dictionary_.for_elements(out.num_elements());
    out.set_dictionary(std::move(common));
  }
  void begin(Tensor& out, const Tensor& source) {
    begin(out, 1, [&source](int) -> const Tensor& { return source; });
  }

  // Copies n elements from position `at` of `from` to position `to` of the output.
  void copy(const Tensor& from, int64_t at, int64_t to, int64_t n) {
    if (can_copy_bytes(from)) {
      copy_bytes(address_of(from, at), static_cast<size_t>(n) * size_, address_of(to));
      return;
    }
    for (int64_t i = 0; i < n; ++i) put_code(to + i, code(from, at + i));
  }
  // Copies `rows` rows of n elements. Consecutive rows are `from_stride` and `to_stride` apart.
  void copy_rows(const Tensor& from,
                 int64_t at,
                 int64_t from_stride,
                 int64_t to,
                 int64_t to_stride,
                 int64_t rows,
                 int64_t n) {
    if (can_copy_bytes(from)) {
      runhooks::copy_rows(static_cast<size_t>(rows), static_cast<size_t>(n) * size_,
                          address_of(from, at), static_cast<size_t>(from_stride) * size_,
                          address_of(to), static_cast<size_t>(to_stride) * size_);
      return;
    }
    for (int64_t r = 0; r < rows; ++r) copy(from, at + r * from_stride, to + r * to_stride, n);
  }
  // Sets n elements of the output, beginning at `to`, to element `at` of `from`.
  void fill(const Tensor& from, int64_t at, int64_t to, int64_t n) {
    if (n <= 0) return;
    copy(from, at, to, 1);
    repeat_first(to, n);
  }
  // Sets n elements of the output, beginning at `to`, to zero or the empty string.
  void fill_default(int64_t to, int64_t n) {
    if (n <= 0) return;
    if (out_->dtype() != DType::kString) {
      std::memset(address_of(to), 0, static_cast<size_t>(n) * size_);
      return;
    }
    put_code(to, out_->dictionary()->code(""));
    repeat_first(to, n);
  }

 private:
  // Most copies are of one number, for which a call of memcpy() costs more than the copy itself. A
  // constant size lets the compiler omit the call.
  static void copy_bytes(const char* from, size_t size, char* to) {
    if (size == 4) {
      std::memcpy(to, from, 4);
    } else if (size == 8) {
      std::memcpy(to, from, 8);
    } else if (size > 0) {
      std::memcpy(to, from, size);
    }
  }
  bool can_copy_bytes(const Tensor& from) const {
    return out_->dtype() != DType::kString || from.dictionary() == out_->dictionary();
  }
  int32_t code(const Tensor& from, int64_t i) const {
    return out_->dictionary()->code(from.string_at(i));
  }
  void put_code(int64_t to, int32_t code) { out_->data<int32_t>()[to] = code; }
  // Repeats the element at `to` n times, doubling the copied length each time.
  void repeat_first(int64_t to, int64_t n) {
    for (int64_t done = 1; done < n; done += std::min(done, n - done)) {
      std::memcpy(address_of(to + done), address_of(to),
                  static_cast<size_t>(std::min(done, n - done)) * size_);
    }
  }
  char* address_of(int64_t i) {
    return static_cast<char*>(out_->raw()) + static_cast<size_t>(i) * size_;
  }
  const char* address_of(const Tensor& from, int64_t i) const {
    return static_cast<const char*>(from.raw()) + static_cast<size_t>(i) * size_;
  }

  Tensor* out_ = nullptr;
  size_t size_ = 0;
  OutputDictionary own_dictionary_;
};

}  // namespace runhooks
