#include "arrow_input.h"

#include <cstring>
#include <deque>
#include <vector>

namespace runhooks_fuzz {

namespace {

// Buffers that a schema or a batch points to.
struct Node {
  std::deque<Node> children;
  std::vector<ArrowArray*> arrays;
  std::vector<ArrowSchema*> schemas;
  std::vector<std::vector<char>> values;
  std::vector<const void*> buffers;
  std::string format, name;
  ArrowArray array = {};
  ArrowSchema schema = {};
};

class Stream {
 public:
  explicit Stream(std::string bytes) : bytes_(std::move(bytes)) {}

  int give_schema(ArrowSchema* out) {
    auto* root = new Node;
    root->format = below(30) ? "+s" : "i";
    const size_t columns = below(5);
    for (size_t k = 0; k < columns; ++k) add_column(*root);
    root->schema.format = root->format.c_str();
    root->schema.n_children = static_cast<int64_t>(root->schemas.size());
    root->schema.children = root->schemas.data();
    *out = root->schema;
    out->private_data = root;
    out->release = [](ArrowSchema* schema) {
      delete static_cast<Node*>(schema->private_data);
      schema->release = nullptr;
    };
    return below(30) ? 0 : 5;
  }

  int give_batch(ArrowArray* out) {
    *out = ArrowArray();
    if (batches_++ == 3 || at_ >= bytes_.size()) return 0;
    if (below(30) == 0) return 5;
    auto* root = new Node;
    root->array.length = static_cast<int64_t>(below(20));
    root->array.offset = static_cast<int64_t>(below(3) ? 0 : below(4));
    for (const Column& column : columns_) add_values(*root, column);
    root->array.n_children = static_cast<int64_t>(root->arrays.size()) + (below(30) ? 0 : 1);
    root->array.children = root->arrays.data();
    if (below(40) == 0) root->array.length = number();
    *out = root->array;
    out->private_data = root;
    out->release = [](ArrowArray* array) {
      delete static_cast<Node*>(array->private_data);
      array->release = nullptr;
    };
    return 0;
  }

 private:
  struct Column {
    std::string format;
    bool has_words = false;
  };

  unsigned byte() { return at_ < bytes_.size() ? static_cast<unsigned char>(bytes_[at_++]) : 0; }
  size_t below(size_t n) { return byte() % n; }
  int64_t number() {
    uint64_t all = 0;
    for (int i = 0; i < 8; ++i) all = all << 8 | byte();
    return static_cast<int64_t>(all);
  }

  void add_column(Node& root) {
    static const char* const kFormats[] = {"b", "c", "C", "s", "S", "i", "I",  "l",
                                           "u", "U", "z", "Z", "f", "g", "tdD"};
    Column column;
    column.format = kFormats[below(below(8) ? 14 : 15)];
    column.has_words = below(4) == 0;
    columns_.push_back(column);
    Node& node = root.children.emplace_back();
    node.format = column.format;
    node.name = std::string(1, static_cast<char>('a' + columns_.size()));
    node.schema.format = below(40) ? node.format.c_str() : nullptr;
    node.schema.name = below(8) ? node.name.c_str() : nullptr;
    if (column.has_words) {
      Node& words = node.children.emplace_back();
      words.schema.format = below(40) ? "u" : "i";
      node.schema.dictionary = &words.schema;
    }
    root.schemas.push_back(below(60) ? &node.schema : nullptr);
  }

  // Strings of up to 3 bytes. Ends may precede starts, but stay within the buffer.
  template <typename Offset>
  void add_strings(Node& node, size_t rows) {
    constexpr size_t kBytes = 64;
    node.values.emplace_back((rows + 1) * sizeof(Offset));
    Offset end = 0;
    for (size_t i = 0; i <= rows; ++i) {
      end =
          static_cast<Offset>(below(20) ? std::min<size_t>(kBytes, end + below(4)) : below(kBytes));
      if (below(60) == 0) end = static_cast<Offset>(-1);
      std::memcpy(node.values.back().data() + i * sizeof end, &end, sizeof end);
      if (end < 0) end = 0;
    }
    node.values.emplace_back(kBytes, 'x');
  }

  void fill(Node& node, const std::string& format, size_t rows) {
    node.values.emplace_back(rows / 8 + 1, static_cast<char>(byte()));
    if (format == "u" || format == "z") {
      add_strings<int32_t>(node, rows);
    } else if (format == "U" || format == "Z") {
      add_strings<int64_t>(node, rows);
    } else {
      node.values.emplace_back((rows + 1) * 8);
      for (char& value : node.values.back()) value = static_cast<char>(below(below(4) ? 3 : 256));
    }
    for (const auto& values : node.values) {
      node.buffers.push_back(below(40) ? values.data() : nullptr);
    }
    if (below(2)) node.buffers[0] = nullptr;
    node.array.buffers = below(60) ? node.buffers.data() : nullptr;
    node.array.n_buffers = static_cast<int64_t>(below(30) ? node.buffers.size() : below(2));
    node.array.null_count = static_cast<int64_t>(below(3)) - 1;
  }

  void add_values(Node& root, const Column& column) {
    Node& node = root.children.emplace_back();
    node.array.offset = static_cast<int64_t>(below(4) ? 0 : below(5));
    const auto rows = static_cast<size_t>(root.array.length + root.array.offset);
    fill(node, column.format, rows + static_cast<size_t>(node.array.offset));
    node.array.length = static_cast<int64_t>(below(30) ? rows : below(rows + 1));
    if (column.has_words) {
      Node& words = node.children.emplace_back();
      words.array.length = static_cast<int64_t>(1 + below(4));
      fill(words, "u", static_cast<size_t>(words.array.length));
      node.array.dictionary = below(40) ? &words.array : nullptr;
    }
    root.arrays.push_back(below(60) ? &node.array : nullptr);
  }

  std::string bytes_;
  size_t at_ = 0;
  int batches_ = 0;
  std::vector<Column> columns_;
};

}  // namespace

ArrowArrayStream arrow_stream_of(const std::string& bytes) {
  ArrowArrayStream made = {};
  made.private_data = new Stream(bytes);
  made.get_schema = [](ArrowArrayStream* stream, ArrowSchema* out) {
    return static_cast<Stream*>(stream->private_data)->give_schema(out);
  };
  made.get_next = [](ArrowArrayStream* stream, ArrowArray* out) {
    return static_cast<Stream*>(stream->private_data)->give_batch(out);
  };
  made.get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; };
  made.release = [](ArrowArrayStream* stream) {
    delete static_cast<Stream*>(stream->private_data);
    stream->release = nullptr;
  };
  return made;
}

}  // namespace runhooks_fuzz
