// The log of the core: levels, verbosity and the sink that receives all lines.
#pragma once

#include <string>

namespace runhooks {

// The numeric levels of Python's tf.logging.
enum class LogLevel : int { kDebug = 10, kInfo = 20, kWarn = 30, kError = 40, kFatal = 50 };

// `kind` is the class of a warning; "" for other lines.
using LogSink = void (*)(LogLevel level, const char* kind, const std::string& text);

// Lines below the verbosity are dropped. The default shows warnings and errors.
void set_log_verbosity(LogLevel level);
LogLevel log_verbosity();
inline bool is_logged(LogLevel level) { return level >= log_verbosity(); }
void set_log_sink(LogSink sink);

void log(LogLevel level, const std::string& text);
// Signals a warning of class `kind` in R after the running call has returned.
void warn(const char* kind, const std::string& text);
// Ignores the verbosity, for output that the user requested.
void log_always(LogLevel level, const std::string& text);

// Logs from any thread. Only R's main thread may show lines; lines of other threads are queued.
// `kind` is the class of a warning and must be a string literal.
void log_deferred(LogLevel level, std::string text, const char* kind = "");
// Shows queued lines. Called before other lines and by check_interrupt().
void flush_deferred_log();

}  // namespace runhooks
