// What lives here: elements that wait, each with the error that came in its place; such errors in a state.
// Who may use it: data.
// What it must not know: what elements wait for, R.
#pragma once

#include <exception>
#include <map>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace runhooks {

// An element, or the error that came in its place.
struct HeldElement {
  Components components;
  std::exception_ptr error;
};

// The next element or error of the input; FALSE at its end. An interrupt is for the call that is
// running, and passes.
bool next_held(DatasetIterator& input, HeldElement& element);

// Errors as a part of a state: who goes on meets them in their places.
class SavedErrors {
 public:
  void add(size_t place, const std::exception_ptr& error);
  void save(NamedTensors& state) const;
  // By place.
  static std::map<int64_t, std::exception_ptr> read(const NamedTensors& state);

 private:
  std::vector<int64_t> places_, codes_;
  std::vector<std::string> texts_, classes_;  // of foreign ones their classes, one a line
};

}  // namespace runhooks
