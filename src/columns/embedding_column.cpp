// Looks up rows of a trainable table for the ids of a categorical column, and combines them
// (tf.feature_column.embedding_column). Several columns may share a table
// (shared_embedding_columns).
#include <cmath>

#include "columns/feature_column.h"
#include "io/checkpoint/tensor_bundle.h"
#include "nn/initializer.h"

namespace runhooks {

namespace {

Initializer checkpoint_initializer(const std::string& checkpoint, const std::string& tensor) {
  return [checkpoint, tensor](Graph& graph, const Shape& shape, DType) -> Output {
    const Tensor value = BundleReader(checkpoint).read(tensor);
    if (value.shape() != shape) {
      invalid_argument("Tensor '", tensor, "' of checkpoint '", checkpoint, "' has shape ",
                       value.shape(), ", but the embedding has shape ", shape, ".");
    }
    return graph.constant(value, "from_checkpoint");
  };
}

class EmbeddingColumn : public DenseColumn {
 public:
  explicit EmbeddingColumn(const Args& args)
      : categorical_column_(categorical_argument(args, "categorical_column")),
        dimension_(args.integer("dimension")),
        combiner_(args.text("combiner", "mean")),
        max_norm_(args.number("max_norm", 0)),
        trainable_(args.flag("trainable", true)) {
    if (dimension_ < 1) {
      invalid_argument("Invalid dimension ", dimension_, " of column '", name(), "'.");
    }
    if (combiner_ != "sum" && combiner_ != "mean" && combiner_ != "sqrtn") {
      invalid_argument("`combiner` of column '", name(),
                       "' must be \"mean\", \"sqrtn\" or \"sum\", not \"", combiner_, "\".");
    }
    if (args.has("max_norm") && max_norm_ <= 0) {
      invalid_argument("`max_norm` of column '", name(), "' must be positive, not ", max_norm_,
                       ".");
    }
    if (args.has("ckpt_to_load_from") != args.has("tensor_name_in_ckpt")) {
      invalid_argument(
          "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of "
          "them (column '",
          name(), "').");
    }
    if (args.has("ckpt_to_load_from")) {
      initializer_ =
          checkpoint_initializer(args.text("ckpt_to_load_from"), args.text("tensor_name_in_ckpt"));
    } else {
      initializer_ = initializer_argument(args, "initializer");
    }
    if (!initializer_) {
      const double stddev = 1 / std::sqrt(static_cast<double>(dimension_));
      initializer_ = truncated_normal_initializer(0, stddev);
    }
  }

  std::string name() const override { return categorical_column_->name() + "_embedding"; }
  std::vector<FeatureRead> reads() const override { return categorical_column_->reads(); }
  Shape variable_shape() const override { return Shape{dimension_}; }
  Output transform(TransformationCache& cache) const override {
    return cache.transformed(*categorical_column_);
  }
  Output dense_tensor(TransformationCache& cache, ColumnVariables& variables) const override {
    const IdsAndWeights ids = categorical_column_->ids_and_weights(cache);
    Graph& graph = cache.graph();
    const std::vector<VariablePtr> partitions = table_partitions(graph, variables);
    return combined_rows(graph, row_parts(graph, partitions), ids, combiner_, max_norm_);
  }

 protected:
  virtual std::vector<VariablePtr> table_partitions(Graph& graph,
                                                    ColumnVariables& variables) const {
    return create_table(graph, variables);
  }
  std::vector<VariablePtr> create_table(Graph& graph, ColumnVariables& variables) const {
    VariableOptions options;
    options.initializer = initializer_;
    options.trainable = trainable_ && variables.trainable;
    options.collections = variables.collections;
    variables.made = graph.variables().get_partitioned(
        "embedding_weights", Shape{categorical_column_->num_buckets(), dimension_}, options);
    return variables.made;
  }
  std::shared_ptr<const CategoricalColumn> categorical_column_;

 private:
  int64_t dimension_;
  std::string combiner_;
  double max_norm_;
  bool trainable_;
  Initializer initializer_;
};

// Stores the table in a collection of the graph with the name that the columns share.
class SharedEmbeddingColumn : public EmbeddingColumn {
 public:
  explicit SharedEmbeddingColumn(const Args& args)
      : EmbeddingColumn(args), shared_name_(args.text("shared_embedding_collection_name")) {}
  std::string name() const override { return categorical_column_->name() + "_shared_embedding"; }
  std::string scope_name() const override { return shared_name_; }

 protected:
  std::vector<VariablePtr> table_partitions(Graph& graph,
                                            ColumnVariables& variables) const override {
    for (const CollectionItem& item : graph.collection(shared_name_)) {
      if (const auto* partition = std::get_if<VariablePtr>(&item))
        variables.made.push_back(*partition);
    }
    if (!variables.made.empty()) return variables.made;
    create_table(graph, variables);
    for (const VariablePtr& partition : variables.made)
      graph.add_to_collection(shared_name_, partition);
    return variables.made;
  }

 private:
  std::string shared_name_;
};

}  // namespace

// Arguments that may differ between a model and the model directory that it resumes.
#define RUNHOOKS_TABLE_ARGUMENTS                                                                   \
  "ckpt_to_load_from = NULL: path. A checkpoint to initialize from, with `tensor_name_in_ckpt`.",  \
      "tensor_name_in_ckpt = NULL: string. The name of the tensor in that checkpoint.",            \
      "max_norm = NULL: plain number; kept. Longer vectors are scaled down to this length before " \
      "they are combined.",                                                                        \
      "trainable = TRUE: flag. Whether to train the table."

#define RUNHOOKS_VECTOR_ARGUMENTS                                                                  \
  "dimension: count; kept. The length of the embedding vectors.",                                  \
      "combiner = 'mean': string; kept. How to combine the vectors of several ids: `\"mean\"`, "   \
      "`\"sqrtn\"` or `\"sum\"`.",                                                                 \
      "initializer = NULL: initializer. An initializer such as `tf$random_normal_initializer()`, " \
      "a function of the shape and the type that returns a tensor, or `NULL`: truncated normal "   \
      "with standard deviation `1 / sqrt(dimension)`."

RUNHOOKS_REGISTER_COLUMN(
    EmbeddingColumn,
    "column_embedding, feature_column.embedding_column",
    {kNameArgument,
     "categorical_column: column; kept. A [categorical column][categorical_columns].",
     RUNHOOKS_VECTOR_ARGUMENTS, RUNHOOKS_TABLE_ARGUMENTS},
    "Trainable embedding of a categorical column.");
RUNHOOKS_REGISTER_COLUMN(
    SharedEmbeddingColumn,
    "column_shared_embedding, feature_column.shared_embedding_columns",
    {kNameArgument,
     "categorical_columns as categorical_column: column; kept. A list of categorical columns "
     "with the same number of buckets.",
     RUNHOOKS_VECTOR_ARGUMENTS,
     "shared_embedding_collection_name = NULL: string; kept. Name of the shared table; `NULL`: "
     "derived from the columns' names.",
     RUNHOOKS_TABLE_ARGUMENTS},
    "Trainable embedding that several categorical columns share.");

}  // namespace runhooks
