// What lives here: ReusableSessionHook, the mark of hooks after which graph and session may serve another loop.
// Who may use it: hooks carry it, whoever uses sessions again looks for it.
// What it must not know: any particular hook, R.
#pragma once

namespace runhooks {

// It adds nothing to the graph, feeds nothing, and holds nothing of the session once the loop has
// ended well.
class ReusableSessionHook {
 public:
  virtual ~ReusableSessionHook() = default;
};

}  // namespace runhooks
