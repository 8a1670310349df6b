#include "base/log_first.h"

#include <map>

namespace runhooks {

namespace {
std::map<std::string, int>& counts() {
  static auto* by_token = new std::map<std::string, int>;
  return *by_token;
}
}  // namespace

void warn_first_n(const char* kind, const std::string& text, int n, const std::string& token) {
  if (++counts()[token] <= n) warn(kind, text);
}

void reset_log_counts() { counts().clear(); }

}  // namespace runhooks
