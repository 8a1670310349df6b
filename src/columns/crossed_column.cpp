#include <algorithm>
#include <cstdlib>

#include "columns/feature_column.h"

namespace runhooks {

namespace {

constexpr int64_t kDefaultHashKey = 0xDECAFCAFFE;

class CrossedColumn : public CategoricalColumn {
 public:
  explicit CrossedColumn(const Args& args) : buckets_(args.integer("hash_bucket_size")) {
    read_keys(args);
    if (keys_.size() < 2) invalid_argument("keys must be a list with length > 1.");
    if (buckets_ < 2) {
      invalid_argument("hash_bucket_size must be larger than 1 (column '", name(), "'), not ",
                       buckets_, ".");
    }
    read_hash_key(args);
  }

  std::string name() const override {
    std::vector<std::string> names;
    for (const Key& key : leaves_) names.push_back(key.column ? key.column->name() : key.feature);
    std::sort(names.begin(), names.end());
    return str_join(names, "_X_");
  }
  std::vector<FeatureRead> reads() const override {
    std::vector<FeatureRead> all;
    for (const Key& key : leaves_) {
      if (key.column) {
        for (const FeatureRead& read : key.column->reads()) all.push_back(read);
      } else {
        all.emplace_back(key.feature, DType::kString);
      }
    }
    return all;
  }
  int64_t num_buckets() const override { return buckets_; }

  Output transform(TransformationCache& cache) const override {
    // TensorFlow's op takes all sparse keys first, then the dense ones.
    std::vector<Output> sparse, dense, present;
    std::vector<int64_t> is_sparse;
    for (const Key& key : leaves_) {
      if (key.column) {
        sparse.push_back(key.column->ids_and_weights(cache).ids);
        is_sparse.push_back(0);  // negative ids mark missing values
        continue;
      }
      const Output feature = raw_feature(cache, key.feature);
      const Output has_value = cache.present(key.feature);
      (has_value ? sparse : dense).push_back(feature);
      if (!has_value) continue;
      present.push_back(has_value);
      is_sparse.push_back(1);
    }
    is_sparse.resize(leaves_.size(), 0);
    std::vector<Output> inputs = sparse;
    inputs.insert(inputs.end(), dense.begin(), dense.end());
    inputs.insert(inputs.end(), present.begin(), present.end());
    return cache.graph()
        .op("CrossIds", inputs)
        .attr("num_buckets", buckets_)
        .attr("is_sparse", is_sparse)
        .attr("hash_key", hash_key_);
  }

 private:
  struct Key {
    std::string feature;
    std::shared_ptr<const CategoricalColumn> column;
  };

  void read_keys(const Args& args) {
    const Value* keys = args.find("keys");
    const auto* list = keys ? keys->get_if<std::shared_ptr<ValueList>>() : nullptr;
    if (!list) invalid_argument("keys must be a list with length > 1.");
    for (const Value& item : **list) {
      Key key;
      if (const auto* text = item.get_if<std::string>()) {
        key.feature = *text;
      } else if (const auto* spec = item.get_if<std::shared_ptr<Args>>()) {
        const ColumnPtr column = make_column(**spec);
        key.column = std::dynamic_pointer_cast<const CategoricalColumn>(column);
        check_key(key.column.get(), *column);
      } else {
        invalid_argument(
            "Unsupported key type. All keys must be either string, or categorical "
            "column. Given: ",
            item.kind(), ".");
      }
      keys_.push_back(key);
      add_leaves(key);
    }
  }
  static void check_key(const CategoricalColumn* categorical, const FeatureColumn& column) {
    if (!categorical) {
      invalid_argument(
          "Unsupported key type. All keys must be either string, or categorical "
          "column except HashedCategoricalColumn. Given: '",
          column.name(), "'.");
    }
    if (categorical->can_be_crossed()) return;
    throw Error(
        Code::kInvalidArgument,
        str_cat("Column '", column.name(),
                "' is not supported for crossing: hash buckets would collide more when hashed "
                "again, and weights would be lost."),
        {str_cat("Use the name of the feature, \"", column.feature_keys()[0], "\", instead.")});
  }
  // A cross of crosses is flattened to one cross of all their keys.
  void add_leaves(const Key& key) {
    const auto* cross = dynamic_cast<const CrossedColumn*>(key.column.get());
    if (!cross) {
      leaves_.push_back(key);
    } else {
      leaves_.insert(leaves_.end(), cross->leaves_.begin(), cross->leaves_.end());
    }
  }
  void read_hash_key(const Args& args) {
    const Value* value = args.find("hash_key");
    if (!value) return;
    if (const auto* text = value->get_if<std::string>()) {
      hash_key_ = static_cast<int64_t>(std::strtoull(text->c_str(), nullptr, 10));
    } else {
      hash_key_ = args.integer("hash_key");
    }
    if (hash_key_ == 0) hash_key_ = kDefaultHashKey;  // as in TensorFlow
  }
  Output raw_feature(TransformationCache& cache, const std::string& key) const {
    const Output feature = integers_or_strings(cache.graph(), cache.feature(key));
    if (feature.dtype() != DType::kString && !is_integer(feature.dtype())) {
      throw Error(Code::kInvalidArgument,
                  str_cat("Column '", name(), "' crosses strings or integers, but feature '", key,
                          "' is of type ", dtype_name(feature.dtype()), "."),
                  {"Cross column_bucketized() of it instead."});
    }
    return feature;
  }

  std::vector<Key> keys_, leaves_;
  int64_t buckets_, hash_key_ = kDefaultHashKey;
};

}  // namespace

RUNHOOKS_REGISTER_COLUMN(
    CrossedColumn,
    "column_crossed, feature_column.crossed_column",
    {kNameArgument,
     "keys: columns or names; kept. At least two: names of features, or categorical columns (not "
     "hashed or weighted ones), or `c()` of both.",
     "hash_bucket_size: whole number; kept. The number of buckets, 2 or more.",
     "hash_key = NULL: any; kept. The key of the hash function; `NULL`: TensorFlow's default. "
     "Pass values above 2^53 as a string."},
    "Hashed combinations of features.");

}  // namespace runhooks
