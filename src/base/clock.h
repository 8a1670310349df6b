// The clock and the sleep function of the whole core. Tests and the bindings can replace both.
#pragma once

#include <cstdint>
#include <string>

namespace runhooks {

double now_seconds();
// Formats a time in seconds since 1970 in the local time zone, like strftime().
std::string local_time_text(double seconds, const char* format);
// Replaces the clock in tests; null restores the system clock.
void set_clock(double (*clock)());

// Nanoseconds of a steady clock, for measuring durations.
int64_t steady_ns();

// May throw if the sleep function supplied by the bindings is interrupted.
void sleep_seconds(double seconds);
// Replaces the sleep function; null restores the default.
void set_sleep(void (*sleep)(double));

}  // namespace runhooks
