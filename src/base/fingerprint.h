// Fingerprint64 (FarmHash) and FingerprintCat64, as used by TensorFlow's hash buckets.
#pragma once

#include <cstdint>
#include <string_view>

namespace runhooks {

// farmhashna::Fingerprint64 of the published algorithm (Pike 2014). Bucket numbers end up in
// checkpoints, so the result must never change.
uint64_t fingerprint64(std::string_view text);

// Fingerprint of the decimal text of an integer.
uint64_t fingerprint64(int64_t number);

uint64_t fingerprint_cat64(uint64_t first, uint64_t second);

}  // namespace runhooks
