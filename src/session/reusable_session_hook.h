// ReusableSessionHook: marks hooks that allow the graph and session to be reused by another loop.
#pragma once

namespace runhooks {

// A hook may derive from this class if it adds nothing to the graph, feeds nothing, and holds no
// reference to the session after a successful loop.
class ReusableSessionHook {
 public:
  virtual ~ReusableSessionHook() = default;
};

}  // namespace runhooks
