// What lives here: whether the normalizer_fn of a column is running, in which statistics of the language would be a batch's.
// Who may use it: numeric_column, which calls normalizers, and the bindings.
// What it must not know: what a normalizer does, R.
#pragma once

namespace runhooks {

bool is_normalizing();

// For as long as one lives.
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
