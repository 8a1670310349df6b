// ReusableSessionHook: marks hooks that allow the graph and session to be reused by another loop.
#pragma once

namespace runhooks {

// A hook may derive from this class if it adds nothing to the graph and feeds nothing. After a
// successful loop, it must not refer to the session.
class ReusableSessionHook {
 public:
  virtual ~ReusableSessionHook() = default;
};

}  // namespace runhooks
