#include "base/platform.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "base/status.h"

namespace runhooks {

namespace {

// In the order of the enum SystemFeature.
constexpr const char* kFeatureNames[] = {
    "exchange", "replace_open", "file_locks", "ofd_locks", "hard_links",    "pread", "fallocate",
    "memfd",    "mmap",         "hugepages",  "cgroups",   "cycle_counter", "crc32", "vectors"};
constexpr uint32_t kAllFeatures = ~uint32_t{0};

uint32_t feature_bit(const std::string& name) {
  if (name == "all") return kAllFeatures;
  uint32_t bit = 1;
  for (const char* feature_name : kFeatureNames) {
    if (name == feature_name) return bit;
    bit <<= 1;
  }
  return 0;
}

uint32_t feature_bits(const std::string& names, std::string* unknown) {
  uint32_t bits = 0;
  for (size_t begin = 0; begin < names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    const std::string name = names.substr(begin, end - begin);
    const uint32_t bit = feature_bit(name);
    if (bit == 0) *unknown = name;
    bits |= bit;
    begin = end + 1;
  }
  return bits;
}

std::string disabled_names() {
  const char* names = std::getenv("RUNHOOKS_DISABLE");
  return names ? names : "";
}

std::atomic<uint32_t>& disabled_bits() {
  static std::atomic<uint32_t> bits = [] {
    std::string unknown;  // check_disabled_features() reports it
    return feature_bits(disabled_names(), &unknown);
  }();
  return bits;
}

void check_names(const std::string& names) {
  std::string unknown;
  feature_bits(names, &unknown);
  if (unknown.empty()) return;
  std::string all_names;
  for (const char* name : kFeatureNames) all_names += str_cat(name, ", ");
  throw Error(Code::kInvalidArgument,
              str_cat("RUNHOOKS_DISABLE names '", unknown, "', which is not a feature."),
              {str_cat("The features are ", all_names, "or all.")});
}

}  // namespace

bool feature_enabled(SystemFeature feature) {
  const auto bit = uint32_t{1} << static_cast<int>(feature);
  return (disabled_bits().load(std::memory_order_relaxed) & bit) == 0;
}

DisabledFeatures::DisabledFeatures(const std::string& names) {
  check_names(names);
  std::string unknown;
  previous_ = disabled_bits().fetch_or(feature_bits(names, &unknown));
}

DisabledFeatures::~DisabledFeatures() { disabled_bits() = previous_; }

void check_disabled_features() { check_names(disabled_names()); }

}  // namespace runhooks
