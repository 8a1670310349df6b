// What lives here: LogWatch, which sees the lines that are shown while it lives.
// Who may use it: every layer.
// What it must not know: who shows them, and where.
#pragma once

#include <functional>
#include <string>

#include "base/log.h"

namespace runhooks {

// The innermost one of those that live sees a line, before it is shown.
class LogWatch {
 public:
  using Seen = std::function<void(LogLevel level, const std::string& text)>;
  explicit LogWatch(Seen seen);
  ~LogWatch();
  LogWatch(const LogWatch&) = delete;
  LogWatch& operator=(const LogWatch&) = delete;

 private:
  friend void show_line(LogLevel level, const char* kind, const std::string& text);
  Seen seen_;
  LogWatch* outer_;
};

}  // namespace runhooks
