// Append-only record logs that several processes can write to without locks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace runhooks {

// Appends a record with a single write: records of concurrent processes do not mix, and a killed
// process leaves a complete record or none. If the write is incomplete, removes it and throws.
void append_record_to(const std::string& path, std::string_view data);

// Replaces the whole log by these records.
void write_appended_records(const std::string& path, const std::vector<std::string>& records);

// Reads all valid records; empty if the file does not exist. `*num_skipped` counts the skipped
// bytes, which a system crash can leave.
std::vector<std::string> read_appended_records(const std::string& path, size_t* num_skipped);

}  // namespace runhooks
