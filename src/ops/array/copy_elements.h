// ElementCopier: moves elements of tensors of any type, for kernels that only rearrange elements.
#pragma once

#include <algorithm>
#include <memory>

#include "tensor/copy_rows.h"
#include "tensor/output_dictionary.h"
#include "tensor/tensor.h"

namespace runhooks {

// Positions and lengths count elements. A string is a code in its tensor's dictionary. If all
// sources share one dictionary, the output shares it too; otherwise strings are re-encoded in the
// output's own.
class ElementCopier {
 public:
  // Prepares copying elements of source(0) ... source(n - 1) to `out`.
  template <typename Source>
  void begin(Tensor& out, int n, Source source) {
    out_ = &out;
    size_ = dtype_size(out.dtype());
    if (out.dtype() != DType::kString) return;
    std::shared_ptr<StringDictionary> common;
    bool is_mixed = false;
    for (int k = 0; k < n; ++k) {
      const Tensor& tensor = source(k);
      if (tensor.num_elements() == 0) continue;
      is_mixed = is_mixed || (common && common != tensor.dictionary());
      common = tensor.dictionary();
    }
    if (is_mixed || !common) common = own_.for_elements(out.num_elements());
    out.set_dictionary(std::move(common));
  }
  void begin(Tensor& out, const Tensor& source) {
    begin(out, 1, [&source](int) -> const Tensor& { return source; });
  }

  void copy(const Tensor& from, int64_t at, int64_t to, int64_t n) {
    if (is_plain(from)) {
      copy_bytes(place(from, at), static_cast<size_t>(n) * size_, place(to));
      return;
    }
    for (int64_t i = 0; i < n; ++i) put_code(to + i, code(from, at + i));
  }
  // Copies `rows` rows of n elements; consecutive rows are one stride apart.
  void copy_rows(const Tensor& from,
                 int64_t at,
                 int64_t from_stride,
                 int64_t to,
                 int64_t to_stride,
                 int64_t rows,
                 int64_t n) {
    if (is_plain(from)) {
      runhooks::copy_rows(static_cast<size_t>(rows), static_cast<size_t>(n) * size_,
                          place(from, at), static_cast<size_t>(from_stride) * size_, place(to),
                          static_cast<size_t>(to_stride) * size_);
      return;
    }
    for (int64_t r = 0; r < rows; ++r) copy(from, at + r * from_stride, to + r * to_stride, n);
  }
  // Fills n elements from `to` with element `at`.
  void fill(const Tensor& from, int64_t at, int64_t to, int64_t n) {
    if (n <= 0) return;
    copy(from, at, to, 1);
    repeat(to, n);
  }
  // Fills with zeros, or empty strings.
  void fill_default(int64_t to, int64_t n) {
    if (n <= 0) return;
    if (out_->dtype() != DType::kString) {
      std::memset(place(to), 0, static_cast<size_t>(n) * size_);
      return;
    }
    put_code(to, out_->dictionary()->code(""));
    repeat(to, n);
  }

 private:
  // Single numbers are common, and calling memcpy() costs more than the copy.
  static void copy_bytes(const char* from, size_t size, char* to) {
    if (size == 4) {
      std::memcpy(to, from, 4);
    } else if (size == 8) {
      std::memcpy(to, from, 8);
    } else if (size > 0) {
      std::memcpy(to, from, size);
    }
  }
  bool is_plain(const Tensor& from) const {
    return out_->dtype() != DType::kString || from.dictionary() == out_->dictionary();
  }
  int32_t code(const Tensor& from, int64_t i) const {
    return out_->dictionary()->code(from.string_at(i));
  }
  void put_code(int64_t to, int32_t code) { out_->data<int32_t>()[to] = code; }
  // Repeats the element at `to` n times, doubling the copied length each time.
  void repeat(int64_t to, int64_t n) {
    for (int64_t done = 1; done < n; done += std::min(done, n - done)) {
      std::memcpy(place(to + done), place(to),
                  static_cast<size_t>(std::min(done, n - done)) * size_);
    }
  }
  char* place(int64_t i) {
    return static_cast<char*>(out_->raw()) + static_cast<size_t>(i) * size_;
  }
  const char* place(const Tensor& from, int64_t i) const {
    return static_cast<const char*>(from.raw()) + static_cast<size_t>(i) * size_;
  }

  Tensor* out_ = nullptr;
  size_t size_ = 0;
  OutputDictionary own_;
};

}  // namespace runhooks
