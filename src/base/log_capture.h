// LogCapture: passes log lines to a callback.
#pragma once

#include <functional>
#include <string>

#include "base/log.h"
#include "base/scoped_value.h"

namespace runhooks {

// Only the innermost active capture receives a line, before it is shown.
class LogCapture {
 public:
  using Callback = std::function<void(LogLevel level, const std::string& text)>;
  explicit LogCapture(Callback callback);

 private:
  friend void show_line(LogLevel level, const char* kind, const std::string& text);
  Callback callback_;
  ScopedValue<LogCapture*> scope_;
};

}  // namespace runhooks
