// Summary ops serialize like TensorFlow's kernels, with the names, tags and collections of
// tf.summary.
#include "io/events/summary.h"
#include "nn/summary_ops.h"
#include "session/session.h"
#include "test.h"

using namespace runhooks;

namespace {

Summary run_summary(const std::shared_ptr<Graph>& graph, Output summary) {
  Session session(graph);
  return read_summary(session.run(summary).string_at(0), "the summary");
}

std::string names_of(const Graph& graph, const char* collection) {
  std::vector<std::string> names;
  for (const CollectionItem& item : graph.collection(collection)) {
    names.push_back(collection_item_name(item));
  }
  return str_join(names, " ");
}

}  // namespace

TEST(summary_ops_have_tensorflows_names_and_collections) {
  const auto graph = std::make_shared<Graph>();
  const Output one = graph->scalar(DType::kFloat32, 1);
  add_scalar_summary(*graph, "loss", one);
  add_scalar_summary(*graph, "loss", one);
  add_scalar_summary(*graph, "a b:c", one);
  SummaryOptions options;
  options.family = "group";
  options.collections = {"mine"};
  const Output in_family = add_scalar_summary(*graph, "x", one, options);
  CHECK_EQ(names_of(*graph, "summaries"), "loss:0 loss_1:0 a_b_c:0");
  CHECK_EQ(names_of(*graph, "mine"), "group/x:0");
  CHECK_EQ(graph->operation("loss_1")->input(0).name(), "loss_1/tags:0");
  CHECK_EQ(run_summary(graph, in_family)[0].tag, "group/group/x");
  CHECK_EQ(merge_all_summaries(*graph).name(), "Merge/MergeSummary:0");
  CHECK_EQ(merge_summaries(*graph, {in_family}, "all").name(), "all/all:0");
  CHECK(!merge_all_summaries(*graph, "nothing here"));
}

TEST(summary_ops_contain_their_values) {
  const auto graph = std::make_shared<Graph>();
  const Output weights = graph->constant(Tensor::vector<double>({-1, 0.5, 0.5}));
  const Output merged =
      merge_summaries(*graph, {add_scalar_summary(*graph, "n", graph->scalar(DType::kInt64, 7)),
                               add_histogram_summary(*graph, "w", weights)});
  const Summary summary = run_summary(graph, merged);
  CHECK_EQ(summary.size(), size_t{2});
  CHECK_EQ(summary[0].tag, "n");
  CHECK_EQ(*summary[0].scalar(), 7.0F);
  CHECK_EQ(summary[1].tag, "w");
  CHECK_EQ(summary[1].histogram()->num, 3.0);
  CHECK_EQ(summary[1].histogram()->min, -1.0);
}

TEST(summary_ops_use_fed_values) {
  const auto graph = std::make_shared<Graph>();
  const Output x = graph->op("Placeholder").attr("dtype", DType::kFloat32).attr("shape", Shape());
  const Output merged = merge_summaries(*graph, {add_scalar_summary(*graph, "x", x)});
  Session session(graph);
  for (const float value : {1.5F, 2.5F}) {
    const Tensor text = session.run({merged}, {{x, Tensor::scalar(value)}})[0];
    CHECK_EQ(*read_summary(text.string_at(0), "")[0].scalar(), value);
  }
}

TEST(summary_ops_reject_the_same_input_as_tensorflow) {
  const auto graph = std::make_shared<Graph>();
  const Output nan = graph->constant(Tensor::vector<float>({1, NAN}));
  const Output two = graph->constant(Tensor::vector<float>({1, 2}));
  const Output one = add_scalar_summary(*graph, "one", graph->scalar(DType::kFloat32, 1));
  Session session(graph);
  CHECK_THROWS(session.run(add_histogram_summary(*graph, "h", nan)), Code::kInvalidArgument,
               "Nan in summary histogram for: h");
  CHECK_THROWS(session.run(add_scalar_summary(*graph, "s", two)), Code::kInvalidArgument,
               "tags and values not the same shape: () != (2,) (tag 's')");
  CHECK_THROWS(session.run(merge_summaries(*graph, {one, one})), Code::kInvalidArgument,
               "Duplicate tag one found in summary inputs");
}
