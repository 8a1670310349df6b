// What lives here: the question whether the user has asked to stop.
// Who may use it: every layer.
// What it must not know: who is asked, R.
#pragma once

namespace runhooks {

// Throws a ForeignUnwind where the user has asked to stop. To be called between pieces of work; it
// costs some 40 ns.
void check_interrupt();
// TRUE on the thread that asks, and everywhere where nobody does.
bool may_ask_user();
// Who is asked, on this thread only; NULL: nobody.
void set_interrupt_check(void (*check)());

}  // namespace runhooks
