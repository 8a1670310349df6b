#include "base/log.h"

namespace runhooks {

namespace {
LogLevel verbosity = LogLevel::kWarn;
LogSink sink = nullptr;
}  // namespace

void set_log_verbosity(LogLevel level) { verbosity = level; }
LogLevel log_verbosity() { return verbosity; }
void set_log_sink(LogSink new_sink) { sink = new_sink; }

void log(LogLevel level, const std::string& text) {
  if (is_logged(level)) log_always(level, text);
}

void log_always(LogLevel level, const std::string& text) {
  if (sink) sink(level, "", text);
}

void warn(const char* kind, const std::string& text) {
  if (sink && is_logged(LogLevel::kWarn)) sink(LogLevel::kWarn, kind, text);
}

}  // namespace runhooks
