#include <algorithm>

#include "base/ascii.h"
#include "base/pattern.h"
#include "graph/op_registry.h"
#include "ops/array/copy_elements.h"
#include "ops/array/index_reader.h"

namespace runhooks {

namespace {

constexpr const char* kWhitespace = " \t\n\r\f\v";

// Maps each string x of the input to Transform::text(x).
template <typename Transform>
class TransformTextKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(0);
    Tensor& out = c.output(0);
    out.set_dictionary(dictionary_.for_elements(x.num_elements()));
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      out.data<int32_t>()[i] = out.dictionary()->code(Transform::text(x.string_at(i)));
    }
  }

 private:
  OutputDictionary dictionary_;
};

struct Strip {
  static std::string text(const std::string& x) {
    const size_t begin = x.find_first_not_of(kWhitespace);
    if (begin == std::string::npos) return "";
    return x.substr(begin, x.find_last_not_of(kWhitespace) - begin + 1);
  }
};

template <char (*kMap)(char)>
struct MapCharacters {
  static std::string text(std::string x) {
    for (char& c : x) c = kMap(c);
    return x;
  }
};

// The shape function of StringLower and StringUpper. They change only ASCII letters, as in
// TensorFlow without an encoding.
void case_shape(ShapeContext& c) {
  if (!c.op().attr<std::string>("encoding").empty()) {
    fail(Code::kUnimplemented, "`encoding` of ", c.op().type(), " must be \"\", not \"",
         c.op().attr<std::string>("encoding"), "\": only ASCII letters are converted.");
  }
  unchanged_shape(c);
}

bool has_character_unit(const Operation& op) { return op.attr<std::string>("unit") == "UTF8_CHAR"; }

// Whether a byte of UTF-8 text is the first of its character.
bool is_first_byte(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

int64_t count_characters(const std::string& text) {
  return std::count_if(text.begin(), text.end(), is_first_byte);
}

class StringLengthKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const bool counts_characters = has_character_unit(c.op());
    const Tensor& x = c.input(0);
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      const std::string& text = x.string_at(i);
      const int64_t n =
          counts_characters ? count_characters(text) : static_cast<int64_t>(text.size());
      c.output(0).data<int32_t>()[i] = static_cast<int32_t>(n);
    }
  }
};

// Returns the byte offset of character `n`, or the length of the text if it has no more than `n`
// characters.
size_t byte_offset(const std::string& text, int64_t n) {
  size_t offset = 0;
  for (; offset < text.size(); ++offset) {
    if (is_first_byte(text[offset]) && n-- == 0) break;
  }
  return offset;
}

// Returns a part of the text that begins at `pos` and has length `len`. A negative `pos` counts
// from the end. If `len` is negative or too large, the part ends with the text.
std::string substring(const std::string& text, int64_t pos, int64_t len, bool counts_characters) {
  const int64_t size =
      counts_characters ? count_characters(text) : static_cast<int64_t>(text.size());
  if (pos > size || pos < -size) {
    invalid_argument("pos ", pos, " out of range for string b'", text, "'.");
  }
  const int64_t begin = pos < 0 ? pos + size : pos;
  const int64_t end = len < 0 ? size : std::min(size, begin + std::min(len, size));
  if (!counts_characters) {
    return text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  }
  const size_t from = byte_offset(text, begin);
  return text.substr(from, byte_offset(text, end) - from);
}

class SubstrKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(0);
    const Indices pos(c.input(1)), len(c.input(2));
    const bool counts_characters = has_character_unit(c.op());
    const int64_t n = c.output(0).num_elements();
    Tensor& out = c.output(0);
    out.set_dictionary(dictionary_.for_elements(n));
    for (int64_t i = 0; i < n; ++i) {
      const int64_t k = pos.size() == 1 ? 0 : i;
      out.data<int32_t>()[i] = out.dictionary()->code(
          substring(x.string_at(x.num_elements() == 1 ? 0 : i), pos[k], len[k], counts_characters));
    }
  }

 private:
  OutputDictionary dictionary_;
};

// Positions and lengths are scalars for all strings, or there is one of each per string.
void substr_shape(ShapeContext& c) {
  const Shape &x = c.input(0), pos = c.input(1).merge_with(c.input(2));
  if (!x.has_rank() || !pos.has_rank()) return c.set_output(0, Shape::unknown());
  if (pos.rank() > 0 && x.rank() > 0) return c.set_output(0, x.merge_with(pos));
  c.set_output(0, pos.rank() == 0 ? x : pos);
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
        const Tensor& x = c.input(k);
        if (k > 0) joined_ += separator;
        const std::string& part = x.string_at(x.shape().rank() == 0 ? 0 : i);
        check_memory(static_cast<int64_t>(joined_.size() + part.size()), 1);
        joined_ += part;
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

// Splits at each character that is in `delimiters`, or into bytes if `delimiters` is empty.
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
  const size_t begin = text.find_first_not_of(kWhitespace);
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

// Splits as Python's str.split(): at each separator, or at runs of whitespace if the separator is
// empty. A negative `max_splits` means no limit.
std::vector<std::string> split_at_separator(std::string_view text,
                                            const std::string& separator,
                                            int64_t max_splits) {
  if (max_splits == 0) return {std::string(text)};
  const bool at_whitespace = separator.empty();
  if (at_whitespace) text = without_leading_space(text);
  std::vector<std::string> parts;
  while (!at_whitespace || !text.empty()) {
    const size_t end = at_whitespace ? text.find_first_of(kWhitespace) : text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + separator.size());
    if (at_whitespace) text = without_leading_space(text);
    if (static_cast<int64_t>(parts.size()) != max_splits) continue;
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
    auto* indices = c.allocate_output(0, DType::kInt64, Shape{count, 2}).data<int64_t>();
    Tensor& values = c.allocate_output(1, DType::kString, Shape{count});
    values.set_dictionary(dictionary_.for_elements(count));
    auto* codes = values.data<int32_t>();
    for (int64_t i = 0; i < rows; ++i) {
      int64_t k = 0;
      for (const std::string& part : parts[static_cast<size_t>(i)]) {
        *indices++ = i;
        *indices++ = k++;
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
    return split_at_separator(text, c.input(1).string_at(0), c.op().attr_int("maxsplit"));
  }
};

// Returns an argument: input number `input`, or the attribute `attr` of an op without this input
// (StaticRegexReplace, StaticRegexFullMatch).
const std::string& string_argument(KernelContext& c, int input, const char* attr) {
  return c.num_inputs() > input ? c.input(input).string_at(0) : c.op().attr<std::string>(attr);
}

class RegexReplaceKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(0);
    const Pattern pattern(string_argument(c, 1, "pattern"));
    const std::string& rewrite = string_argument(c, 2, "rewrite");
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
    const Pattern pattern(string_argument(c, 1, "pattern"));
    const Tensor& x = c.input(0);
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      c.output(0).data<bool>()[i] = pattern.is_all_of(x.string_at(i));
    }
  }
};

void string_split_shape(ShapeContext& c) {
  c.set_output(0, Shape{-1, 2});
  c.set_output(1, Shape{-1});
  c.set_output(2, Shape{2});
}

}  // namespace

#define RUNHOOKS_TRANSFORM_TEXT_OP(type, Transform, shape_function) \
  RUNHOOKS_REGISTER_OP(type)                                        \
      .input("input: string")                                       \
      .output("output: string")                                     \
      .shape(shape_function)                                        \
      .kernel(kernel_of<TransformTextKernel<Transform>>())          \
      .not_differentiable()                                         \
      .example("s{ab,Word,}")

RUNHOOKS_TRANSFORM_TEXT_OP("StringStrip", Strip, unchanged_shape)
    .endpoint("string_strip")
    .endpoint("strings.strip")
    .summary("Strips leading and trailing white space.");

RUNHOOKS_TRANSFORM_TEXT_OP("StringLower", MapCharacters<ascii_lower>, case_shape)
    .attr("encoding: string = ''")
    .endpoint("strings.lower")
    .summary("Converts strings to lower case.");

RUNHOOKS_TRANSFORM_TEXT_OP("StringUpper", MapCharacters<ascii_upper>, case_shape)
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

}  // namespace runhooks
