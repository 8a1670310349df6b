#include "columns/normalizing.h"

namespace runhooks {

namespace {

bool normalizing = false;  // graphs are built on one thread

}  // namespace

bool is_normalizing() { return normalizing; }
Normalizing::Normalizing() : before_(normalizing) { normalizing = true; }
Normalizing::~Normalizing() { normalizing = before_; }

}  // namespace runhooks
