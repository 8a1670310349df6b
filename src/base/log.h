// The core's log: levels and the one place that lines go to.
#pragma once

#include <string>

namespace runhooks {

// Python's numbers, as tf.logging has them.
enum class LogLevel : int { kDebug = 10, kInfo = 20, kWarn = 30, kError = 40, kFatal = 50 };

// `kind`: of a warning, what it is about; "" of other lines.
using LogSink = void (*)(LogLevel level, const char* kind, const std::string& text);

// Lines below the verbosity are dropped. By default warnings and errors are shown.
void set_log_verbosity(LogLevel level);
LogLevel log_verbosity();
inline bool is_logged(LogLevel level) { return level >= log_verbosity(); }
void set_log_sink(LogSink sink);

void log(LogLevel level, const std::string& text);
// Something is wrong and the work goes on. It reaches the embedding language as a warning of this
// kind when the call that is running has ended.
void warn(const char* kind, const std::string& text);
// What the user has asked for is shown whatever the verbosity.
void log_always(LogLevel level, const std::string& text);

// From any thread: where no line may be shown there it waits for one where it may.
void log_deferred(LogLevel level, std::string text);
// Lines that wait; called where the user is asked whether to stop, and before other lines.
void flush_deferred_log();

}  // namespace runhooks
