// One call that gives bytes to every reader of files and messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace runhooks_fuzz {

struct Reader {
  const char* name;
  void (*read)(const std::string& bytes);
};

const std::vector<Reader>& readers();

// What a reader makes of the bytes: nothing, or the core's own error. Everything else is a finding.
void read_with(const Reader& reader, const std::string& bytes);

}  // namespace runhooks_fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
