// What lives here: Standardization, numbers minus a center over a scale, as data that a column or a head is given.
// Who may use it: columns of numbers, heads.
// What it must not know: where center and scale come from, R.
#pragma once

#include <string>
#include <vector>

#include "graph/args.h"
#include "graph/graph.h"

namespace runhooks {

class Standardization {
 public:
  Standardization() = default;  // leaves numbers alone
  // Reads the arguments `center` and `scale`: a number each, or one for each of `width` numbers of
  // a row; none where they are missing.
  Standardization(const Args& args,
                  const std::string& center,
                  const std::string& scale,
                  int64_t width);
  explicit operator bool() const { return !scale_.empty(); }

  // (x - center) / scale in float64, so that large numbers that differ by little keep what they
  // differ by.
  Output apply(Graph& graph, Output x) const;
  // x * scale + center in float64 likewise.
  Output undo(Graph& graph, Output x) const;
  // Standardized differences, and their squares, as those of the data.
  Output differences_of_data(Graph& graph, Output differences) const;
  Output squares_of_data(Graph& graph, Output squares) const;

 private:
  std::vector<double> center_, scale_;
};

}  // namespace runhooks
