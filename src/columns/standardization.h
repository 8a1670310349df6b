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
  // Reads the arguments with the names `center` and `scale`. Each is one number or `width` numbers.
  // Without them, the standardization is the identity.
  Standardization(const Args& args,
                  const std::string& center,
                  const std::string& scale,
                  int64_t width);
  // Returns false for the identity.
  explicit operator bool() const { return !scale_.empty(); }

  // Returns (x - center) / scale, computed in float64. In float32, large numbers with small
  // differences would become equal.
  Output apply(Graph& graph, Output x) const;
  // Returns x * scale + center, also computed in float64.
  Output invert(Graph& graph, Output x) const;
  // Convert differences of standardized numbers, or squares of differences, to the units of the
  // data.
  Output unscale_differences(Graph& graph, Output differences) const;
  Output unscale_squares(Graph& graph, Output squares) const;

 private:
  std::vector<double> center_, scale_;
};

}  // namespace runhooks
