// Standardization: subtracts a center and divides by a scale, both passed as arguments.
#pragma once

#include <string>
#include <vector>

#include "graph/args.h"
#include "graph/graph.h"

namespace runhooks {

class Standardization {
 public:
  Standardization() = default;  // identity
  // Reads the arguments `center` and `scale`: a scalar, or `width` numbers; identity if both are
  // missing.
  Standardization(const Args& args,
                  const std::string& center,
                  const std::string& scale,
                  int64_t width);
  explicit operator bool() const { return !scale_.empty(); }

  // (x - center) / scale in float64, so that large numbers with small differences stay distinct.
  Output apply(Graph& graph, Output x) const;
  // x * scale + center, also in float64.
  Output invert(Graph& graph, Output x) const;
  // Convert differences, or their squares, back to the units of the data.
  Output differences_of_data(Graph& graph, Output differences) const;
  Output squares_of_data(Graph& graph, Output squares) const;

 private:
  std::vector<double> center_, scale_;
};

}  // namespace runhooks
