// Uses integers as ids (tf.feature_column.categorical_column_with_identity).
#include "columns/feature_column.h"

namespace runhooks {

namespace {

class IdentityCategoricalColumn : public CategoricalColumn {
 public:
  explicit IdentityCategoricalColumn(const Args& args)
      : key_(args.text("key")),
        num_buckets_(args.integer("number_buckets")),
        default_id_(args.integer("default_value", -1)) {
    if (num_buckets_ < 1) {
      invalid_argument("num_buckets must be 1 or more (column '", key_, "'), not ", num_buckets_,
                       ".");
    }
    if (args.has("default_value") && (default_id_ < 0 || default_id_ >= num_buckets_)) {
      invalid_argument("default_value ", default_id_, " is not in range [0, ", num_buckets_,
                       ") of column '", key_, "'.");
    }
  }

  std::string name() const override { return key_; }
  std::vector<FeatureRead> reads() const override {
    FeatureRead read(key_, DType::kInt64);
    if (default_id_ < 0) read.num_ids = num_buckets_;
    return {read};
  }
  int64_t num_buckets() const override { return num_buckets_; }
  Output transform(TransformationCache& cache) const override {
    Graph& graph = cache.graph();
    return categorical_ids(cache, key_, "column_categorical_with_identity", "int64",
                           [&](Output values, bool drop_missing) -> Output {
                             return graph.op("IdentityIds", {values})
                                 .attr("num_buckets", num_buckets_)
                                 .attr("default_value", default_id_)
                                 .attr("column", key_)
                                 .attr("drop_missing", drop_missing);
                           });
  }

 private:
  std::string key_;
  int64_t num_buckets_, default_id_;
};

}  // namespace

RUNHOOKS_REGISTER_COLUMN(
    IdentityCategoricalColumn,
    "column_categorical_with_identity, feature_column.categorical_column_with_identity",
    {kNameArgument, kFeatureArgument,
     "num_buckets as number_buckets: whole number; kept. The number of buckets.",
     "default_value = NULL: whole number; kept. The bucket for out-of-range values. `NULL`: "
     "they are an error."},
    "Integer ids.");

}  // namespace runhooks
