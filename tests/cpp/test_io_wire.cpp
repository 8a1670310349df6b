#include <cstring>
#include <limits>

#include "io/proto/wire.h"
#include "io_test.h"

using namespace runhooks;
using namespace runhooks_test;

TEST(io_wire_omits_zeros_only_when_adding) {
  WireWriter message;
  message.add_int(1, 0).add_bool(2, false).add_float(3, 0).add_double(4, 0).add_bytes(5, "");
  message.add_fixed32(6, 0).add_packed_ints(7, std::vector<int64_t>());
  CHECK_EQ(message.bytes(), "");
  message.put_int(1, 0).put_float(3, 0).put_bytes(5, "").add_float(3, -0.0f);
  CHECK_EQ(to_hex(message.bytes()), "08001d000000002a001d00000080");
}

TEST(io_wire_writes_negative_integers_in_ten_bytes) {
  CHECK_EQ(to_hex(WireWriter().put_int(1, -1).bytes()), "08ffffffffffffffffff01");
  CHECK_EQ(to_hex(WireWriter().put_int(16, 300).bytes()), "8001ac02");
  WireReader r("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "x");
  CHECK(r.next());
  CHECK_EQ(r.integer(), -1);
  CHECK_EQ(r.int32(), -1);
}

TEST(io_wire_reads_numbers_packed_or_one_by_one) {
  const std::vector<float> floats = {1.5f, -0.0f};
  WireWriter message;
  message.add_packed_ints(1, std::vector<int64_t>{1, -2}).put_int(1, 3);
  message.add_packed_floats(2, floats.data(), floats.size()).put_float(2, 2.5f);
  std::vector<int64_t> ints;
  std::vector<float> read;
  for (WireReader r(message.bytes(), "x"); r.next();) {
    if (r.field() == 1) r.append_ints(ints);
    if (r.field() == 2) r.append_floats(read);
  }
  CHECK(ints == (std::vector<int64_t>{1, -2, 3}));
  CHECK(read == (std::vector<float>{1.5f, 0, 2.5f}) && std::signbit(read[1]));
}

// put_nested() gives the same bytes as a separately written message. The number of bytes that
// encode the length does not matter.
TEST(io_wire_nested_messages_of_any_length) {
  for (size_t size : {0, 1, 120, 125, 126, 127, 128, 129, 16380, 16384, 70000}) {
    const std::string text(size, 'x');
    WireWriter inner, middle, apart, nested;
    inner.put_bytes(3, text);
    middle.put_message(2, inner).put_int(4, 5);
    apart.put_int(9, 1).put_message(1, middle).put_int(7, 6);
    nested.put_int(9, 1);
    nested.put_nested(1, [&] {
      nested.put_nested(2, [&] { nested.put_bytes(3, text); });
      nested.put_int(4, 5);
    });
    nested.put_int(7, 6);
    CHECK(nested.bytes() == apart.bytes());
  }
}

TEST(io_wire_reader_reports_damage_and_names_the_file) {
  const auto read = [](const std::string& bytes) {
    WireReader r(bytes, "/a/file");
    while (r.next()) {
    }
  };
  CHECK_THROWS(read("\x80"), Code::kDataLoss, "'/a/file': it ends inside the key");
  CHECK_THROWS(read("\x08\x80"), Code::kDataLoss, "field 1 ends inside a varint");
  CHECK_THROWS(read("\x12\x05"
                    "abc"),
               Code::kDataLoss, "field 2 has 5 bytes, but only 3 follow");
  CHECK_THROWS(read(std::string("\x11\0\0", 3)), Code::kDataLoss, "field 2 has 8 bytes");
  CHECK_THROWS(read("\x0b"), Code::kDataLoss, "wire type 3");
  CHECK_THROWS(read(std::string(1, '\0')), Code::kDataLoss, "field number 0");
  CHECK_THROWS(read("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
                    "abc"),
               Code::kDataLoss, "only 3");
  CHECK_THROWS(read("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), Code::kDataLoss, "varint");
  WireReader r("\x08\x01", "/a/file");
  CHECK(r.next());
  CHECK_THROWS(r.bytes(), Code::kDataLoss, "field 1 should be length-delimited but is a varint");
}

TEST(io_wire_round_trip_of_random_fields) {
  std::mt19937_64 random = seeded_generator();
  for (int round = 0; round < 200; ++round) {
    WireWriter message;
    std::vector<std::pair<int, std::string>> expected;  // number and value of each field
    for (size_t n = random() % 20; n > 0; --n) {
      const int field = static_cast<int>(random() % 3000 + 1);
      const uint64_t number = random() >> (random() % 64);
      const std::string bytes = random_bytes(random, random() % 200);
      switch (random() % 4) {
        case 0:
          message.put_varint(field, number);
          expected.emplace_back(field, str_cat(number));
          break;
        case 1:
          message.put_fixed64(field, number);
          expected.emplace_back(field, str_cat(number));
          break;
        case 2:
          message.put_fixed32(field, static_cast<uint32_t>(number));
          expected.emplace_back(field, str_cat(static_cast<uint32_t>(number)));
          break;
        default:
          message.put_bytes(field, bytes);
          expected.emplace_back(field, bytes);
      }
    }
    size_t at = 0;
    for (WireReader r(message.bytes(), "x"); r.next(); ++at) {
      CHECK(at < expected.size());
      CHECK_EQ(r.field(), expected[at].first);
      std::string value = r.type() == WireType::kVarint    ? str_cat(r.uint())
                          : r.type() == WireType::kFixed64 ? str_cat(r.fixed64())
                          : r.type() == WireType::kFixed32 ? str_cat(r.fixed32())
                                                           : r.text();
      CHECK(value == expected[at].second);
    }
    CHECK_EQ(at, expected.size());
    // Random bytes are either read to the end or reported.
    const std::string noise = random_bytes(random, random() % 60);
    reads_or_reports("noise", [&] {
      for (WireReader r(noise, "noise"); r.next();) {
      }
    });
  }
}
