// Identity of this process and its machine.
#pragma once

#include <string>

namespace runhooks {

int process_id();
// Also TRUE if the system does not reveal it, for example for a process of another user.
bool process_exists(int process);
int processors();         // of the machine, regardless of CPU affinity
std::string host_name();  // "localhost" if unknown
// System and processor count: "Linux 6.1.0 x86_64, 8 processors".
std::string machine_description();

}  // namespace runhooks
