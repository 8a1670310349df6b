// Tests datasets of files: resuming, and fields that are parsed as in the C library.
#include <cmath>
#include <cstdlib>

#include "data/dataset.h"
#include "datasets_test.h"
#include "io/files/atomic_file.h"
#include "io/files/record.h"
#include "io/formats/csv_reader.h"
#include "io_test.h"
#include "test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

Value text(const std::string& x) { return Value::of(x); }
Value number(int64_t x) { return Value::of(x); }

template <typename T>
Value list(const std::vector<T>& items) {
  const auto all = std::make_shared<ValueList>();
  for (const T& item : items) all->push_back(Value::of(item));
  return Value::of(all);
}

using Texts = std::vector<std::string>;

std::string file_of(const std::string& folder, const std::string& name, const std::string& bytes) {
  const std::string path = join_path(folder, name);
  write_file_atomically(path, bytes);
  return path;
}

std::string records_of(const std::string& path, Compression compression, int n) {
  RecordWriter writer(path, compression);
  for (int i = 0; i < n; ++i) writer.write(str_cat("record ", i));
  writer.close();
  return path;
}

NamedValues csv_args(const Texts& files) {
  return {{"filenames", list(files)},
          {"has_header", Value::of(true)},
          {"header", list(Texts{"x", "w", "y"})},
          {"num_fields", number(3)},
          {"names", list(Texts{"y", "w"})},
          {"fields", list(std::vector<int64_t>{2, 1})},
          {"dtypes", list(Texts{"float32", "string"})},
          {"defaults", list(Texts{"-1", ""})},
          {"required", list(Texts{})}};
}

std::string csv_text(int from, int n) {
  std::string all = "x,w,y\r\n";
  for (int i = from; i < from + n; ++i) {
    all += str_cat(i, i % 2 ? ",\"a \"\"b\"\",\n" : ",\"w", i, "\",", i % 3 ? str_cat(i) : "",
                   i % 2 ? "\n" : "\r\n");
  }
  return all;
}

}  // namespace

TEST(file_sources_resume) {
  const std::string folder = fresh_folder("sources");
  const std::string lines = file_of(folder, "lines", "skipped\r\na\n\nb\r\nlast"),
                    other = file_of(folder, "other", "skipped\n"),
                    more = file_of(folder, "more", "skipped\nc\nd\n"),
                    plain = records_of(join_path(folder, "plain"), Compression::kNone, 5),
                    gzip = records_of(join_path(folder, "gzip"), Compression::kGzip, 5),
                    zlib = records_of(join_path(folder, "zlib"), Compression::kZlib, 5),
                    fixed = file_of(folder, "fixed", "headaaabbbcccend"),
                    csv = file_of(folder, "csv", csv_text(0, 7)),
                    second = file_of(folder, "second", csv_text(7, 6));
  const std::vector<DatasetPtr> all = {
      dataset_of("TextLineDataset",
                 {{"filenames", list(Texts{lines, other, more})}, {"skip", number(1)}}),
      dataset_of("TFRecordDataset", {{"filenames", list(Texts{plain, plain})}}),
      dataset_of("TFRecordDataset",
                 {{"filenames", text(gzip)}, {"compression_type", text("GZIP")}}),
      dataset_of("TFRecordDataset",
                 {{"filenames", text(zlib)}, {"compression_type", text("ZLIB")}}),
      dataset_of("FixedLengthRecordDataset", {{"filenames", list(Texts{fixed, fixed})},
                                              {"record_bytes", number(3)},
                                              {"header_bytes", number(4)},
                                              {"footer_bytes", number(3)}}),
      dataset_of("FileListDataset", {{"filenames", list(Texts{"a", "b", "c"})}}),
      dataset_of("CsvDataset", csv_args({csv, second})),
      dataset_of("BatchDataset", {{"batch_size", number(4)}},
                 dataset_of("CsvDataset", csv_args({csv, second}))),
      dataset_of("RepeatDataset", {{"count", number(2)}},
                 dataset_of("BatchDataset", {{"batch_size", number(3)}},
                            dataset_of("CsvDataset", csv_args({csv}))))};
  const std::vector<size_t> counts = {6, 10, 5, 5, 6, 3, 13, 4, 6};
  for (size_t i = 0; i < all.size(); ++i) {
    CHECK_EQ(elements_of(*all[i]->make_iterator()).size(), counts[i]);
    for (size_t cut = 0; cut <= counts[i]; ++cut) check_resumes(*all[i], cut, 25);
  }
  CHECK_EQ(text_of(elements_of(*all[0]->make_iterator())),
           "string()=a ; string()= ; string()=b ; string()=last ; string()=c ; string()=d ; ");
}

TEST(record_batches_match_single_elements) {
  std::mt19937_64 random = seeded_generator();
  const std::string folder = fresh_folder("sources");
  std::string text_lines;
  for (int i = 0; i < 100; ++i) text_lines += str_cat("line ", random() % 30, "\n");
  const std::string lines = file_of(folder, "lines", text_lines),
                    records = records_of(join_path(folder, "records"), Compression::kNone, 50);
  std::string bytes = read_whole_file(records);
  bytes[24 * 7 + 12 + 2] = 'X';  // damages the eighth record
  const std::string damaged_file = file_of(folder, "bent", bytes);
  const std::vector<DatasetPtr> all = {
      dataset_of("TextLineDataset", {{"filenames", list(Texts{lines, lines})}}),
      dataset_of("TFRecordDataset", {{"filenames", list(Texts{records, damaged_file, records})},
                                     {"on_error", text("skip")}}),
      dataset_of("FixedLengthRecordDataset",
                 {{"filenames", text(records)}, {"record_bytes", number(4)}})};
  for (const DatasetPtr& dataset : all) {
    std::vector<std::string> expected, strings;
    for (const Components& one : elements_of(*dataset->make_iterator())) {
      expected.push_back(one[0].string_at(0));
    }
    const auto size = static_cast<int64_t>(1 + random() % 60);
    for (const bool drops : {false, true}) {
      const auto batched =
          dataset_of("BatchDataset",
                     {{"batch_size", number(size)}, {"drop_remainder", Value::of(drops)}}, dataset);
      strings.clear();
      const auto iterator = batched->make_iterator();
      for (const Components& batch : elements_of(*iterator)) {
        CHECK_EQ(batch[0].shape().rank(), 1);
        for (int64_t i = 0; i < batch[0].num_elements(); ++i) {
          strings.push_back(batch[0].string_at(i));
        }
      }
      const size_t rest = drops ? expected.size() % static_cast<size_t>(size) : 0;
      CHECK(strings ==
            std::vector<std::string>(expected.begin(), expected.end() - static_cast<long>(rest)));
      CHECK_EQ(iterator->rows_seen(), static_cast<int64_t>(expected.size()));
    }
  }
  const auto strict =
      dataset_of("BatchDataset", {{"batch_size", number(20)}},
                 dataset_of("TFRecordDataset", {{"filenames", text(damaged_file)}}));
  CHECK_THROWS(elements_of(*strict->make_iterator()), Code::kDataLoss,
               "Record 8 of '" + damaged_file);
}

TEST(resuming_on_another_file_is_an_error) {
  const std::string folder = fresh_folder("sources");
  const std::string path = file_of(folder, "lines", "one\ntwo\nthree\n");
  const auto dataset = dataset_of("TextLineDataset", {{"filenames", text(path)}});
  auto iterator = dataset->make_iterator();
  elements_of(*iterator, 1);
  const NamedTensors state = iterator->save();
  file_of(folder, "lines", "ONE\ntwo\nthree\n");
  CHECK_THROWS(dataset->make_iterator()->restore(state), Code::kFailedPrecondition,
               "has changed since its position was saved");
  file_of(folder, "lines", "one\ntwo\n");
  CHECK_THROWS(dataset->make_iterator()->restore(state), Code::kFailedPrecondition,
               "it had 14 bytes and has 8");
  NamedTensors bad = state;
  bad["file"] = Tensor::scalar<int64_t>(1);
  CHECK_THROWS(dataset->make_iterator()->restore(bad), Code::kDataLoss,
               "Invalid saved file number 1 of 1");
}

TEST(damaged_records_are_named_or_skipped) {
  const std::string folder = fresh_folder("sources");
  const std::string path = records_of(join_path(folder, "f"), Compression::kNone, 4);
  std::string bytes = read_whole_file(path);
  bytes[24 + 12 + 2] = 'X';  // damages the second record: each takes 12 + 8 + 4 bytes
  file_of(folder, "f", bytes);
  const auto strict = dataset_of("TFRecordDataset", {{"filenames", text(path)}});
  auto iterator = strict->make_iterator();
  elements_of(*iterator, 1);
  CHECK_THROWS(elements_of(*iterator), Code::kDataLoss,
               "Record 2 of '" + path + "' cannot be read: Corrupted record at 24");
  const auto lenient =
      dataset_of("TFRecordDataset", {{"filenames", text(path)}, {"on_error", text("skip")}});
  CHECK_EQ(elements_of(*lenient->make_iterator()).size(), 3u);
  bytes[24] = 9;  // damages the record's length, so later records cannot be found
  file_of(folder, "f", bytes);
  CHECK_EQ(elements_of(*lenient->make_iterator()).size(), 1u);
  file_of(folder, "f", bytes.substr(0, 20));
  CHECK_THROWS(elements_of(*strict->make_iterator()), Code::kDataLoss, "Record 1 of");
}

TEST(fields_are_parsed_like_in_the_c_library) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    std::string field;
    if (random() % 2) field += '-';
    for (uint64_t n = random() % 12; n > 0; --n) field += static_cast<char>('0' + random() % 10);
    field += '.';
    for (uint64_t n = 1 + random() % 9; n > 0; --n) field += static_cast<char>('0' + random() % 10);
    if (random() % 8 == 0) field += str_cat("e", static_cast<int>(random() % 60) - 30);
    float narrow = 0;
    double wide = 0;
    CHECK(parse_field(field, &narrow) && parse_field(field, &wide));
    CHECK_EQ(wide, std::strtod(field.c_str(), nullptr));
    CHECK_EQ(narrow, std::strtof(field.c_str(), nullptr));
  }
  int32_t small = 0;
  int64_t large = 0;
  float x = 0;
  CHECK(parse_field(" -2147483648 ", &small));
  CHECK_EQ(small, -2147483647 - 1);
  CHECK(!parse_field("2147483648", &small) && !parse_field("-2147483649", &small));
  CHECK(parse_field("9223372036854775807", &large) && !parse_field("9223372036854775808", &large));
  CHECK(parse_field("-9223372036854775808", &large));
  CHECK(!parse_field("+1", &small) && parse_field("+1", &x));
  CHECK(!parse_field("", &small) && !parse_field("-", &small) && !parse_field("1 2", &small));
  CHECK(!parse_field("", &x) && !parse_field(".", &x) && !parse_field("1.2.3", &x));
  CHECK(!parse_field("0x10", &x) && !parse_field("1e", &x) && !parse_field("NA", &x));
  CHECK(parse_field("NaN", &x) && std::isnan(x));
  CHECK(parse_field("-inf", &x) && std::isinf(x));
}

TEST(csv_is_split_at_any_block_boundary) {
  const std::string folder = fresh_folder("sources");
  // Writes a text longer than a block, with quotes and line ends at all positions.
  std::string bytes;
  Texts expected;
  std::mt19937_64 random(3);
  while (bytes.size() < 400000) {
    std::string field;
    for (uint64_t n = random() % 40; n > 0; --n) field += "ab,\"\n\r"[random() % 6];
    bytes += '"';
    for (const char c : field) bytes += c == '"' ? std::string("\"\"") : std::string(1, c);
    bytes += random() % 2 ? "\",1\r\n" : "\",1\n";
    expected.push_back(field);
  }
  CsvReader reader(file_of(folder, "csv", bytes), Compression::kNone, CsvFormat());
  for (const std::string& field : expected) {
    CHECK(reader.next());
    CHECK_EQ(std::string(reader.fields()[0]), field);
    CHECK_EQ(reader.fields().size(), 2u);
  }
  CHECK(!reader.next());
}
