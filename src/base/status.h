// The exception type of the core, with TensorFlow's status codes, and the exception for unwinding R
// callbacks.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace runhooks {

// TensorFlow's canonical codes (error_codes.proto). kStopIteration is Python's; kNanLoss is
// specific to runhooks.
enum class Code {
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kStopIteration = 100,
  kNanLoss = 101,
};

// Convert between a code and its name in snake case ("invalid_argument"). Unknown names throw.
const char* code_name(Code code);
Code code_from_name(const std::string& name);

class Error : public std::exception {
 public:
  Error(Code code, std::string message, std::vector<std::string> hints = {})
      : code_(code), message_(std::move(message)), hints_(std::move(hints)) {}

  Code code() const { return code_; }
  const std::string& message() const { return message_; }
  // Additional lines for the user, such as valid values or advice.
  const std::vector<std::string>& hints() const { return hints_; }
  const char* what() const noexcept override { return message_.c_str(); }

  // Name of the graph operation that failed, if any: "dnn/hiddenlayer_0/MatMul".
  const std::string& op_name() const { return op_name_; }
  // Adds the operation to the message, unless the error already names one.
  Error& at_op(const std::string& type, std::string name);

  // The original R condition, which the bindings signal unchanged.
  std::shared_ptr<void> foreign;

 private:
  Code code_;
  std::string message_;
  std::vector<std::string> hints_;
  std::string op_name_;
};

// Thrown while an R callback unwinds. The core releases its resources and must rethrow it.
class ForeignUnwind {
 public:
  explicit ForeignUnwind(bool is_interrupt) : is_interrupt_(is_interrupt) {}
  virtual ~ForeignUnwind() = default;
  bool is_interrupt() const { return is_interrupt_; }

 private:
  bool is_interrupt_;
};

namespace internal {
void append(std::string& out, const char* x);
void append(std::string& out, const std::string& x);
void append(std::string& out, char x);
void append(std::string& out, bool x);
void append(std::string& out, float x);
void append(std::string& out, double x);
template <typename T>
auto append(std::string& out, T x) -> std::enable_if_t<std::is_integral_v<T>> {
  out += std::to_string(x);
}
template <typename T>
auto append(std::string& out, const T& x) -> decltype(x.to_string(), void()) {
  out += x.to_string();
}
}  // namespace internal

// Concatenates strings, numbers and objects that have to_string().
template <typename... Parts>
std::string str_cat(const Parts&... parts) {
  std::string out;
  (internal::append(out, parts), ...);
  return out;
}

template <typename Range>
std::string str_join(const Range& items, const char* separator) {
  std::string out;
  bool first = true;
  for (const auto& item : items) {
    if (!first) out += separator;
    internal::append(out, item);
    first = false;
  }
  return out;
}

template <typename... Parts>
[[noreturn]] void fail(Code code, const Parts&... parts) {
  throw Error(code, str_cat(parts...));
}

template <typename... Parts>
[[noreturn]] void invalid_argument(const Parts&... parts) {
  throw Error(Code::kInvalidArgument, str_cat(parts...));
}

}  // namespace runhooks
