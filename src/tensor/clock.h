// What lives here: the clock that everything timed reads.
// Who may use it: every layer.
// What it must not know: what is timed.
#pragma once

namespace runhooks {

// Seconds since 1970.
double now_seconds();
// A test's own clock; NULL brings the real one back.
void set_clock(double (*clock)());

}  // namespace runhooks
