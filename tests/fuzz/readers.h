// A function that passes bytes to a reader of files or messages.
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

// The reader must succeed or throw the core's Error. Anything else is a finding.
void read_with(const Reader& reader, const std::string& bytes);

}  // namespace runhooks_fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
