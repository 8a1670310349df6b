#include "estimators/models/vocab_remap.h"

#include <cstring>
#include <unordered_map>

#include "base/open_file.h"
#include "nn/initializer.h"
#include "session/session.h"

namespace runhooks {

namespace {

std::vector<std::string> read_vocabulary(const std::string& path, int64_t limit) {
  TextFile file(path);
  std::vector<std::string> words;
  const auto max_words = static_cast<size_t>(limit);
  for (std::string line; (limit < 0 || words.size() < max_words) && file.next(&line);) {
    words.push_back(line);
  }
  if (limit > 0 && words.size() < max_words) {
    invalid_argument("The vocabulary file '", path, "' has ", words.size(), " lines, not ", limit,
                     ".");
  }
  return words;
}

// Returns for each line of the new vocabulary its position in the old vocabulary, or -1.
std::vector<int64_t> old_positions_of(const VocabInfo& info) {
  std::unordered_map<std::string, int64_t> old_positions;
  for (const std::string& word : read_vocabulary(info.old_vocab, info.old_size)) {
    old_positions.emplace(word, static_cast<int64_t>(old_positions.size()));
  }
  std::vector<int64_t> positions;
  for (const std::string& word : read_vocabulary(info.new_vocab, info.new_size)) {
    const auto found = old_positions.find(word);
    positions.push_back(found == old_positions.end() ? -1 : found->second);
  }
  return positions;
}

Tensor initial_value(const VocabInfo& info, DType dtype, const Shape& shape) {
  if (!info.backup) return Tensor::zeros(dtype, shape);
  const auto graph = std::make_shared<Graph>();
  const Output value = info.backup(*graph, shape, dtype);
  Session session(graph);
  return session.run(value).copy();
}

}  // namespace

VocabInfo::VocabInfo(const Args& args)
    : new_vocab(args.text("new_vocab")),
      old_vocab(args.text("old_vocab")),
      new_size(args.integer("new_vocab_size", -1)),
      num_oov_buckets(args.integer("num_oov_buckets", 0)),
      old_size(args.integer("old_vocab_size", -1)),
      axis(args.integer("axis", 0)) {
  if (args.has("backup_initializer")) backup = initializer_argument(args, "backup_initializer");
  if (axis != 0 && axis != 1)
    invalid_argument("The axis of a VocabInfo is 0 or 1, not ", axis, ".");
}

Tensor remapped(const VocabInfo& info,
                const Tensor& old_value,
                const Shape& new_shape,
                int64_t offset,
                const std::string& name) {
  const std::vector<int64_t> positions = old_positions_of(info);
  const int axis = static_cast<int>(info.axis);
  const bool fits = old_value.shape().rank() == new_shape.rank() && new_shape.rank() > axis;
  for (int d = 0; d < new_shape.rank(); ++d) {
    if (fits && (d == axis || old_value.shape().dim(d) == new_shape.dim(d))) continue;
    invalid_argument("Cannot warm-start variable ", name, ": its shape ", new_shape,
                     " does not match the shape ", old_value.shape(), " in the checkpoint.");
  }
  const int64_t total = static_cast<int64_t>(positions.size()) + info.num_oov_buckets;
  if (offset + new_shape.dim(axis) > total) {
    invalid_argument("Variable ", name, " has ", new_shape.dim(axis), " entries along axis ", axis,
                     ", but its vocabulary has ", total, ".");
  }
  Tensor value = initial_value(info, old_value.dtype(), new_shape);
  int64_t outer = 1, inner = 1;
  for (int d = 0; d < axis; ++d) outer *= new_shape.dim(d);
  for (int d = axis + 1; d < new_shape.rank(); ++d) inner *= new_shape.dim(d);
  const size_t bytes = static_cast<size_t>(inner) * dtype_size(value.dtype());
  const int64_t old_rows = old_value.shape().dim(axis), rows = new_shape.dim(axis);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t row = 0; row < rows; ++row) {
      const auto word = static_cast<size_t>(offset + row);
      const int64_t old_row = word < positions.size() ? positions[word] : -1;
      if (old_row < 0 || old_row >= old_rows) continue;
      std::memcpy(static_cast<char*>(value.raw()) + static_cast<size_t>(o * rows + row) * bytes,
                  static_cast<const char*>(old_value.raw()) +
                      static_cast<size_t>(o * old_rows + old_row) * bytes,
                  bytes);
    }
  }
  return value;
}

}  // namespace runhooks
