#include "io/files/crc32c.h"
#include "io_test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

struct Vector {
  std::string hex;
  uint32_t crc, masked, masked_of_length;
};

// Checksums in files that TensorFlow's TFRecordWriter wrote.
const Vector kVectors[] = {
    {"", 0x00000000u, 0xa282ead8u, 0x07980329u},
    {"61", 0xc1d04330u, 0x28e46e78u, 0x41de7501u},
    {"313233343536373839", 0xe3069283u, 0xc78ab0e5u, 0x3971f937u},
    {"68656c6c6f20776f726c64", 0xc99465aau, 0x6dd87e00u, 0x04f51586u},
    {"0000000000000000000000000000000000000000000000000000000000000000", 0x8a9136aau, 0x0fd7fffau,
     0x50a9ed29u},
    {"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", 0x62a8ab43u, 0xf909b029u,
     0x50a9ed29u},
    {"7e", 0x8f9db87bu, 0x137a0a13u, 0x41de7501u},
    {"5c7ef5", 0xfc31f992u, 0x95a8e33bu, 0x0e4999b0u},
    {"b638fb967d4116", 0x0fe3751eu, 0x8cbf0a9eu, 0x119fd7bbu},
    {"b43b28faf1f8755b", 0x0f8e0040u, 0xa30309f4u, 0x0f2486ffu},
    {"a1dddc80bceebbd8ca", 0x627207ddu, 0xb23dafbcu, 0x3971f937u},
    {"b8dd3eea7c780c12d6b881b8e38ba5", 0x78f71a54u, 0xd72bdcc6u, 0x092b536du},
    {"13e67789d03831bf688dbb3aa1cdddec", 0x7304cb1du, 0x38bdd0e1u, 0x18fefb95u},
    {"fab63f16b22804f56334ba804ab89084ef", 0xd595acceu, 0xfc209603u, 0x2eb56d9du},
    {"05f418939e2884fb48c00122eddb6c73cdc7f7728ff0f42ee6c29db2623d6e93a9aa32f193b0"
     "d1e02290e4aa38700ecb9dc75ba0d2a4db4081666c5776a1f7",
     0xf54bc4afu, 0x2be2d56fu, 0x61766551u},
    {"ecd6d2d56090b955d3d7fdf05e4cfecf8b16294266ccd530e9b0d512750af3161de3be0146e1"
     "d8186628d187aa00ad216fba23d6e290573da4e2282bb8711254",
     0x62a10b8cu, 0xb99bb01au, 0x95f41728u},
    {"ca2b8821d6e4792b135531d9fc82b10731f83a2a4977c34452e30a43e11dba228a8e0bc6b34f"
     "1d61dde2fcb4197dc6efcf6bfb752f37ea1c7dd5a123560a7d7974",
     0xda937f2du, 0xa0de9ffeu, 0xabc2a900u},
    {"8d95829a99bf559e5c52c9f4a85d32a8b140b74ccaae8982a9b23b97a4924f07a3c9f110b029"
     "ef941043031b06d42dde0849ced04d76898ec4e7544bd0735b3b1aa816059a97835e1dea862e"
     "727685f5b616756c64c70c313868c6b7e4c5833fb6e05c23b2908cdac64e979899b3829c31bf"
     "9179c6e4a8d5535b230733eb8efc9dd1abf190018f724f7b30c9bdf0e826ce4625ec1af608f9"
     "f91ede0b87a3745452ab870ca08855e8adceaab4f20e71e7f46077fd65ba6b7313d890f1f2a2"
     "bc76ff8cc43d5eb6560968cb140acfb3942d2336063e71cb19073a6e1e23e535854c78e2f6ab"
     "44092c8c674252b27d7f5664b454d131814a1ae1ec95e7b0ac8c444554c7a477719cdc0d09c4"
     "312a65bf8c63f02cfb5c537fd9adabfb79a26cc8eba764731ff1e5db231dcd4f9709",
     0x24ad2fa3u, 0x01c93432u, 0x9d5bfef2u},
};

}  // namespace

TEST(io_crc32c_matches_tensorflow) {
  for (const Vector& v : kVectors) {
    const std::string bytes = from_hex(v.hex);
    CHECK_EQ(crc32c(bytes), v.crc);
    CHECK_EQ(internal::crc32c_extend_portable(0, bytes.data(), bytes.size()), v.crc);
    CHECK_EQ(mask_crc(v.crc), v.masked);
    CHECK_EQ(unmask_crc(v.masked), v.crc);
    std::string length(8, '\0');
    length[0] = static_cast<char>(bytes.size());
    length[1] = static_cast<char>(bytes.size() >> 8);
    CHECK_EQ(mask_crc(crc32c(length)), v.masked_of_length);
  }
  std::string all_bytes(256, '\0');
  for (size_t i = 0; i < 256; ++i) all_bytes[i] = static_cast<char>(i);
  CHECK_EQ(crc32c(all_bytes), 2621708363u);
}

TEST(io_crc32c_is_the_same_in_hardware_and_in_chunks) {
  std::mt19937_64 random = seeded_generator();
  const std::string bytes = random_bytes(random, 20000);
  for (int i = 0; i < 300; ++i) {
    const size_t begin = random() % 100, size = random() % (bytes.size() - begin),
                 cut = random() % (size + 1);
    const char* p = bytes.data() + begin;
    const uint32_t expected = internal::crc32c_extend_portable(0, p, size);
    CHECK_EQ(internal::crc32c_extend_hardware(0, p, size), expected);
    CHECK_EQ(crc32c_extend(crc32c(p, cut), p + cut, size - cut), expected);
  }
}

TEST(io_crc32c_of_chunks_can_be_combined) {
  std::mt19937_64 random = seeded_generator();
  const std::string bytes = random_bytes(random, (size_t{5} << 20) + 77);
  const char* p = bytes.data();
  for (int i = 0; i < 100; ++i) {
    const size_t size = random() % (i < 50 ? 40 : 20000), cut = random() % (size + 1);
    CHECK_EQ(crc32c_combine(crc32c(p, cut), crc32c(p + cut, size - cut), size - cut),
             crc32c(p, size));
  }
  const size_t chunk = size_t{1} << 20;
  for (const size_t size : {chunk, 2 * chunk - 1, 2 * chunk, 3 * chunk + 1, bytes.size()}) {
    CHECK_EQ(crc32c_parallel(p, size), crc32c(p, size));
  }
}
