// Tests the parsing of argument declarations (ArgSpec).
#include "graph/factory.h"
#include "graph/signature.h"
#include "test.h"

using namespace runhooks;

TEST(arg_spec_describes_an_argument) {
  const ArgSpec spec = parse_arg_spec(
      "num_buckets as number_buckets = 4: whole number or NULL in [1, Inf); kept, apart. How many. "
      "Not: 0.");
  CHECK(spec.name == "num_buckets");
  CHECK(spec.target == "number_buckets");
  CHECK(spec.fallback == "4");
  CHECK(spec.kind == "whole number");
  CHECK(spec.allows_null);
  CHECK(spec.range == "[1, Inf)");
  CHECK(spec.low == 1 && !spec.is_open_below && spec.is_open_above);
  CHECK(spec.affects_checkpoints && spec.is_binding_only);
  CHECK(spec.doc == "How many. Not: 0.");
}

TEST(arg_spec_requires_only_a_name) {
  const ArgSpec default_spec = parse_arg_spec("axis");
  CHECK(default_spec.name == "axis" && default_spec.target == "axis" && default_spec.kind == "any");
  CHECK(default_spec.fallback.empty() && !default_spec.allows_null &&
        !default_spec.affects_checkpoints && default_spec.doc.empty());
  const ArgSpec numbers_spec = parse_arg_spec("scale = NULL: numbers; kept");
  CHECK(numbers_spec.kind == "numbers" && numbers_spec.allows_null &&
        numbers_spec.affects_checkpoints && numbers_spec.doc.empty());
}

TEST(arg_spec_choices_are_quoted_strings) {
  const ArgSpec spec = parse_arg_spec("combiner = 'sum': one of 'sum', 'mean'; kept. How.");
  CHECK(spec.kind == "choice");
  CHECK(spec.choices == (std::vector<std::string>{"sum", "mean"}));
  CHECK(describe_expected(spec) == "one of \"sum\", \"mean\"");
  Args args("f()");
  args.set("combiner", Value::of(std::string("max")));
  CHECK_THROWS(check_arguments({spec}, args), Code::kInvalidArgument,
               "`combiner` of f() must be one of \"sum\", \"mean\", not \"max\"");
}

TEST(arg_spec_lists_use_the_same_syntax) {
  const Signature signature =
      parse_signature("nn.moments, moments(x, axes = c(0, 1), keep_dims as keepdims = NULL)");
  CHECK(signature.endpoints == (std::vector<std::string>{"nn.moments", "moments"}));
  CHECK(signature.arguments.size() == 3);
  CHECK(signature.arguments[1].fallback == "c(0, 1)");
  CHECK(signature.arguments[2].target == "keepdims");
  CHECK(signature.find("keep_dims") == &signature.arguments[2]);
}

TEST(arg_spec_rejects_invalid_lines) {
  CHECK_THROWS(parse_arg_spec("a = 1: flag; keeps. Words."), Code::kInternal,
               "Unknown argument flag 'keeps'");
  CHECK_THROWS(parse_arg_spec(" = 1: flag"), Code::kInternal, "has no name");
}

TEST(arg_spec_finds_arguments_by_target) {
  const std::vector<ArgSpec> specs = {parse_arg_spec("units as width: count. How wide."),
                                      parse_arg_spec("data: any; apart. Elsewhere.")};
  Args args("f()");
  args.set("width", Value::of(static_cast<int64_t>(3)));
  args.set("key", Value());  // NULL counts as absent
  check_arguments(specs, args);
  CHECK(declared_arguments(specs, args).items().size() == 1);
  args.set("width", Value::of(0.5));
  CHECK_THROWS(check_arguments(specs, args), Code::kInvalidArgument,
               "`units` of f() must be a positive whole number, not 0.5");
  args.set("width", Value());
  CHECK_THROWS(check_arguments(specs, args), Code::kInvalidArgument,
               "`units` of f() must be a positive whole number, not NULL");
  CHECK_THROWS(check_arguments(specs, Args("f()")), Code::kInvalidArgument,
               "`units` of f() is missing");
  args.set("width", Value::of(2.0));
  args.set("other", Value::of(true));
  CHECK_THROWS(check_arguments(specs, args), Code::kInvalidArgument, "Unused argument `other`");
}
