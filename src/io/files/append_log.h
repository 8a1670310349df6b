// Files of records that only grow: several processes append, and none has to wait.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace runhooks {

// Adds a record by one write, so that a killed process leaves all of it or nothing, and two
// processes' records do not mix. Where the disk is full nothing is left of it.
void append_record_to(const std::string& path, std::string_view data);

// The whole records of such a file, none where there is no file. What a crash of the system has
// damaged is left out: *damaged says how many bytes.
std::vector<std::string> read_appended_records(const std::string& path, size_t* damaged);

}  // namespace runhooks
