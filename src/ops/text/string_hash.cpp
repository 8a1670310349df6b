// Ops that assign strings to buckets by a hash function.
#include <cstring>

#include "base/fingerprint.h"
#include "graph/op_registry.h"
#include "ops/lookup/per_string.h"

namespace runhooks {

namespace {

uint64_t load_word64(const char* data) {
  uint64_t word;
  std::memcpy(&word, data, sizeof word);
  return word;
}

// Computes TensorFlow's Hash64, a variant of MurmurHash64A (Appleby).
uint64_t hash64(const std::string& text) {
  constexpr uint64_t m = 0xc6a4a7935bd1e995;
  constexpr int r = 47;
  size_t n = text.size();
  const char* data = text.data();
  uint64_t h = 0xDECAFCAFFE ^ (n * m);
  for (; n >= 8; n -= 8, data += 8) {
    uint64_t k = load_word64(data);
    k *= m;
    k ^= k >> r;
    k *= m;
    h ^= k;
    h *= m;
  }
  for (size_t i = n; i-- > 0;) {
    h ^= static_cast<uint64_t>(static_cast<unsigned char>(data[i])) << (8 * i);
  }
  if (n > 0) h *= m;
  h ^= h >> r;
  h *= m;
  h ^= h >> r;
  return h;
}

// SipHash-2-4 (Aumasson and Bernstein 2012).
class SipHash {
 public:
  SipHash(uint64_t key0, uint64_t key1)
      : v0_(0x736f6d6570736575 ^ key0),
        v1_(0x646f72616e646f6d ^ key1),
        v2_(0x6c7967656e657261 ^ key0),
        v3_(0x7465646279746573 ^ key1) {}

  uint64_t hash(const std::string& text) {
    size_t offset = 0;
    for (; offset + 8 <= text.size(); offset += 8) mix(load_word64(text.data() + offset));
    uint64_t last_word = static_cast<uint64_t>(text.size()) << 56;
    for (size_t i = 0; offset + i < text.size(); ++i) {
      last_word |= static_cast<uint64_t>(static_cast<unsigned char>(text[offset + i])) << (8 * i);
    }
    mix(last_word);
    v2_ ^= 0xff;
    for (int i = 0; i < 4; ++i) round();
    return v0_ ^ v1_ ^ v2_ ^ v3_;
  }

 private:
  static uint64_t rotate_left(uint64_t x, int bits) { return (x << bits) | (x >> (64 - bits)); }
  void mix(uint64_t word) {
    v3_ ^= word;
    round();
    round();
    v0_ ^= word;
  }
  void round() {
    v0_ += v1_;
    v2_ += v3_;
    v1_ = rotate_left(v1_, 13) ^ v0_;
    v3_ = rotate_left(v3_, 16) ^ v2_;
    v0_ = rotate_left(v0_, 32);
    v2_ += v1_;
    v0_ += v3_;
    v1_ = rotate_left(v1_, 17) ^ v2_;
    v3_ = rotate_left(v3_, 21) ^ v0_;
    v2_ = rotate_left(v2_, 32);
  }
  uint64_t v0_, v1_, v2_, v3_;
};

uint64_t fast_hash(const Operation&, const std::string& text) { return fingerprint64(text); }

uint64_t legacy_hash(const Operation&, const std::string& text) { return hash64(text); }

uint64_t keyed_hash(const Operation& op, const std::string& text) {
  const auto& key = op.attr<std::vector<int64_t>>("key");
  return SipHash(static_cast<uint64_t>(key[0]), static_cast<uint64_t>(key[1])).hash(text);
}

template <uint64_t (*kHash)(const Operation& op, const std::string& text)>
class HashBucketKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(0);
    const Operation& op = c.op();
    const auto num_buckets = static_cast<uint64_t>(op.attr_int("num_buckets"));
    const int64_t* buckets =
        buckets_.values_by_code(x.dictionary(), [&op, num_buckets](const std::string& text) {
          return static_cast<int64_t>(kHash(op, text) % num_buckets);
        });
    auto* out = c.output(0).data<int64_t>();
    const auto* codes = x.data<int32_t>();
    for (int64_t i = 0; i < x.num_elements(); ++i) out[i] = buckets[codes[i]];
  }

 private:
  PerString<int64_t> buckets_;
};

}  // namespace

RUNHOOKS_REGISTER_OP("StringToHashBucketFast")
    .input("input: string")
    .output("output: int64")
    .attr("num_buckets: int >= 1")
    .shape(unchanged_shape)
    .kernel(kernel_of<HashBucketKernel<fast_hash>>())
    .not_differentiable()
    .endpoint("string_to_hash_bucket_fast")
    .endpoint("strings.to_hash_bucket_fast")
    .summary("The bucket of each string: its fingerprint modulo the number of buckets.")
    .example("s{a,bc,} | num_buckets=10");

RUNHOOKS_REGISTER_OP("StringToHashBucket")
    .input("string_tensor: string")
    .output("output: int64")
    .attr("num_buckets: int >= 1")
    .shape(unchanged_shape)
    .kernel(kernel_of<HashBucketKernel<legacy_hash>>())
    .not_differentiable()
    .r("string_to_hash_bucket, strings.to_hash_bucket(string_tensor = NULL, num_buckets = NULL, "
       "name = NULL, input as string_tensor = NULL)")
    .summary("The bucket of each string by TensorFlow's older hash function.")
    .example("s{a,bc,} | num_buckets=10");

RUNHOOKS_REGISTER_OP("StringToHashBucketStrong")
    .input("input: string")
    .output("output: int64")
    .attr("num_buckets: int >= 1")
    .attr("key: list(int) >= 2, <= 2")
    .shape(unchanged_shape)
    .kernel(kernel_of<HashBucketKernel<keyed_hash>>())
    .not_differentiable()
    .endpoint("string_to_hash_bucket_strong")
    .endpoint("strings.to_hash_bucket_strong")
    .summary("The bucket of each string by a keyed hash function.")
    .example("s{a,bc,} | num_buckets=10 key=[1,2]");

}  // namespace runhooks
