#include "base/log.h"

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#ifndef _WIN32
#include <pthread.h>
#endif

#include "base/interrupt.h"
#include "base/log_capture.h"

namespace runhooks {

namespace {
LogLevel verbosity = LogLevel::kWarn;
LogSink sink = nullptr;
LogCapture* innermost_capture = nullptr;

std::atomic<bool> has_deferred{false};
std::mutex deferred_mutex;
struct DeferredLine {
  LogLevel level;
  const char* kind;
  std::string text;
};
std::vector<DeferredLine>& deferred_lines() {
  static auto* lines = new std::vector<DeferredLine>;
  return *lines;
}

// Without these handlers, a fork while another thread holds the mutex would leave it locked in the
// child.
void register_fork_handlers() {
#ifndef _WIN32
  static const int registered =
      pthread_atfork([] { deferred_mutex.lock(); }, [] { deferred_mutex.unlock(); },
                     [] { deferred_mutex.unlock(); });
  (void)registered;
#endif
}
}  // namespace

void set_log_verbosity(LogLevel level) { verbosity = level; }
LogLevel log_verbosity() { return verbosity; }
void set_log_sink(LogSink new_sink) { sink = new_sink; }

LogCapture::LogCapture(Callback callback)
    : callback_(std::move(callback)), scope_(innermost_capture, this) {}

void show_line(LogLevel level, const char* kind, const std::string& text) {
  if (innermost_capture) innermost_capture->callback_(level, text);
  if (sink) sink(level, kind, text);
}

void log(LogLevel level, const std::string& text) {
  flush_deferred_log();
  if (is_logged(level)) log_always(level, text);
}

void log_always(LogLevel level, const std::string& text) { show_line(level, "", text); }

void warn(const char* kind, const std::string& text) {
  if (is_logged(LogLevel::kWarn)) show_line(LogLevel::kWarn, kind, text);
}

void log_deferred(LogLevel level, std::string text, const char* kind) {
  if (!is_logged(level)) return;
  register_fork_handlers();
  {
    const std::lock_guard<std::mutex> lock(deferred_mutex);
    deferred_lines().push_back({level, kind, std::move(text)});
    has_deferred = true;
  }
  flush_deferred_log();
}

void flush_deferred_log() {
  if (!has_deferred.load(std::memory_order_relaxed) || !can_poll_interrupts()) return;
  std::vector<DeferredLine> lines;
  {
    const std::lock_guard<std::mutex> lock(deferred_mutex);
    lines.swap(deferred_lines());
    has_deferred = false;
  }
  for (const DeferredLine& line : lines) show_line(line.level, line.kind, line.text);
}

}  // namespace runhooks
