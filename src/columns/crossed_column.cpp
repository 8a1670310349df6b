#include <algorithm>
#include <cstdlib>

#include "columns/feature_column.h"

namespace runhooks {

namespace {

constexpr int64_t kDefaultHashKey = 0xDECAFCAFFE;

class CrossedColumn : public CategoricalColumn {
 public:
  explicit CrossedColumn(const Args& args) : num_buckets_(args.integer("hash_bucket_size")) {
    read_keys(args);
    if (keys_.size() < 2) invalid_argument("keys must be a list with length > 1.");
    if (num_buckets_ < 2) {
      invalid_argument("hash_bucket_size must be larger than 1 (column '", name(), "'), not ",
                       num_buckets_, ".");
    }
    read_hash_key(args);
  }

  std::string name() const override {
    std::vector<std::string> names;
    for (const Key& key : flat_keys_)
      names.push_back(key.column ? key.column->name() : key.feature);
    std::sort(names.begin(), names.end());
    return str_join(names, "_X_");
  }
  std::vector<FeatureRead> reads() const override {
    std::vector<FeatureRead> feature_reads;
    for (const Key& key : flat_keys_) {
      if (key.column) {
        for (const FeatureRead& read : key.column->reads()) feature_reads.push_back(read);
      } else {
        feature_reads.emplace_back(key.feature, DType::kString);
      }
    }
    return feature_reads;
  }
  int64_t num_buckets() const override { return num_buckets_; }

  Output transform(TransformationCache& cache) const override {
    // TensorFlow's op takes all sparse keys first, then the dense ones. A key is one of the
    // features or columns that this column crosses.
    std::vector<Output> sparse, dense, masks;
    std::vector<int64_t> is_sparse;
    for (const Key& key : flat_keys_) {
      if (key.column) {
        sparse.push_back(key.column->ids_and_weights(cache).ids);
        is_sparse.push_back(0);  // needs no mask, because negative ids mark missing values
        continue;
      }
      const Output feature = raw_feature(cache, key.feature);
      const Output mask = cache.mask(key.feature);
      (mask ? sparse : dense).push_back(feature);
      if (!mask) continue;
      masks.push_back(mask);
      is_sparse.push_back(1);
    }
    is_sparse.resize(flat_keys_.size(), 0);
    std::vector<Output> inputs = sparse;
    inputs.insert(inputs.end(), dense.begin(), dense.end());
    inputs.insert(inputs.end(), masks.begin(), masks.end());
    return cache.graph()
        .op("CrossIds", inputs)
        .attr("num_buckets", num_buckets_)
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
      add_flat_keys(key);
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
  // Replaces a key that is a crossed column by the keys of that column.
  void add_flat_keys(const Key& key) {
    const auto* cross = dynamic_cast<const CrossedColumn*>(key.column.get());
    if (!cross) {
      flat_keys_.push_back(key);
    } else {
      flat_keys_.insert(flat_keys_.end(), cross->flat_keys_.begin(), cross->flat_keys_.end());
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

  std::vector<Key> keys_, flat_keys_;
  int64_t num_buckets_, hash_key_ = kDefaultHashKey;
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
