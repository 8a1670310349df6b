#include <algorithm>
#include <cstring>

#include "base/ascii.h"
#include "base/pattern.h"
#include "graph/op_registry.h"
#include "ops/array/copy_elements.h"
#include "ops/array/index_reader.h"
#include "ops/lookup/per_string.h"

namespace runhooks {

namespace {

// Maps each string of the input to Of::text(op, text), once per distinct string.
template <typename Of>
class TextKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(0);
    Tensor& out = c.output(0);
    out.set_dictionary(dictionary_.for_elements(x.num_elements()));
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      out.data<int32_t>()[i] = out.dictionary()->code(Of::text(x.string_at(i)));
    }
  }

 private:
  OutputDictionary dictionary_;
};

struct Strip {
  static std::string text(const std::string& x) {
    const char* spaces = " \t\n\r\f\v";
    const size_t begin = x.find_first_not_of(spaces);
    if (begin == std::string::npos) return "";
    return x.substr(begin, x.find_last_not_of(spaces) - begin + 1);
  }
};

template <char (*kChange)(char)>
struct Letters {
  static std::string text(std::string x) {
    for (char& letter : x) letter = kChange(letter);
    return x;
  }
};

// Only ASCII letters change, as in TensorFlow without an encoding.
void letters_shape(ShapeContext& c) {
  if (!c.op().attr<std::string>("encoding").empty()) {
    fail(Code::kUnimplemented, "`encoding` of ", c.op().type(), " must be \"\", not \"",
         c.op().attr<std::string>("encoding"), "\": only ASCII letters are converted.");
  }
  unchanged_shape(c);
}

bool counts_characters(const Operation& op) { return op.attr<std::string>("unit") == "UTF8_CHAR"; }

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

int64_t characters(const std::string& text) {
  return std::count_if(text.begin(), text.end(), begins_character);
}

class StringLengthKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const bool in_characters = counts_characters(c.op());
    const Tensor& x = c.input(0);
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      const std::string& text = x.string_at(i);
      const int64_t n = in_characters ? characters(text) : static_cast<int64_t>(text.size());
      c.output(0).data<int32_t>()[i] = static_cast<int32_t>(n);
    }
  }
};

// The byte offset of character `n`; the length of the text if it is shorter.
size_t byte_of_character(const std::string& text, int64_t n) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (begins_character(text[at]) && n-- == 0) break;
  }
  return at;
}

// Negative `pos` counts from the end; `len` is limited to the end of the text.
std::string part_of(const std::string& text, int64_t pos, int64_t len, bool in_characters) {
  const int64_t size = in_characters ? characters(text) : static_cast<int64_t>(text.size());
  if (pos > size || pos < -size) {
    invalid_argument("pos ", pos, " out of range for string b'", text, "'.");
  }
  const int64_t begin = pos < 0 ? pos + size : pos;
  const int64_t end = len < 0 ? size : std::min(size, begin + std::min(len, size));
  if (!in_characters) {
    return text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  }
  const size_t from = byte_of_character(text, begin);
  return text.substr(from, byte_of_character(text, end) - from);
}

class SubstrKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(0);
    const Indices pos(c.input(1)), len(c.input(2));
    const bool in_characters = counts_characters(c.op());
    const int64_t n = c.output(0).num_elements();
    Tensor& out = c.output(0);
    out.set_dictionary(dictionary_.for_elements(n));
    for (int64_t i = 0; i < n; ++i) {
      const int64_t k = pos.size() == 1 ? 0 : i;
      out.data<int32_t>()[i] = out.dictionary()->code(
          part_of(x.string_at(x.num_elements() == 1 ? 0 : i), pos[k], len[k], in_characters));
    }
  }

 private:
  OutputDictionary dictionary_;
};

// A scalar position and length for all strings, or one per string.
void substr_shape(ShapeContext& c) {
  const Shape &x = c.input(0), place = c.input(1).merge_with(c.input(2));
  if (!x.has_rank() || !place.has_rank()) return c.set_output(0, Shape::unknown());
  if (place.rank() > 0 && x.rank() > 0) return c.set_output(0, x.merge_with(place));
  c.set_output(0, place.rank() == 0 ? x : place);
}

class StringJoinKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const auto& separator = c.op().attr<std::string>("separator");
    Tensor& out = c.output(0);
    const int64_t n = out.num_elements();
    out.set_dictionary(dictionary_.for_elements(n));
    for (int64_t i = 0; i < n; ++i) {
      joined_.clear();
      for (int k = 0; k < c.num_inputs(); ++k) {
        const Tensor& part = c.input(k);
        if (k > 0) joined_ += separator;
        const auto& more = part.string_at(part.shape().rank() == 0 ? 0 : i);
        check_memory(static_cast<int64_t>(joined_.size() + more.size()), 1);
        joined_ += more;
      }
      out.data<int32_t>()[i] = out.dictionary()->code(joined_);
    }
  }

 private:
  std::string joined_;
  OutputDictionary dictionary_;
};

void string_join_shape(ShapeContext& c) {
  Shape out;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const Shape& x = c.input(i);
    if (!x.has_rank()) return c.set_output(0, Shape::unknown());
    if (x.rank() > 0) out = out.rank() == 0 ? x : out.merge_with(x);
  }
  c.set_output(0, out);
}

// Splits at delimiters, single characters each; without delimiters, splits into bytes.
std::vector<std::string> split_text(const std::string& text,
                                    const std::string& delimiters,
                                    bool skip_empty) {
  std::vector<std::string> parts;
  if (delimiters.empty()) {
    for (const char c : text) parts.emplace_back(1, c);
    return parts;
  }
  parts.emplace_back();
  for (const char c : text) {
    if (delimiters.find(c) == std::string::npos) {
      parts.back() += c;
    } else {
      parts.emplace_back();
    }
  }
  if (skip_empty) {
    parts.erase(std::remove(parts.begin(), parts.end(), std::string()), parts.end());
  }
  return parts;
}

std::string_view without_leading_space(std::string_view text) {
  const size_t at = text.find_first_not_of(" \t\n\v\f\r");
  return at == std::string_view::npos ? std::string_view() : text.substr(at);
}

// As in Python: at each separator, or at runs of whitespace if it is empty. `most` limits the
// number of splits unless it is negative.
std::vector<std::string> split_at(std::string_view text,
                                  const std::string& separator,
                                  int64_t most) {
  if (most == 0) return {std::string(text)};
  const bool at_space = separator.empty();
  if (at_space) text = without_leading_space(text);
  std::vector<std::string> parts;
  while (!at_space || !text.empty()) {
    const size_t end = at_space ? text.find_first_of(" \t\n\v\f\r") : text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + separator.size());
    if (at_space) text = without_leading_space(text);
    if (static_cast<int64_t>(parts.size()) != most) continue;
    parts.emplace_back(text);
    break;
  }
  return parts;
}

class StringSplitKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(0);
    const int64_t rows = x.num_elements();
    std::vector<std::vector<std::string>> parts;
    int64_t count = 0, longest = 0;
    for (int64_t i = 0; i < rows; ++i) {
      parts.push_back(split(c, x.string_at(i)));
      count += static_cast<int64_t>(parts.back().size());
      longest = std::max(longest, static_cast<int64_t>(parts.back().size()));
    }
    auto* at = c.allocate_output(0, DType::kInt64, Shape{count, 2}).data<int64_t>();
    Tensor& values = c.allocate_output(1, DType::kString, Shape{count});
    values.set_dictionary(dictionary_.for_elements(count));
    auto* codes = values.data<int32_t>();
    for (int64_t i = 0; i < rows; ++i) {
      int64_t k = 0;
      for (const std::string& part : parts[static_cast<size_t>(i)]) {
        *at++ = i;
        *at++ = k++;
        *codes++ = values.dictionary()->code(part);
      }
    }
    auto* shape = c.allocate_output(2, DType::kInt64, Shape{2}).data<int64_t>();
    shape[0] = rows;
    shape[1] = longest;
  }

 private:
  virtual std::vector<std::string> split(KernelContext& c, const std::string& text) const {
    return split_text(text, c.input(1).string_at(0), c.op().attr_bool("skip_empty"));
  }

  OutputDictionary dictionary_;
};

class StringSplitV2Kernel : public StringSplitKernel {
  std::vector<std::string> split(KernelContext& c, const std::string& text) const override {
    return split_at(text, c.input(1).string_at(0), c.op().attr_int("maxsplit"));
  }
};

// An argument that is an input, or an attribute of the Static... variant of the op.
const std::string& text_of(KernelContext& c, int input, const char* attr) {
  return c.num_inputs() > input ? c.input(input).string_at(0) : c.op().attr<std::string>(attr);
}

class RegexReplaceKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(0);
    const Pattern pattern(text_of(c, 1, "pattern"));
    const std::string& rewrite = text_of(c, 2, "rewrite");
    pattern.check_rewrite(rewrite);
    const bool is_global = c.op().attr_bool("replace_global");
    Tensor& out = c.output(0);
    out.set_dictionary(dictionary_.for_elements(x.num_elements()));
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      const std::string text = is_global ? pattern.replace_all(x.string_at(i), rewrite)
                                         : pattern.replace_first(x.string_at(i), rewrite);
      out.data<int32_t>()[i] = out.dictionary()->code(text);
    }
  }

 private:
  OutputDictionary dictionary_;
};

class RegexFullMatchKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Pattern pattern(text_of(c, 1, "pattern"));
    const Tensor& x = c.input(0);
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      c.output(0).data<bool>()[i] = pattern.is_all_of(x.string_at(i));
    }
  }
};

uint64_t load_word64(const char* data) {
  uint64_t word;
  std::memcpy(&word, data, sizeof word);
  return word;
}

// TensorFlow's Hash64, a variant of MurmurHash64A (Appleby).
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

  uint64_t of(const std::string& text) {
    size_t at = 0;
    for (; at + 8 <= text.size(); at += 8) mix(load_word64(text.data() + at));
    uint64_t last = static_cast<uint64_t>(text.size()) << 56;
    for (size_t i = 0; at + i < text.size(); ++i) {
      last |= static_cast<uint64_t>(static_cast<unsigned char>(text[at + i])) << (8 * i);
    }
    mix(last);
    v2_ ^= 0xff;
    for (int i = 0; i < 4; ++i) round();
    return v0_ ^ v1_ ^ v2_ ^ v3_;
  }

 private:
  static uint64_t rotated(uint64_t x, int by) { return (x << by) | (x >> (64 - by)); }
  void mix(uint64_t word) {
    v3_ ^= word;
    round();
    round();
    v0_ ^= word;
  }
  void round() {
    v0_ += v1_;
    v2_ += v3_;
    v1_ = rotated(v1_, 13) ^ v0_;
    v3_ = rotated(v3_, 16) ^ v2_;
    v0_ = rotated(v0_, 32);
    v2_ += v1_;
    v0_ += v3_;
    v1_ = rotated(v1_, 17) ^ v2_;
    v3_ = rotated(v3_, 21) ^ v0_;
    v2_ = rotated(v2_, 32);
  }
  uint64_t v0_, v1_, v2_, v3_;
};

template <bool kIsStrong>
class HashBucketKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(0);
    const auto n = static_cast<uint64_t>(c.op().attr_int("num_buckets"));
    const Operation& op = c.op();
    const int64_t* bucket = buckets_.values_by_code(
        x.dictionary(),
        [n, &op](const std::string& text) { return static_cast<int64_t>(hash(op, text) % n); });
    const auto* codes = x.data<int32_t>();
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      c.output(0).data<int64_t>()[i] = bucket[codes[i]];
    }
  }

 private:
  static uint64_t hash(const Operation& op, const std::string& text) {
    if (!kIsStrong) return hash64(text);
    const auto& key = op.attr<std::vector<int64_t>>("key");
    return SipHash(static_cast<uint64_t>(key[0]), static_cast<uint64_t>(key[1])).of(text);
  }
  PerString<int64_t> buckets_;
};

void string_split_shape(ShapeContext& c) {
  c.set_output(0, Shape{-1, 2});
  c.set_output(1, Shape{-1});
  c.set_output(2, Shape{2});
}

}  // namespace

#define RUNHOOKS_TEXT_OP(type, Of, shape_function) \
  RUNHOOKS_REGISTER_OP(type)                       \
      .input("input: string")                      \
      .output("output: string")                    \
      .shape(shape_function)                       \
      .kernel(kernel_of<TextKernel<Of>>())         \
      .not_differentiable()                        \
      .example("s{ab,Word,}")

RUNHOOKS_TEXT_OP("StringStrip", Strip, unchanged_shape)
    .endpoint("string_strip")
    .endpoint("strings.strip")
    .summary("Strips leading and trailing white space.");

RUNHOOKS_TEXT_OP("StringLower", Letters<ascii_lower>, letters_shape)
    .attr("encoding: string = ''")
    .endpoint("strings.lower")
    .summary("Converts strings to lower case.");

RUNHOOKS_TEXT_OP("StringUpper", Letters<ascii_upper>, letters_shape)
    .attr("encoding: string = ''")
    .endpoint("strings.upper")
    .summary("Converts strings to upper case.");

RUNHOOKS_REGISTER_OP("StringLength")
    .input("input: string")
    .output("output: int32")
    .attr("unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'")
    .shape(unchanged_shape)
    .kernel(kernel_of<StringLengthKernel>())
    .not_differentiable()
    .r("strings.length(input, name = NULL, unit = 'BYTE')")
    .summary("The number of bytes or characters of each string.")
    .example("s{a,bcd,}");

RUNHOOKS_REGISTER_OP("Substr")
    .input("input: string")
    .input("pos: T")
    .input("len: T")
    .output("output: string")
    .attr("T: {int32, int64}")
    .attr("unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'")
    .shape(substr_shape)
    .kernel(kernel_of<SubstrKernel>())
    .not_differentiable()
    .r("substr, strings.substr(input, pos, len, name = NULL, unit = 'BYTE')")
    .summary("Substrings of `len` bytes or characters from `pos`.")
    .example("s{abc,bcd} i:1 i:2")
    .example("s{abc,bcd} i{1,-2} i{2,1}");

RUNHOOKS_REGISTER_OP("StringJoin")
    .input("inputs: N * string")
    .output("output: string")
    .attr("N: int >= 1")
    .attr("separator: string = ''")
    .shape(string_join_shape)
    .kernel(kernel_of<StringJoinKernel>())
    .not_differentiable()
    .r("string_join, strings.join(inputs, separator = '', name = NULL)")
    .summary("Joins strings of several tensors elementwise.")
    .example("s{a,b} s:x | separator=-");

RUNHOOKS_REGISTER_OP("StringSplit")
    .input("input: string, vector")
    .input("delimiter: string, scalar")
    .output("indices: int64")
    .output("values: string")
    .output("shape: int64")
    .attr("skip_empty: bool = true")
    .shape(string_split_shape)
    .kernel(kernel_of<StringSplitKernel>())
    .allocates_outputs()
    .not_differentiable()
    .endpoint("raw_ops.StringSplit")
    .summary("Splits strings; returns a sparse tensor with one row per string.")
    .example("s{a_b,c} s:_");

RUNHOOKS_REGISTER_OP("StringSplitV2")
    .input("input: string, vector")
    .input("sep: string, scalar")
    .output("indices: int64")
    .output("values: string")
    .output("shape: int64")
    .attr("maxsplit: int = -1")
    .shape(string_split_shape)
    .kernel(kernel_of<StringSplitV2Kernel>())
    .allocates_outputs()
    .not_differentiable()
    .endpoint("raw_ops.StringSplitV2")
    .summary("Splits strings at a separator, or at whitespace; returns a sparse tensor.")
    .example("s{a_-b,c} s:_-");

RUNHOOKS_REGISTER_OP("RegexReplace")
    .input("input: string")
    .input("pattern: string, scalar")
    .input("rewrite: string, scalar")
    .output("output: string")
    .attr("replace_global: bool = true")
    .shape(unchanged_shape)
    .kernel(kernel_of<RegexReplaceKernel>())
    .not_differentiable()
    .r("regex_replace, strings.regex_replace(input, pattern, rewrite, replace_global = TRUE, "
       "name = NULL)")
    .summary("Replaces matches of a regular expression.")
    .example("s{abc,bcd} s:b s:x");

RUNHOOKS_REGISTER_OP("RegexFullMatch")
    .input("input: string")
    .input("pattern: string, scalar")
    .output("output: bool")
    .shape(unchanged_shape)
    .kernel(kernel_of<RegexFullMatchKernel>())
    .not_differentiable()
    .endpoint("strings.regex_full_match")
    .summary("Whether a regular expression matches the whole string.")
    .example("s{abc,bcd} s:a.*");

RUNHOOKS_REGISTER_OP("StaticRegexReplace")
    .input("input: string")
    .output("output: string")
    .attr("pattern: string")
    .attr("rewrite: string")
    .attr("replace_global: bool = true")
    .shape(unchanged_shape)
    .kernel(kernel_of<RegexReplaceKernel>())
    .not_differentiable()
    .endpoint("raw_ops.StaticRegexReplace")
    .summary("RegexReplace with a constant expression.")
    .example("s{abc,bcd} | pattern=b rewrite=x");

RUNHOOKS_REGISTER_OP("StaticRegexFullMatch")
    .input("input: string")
    .output("output: bool")
    .attr("pattern: string")
    .shape(unchanged_shape)
    .kernel(kernel_of<RegexFullMatchKernel>())
    .not_differentiable()
    .endpoint("raw_ops.StaticRegexFullMatch")
    .summary("RegexFullMatch with a constant expression.")
    .example("s{abc,bcd} | pattern=a.*");

RUNHOOKS_REGISTER_OP("StringToHashBucket")
    .input("string_tensor: string")
    .output("output: int64")
    .attr("num_buckets: int >= 1")
    .shape(unchanged_shape)
    .kernel(kernel_of<HashBucketKernel<false>>())
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
    .kernel(kernel_of<HashBucketKernel<true>>())
    .not_differentiable()
    .endpoint("string_to_hash_bucket_strong")
    .endpoint("strings.to_hash_bucket_strong")
    .summary("The bucket of each string by a keyed hash function.")
    .example("s{a,bc,} | num_buckets=10 key=[1,2]");

}  // namespace runhooks
