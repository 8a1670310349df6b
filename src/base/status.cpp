#include "base/status.h"

#include "base/number_text.h"

namespace runhooks {

namespace {

struct CodeName {
  Code code;
  const char* name;
};

const CodeName kCodeNames[] = {
    {Code::kCancelled, "cancelled"},
    {Code::kUnknown, "unknown"},
    {Code::kInvalidArgument, "invalid_argument"},
    {Code::kDeadlineExceeded, "deadline_exceeded"},
    {Code::kNotFound, "not_found"},
    {Code::kAlreadyExists, "already_exists"},
    {Code::kPermissionDenied, "permission_denied"},
    {Code::kResourceExhausted, "resource_exhausted"},
    {Code::kFailedPrecondition, "failed_precondition"},
    {Code::kAborted, "aborted"},
    {Code::kOutOfRange, "out_of_range"},
    {Code::kUnimplemented, "unimplemented"},
    {Code::kInternal, "internal"},
    {Code::kUnavailable, "unavailable"},
    {Code::kDataLoss, "data_loss"},
    {Code::kStopIteration, "stop_iteration"},
    {Code::kNanLoss, "nan_loss"},
};

}  // namespace

const char* code_name(Code code) {
  for (const CodeName& entry : kCodeNames) {
    if (entry.code == code) return entry.name;
  }
  return "unknown";
}

Code code_from_name(const std::string& name) {
  for (const CodeName& entry : kCodeNames) {
    if (name == entry.name) return entry.code;
  }
  invalid_argument("Unknown error code '", name, "'.");
}

Error& Error::at_op(const std::string& type, std::string name) {
  if (op_name_.empty()) {
    op_name_ = std::move(name);
    message_ = str_cat("[", type, " ", op_name_, "] ", message_);
  }
  return *this;
}

namespace internal {
void append(std::string& out, const char* x) { out += x; }
void append(std::string& out, const std::string& x) { out += x; }
void append(std::string& out, char x) { out += x; }
void append(std::string& out, bool x) { out += x ? "TRUE" : "FALSE"; }
void append(std::string& out, float x) { out += format_text("%.9g", static_cast<double>(x)); }
void append(std::string& out, double x) { out += format_text("%.15g", x); }
}  // namespace internal

}  // namespace runhooks
