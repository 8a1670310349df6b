// Maps strings or integers to hash buckets (tf.feature_column.categorical_column_with_hash_bucket).
#include "columns/feature_column.h"

namespace runhooks {

namespace {

class HashedCategoricalColumn : public CategoricalColumn {
 public:
  explicit HashedCategoricalColumn(const Args& args)
      : key_(args.text("key")),
        num_buckets_(args.integer("hash_bucket_size")),
        dtype_(args.text("dtype", "string")) {
    if (num_buckets_ < 2) {
      invalid_argument("hash_bucket_size must be larger than 1 (column '", key_, "'), not ",
                       num_buckets_, ".");
    }
  }

  std::string name() const override { return key_; }
  std::vector<FeatureRead> reads() const override {
    return {FeatureRead(key_, dtype_from_name(dtype_))};
  }
  int64_t num_buckets() const override { return num_buckets_; }
  bool can_be_crossed() const override { return false; }
  Output transform(TransformationCache& cache) const override {
    Graph& graph = cache.graph();
    return categorical_ids(cache, key_, "column_categorical_with_hash_bucket", dtype_,
                           [&](Output values, bool drop_missing) -> Output {
                             return graph.op("HashIds", {values})
                                 .attr("num_buckets", num_buckets_)
                                 .attr("drop_missing", drop_missing);
                           });
  }

 private:
  std::string key_;
  int64_t num_buckets_;
  std::string dtype_;
};

}  // namespace

RUNHOOKS_REGISTER_COLUMN(
    HashedCategoricalColumn,
    "column_categorical_with_hash_bucket, feature_column.categorical_column_with_hash_bucket",
    {kNameArgument, kFeatureArgument,
     "hash_bucket_size: whole number; kept. The number of buckets, 2 or more.",
     "dtype = tf$string: type or NULL; kept. The type of the feature: `tf$string`, `tf$int32` or "
     "`tf$int64`, or its name."},
    "Hash buckets of strings or integers.");

}  // namespace runhooks
