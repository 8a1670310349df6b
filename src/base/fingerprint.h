// Fingerprint64 (FarmHash) and the combination of two fingerprints, as TensorFlow's hash buckets use
// them.
#pragma once

#include <cstdint>
#include <string_view>

namespace runhooks {

// farmhashna::Fingerprint64 of the published algorithm (Pike 2014). It is written into checkpoints
// by way of bucket numbers, so no bit of it may change.
uint64_t fingerprint64(std::string_view text);

// Of the integer's decimal text.
uint64_t fingerprint64(int64_t number);

// One fingerprint of two; not symmetric.
uint64_t fingerprint_cat64(uint64_t first, uint64_t second);

}  // namespace runhooks
