#include "hooks/value_format.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>

#include "base/ascii.h"
#include "base/number_text.h"

namespace runhooks {

namespace {

constexpr int64_t kSummarizeAbove = 1000;
constexpr int64_t kEdgeItems = 3;
constexpr size_t kLineWidth = 75;
constexpr int kPrecision = 8;

// A number in scientific form. `digits` has no decimal point, which follows the first digit.
struct Decimal {
  bool negative;
  std::string digits;
  int exponent;
};

// Returns the decimal with the fewest digits that converts back to `x`.
Decimal shortest_decimal(double x, bool is_float32) {
  std::string text;
  for (int digits = 0; digits < 18; ++digits) {
    text = format_text("%.*e", digits, x);
    const bool same = is_float32 ? read_float(text.c_str(), nullptr) == static_cast<float>(x)
                                 : read_double(text.c_str(), nullptr) == x;
    if (same) break;
  }
  const size_t e = text.find('e');
  Decimal decimal{std::signbit(x), "", std::atoi(text.c_str() + e + 1)};
  for (char c : text.substr(0, e)) {
    if (is_ascii_digit(c)) decimal.digits += c;
  }
  const size_t last = decimal.digits.find_last_not_of('0');
  decimal.digits.erase(last == std::string::npos ? 1 : last + 1);
  return decimal;
}

std::string exponent_text(int exponent, size_t min_digits) {
  std::string digits = std::to_string(std::abs(exponent));
  while (digits.size() < min_digits) digits.insert(0, "0");
  return std::string("e") + (exponent < 0 ? "-" : "+") + digits;
}

// The digits before and after the decimal point of a number.
struct Positional {
  std::string whole, fraction;
};

// Splits digits at the decimal point, which follows the first `point` digits. If `point` is
// negative, zeros are inserted after the decimal point.
Positional split_at_point(std::string digits, int point) {
  if (point <= 0) return {"0", std::string(static_cast<size_t>(-point), '0') + digits};
  const auto num_whole = static_cast<size_t>(point);
  if (digits.size() < num_whole) digits.resize(num_whole, '0');
  return {digits.substr(0, num_whole), digits.substr(num_whole)};
}

Positional positional(double x, bool is_float32) {
  const Decimal decimal = shortest_decimal(x, is_float32);
  Positional text;
  const int point = decimal.exponent + 1;
  const int fraction_digits = static_cast<int>(decimal.digits.size()) - point;
  if (fraction_digits > kPrecision) {
    const std::string rounded = format_text("%.*f", kPrecision, std::fabs(x));
    text.whole = rounded.substr(0, rounded.find('.'));
    text.fraction = rounded.substr(rounded.find('.') + 1);
    text.fraction.erase(text.fraction.find_last_not_of('0') + 1);
  } else {
    text = split_at_point(decimal.digits, point);
  }
  if (decimal.negative) text.whole.insert(0, "-");
  return text;
}

std::string scalar_float(double x, bool is_float32) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  const Decimal decimal = shortest_decimal(x, is_float32);
  if (x != 0 && (decimal.exponent < -4 || decimal.exponent >= 16)) {
    std::string text = decimal.negative ? "-" : "";
    text += decimal.digits[0];
    if (decimal.digits.size() > 1) text += "." + decimal.digits.substr(1);
    return text + exponent_text(decimal.exponent, 2);
  }
  // Scalars show all digits, even beyond the precision used for arrays.
  const Positional text = split_at_point(decimal.digits, decimal.exponent + 1);
  return (decimal.negative ? "-" : "") + text.whole + "." +
         (text.fraction.empty() ? "0" : text.fraction);
}

std::string bytes_literal(const std::string& text) {
  const bool uses_single_quotes =
      text.find('\'') == std::string::npos || text.find('"') != std::string::npos;
  const char quote = uses_single_quotes ? '\'' : '"';
  std::string out = std::string("b") + quote;
  for (unsigned char c : text) {
    if (c == quote || c == '\\')
      out += std::string("\\") + static_cast<char>(c);
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\r')
      out += "\\r";
    else if (c < 0x20 || c >= 0x7f)
      out += format_text("\\x%02x", c);
    else
      out += static_cast<char>(c);
  }
  return out + quote;
}

std::string padded(const std::string& text, size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

using ElementFormat = std::function<std::string(int64_t)>;

std::vector<int64_t> shown_offsets(const Shape& shape, bool summarize) {
  std::vector<int64_t> shown = {0};
  for (int axis = 0; axis < shape.rank(); ++axis) {
    std::vector<int64_t> next;
    const int64_t n = shape.dim(axis);
    for (int64_t offset : shown) {
      for (int64_t i = 0; i < n; ++i) {
        if (summarize && n > 2 * kEdgeItems && i >= kEdgeItems && i < n - kEdgeItems) continue;
        next.push_back(offset * n + i);
      }
    }
    shown = next;
  }
  return shown;
}

// Like NumPy's FloatingFormat, gives all elements of an array the same format and width.
ElementFormat float_format(const Tensor& value, const std::vector<int64_t>& shown) {
  const bool is_float32 = value.dtype() == DType::kFloat32;
  double max_abs = 0;
  bool has_finite = false, has_nan = false, has_inf = false, has_negative_inf = false;
  for (int64_t i : shown) {
    const double x = value.number_at(i);
    has_nan = has_nan || std::isnan(x);
    has_inf = has_inf || std::isinf(x);
    has_negative_inf = has_negative_inf || (std::isinf(x) && x < 0);
    if (!std::isfinite(x)) continue;
    has_finite = true;
    max_abs = std::max(max_abs, std::fabs(x));
  }
  const bool scientific = max_abs >= 1e8;
  size_t width_before_point = 0, width_after_point = 0, exponent_digits = 2;
  for (int64_t i : shown) {
    const double x = value.number_at(i);
    if (!std::isfinite(x)) continue;
    if (scientific) {
      const Decimal decimal = shortest_decimal(x, is_float32);
      width_before_point = std::max(width_before_point, size_t{1} + decimal.negative);
      width_after_point =
          std::max(width_after_point, std::min<size_t>(decimal.digits.size() - 1, kPrecision));
      exponent_digits =
          std::max(exponent_digits, std::to_string(std::abs(decimal.exponent)).size());
    } else {
      const Positional text = positional(x, is_float32);
      width_before_point = std::max(width_before_point, text.whole.size());
      width_after_point = std::max(width_after_point, text.fraction.size());
    }
  }
  const size_t num_decimals = width_after_point;
  if (scientific) width_after_point += 2 + exponent_digits;
  const size_t num_after_left = has_finite ? width_after_point + 1 : 1;
  if (has_nan && width_before_point + num_after_left < 3) width_before_point = 3 - num_after_left;
  const size_t inf_width = has_negative_inf ? 4 : 3;
  if (has_inf && width_before_point + num_after_left < inf_width)
    width_before_point = inf_width - num_after_left;
  const size_t width = width_before_point + num_after_left;
  return [=, &value](int64_t i) -> std::string {
    const double x = value.number_at(i);
    if (!std::isfinite(x)) return padded(scalar_float(x, is_float32), width);
    if (!scientific) {
      Positional text = positional(x, is_float32);
      text.fraction.resize(num_decimals, ' ');
      return padded(text.whole, width_before_point) + "." + text.fraction;
    }
    const std::string text = format_text("%.*e", static_cast<int>(num_decimals), x);
    std::string digits = text.substr(0, text.find('e'));
    if (num_decimals == 0) digits += ".";
    const int exponent = std::atoi(text.c_str() + text.find('e') + 1);
    return padded(digits + exponent_text(exponent, exponent_digits), width);
  };
}

ElementFormat element_format(const Tensor& value, const std::vector<int64_t>& shown) {
  if (value.dtype() == DType::kString) {
    return [&value](int64_t i) { return bytes_literal(value.string_at(i)); };
  }
  if (value.dtype() == DType::kBool) {
    return [&value](int64_t i) { return value.data<bool>()[i] ? " True" : "False"; };
  }
  if (is_floating(value.dtype())) return float_format(value, shown);
  size_t width = 0;
  auto text = [&value](int64_t i) {
    return std::to_string(static_cast<long long>(value.dtype() == DType::kInt64
                                                     ? value.data<int64_t>()[i]
                                                     : static_cast<int64_t>(value.number_at(i))));
  };
  for (int64_t i : shown) width = std::max(width, text(i).size());
  return [text, width](int64_t i) { return padded(text(i), width); };
}

// Formats an array with nested brackets and line breaks, as NumPy does.
class ArrayText {
 public:
  ArrayText(const Shape& shape, const ElementFormat& format, bool summarize)
      : shape_(shape), format_(format), summarize_(summarize) {}

  std::string axis_text(int axis, int64_t offset, const std::string& indent, size_t width) const {
    if (axis == shape_.rank()) return format_(offset);
    const int64_t n = shape_.dim(axis);
    const bool elides = summarize_ && n > 2 * kEdgeItems;
    const int axes_left = shape_.rank() - axis;
    const std::string separator =
        axes_left == 1 ? " " : std::string(static_cast<size_t>(axes_left - 1), '\n');
    std::string text, line = indent;
    for (int64_t i = 0; i < n; ++i) {
      if (elides && i >= kEdgeItems && i < n - kEdgeItems) {
        if (i == kEdgeItems) add("...", separator, axes_left, indent, width, text, line);
        continue;
      }
      const std::string item = axis_text(axis + 1, offset * n + i, indent + " ", width - 1);
      add(item, i + 1 < n ? separator : "", axes_left, indent, width, text, line);
    }
    if (axes_left == 1) text += line;
    return "[" + text.substr(indent.size()) + "]";
  }

 private:
  static void add(const std::string& item,
                  const std::string& separator,
                  int axes_left,
                  const std::string& indent,
                  size_t width,
                  std::string& text,
                  std::string& line) {
    if (axes_left > 1) {
      text += indent + item + separator;
      return;
    }
    if (line.size() > indent.size() && line.size() + item.size() > width - 1) {
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
      line = indent;
    }
    line += item + separator;
  }

  const Shape& shape_;
  const ElementFormat& format_;
  bool summarize_;
};

}  // namespace

std::string format_value(const Tensor& value) {
  if (!value.is_valid()) return "None";
  if (value.shape().rank() == 0) {
    if (value.dtype() == DType::kBool) return *value.data<bool>() ? "True" : "False";
    if (is_floating(value.dtype())) {
      return scalar_float(value.number_at(0), value.dtype() == DType::kFloat32);
    }
    return element_format(value, {0})(0);
  }
  if (value.num_elements() == 0) return "[]";
  const bool summarize = value.num_elements() > kSummarizeAbove;
  const ElementFormat format = element_format(value, shown_offsets(value.shape(), summarize));
  return ArrayText(value.shape(), format, summarize).axis_text(0, 0, " ", kLineWidth);
}

std::string short_number(double x) { return format_text("%.5g", x); }

}  // namespace runhooks
