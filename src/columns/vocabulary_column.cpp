// Maps strings or integers to their index in a vocabulary list or file
// (tf.feature_column.categorical_column_with_vocabulary_list and _file).
#include <cmath>
#include <set>

#include "base/open_file.h"
#include "columns/bucketed_column.h"

namespace runhooks {

namespace {

// Shared base. Values outside the vocabulary map to `num_oov_buckets` extra buckets at the end, or
// to the id `default_value`.
class VocabularyColumn : public CategoricalColumn {
 public:
  explicit VocabularyColumn(const Args& args)
      : key_(args.text("key")),
        num_oov_(args.integer("num_oov_buckets", 0)),
        default_(args.integer("default_value", -1)) {
    if (num_oov_ < 0) {
      invalid_argument("Invalid num_oov_buckets ", num_oov_, " in ", key_, ".");
    }
    if (num_oov_ > 0 && default_ != -1) {
      invalid_argument("Can't specify both num_oov_buckets and default_value in ", key_, ".");
    }
  }
  std::string name() const override { return key_; }
  std::vector<FeatureRead> reads() const override {
    FeatureRead read(key_, dtype_from_name(dtype_));
    read.takes_unknown = num_oov_ > 0 || default_ >= 0;
    return {read};
  }
  int64_t num_buckets() const override { return size_ + num_oov_; }
  std::vector<std::pair<std::string, Value>> derived_defaults() const override {
    return {{"dtype", Value::of(dtype_)}, {"default_value", Value::of(default_)}};
  }

 protected:
  std::string key_, dtype_;
  int64_t size_ = 0, num_oov_, default_;
};

class VocabularyListCategoricalColumn : public VocabularyColumn, public NamedBuckets {
 public:
  explicit VocabularyListCategoricalColumn(const Args& args)
      : VocabularyColumn(args), empty_is_entry_(args.flag("empty_is_word", false)) {
    const Value* words = args.find("vocabulary_list");
    if (!words) invalid_argument("vocabulary_list ", kEmpty, " (column '", key_, "').");
    if (const auto* list = words->get_if<std::shared_ptr<ValueList>>()) {
      for (const Value& word : **list) add(word);
    } else {
      add(*words);
    }
    size_ = static_cast<int64_t>(seen_.size());
    if (size_ == 0) invalid_argument("vocabulary_list ", kEmpty, " (column '", key_, "').");
    const bool is_string = numbers_.empty();
    dtype_ = args.text("dtype", is_string ? "string" : "int64");
    if ((dtype_ == "string") != is_string) {
      invalid_argument("The dtype of column '", key_, "' is ", dtype_,
                       ", but its vocabulary_list holds ", is_string ? "strings." : "integers.");
    }
  }

  std::string bucket_name(int64_t bucket) const override {
    if (bucket >= size_) return "";
    const auto i = static_cast<size_t>(bucket);
    if (!numbers_.empty()) return str_cat(numbers_[i]);
    return empty_is_entry_ && texts_[i].empty() ? "\"\"" : texts_[i];
  }
  Output transform(TransformationCache& cache) const override {
    const Shape shape{size_};
    const Tensor words =
        numbers_.empty() ? Tensor::strings(shape, texts_) : Tensor::of<int64_t>(shape, numbers_);
    Graph& graph = cache.graph();
    return categorical_ids(cache, key_, "column_categorical_with_vocabulary_list", dtype_,
                           [&](Output values, bool drop_missing) -> Output {
                             return graph
                                 .op("VocabularyIds", {values, graph.constant(words, "keys")})
                                 .attr("num_oov_buckets", num_oov_)
                                 .attr("default_value", default_)
                                 .attr("drop_missing", drop_missing && !empty_is_entry_);
                           });
  }

 private:
  static constexpr const char* kEmpty = "must be non-empty";
  void add(const Value& word) {
    double x;
    std::string text;
    if (const auto* string = word.get_if<std::string>()) {
      text = *string;
      texts_.push_back(text);
    } else if (value_number(word, &x) && x == std::floor(x)) {
      numbers_.push_back(static_cast<int64_t>(x));
      text = str_cat(numbers_.back());
    } else {
      invalid_argument("vocabulary_list of column '", key_, "' must be strings or integers, not ",
                       value_number(word, &x) ? str_cat(x) : word.kind(), ".");
    }
    if (!texts_.empty() && !numbers_.empty()) {
      invalid_argument("vocabulary_list of column '", key_, "' must be of one type.");
    }
    if (!seen_.insert(text).second) {
      invalid_argument("Duplicate keys in vocabulary_list: '", text, "' (element ",
                       seen_.size() + 1, "), column_name: ", key_, ".");
    }
  }
  bool empty_is_entry_;  // in formulas, "" is a level; in TensorFlow it is missing
  std::set<std::string> seen_;
  std::vector<std::string> texts_;
  std::vector<int64_t> numbers_;
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
    std::set<std::string> seen;
    const int64_t wanted = args.integer("vocabulary_size", -1);
    if (args.has("vocabulary_size") && wanted < 1) {
      invalid_argument("Invalid vocabulary_size ", wanted, " in ", key_, ".");
    }
    for (std::string line; (wanted < 0 || size_ < wanted) && file.next(&line); ++size_) {
      if (!seen.insert(line).second) {
        invalid_argument("The vocabulary file '", path_, "' of column '", key_,
                         "' has a duplicate: '", line, "' in line ", size_ + 1, ".");
      }
      if (dtype_ != "string" && !is_whole_number(line)) {
        invalid_argument("The vocabulary file '", path_, "' of column '", key_,
                         "' must have integers, as its dtype is ", dtype_, ", not '", line,
                         "' in line ", size_ + 1, ".");
      }
    }
    if (size_ == 0) {
      invalid_argument("The vocabulary file '", path_, "' of column '", key_, "' is empty.");
    }
    if (size_ < wanted) {
      invalid_argument("The vocabulary file '", path_, "' of column '", key_, "' has ", size_,
                       size_ == 1 ? " line" : " lines", ", but vocabulary_size is ", wanted, ".");
    }
  }

  Output transform(TransformationCache& cache) const override {
    const DType key_dtype = dtype_ == "string" ? DType::kString : DType::kInt64;
    Graph& graph = cache.graph();
    return categorical_ids(cache, key_, "column_categorical_with_vocabulary_file", dtype_,
                           [&](Output values, bool drop_missing) -> Output {
                             return graph.op("VocabularyFileIds", {values})
                                 .attr("filename", path_)
                                 .attr("vocab_size", size_)
                                 .attr("key_dtype", key_dtype)
                                 .attr("num_oov_buckets", num_oov_)
                                 .attr("default_value", default_)
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
