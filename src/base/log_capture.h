// LogCapture: passes log lines to a callback.
#pragma once

#include <functional>
#include <string>

#include "base/log.h"

namespace runhooks {

// Only the innermost active capture receives a line, before it is shown.
class LogCapture {
 public:
  using Callback = std::function<void(LogLevel level, const std::string& text)>;
  explicit LogCapture(Callback callback);
  ~LogCapture();
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;

 private:
  friend void show_line(LogLevel level, const char* kind, const std::string& text);
  Callback callback_;
  LogCapture* outer_;
};

}  // namespace runhooks
