// Tests which changes of a model its directory accepts: arguments declared as "kept" must not
// change.
#include "estimators/heads/head_base.h"
#include "estimators/models/model_signature.h"
#include "estimators/models/model_traits.h"
#include "test.h"

using namespace runhooks;

namespace {

// A column, a head and an estimator that only this test registers.
class ToyColumn : public DenseColumn {
 public:
  explicit ToyColumn(const Args& args) : key_(args.text("key")) {}
  std::string name() const override { return key_ + "_toy"; }
  std::vector<FeatureRead> reads() const override { return {{key_, DType::kFloat32}}; }
  Output transform(TransformationCache& cache) const override { return cache.feature(key_); }
  Shape variable_shape() const override { return Shape{1}; }

 private:
  std::string key_;
};

RUNHOOKS_REGISTER_COLUMN(ToyColumn,
                         "",
                         {kNameArgument, kFeatureArgument,
                          "depth = 2: whole number; kept. What variables depend on.",
                          "seed = NULL: whole number. What they begin with."},
                         "Of the test.");

// A head whose labels are the ranks of items. Its argument `items` is the width of the labels.
class ToyHead : public HeadBase {
 public:
  explicit ToyHead(const Args& args) : HeadBase(args), items_(args.integer("items")) {}
  int64_t logits_dimension() const override { return items_; }
  LabelSpec labels() const override {
    LabelSpec labels;
    labels.width = items_;
    labels.width_argument = "items";
    labels.lowest = 1;
    labels.highest = static_cast<double>(items_);
    return labels;
  }

 protected:
  Named<Output> predictions(Graph&, Output logits) const override {
    return {{"predictions", logits}};
  }
  Output checked_labels(Graph&, Output labels, Output) const override { return labels; }
  Output losses(Graph& graph, Output labels, Output logits) const override {
    return graph.op("SquaredDifference", {logits, labels});
  }
  Named<Metric> metrics(Graph&, const HeadBatch&) const override { return {}; }
  Named<ExportOutput> signatures(const Named<Output>& predictions) const override {
    return {regression_signature(predictions[0].second)};
  }

 private:
  int64_t items_;
};

RUNHOOKS_REGISTER_HEAD("toy_head",
                       ToyHead,
                       "Of the test.",
                       "items: count; kept. How many.",
                       "weight_column",
                       "loss_reduction",
                       "name");

ModelTraits toy_traits() {
  ModelTraits traits;
  traits.family = traits.description = "toy";
  traits.name = "Toy";
  traits.parts = {{"", true, false, {"SGD", 0.1, PartOptimizer::RateScaling::kNever, "SGD"}}};
  traits.arguments = {"head",      "feature_columns",
                      "labels",    "levels = 3: count; kept. How deep.",
                      "optimizer", "noise = 0: plain number. How much.",
                      "model_dir"};
  return traits;
}

ModelFn toy_model_fn(const std::shared_ptr<Head>&, const Args&) { return {}; }

RUNHOOKS_REGISTER_CANNED("toy", toy_model_fn, toy_traits());

std::shared_ptr<Args> made(std::initializer_list<std::pair<const char*, Value>> items) {
  auto args = std::make_shared<Args>("toy");
  for (const auto& item : items) args->set(item.first, item.second);
  return args;
}

Value text(const char* words) { return Value::of(std::string(words)); }
Value number(double x) { return Value::of(x); }
Value list_of(std::vector<Value> items) {
  return Value::of(std::make_shared<ValueList>(std::move(items)));
}

std::shared_ptr<Args> toy_column(double depth, double seed) {
  return made({{"type", text("ToyColumn")},
               {"key", text("x")},
               {"depth", number(depth)},
               {"seed", number(seed)}});
}

std::shared_ptr<Args> toy_model(double depth, double seed, double levels, double noise) {
  return made({{"type", text("toy_regressor")},
               {"feature_columns", list_of({Value::of(toy_column(depth, seed))})},
               {"levels", number(levels)},
               {"noise", number(noise)},
               {"optimizer", text("SGD")}});
}

std::string group(const Args& spec, const std::string& wanted) {
  std::string all;
  for (const auto& [name, texts] : model_signature(spec)) {
    if (name != wanted) continue;
    for (const auto& one : texts) all += one.first + ": " + one.second + "\n";
  }
  return all;
}

}  // namespace

TEST(kept_arguments_must_match_the_folder) {
  const auto was = toy_model(2, 1, 3, 0.5);
  CHECK(group(*was, "kind") == "kind: toy_regressor\n");
  CHECK(group(*was, "head") == "label_dimension: 1\n");
  CHECK(group(*was, "layers") == "levels: 3\n");
  CHECK(group(*was, "columns") == "x_toy: ToyColumn(key='x', depth=2)\n");
  CHECK(group(*was, "optimizer") == "optimizer: SGD\n");
  CHECK(model_signature(*toy_model(2, 9, 3, 0.9)) == model_signature(*was));
  CHECK(model_signature(*toy_model(4, 1, 3, 0.5)) != model_signature(*was));
  CHECK(model_signature(*toy_model(2, 1, 5, 0.5)) != model_signature(*was));
}

TEST(a_head_describes_its_labels_and_kept_arguments) {
  const auto with_head = [](double items, const char* reduction) {
    return made({{"type", text("toy_estimator")},
                 {"feature_columns", list_of({Value::of(toy_column(2, 1))})},
                 {"head", Value::of(made({{"type", text("toy_head")},
                                          {"items", number(items)},
                                          {"loss_reduction", text(reduction)}}))}});
  };
  CHECK(group(*with_head(4, "sum"), "head") == "head: (type='toy_head', items=4)\nitems: 4\n");
  CHECK(model_signature(*with_head(4, "sum")) == model_signature(*with_head(4, "mean")));
  CHECK(model_signature(*with_head(4, "sum")) != model_signature(*with_head(5, "sum")));
}

TEST(numbers_are_formatted_like_R) {
  const auto depth = [](double x) { return group(*toy_model(x, 1, 3, 0), "columns"); };
  CHECK(depth(100000) == "x_toy: ToyColumn(key='x', depth=1e+05)\n");
  CHECK(depth(123456) == "x_toy: ToyColumn(key='x', depth=123456)\n");
  CHECK(depth(-3) == "x_toy: ToyColumn(key='x', depth=-3)\n");
}

TEST(an_optimizer_is_identified_by_its_slot_names) {
  const auto trained_by = [](const std::shared_ptr<Args>& optimizer) {
    auto spec = toy_model(2, 1, 3, 0);
    spec->set("optimizer", Value::of(optimizer));
    return group(*spec, "optimizer");
  };
  CHECK(trained_by(made({{"type", text("Adam")}, {"name", text("Adam")}})) == "optimizer: Adam\n");
  CHECK(trained_by(made({{"type", text("Adam")}, {"name", text("mine")}})) ==
        "optimizer: Adam of the name 'mine'\n");
  CHECK(trained_by(made({{"type", text("RMSProp")}, {"centered", Value::of(true)}})) ==
        "optimizer: RMSProp (centered)\n");
}

TEST(unused_arguments_are_errors_for_all_kinds) {
  auto spec = toy_model(2, 1, 3, 0);
  spec->set("nope", number(1));
  CHECK_THROWS(make_canned_model("toy_regressor", *spec), Code::kInvalidArgument,
               "Unused argument `nope`");
  auto column = toy_column(2, 1);
  column->set("nope", number(1));
  CHECK_THROWS(make_column(*column), Code::kInvalidArgument, "Unused argument `nope`");
  CHECK_THROWS(make_head("toy_head", *made({{"items", number(2)}, {"nope", number(1)}})),
               Code::kInvalidArgument, "Unused argument `nope`");
  CHECK_THROWS(make_head("toy_head", *made({})), Code::kInvalidArgument,
               "`items` of toy is missing");
}

TEST(a_family_has_three_tasks_with_the_arguments_of_their_labels) {
  const auto names = [](const char* type) {
    std::vector<std::string> all;
    for (const ArgSpec& spec : Factory<CannedModel>::instance().find("model", type).arguments()) {
      if (!spec.doc.empty()) all.push_back(spec.name);
    }
    return str_join(all, " ");
  };
  CHECK(names("toy_regressor") ==
        "feature_columns label_dimension weight_column levels optimizer noise model_dir");
  CHECK_EQ(names("toy_classifier"),
           "feature_columns n_classes weight_column label_vocabulary levels optimizer noise "
           "model_dir class_weights");
  CHECK(names("toy_estimator") == "head feature_columns levels optimizer noise model_dir");
  CHECK(registered_model("toy_classifier").traits->family == "toy");
  CHECK_THROWS(registered_model("toy_ranker"), Code::kInvalidArgument,
               "There is no estimator called 'toy_ranker'");
}
