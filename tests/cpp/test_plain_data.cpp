// Tests plain data, which cannot contain code: round trips, and errors for other objects.
#include "io/files/plain_data.h"
#include "io_test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

using Kind = PlainData::Kind;

PlainData list_of(std::vector<PlainData> items) {
  PlainData list;
  list.kind = Kind::kList;
  list.items = std::move(items);
  return list;
}

PlainData strings() {
  PlainData data;
  data.kind = Kind::kCharacter;
  data.texts = {{"a", PlainData::Text::Mark::kUtf8},
                {"", PlainData::Text::Mark::kMissing},
                {"\xff", PlainData::Text::Mark::kBytes}};
  return data;
}

}  // namespace

TEST(plain_data_round_trip) {
  PlainData number;
  number.kind = Kind::kDouble;
  number.numbers = std::string(16, '\x3f');
  number.attributes = {{"names", strings()}};
  const std::string bytes = write_plain_data(list_of({number, PlainData(), list_of({strings()})}));
  const PlainData read_back = read_plain_data(bytes, "here");
  CHECK_EQ(read_back.length(), size_t{3});
  CHECK_EQ(read_back.items[0].numbers, number.numbers);
  CHECK_EQ(read_back.items[0].length(), size_t{2});
  CHECK_EQ(read_back.items[0].attributes[0].first, "names");
  CHECK(read_back.items[1].kind == Kind::kNull);
  const PlainData& texts = read_back.items[2].items[0];
  CHECK_EQ(texts.texts[2].bytes, "\xff");
  CHECK(texts.texts[1].mark == PlainData::Text::Mark::kMissing);
  CHECK_EQ(write_plain_data(read_back), bytes);
}

TEST(plain_data_rejects_invalid_files) {
  CHECK_THROWS(read_plain_data("", "here"), Code::kDataLoss, "here");
  CHECK_THROWS(read_plain_data("\x58\x0a\x00", "here"), Code::kDataLoss, "here");
  PlainData deep;
  for (int i = 0; i < kMaxPlainDepth; ++i) deep = list_of({deep});
  CHECK_EQ(read_plain_data(write_plain_data(deep), "here").items.size(), size_t{1});
  CHECK_THROWS(write_plain_data(list_of({deep})), Code::kInvalidArgument, "nested");
  PlainData odd;
  odd.kind = Kind::kInteger;
  odd.numbers = "12345";
  CHECK_THROWS(read_plain_data(write_plain_data(odd), "here"), Code::kDataLoss,
               "do not match its kind");
  PlainData zero = strings();
  zero.texts[0].bytes = std::string("a\0b", 3);
  CHECK_THROWS(read_plain_data(write_plain_data(zero), "here"), Code::kDataLoss, "zero");
  const std::string valid = write_plain_data(list_of({strings(), strings()}));
  for (size_t cut = 1; cut < valid.size(); ++cut) {
    try {
      read_plain_data(valid.substr(0, cut), "here");
    } catch (const Error& error) {
      CHECK(error.code() == Code::kDataLoss);
    }
  }
  const std::string path = fresh_folder("plain") + "/x";
  write_plain_file(path, strings());
  CHECK_EQ(read_plain_file(path).length(), size_t{3});
  write_bytes(path, "something else");
  CHECK_THROWS(read_plain_file(path), Code::kDataLoss, path);
}
