// Which process this is, and on which machine it runs.
#pragma once

#include <string>

namespace runhooks {

int process_id();
// TRUE where in doubt, as for processes of other users.
bool process_exists(int process);
int processors();  // of the machine, whichever of them this process may use
std::string host_name();  // "localhost" where it has none
// The system and how many processors it has: "Linux 6.1.0 x86_64, 8 processors".
std::string machine_description();

}  // namespace runhooks
