// Tells whether the normalizer_fn of a column is running. R's statistics, such as mean(), throw an
// error then, because they would see only one batch.
#pragma once

namespace runhooks {

bool is_normalizer_running();

// Marks a normalizer_fn as running while this object exists.
class NormalizerScope {
 public:
  NormalizerScope();
  ~NormalizerScope();
  NormalizerScope(const NormalizerScope&) = delete;
  NormalizerScope& operator=(const NormalizerScope&) = delete;

 private:
  const bool was_running_;
};

}  // namespace runhooks
