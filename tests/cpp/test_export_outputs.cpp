// Signatures of heads match those of TensorFlow 1.15.
#include <string>
#include <vector>

#include "estimators/heads/head.h"
#include "test.h"

using namespace runhooks;

namespace {

std::shared_ptr<Args> head_args(const std::string& name = "") {
  auto args = std::make_shared<Args>("the head");
  if (!name.empty()) args->set("name", Value::of(name));
  return args;
}

// Returns a text "name:kind(keys)" for each signature; the kind is c, r or p (classification,
// regression, prediction).
std::vector<std::string> signatures(const std::string& type, const Args& args) {
  const auto graph = std::make_shared<Graph>();
  const auto head = make_head(type, args);
  const Output logits = graph->op("Placeholder")
                            .attr("dtype", DType::kFloat32)
                            .attr("shape", Shape{-1, head->logits_dimension()});
  const EstimatorSpec spec =
      head->create_estimator_spec(*graph, ModelInput(), Mode::kPredict, logits, nullptr);
  std::vector<std::string> all;
  for (const auto& one : spec.export_outputs) {
    std::string text = one.first + ":" + "crp"[static_cast<int>(one.second.kind)] + "(";
    for (const auto& output : one.second.outputs) {
      text += output.first + " ";
      CHECK(output.second);
    }
    all.push_back(text + ")");
  }
  return all;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST(export_outputs_of_regressions_are_regressions) {
  CHECK(
      signatures("regression_head", *head_args()) ==
      (Texts{"serving_default:r(outputs )", "regression:r(outputs )", "predict:p(predictions )"}));
  for (const char* type : {"poisson_regression_head", "logistic_regression_head"}) {
    CHECK(signatures(type, *head_args()) ==
          (Texts{"serving_default:r(outputs )", "regression:r(outputs )",
                 "predict:p(predictions logits )"}));
  }
}

TEST(export_outputs_of_two_classes_are_both) {
  CHECK(signatures("binary_class_head", *head_args()) ==
        (Texts{"serving_default:c(scores classes )", "classification:c(scores classes )",
               "regression:r(outputs )",
               "predict:p(logits logistic probabilities class_ids classes all_class_ids "
               "all_classes )"}));
}

TEST(export_outputs_of_classes_are_classifications) {
  for (const char* type : {"multi_class_head", "multi_label_head"}) {
    const auto args = head_args();
    args->set("n_classes", Value::of(int64_t{3}));
    const Texts found = signatures(type, *args);
    CHECK_EQ(found.size(), 3u);
    CHECK_EQ(found[0], "serving_default:c(scores classes )");
    CHECK_EQ(found[1], "classification:c(scores classes )");
    CHECK_EQ(found[2].find("predict:p(logits probabilities "), 0u);
  }
}

TEST(export_outputs_of_several_heads_have_their_names) {
  auto heads = std::make_shared<ValueList>();
  for (const char* type : {"regression_head", "binary_class_head"}) {
    const auto args = head_args(type == std::string("regression_head") ? "h1" : "h2");
    args->set("type", Value::of(std::string(type)));
    heads->push_back(Value::of(args));
  }
  Args args("multi_head()");
  args.set("heads", Value::of(heads));
  const Texts found = signatures("multi_head", args);
  Texts names;
  for (const std::string& text : found) names.push_back(text.substr(0, text.find(':') + 2));
  CHECK(names == (Texts{"serving_default:r", "h1:r", "h1/regression:r", "h1/predict:p", "h2:c",
                        "h2/classification:c", "h2/regression:r", "h2/predict:p", "predict:p"}));
  CHECK_EQ(found.back().find("predict:p(h1/predictions h2/logits "), 0u);
}
