#include "monitored/loop_observer.h"

namespace runhooks {

namespace {
LoopObserver* current = nullptr;
}  // namespace

LoopObserver* loop_observer() { return current; }
void set_loop_observer(LoopObserver* observer) { current = observer; }

}  // namespace runhooks
