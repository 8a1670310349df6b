// Functions of tf.random that shuffle rows or draw classes.
#include "graph/graph_function.h"
#include "nn/initializer.h"

namespace runhooks {

namespace {

OpSeeds seeds_from_arguments(const Graph& graph, const Args& args) {
  return op_seeds(graph, seed_argument(args));
}

Value call_random_shuffle(Graph& graph, const Args& args) {
  const Output value = tensor_argument(graph, args, "value");
  const OpSeeds seeds = seeds_from_arguments(graph, args);
  return Value::of(graph.op("RandomShuffle", {value})
                       .attr("seed", seeds.seed)
                       .attr("seed2", seeds.seed2)
                       .named(args.text("name", "RandomShuffle")));
}

Value call_draw_classes(Graph& graph, const Args& args, const char* dtype, const char* scope_name) {
  const NameScope scope(graph, args.text("name", scope_name));
  const Output logits = tensor_argument(graph, args, "logits");
  const Output n = tensor_argument(graph, args, "num_samples", DType::kInt32);
  const OpSeeds seeds = seeds_from_arguments(graph, args);
  return Value::of(graph.op("Multinomial", {logits, n})
                       .attr("seed", seeds.seed)
                       .attr("seed2", seeds.seed2)
                       .attr("output_dtype", dtype_argument(args, dtype, DType::kInt64)));
}
Value call_multinomial(Graph& graph, const Args& args) {
  return call_draw_classes(graph, args, "output_dtype", "multinomial");
}
Value call_categorical(Graph& graph, const Args& args) {
  return call_draw_classes(graph, args, "dtype", "categorical");
}

}  // namespace

RUNHOOKS_REGISTER_FUNCTION("random_shuffle, random.shuffle(value, seed = NULL, name = NULL)",
                           "Shuffles the rows of a tensor.",
                           call_random_shuffle);
RUNHOOKS_REGISTER_FUNCTION(
    "multinomial, random.multinomial(logits, num_samples, seed = NULL, name = NULL, output_dtype "
    "= NULL)",
    "Draws num_samples random classes for each row of logits.",
    call_multinomial);
RUNHOOKS_REGISTER_FUNCTION(
    "random.categorical(logits, num_samples, dtype = NULL, seed = NULL, name = NULL)",
    "Draws num_samples random classes for each row of logits.",
    call_categorical);

}  // namespace runhooks
