// What lives here: whether a run was left, by an error or by who stopped it, within its changes of variables.
// Who may use it: the executor notes it, loops ask.
// What it must not know: what is done about it, R.
#pragma once

namespace runhooks {

// Of the run that this thread has left last.
bool& last_run_was_partial();

}  // namespace runhooks
