// Maps strings or integers to their index in a vocabulary list or file
// (tf.feature_column.categorical_column_with_vocabulary_list and _file).
#include <cmath>
#include <set>

#include "base/open_file.h"
#include "columns/bucketed_column.h"

namespace runhooks {

namespace {

// Base class of the list and the file column. Values outside the vocabulary map to one of
// `num_oov_buckets` buckets after the vocabulary, or to the id `default_value`.
class VocabularyColumn : public CategoricalColumn {
 public:
  explicit VocabularyColumn(const Args& args)
      : key_(args.text("key")),
        num_oov_buckets_(args.integer("num_oov_buckets", 0)),
        default_id_(args.integer("default_value", -1)) {
    if (num_oov_buckets_ < 0) {
      invalid_argument("Invalid num_oov_buckets ", num_oov_buckets_, " in ", key_, ".");
    }
    if (num_oov_buckets_ > 0 && default_id_ != -1) {
      invalid_argument("Can't specify both num_oov_buckets and default_value in ", key_, ".");
    }
  }
  std::string name() const override { return key_; }
  std::vector<FeatureRead> reads() const override {
    FeatureRead read(key_, dtype_from_name(dtype_));
    read.accepts_unknown_strings = num_oov_buckets_ > 0 || default_id_ >= 0;
    return {read};
  }
  int64_t num_buckets() const override { return vocabulary_size_ + num_oov_buckets_; }
  std::vector<std::pair<std::string, Value>> derived_defaults() const override {
    return {{"dtype", Value::of(dtype_)}, {"default_value", Value::of(default_id_)}};
  }

 protected:
  std::string key_, dtype_;
  int64_t vocabulary_size_ = 0, num_oov_buckets_, default_id_;
};

class VocabularyListCategoricalColumn : public VocabularyColumn, public NamedBuckets {
 public:
  explicit VocabularyListCategoricalColumn(const Args& args)
      : VocabularyColumn(args), empty_is_entry_(args.flag("empty_is_word", false)) {
    const Value* vocabulary = args.find("vocabulary_list");
    if (!vocabulary) invalid_argument("vocabulary_list ", kEmptyMessage, " (column '", key_, "').");
    if (const auto* list = vocabulary->get_if<std::shared_ptr<ValueList>>()) {
      for (const Value& entry : **list) add_entry(entry);
    } else {
      add_entry(*vocabulary);
    }
    vocabulary_size_ = static_cast<int64_t>(entries_.size());
    if (vocabulary_size_ == 0)
      invalid_argument("vocabulary_list ", kEmptyMessage, " (column '", key_, "').");
    const bool is_string = integers_.empty();
    dtype_ = args.text("dtype", is_string ? "string" : "int64");
    if ((dtype_ == "string") != is_string) {
      invalid_argument("The dtype of column '", key_, "' is ", dtype_,
                       ", but its vocabulary_list holds ", is_string ? "strings." : "integers.");
    }
  }

  std::string bucket_name(int64_t bucket) const override {
    if (bucket >= vocabulary_size_) return "";
    const auto i = static_cast<size_t>(bucket);
    if (!integers_.empty()) return str_cat(integers_[i]);
    return empty_is_entry_ && strings_[i].empty() ? "\"\"" : strings_[i];
  }
  Output transform(TransformationCache& cache) const override {
    const Shape shape{vocabulary_size_};
    const Tensor vocabulary = integers_.empty() ? Tensor::strings(shape, strings_)
                                                : Tensor::of<int64_t>(shape, integers_);
    Graph& graph = cache.graph();
    return categorical_ids(cache, key_, "column_categorical_with_vocabulary_list", dtype_,
                           [&](Output values, bool drop_missing) -> Output {
                             return graph
                                 .op("VocabularyIds", {values, graph.constant(vocabulary, "keys")})
                                 .attr("num_oov_buckets", num_oov_buckets_)
                                 .attr("default_value", default_id_)
                                 .attr("drop_missing", drop_missing && !empty_is_entry_);
                           });
  }

 private:
  static constexpr const char* kEmptyMessage = "must be non-empty";
  void add_entry(const Value& entry) {
    double x;
    std::string key;
    if (const auto* string = entry.get_if<std::string>()) {
      key = *string;
      strings_.push_back(key);
    } else if (value_number(entry, &x) && x == std::floor(x)) {
      integers_.push_back(static_cast<int64_t>(x));
      key = str_cat(integers_.back());
    } else {
      invalid_argument("vocabulary_list of column '", key_, "' must be strings or integers, not ",
                       value_number(entry, &x) ? str_cat(x) : entry.kind(), ".");
    }
    if (!strings_.empty() && !integers_.empty()) {
      invalid_argument("vocabulary_list of column '", key_, "' must be of one type.");
    }
    if (!entries_.insert(key).second) {
      invalid_argument("Duplicate keys in vocabulary_list: '", key, "' (element ",
                       entries_.size() + 1, "), column_name: ", key_, ".");
    }
  }
  bool empty_is_entry_;  // true in formulas, where "" is a level; in TensorFlow, "" is missing
  std::set<std::string> entries_;
  std::vector<std::string> strings_;
  std::vector<int64_t> integers_;
};

bool is_whole_number(const std::string& text) {
  const size_t start = text.size() > 1 && text[0] == '-' ? 1 : 0;
  return !text.empty() && text.find_first_not_of("0123456789", start) == std::string::npos;
}

class VocabularyFileCategoricalColumn : public VocabularyColumn {
 public:
  explicit VocabularyFileCategoricalColumn(const Args& args)
      : VocabularyColumn(args), path_(args.text("vocabulary_file")) {
    dtype_ = args.text("dtype", "string");
    TextFile file = open();
    std::set<std::string> entries;
    const int64_t max_size = args.integer("vocabulary_size", -1);
    if (args.has("vocabulary_size") && max_size < 1) {
      invalid_argument("Invalid vocabulary_size ", max_size, " in ", key_, ".");
    }
    for (std::string line; (max_size < 0 || vocabulary_size_ < max_size) && file.next(&line);
         ++vocabulary_size_) {
      if (!entries.insert(line).second) {
        invalid_argument("The vocabulary file '", path_, "' of column '", key_,
                         "' has a duplicate: '", line, "' in line ", vocabulary_size_ + 1, ".");
      }
      if (dtype_ != "string" && !is_whole_number(line)) {
        invalid_argument("The vocabulary file '", path_, "' of column '", key_,
                         "' must have integers, as its dtype is ", dtype_, ", not '", line,
                         "' in line ", vocabulary_size_ + 1, ".");
      }
    }
    if (vocabulary_size_ == 0) {
      invalid_argument("The vocabulary file '", path_, "' of column '", key_, "' is empty.");
    }
    if (vocabulary_size_ < max_size) {
      invalid_argument("The vocabulary file '", path_, "' of column '", key_, "' has ",
                       vocabulary_size_, vocabulary_size_ == 1 ? " line" : " lines",
                       ", but vocabulary_size is ", max_size, ".");
    }
  }

  Output transform(TransformationCache& cache) const override {
    const DType key_dtype = dtype_ == "string" ? DType::kString : DType::kInt64;
    Graph& graph = cache.graph();
    return categorical_ids(cache, key_, "column_categorical_with_vocabulary_file", dtype_,
                           [&](Output values, bool drop_missing) -> Output {
                             return graph.op("VocabularyFileIds", {values})
                                 .attr("filename", path_)
                                 .attr("vocab_size", vocabulary_size_)
                                 .attr("key_dtype", key_dtype)
                                 .attr("num_oov_buckets", num_oov_buckets_)
                                 .attr("default_value", default_id_)
                                 .attr("drop_missing", drop_missing);
                           });
  }

 private:
  TextFile open() const {
    try {
      return TextFile(path_);
    } catch (const Error& error) {
      fail(Code::kNotFound, "The vocabulary file of column '", key_, "': ", error.message());
    }
  }

  std::string path_;
};

}  // namespace

RUNHOOKS_REGISTER_COLUMN(
    VocabularyListCategoricalColumn,
    "column_categorical_with_vocabulary_list, "
    "feature_column.categorical_column_with_vocabulary_list",
    {kNameArgument, kFeatureArgument, "vocabulary_list: words; kept. Unique strings or integers.",
     "dtype = NULL: type; kept. The type of the feature: `tf$string`, `tf$int32` or `tf$int64`, or "
     "its name. `NULL`: that of the list.",
     "default_value = -1L: whole number or NULL; kept. The id of values not in the list; "
     "`-1`: they count as missing.",
     "num_oov_buckets = 0L: whole number; kept. Number of hash buckets for values not in the "
     "vocabulary, with ids after its own. Cannot be combined with `default_value`.",
     "empty_is_word = FALSE: flag"},
    "Strings or integers from a vocabulary list.");
RUNHOOKS_REGISTER_COLUMN(
    VocabularyFileCategoricalColumn,
    "column_categorical_with_vocabulary_file, "
    "feature_column.categorical_column_with_vocabulary_file",
    {kNameArgument, kFeatureArgument,
     "vocabulary_file: path; kept. A path to a text file with one value per line.",
     "vocabulary_size = NULL: whole number; kept. Number of lines to use; `NULL`: all.",
     "num_oov_buckets = 0L: whole number; kept. Number of hash buckets for values not in the "
     "vocabulary, with ids after its own. Cannot be combined with `default_value`.",
     "default_value = NULL: whole number; kept. The id of values not in the file; `-1` or "
     "`NULL`: they count as missing.",
     "dtype = tf$string: type or NULL; kept. The type of the feature: `tf$string`, `tf$int32` or "
     "`tf$int64`, or its name."},
    "Strings or integers from a vocabulary file.");

}  // namespace runhooks
