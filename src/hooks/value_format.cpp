#include "hooks/value_format.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>

#include "base/ascii.h"
#include "base/number_text.h"

namespace runhooks {

namespace {

constexpr int64_t kThreshold = 1000;
constexpr int64_t kEdgeItems = 3;
constexpr size_t kLineWidth = 75;
constexpr int kPrecision = 8;

// The shortest decimal that round-trips, in scientific form: sign, digits without the point,
// exponent.
struct Decimal {
  bool negative;
  std::string digits;
  int exponent;
};

Decimal shortest_decimal(double x, bool is_float32) {
  std::string all;
  for (int digits = 0; digits < 18; ++digits) {
    all = format_text("%.*e", digits, x);
    const bool same = is_float32 ? read_float(all.c_str(), nullptr) == static_cast<float>(x)
                                 : read_double(all.c_str(), nullptr) == x;
    if (same) break;
  }
  const size_t e = all.find('e');
  Decimal decimal{std::signbit(x), "", std::atoi(all.c_str() + e + 1)};
  for (char c : all.substr(0, e)) {
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

struct Positional {
  std::string whole, fraction;
};

Positional positional(double x, bool is_float32) {
  const Decimal decimal = shortest_decimal(x, is_float32);
  Positional text;
  const int point = decimal.exponent + 1;
  const int fraction_digits = static_cast<int>(decimal.digits.size()) - point;
  if (fraction_digits > kPrecision) {
    const std::string all = format_text("%.*f", kPrecision, std::fabs(x));
    text.whole = all.substr(0, all.find('.'));
    text.fraction = all.substr(all.find('.') + 1);
    text.fraction.erase(text.fraction.find_last_not_of('0') + 1);
  } else if (point <= 0) {
    text.whole = "0";
    text.fraction = std::string(static_cast<size_t>(-point), '0') + decimal.digits;
    if (x == 0) text.fraction.clear();
  } else {
    std::string digits = decimal.digits;
    if (static_cast<int>(digits.size()) < point) digits.resize(static_cast<size_t>(point), '0');
    text.whole = digits.substr(0, static_cast<size_t>(point));
    text.fraction = digits.substr(static_cast<size_t>(point));
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
  const int point = decimal.exponent + 1;
  std::string digits = decimal.digits;
  std::string whole = "0", fraction;
  if (point > 0) {
    if (static_cast<int>(digits.size()) < point) digits.resize(static_cast<size_t>(point), '0');
    whole = digits.substr(0, static_cast<size_t>(point));
    fraction = digits.substr(static_cast<size_t>(point));
  } else {
    fraction = std::string(static_cast<size_t>(-point), '0') + digits;
  }
  if (x == 0 || fraction.empty()) fraction = "0";
  return (decimal.negative ? "-" : "") + whole + "." + fraction;
}

std::string bytes_literal(const std::string& text) {
  const bool single = text.find('\'') == std::string::npos || text.find('"') != std::string::npos;
  const char quote = single ? '\'' : '"';
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

std::vector<int64_t> shown_elements(const Shape& shape, bool summarize) {
  std::vector<int64_t> shown = {0};
  for (int axis = 0; axis < shape.rank(); ++axis) {
    std::vector<int64_t> next;
    const int64_t n = shape.dim(axis);
    for (int64_t base : shown) {
      for (int64_t i = 0; i < n; ++i) {
        if (summarize && n > 2 * kEdgeItems && i >= kEdgeItems && i < n - kEdgeItems) continue;
        next.push_back(base * n + i);
      }
    }
    shown = next;
  }
  return shown;
}

// NumPy's FloatingFormat: all elements of an array have the same format and width.
ElementFormat float_format(const Tensor& value, const std::vector<int64_t>& shown) {
  const bool is_float32 = value.dtype() == DType::kFloat32;
  double largest = 0;
  bool has_finite = false, has_nan = false, has_inf = false, has_negative_inf = false;
  for (int64_t i : shown) {
    const double x = value.number_at(i);
    has_nan = has_nan || std::isnan(x);
    has_inf = has_inf || std::isinf(x);
    has_negative_inf = has_negative_inf || (std::isinf(x) && x < 0);
    if (!std::isfinite(x)) continue;
    has_finite = true;
    largest = std::max(largest, std::fabs(x));
  }
  const bool scientific = largest >= 1e8;
  size_t left = 0, right = 0, exponent_digits = 2;
  for (int64_t i : shown) {
    const double x = value.number_at(i);
    if (!std::isfinite(x)) continue;
    if (scientific) {
      const Decimal decimal = shortest_decimal(x, is_float32);
      left = std::max(left, size_t{1} + decimal.negative);
      right = std::max(right, std::min<size_t>(decimal.digits.size() - 1, kPrecision));
      exponent_digits =
          std::max(exponent_digits, std::to_string(std::abs(decimal.exponent)).size());
    } else {
      const Positional text = positional(x, is_float32);
      left = std::max(left, text.whole.size());
      right = std::max(right, text.fraction.size());
    }
  }
  const size_t decimals = right;
  if (scientific) right += 2 + exponent_digits;
  const size_t after = has_finite ? right + 1 : 1;
  if (has_nan && left + after < 3) left = 3 - after;
  const size_t inf_width = has_negative_inf ? 4 : 3;
  if (has_inf && left + after < inf_width) left = inf_width - after;
  const size_t width = left + after;
  return [=, &value](int64_t i) -> std::string {
    const double x = value.number_at(i);
    if (!std::isfinite(x)) return padded(scalar_float(x, is_float32), width);
    if (!scientific) {
      Positional text = positional(x, is_float32);
      text.fraction.resize(decimals, ' ');
      return padded(text.whole, left) + "." + text.fraction;
    }
    const std::string all = format_text("%.*e", static_cast<int>(decimals), x);
    std::string digits = all.substr(0, all.find('e'));
    if (decimals == 0) digits += ".";
    const int exponent = std::atoi(all.c_str() + all.find('e') + 1);
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

// NumPy's nested brackets, wrapped at the line width.
class ArrayText {
 public:
  ArrayText(const Shape& shape, const ElementFormat& format, bool summarize)
      : shape_(shape), format_(format), summarize_(summarize) {}

  std::string axis_text(int axis, int64_t base, const std::string& indent, size_t width) const {
    if (axis == shape_.rank()) return format_(base);
    const int64_t n = shape_.dim(axis);
    const bool cuts = summarize_ && n > 2 * kEdgeItems;
    const int axes_left = shape_.rank() - axis;
    const std::string separator =
        axes_left == 1 ? " " : std::string(static_cast<size_t>(axes_left - 1), '\n');
    std::string text, line = indent;
    for (int64_t i = 0; i < n; ++i) {
      if (cuts && i >= kEdgeItems && i < n - kEdgeItems) {
        if (i == kEdgeItems) add("...", separator, axes_left, indent, width, text, line);
        continue;
      }
      const std::string word = axis_text(axis + 1, base * n + i, indent + " ", width - 1);
      add(word, i + 1 < n ? separator : "", axes_left, indent, width, text, line);
    }
    if (axes_left == 1) text += line;
    return "[" + text.substr(indent.size()) + "]";
  }

 private:
  static void add(const std::string& word,
                  const std::string& separator,
                  int axes_left,
                  const std::string& indent,
                  size_t width,
                  std::string& text,
                  std::string& line) {
    if (axes_left > 1) {
      text += indent + word + separator;
      return;
    }
    if (line.size() > indent.size() && line.size() + word.size() > width - 1) {
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
      line = indent;
    }
    line += word + separator;
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
  const bool summarize = value.num_elements() > kThreshold;
  const ElementFormat format = element_format(value, shown_elements(value.shape(), summarize));
  return ArrayText(value.shape(), format, summarize).axis_text(0, 0, " ", kLineWidth);
}

std::string short_number(double x) { return format_text("%.5g", x); }

}  // namespace runhooks
