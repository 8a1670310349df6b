// Whether a column's normalizer_fn is running. R statistics such as mean() are refused there,
// because they would use one batch only.
#pragma once

namespace runhooks {

bool is_normalizing();

// Marks a normalizer as running for its lifetime.
class Normalizing {
 public:
  Normalizing();
  ~Normalizing();
  Normalizing(const Normalizing&) = delete;
  Normalizing& operator=(const Normalizing&) = delete;

 private:
  const bool before_;
};

}  // namespace runhooks
