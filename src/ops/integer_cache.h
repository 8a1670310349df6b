// What lives here: PerInteger, a value computed once for each distinct integer that turns up.
// Who may use it: ops whose kernels hash or look up integers.
// What it must not know: what is computed, R.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace runhooks {

class PerInteger {
 public:
  template <typename Of>
  int64_t get(int64_t key, Of of) {
    if (key >= 0 && key < kDense) {
      const auto at = static_cast<size_t>(key);
      if (at >= dense_.size()) dense_.resize(at + at / 2 + 64, kNone);
      if (dense_[at] == kNone) dense_[at] = of(key);
      return dense_[at];
    }
    auto found = sparse_.find(key);
    if (found != sparse_.end()) return found->second;
    if (sparse_.size() >= kMaxSparse) sparse_.clear();
    return sparse_[key] = of(key);
  }

 private:
  // Small keys are kept in a vector, others in a map that is not allowed to grow for ever.
  static constexpr int64_t kDense = int64_t{1} << 22, kNone = INT64_MIN + 1;
  static constexpr size_t kMaxSparse = size_t{1} << 20;
  std::vector<int64_t> dense_;
  std::unordered_map<int64_t, int64_t> sparse_;
};

}  // namespace runhooks
