#include "columns/normalizing.h"

namespace runhooks {

namespace {

bool normalizer_is_running = false;  // no lock: graphs are built on one thread

}  // namespace

bool is_normalizer_running() { return normalizer_is_running; }
NormalizerScope::NormalizerScope() : was_running_(normalizer_is_running) {
  normalizer_is_running = true;
}
NormalizerScope::~NormalizerScope() { normalizer_is_running = was_running_; }

}  // namespace runhooks
