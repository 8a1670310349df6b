// Reading delimited text in blocks on several threads gives the same records as reading one by one.
#include <cstring>
#include <thread>

#include "base/helping_queue.h"
#include "data/dataset.h"
#include "datasets_test.h"
#include "io_test.h"
#include "test.h"
#include "threads_test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

template <typename T>
Value list(const std::vector<T>& items) {
  const auto all = std::make_shared<ValueList>();
  for (const T& item : items) all->push_back(Value::of(item));
  return Value::of(all);
}

using Texts = std::vector<std::string>;

std::string file_of(const std::string& bytes) {
  const std::string path = join_path(fresh_folder("csv_block"), "csv");
  write_bytes(path, bytes);
  return path;
}

// Creates a dataset that reads the columns in another order than in the file; one of them is
// required. With `skips`, invalid records are skipped instead of reported.
DatasetPtr csv_of(const std::vector<std::string>& files, bool skips) {
  return dataset_of("CsvDataset", {{"filenames", list(files)},
                                   {"has_header", Value::of(true)},
                                   {"header", list(Texts{})},
                                   {"num_fields", Value::of(int64_t{4})},
                                   {"na_value", Value::of(std::string("NA"))},
                                   {"names", list(Texts{"w", "y", "v", "n"})},
                                   {"fields", list(std::vector<int64_t>{1, 2, 3, 0})},
                                   {"dtypes", list(Texts{"string", "float32", "string", "int64"})},
                                   {"defaults", list(Texts{"none", "-1", "", "0"})},
                                   {"required", list(Texts{"n"})},
                                   {"on_error", Value::of(std::string(skips ? "skip" : "stop"))}});
}

struct Kind {
  bool has_quotes = false, has_returns = false;
  uint64_t invalid_every = 0;  // if n > 0, one in n records is invalid on average; 0: none is
};

std::string quoted_field(std::mt19937_64& random) {
  std::string field = "\"";
  for (uint64_t n = random() % 12; n > 0; --n) {
    const char c = "ab,\"\n\r"[random() % 6];
    field += c == '"' ? std::string("\"\"") : std::string(1, c);
  }
  return field + "\"";
}

std::string record(std::mt19937_64& random, const Kind& kind) {
  if (kind.invalid_every > 0 && random() % kind.invalid_every == 0) {
    const std::vector<std::string> invalid_records = {
        "1,a,b,c\n", ",a,1,c\n", "1,a\n", "\n", "1,a,1,c,5\n", "1,a\"b,1,c\n", "1.5,a,1,c\n"};
    return invalid_records[random() % invalid_records.size()];
  }
  const bool quotes = kind.has_quotes && random() % 3 == 0;
  std::string text = str_cat(static_cast<int64_t>(random() % 100000), ",");
  text += quotes ? quoted_field(random) : str_cat("word", random() % 50);
  text += random() % 9 == 0 ? ",NA," : str_cat(",", random() % 1000, ".", random() % 1000, ",");
  if (random() % 4) text += str_cat("v", random() % 20);
  const char* ends[] = {"\n", "\r\n", "\r"};
  return text + ends[kind.has_returns ? random() % 3 : 0];
}

std::string text_with(std::mt19937_64& random, const Kind& kind, size_t bytes) {
  std::string text = "n,w,y,v\n";
  while (text.size() < bytes) text += record(random, kind);
  if (random() % 2) text += "7,last,1,x";  // no line end after the last record
  return text;
}

std::string number_text(const NamedTensors& state, const char* name) {
  const auto found = state.find(name);
  return found == state.end() ? "" : str_cat(found->second.data<int64_t>()[0], " ");
}

std::string position(const DatasetIterator& iterator) {
  const NamedTensors state = iterator.save();
  std::string all = iterator.location();
  for (const char* name : {"file", "offset", "records", "lines", "skipped", "rows_seen"}) {
    all += str_cat(" ", name, " ", number_text(state, name));
  }
  return all;
}

// Returns the text of row `i` of a batch, or of a single element.
std::string row_text(const Components& components, int64_t i) {
  float y;
  std::memcpy(&y, components[1].data<float>() + i, sizeof y);
  return str_cat(components[0].string_at(i), "|", y, "|", components[2].string_at(i), "|",
                 components[3].data<int64_t>()[i]);
}

// Checks that batches of `size` contain the same rows as single elements, up to the end or the
// first error.
void check_same(const Dataset& data, int64_t size) {
  const auto batched = data.make_iterator(), single = data.make_iterator();
  for (;;) {
    ComponentsSink batch;
    std::string error_message, expected_message;
    int64_t num_rows = 0;
    try {
      num_rows = batched->next_stacked(size, false, batch);
    } catch (const Error& error) {
      error_message = error.message();
    }
    const Components components = batch.take();
    for (int64_t i = 0; i < (error_message.empty() ? num_rows : size); ++i) {
      ComponentsSink one;
      try {
        CHECK(single->next(one));
      } catch (const Error& error) {
        expected_message = error.message();
        break;
      }
      if (error_message.empty()) CHECK_EQ(row_text(components, i), row_text(one.take(), 0));
    }
    CHECK_EQ(error_message, expected_message);
    if (error_message.empty() && num_rows < size) break;
    CHECK_EQ(batched->location(), single->location());
    if (!error_message.empty()) return;
    CHECK_EQ(position(*batched), position(*single));
  }
  ComponentsSink none;
  CHECK(!single->next(none));
}

}  // namespace

TEST(csv_blocks_match_single_records) {
  std::mt19937_64 random = seeded_generator();
  const std::vector<Kind> file_kinds = {{false, false, 0}, {true, false, 0},
                                        {true, true, 0},   {false, false, 900},
                                        {true, true, 900}, {true, false, 20000}};
  for (const Kind& kind : file_kinds) {
    const Texts files = {file_of(text_with(random, kind, 200000 + random() % 300000)),
                         file_of(text_with(random, kind, 1000 + random() % 100000))};
    for (const int threads : {1, 2, 3}) {
      const Threads set(threads);
      const auto size = static_cast<int64_t>(100 + random() % 6000);
      check_same(*csv_of(files, false), size);
      check_same(*csv_of(files, true), size);
    }
  }
}

TEST(csv_blocks_resume) {
  std::mt19937_64 random = seeded_generator();
  const Texts files = {file_of(text_with(random, {true, true, 0}, 300000))};
  const Threads set(2);
  const auto batched =
      dataset_of("BatchDataset", {{"batch_size", Value::of(int64_t{1500})}}, csv_of(files, false));
  for (size_t cut = 0; cut < 4; ++cut) check_resumes(*batched, cut, 25);
  const auto ahead =
      dataset_of("PrefetchDataset", {{"buffer_size", Value::of(int64_t{2})}}, batched);
  for (size_t cut = 0; cut < 4; ++cut) check_resumes(*ahead, cut, 25);
  CHECK_EQ(text_of(elements_of(*ahead->make_iterator())),
           text_of(elements_of(*batched->make_iterator())));
}

TEST(helping_queue_lets_a_blocked_consumer_help) {
  const Threads set(2);
  const auto consumer_id = std::this_thread::get_id();
  HelpingQueue queue([](void*) {}, nullptr);
  std::atomic<unsigned> num_finished{0};
  std::atomic<int> num_done{0}, num_by_consumer{0};
  std::thread producer([&] {
    const HelpingQueue::ProducerScope scope(queue);
    helping_for(100, [&](size_t) {
      ++num_done;
      if (std::this_thread::get_id() == consumer_id) ++num_by_consumer;
      // Waits until the consumer has run a task, so that the consumer gets one even if it starts
      // late.
      for (int i = 0; i < 100000 && num_by_consumer == 0; ++i) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    });
    ++num_finished;
  });
  while (num_finished == 0) queue.help(num_finished, 0);
  producer.join();
  CHECK_EQ(num_done.load(), 100);
  CHECK(num_by_consumer > 0);
}

TEST(helping_queue_without_a_consumer_or_with_one_thread) {
  const auto this_thread = std::this_thread::get_id();
  HelpingQueue queue([](void*) {}, nullptr);
  const HelpingQueue::ProducerScope scope(queue);
  for (const int threads : {1, 2}) {
    const Threads set(threads);
    int num_done = 0;
    helping_for(50, [&](size_t) { num_done += std::this_thread::get_id() == this_thread; });
    CHECK_EQ(num_done, 50);
  }
}
