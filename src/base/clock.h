// The clock that everything timed reads, and the one way to wait.
#pragma once

namespace runhooks {

// Seconds since 1970.
double now_seconds();
// A test's own clock; NULL brings the real one back.
void set_clock(double (*clock)());

// Does nothing for so long. It may throw where the embedding language can be interrupted.
void sleep_seconds(double seconds);
// The embedding language's or a test's way to sleep; NULL brings the plain one back.
void set_sleep(void (*sleep)(double));

}  // namespace runhooks
