// Tests fingerprints at the boundaries between the text lengths that the algorithm distinguishes.
// test-column_categorical-hashes.R compares all of golden/unit/hashes.json.
#include "base/fingerprint.h"
#include "test.h"

using namespace runhooks;

TEST(fingerprints_match_farmhash) {
  CHECK_EQ(fingerprint64(std::string_view()), uint64_t{11160318154034397263u});
  CHECK_EQ(fingerprint64(std::string_view("a")), uint64_t{12917804110809363939u});
  CHECK_EQ(fingerprint64(std::string_view("abcd")), uint64_t{1897425971756105985u});
  CHECK_EQ(fingerprint64(std::string_view("abcdefg")), uint64_t{4341691227789030229u});
  CHECK_EQ(fingerprint64(int64_t{0}) % 1000, uint64_t{735});
  CHECK_EQ(fingerprint64(int64_t{-17}), fingerprint64(std::string_view("-17")));
}
