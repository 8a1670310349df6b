#include <map>

#include "io/files/crc32c.h"
#include "io/files/record.h"
#include "io/proto/wire.h"
#include "io_test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

const char* const kExamples = "tfrecord/examples.tfrecord";

// Reads a file to its end and stores its records in `records`.
RecordReader::Result read_all(const std::string& path, std::vector<std::string>& records) {
  RecordReader reader(path);
  std::string data;
  RecordReader::Result result;
  while ((result = reader.read(data)) == RecordReader::Result::kRecord) records.push_back(data);
  return result;
}

}  // namespace

TEST(io_record_reads_tensorflows_files) {
  RecordReader reader(golden_file(kExamples));
  std::string data;
  const uint64_t offsets[] = {0, 72, 154, 232, 250};
  const size_t lengths[] = {56, 66, 62, 2, 606};
  for (int i = 0; i < 5; ++i) {
    CHECK_EQ(reader.offset(), offsets[i]);
    CHECK(reader.next(data));
    CHECK_EQ(data.size(), lengths[i]);
    if (i == 2) {
      CHECK_EQ(
          to_hex(data),
          "0a3c0a0d0a07695f656d70747912021a000a0d0a07735f656d70747912020a000a110a0573636f7265120812"
          "060a049ec97f7f0a090a05756e7365741200");
    }
  }
  CHECK(!reader.next(data));
  reader.seek(232);
  CHECK(reader.next(data));
  CHECK_EQ(to_hex(data), "0a00");
}

TEST(io_record_writes_tensorflows_bytes) {
  const std::string path = fresh_folder("record") + "/x";
  RecordWriter writer(path);
  for (const std::string& record : read_records(golden_file(kExamples))) writer.write(record);
  writer.close();
  CHECK(read_whole_file(path) == read_whole_file(golden_file(kExamples)));
}

TEST(io_record_reads_and_writes_compressed_files) {
  const auto plain = read_records(golden_file(kExamples));
  const std::map<std::string, Compression> kinds = {{".gz", Compression::kGzip},
                                                    {".zlib", Compression::kZlib}};
  for (const auto& kind : kinds) {
    const std::string golden = golden_file(kExamples) + kind.first;
    CHECK(read_records(golden, nullptr, kind.second) == plain);
    const std::string path = fresh_folder("compressed") + "/x" + kind.first;
    RecordWriter writer(path, kind.second, RecordWriter::Mode::kNew);
    for (const std::string& record : plain) writer.write(record);
    writer.flush();
    bool truncated = true;
    CHECK(read_records(path, &truncated, kind.second) == plain);
    CHECK(!truncated);
    writer.close();
    CHECK(read_records(path, nullptr, kind.second) == plain);
    RecordReader reader(path, kind.second);
    reader.seek(232);
    std::string data;
    CHECK(reader.next(data));
    CHECK_EQ(to_hex(data), "0a00");
    // If the file is truncated or modified at any position, the reader gives the same records or an
    // error.
    const std::string bytes = read_whole_file(golden), cut = fresh_folder("cut") + "/c";
    for (size_t i = 0; i < bytes.size(); ++i) {
      write_bytes(cut, bytes.substr(0, i));
      reads_or_reports(cut, [&] { read_records(cut, nullptr, kind.second); });
      std::string bent = bytes;
      bent[i] = static_cast<char>(bent[i] ^ 1 << (i % 8));
      write_bytes(cut, bent);
      reads_or_reports(cut, [&] { read_records(cut, nullptr, kind.second); });
    }
  }
  // A file of two concatenated gzip streams contains the records of both.
  const std::string twice = fresh_folder("twice") + "/x.gz";
  const std::string gz = read_whole_file(golden_file(kExamples) + ".gz");
  write_bytes(twice, gz + gz);
  CHECK_EQ(read_records(twice, nullptr, Compression::kGzip).size(), 10u);
  CHECK(compression_from_name("GZIP") == Compression::kGzip);
  CHECK_THROWS(compression_from_name("LZ4"), Code::kInvalidArgument, "\"LZ4\"");
}

TEST(io_record_distinguishes_truncation_from_corruption) {
  const std::string bytes = read_whole_file(golden_file(kExamples));
  const std::string path = fresh_folder("damaged") + "/x";
  for (size_t size = 0; size < bytes.size(); ++size) {
    write_bytes(path, bytes.substr(0, size));
    std::vector<std::string> records;
    const bool is_record_boundary =
        size == 0 || size == 72 || size == 154 || size == 232 || size == 250;
    CHECK(read_all(path, records) ==
          (is_record_boundary ? RecordReader::Result::kEnd : RecordReader::Result::kTruncated));
    CHECK_EQ(records.size(), size < 72    ? 0u
                             : size < 154 ? 1u
                             : size < 232 ? 2u
                             : size < 250 ? 3u
                                          : 4u);
  }
  write_bytes(path, bytes.substr(0, 100));
  {
    RecordReader reader(path);
    std::string data;
    CHECK(reader.next(data));
    CHECK_THROWS(reader.next(data), Code::kDataLoss, "Truncated record at 72 in '" + path);
  }
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string bent = bytes;
    bent[bit / 8] = static_cast<char>(bent[bit / 8] ^ 1 << (bit % 8));
    write_bytes(path, bent);
    std::vector<std::string> records;
    CHECK(!reads_or_reports(path, [&] { read_all(path, records); }));
  }
  std::string bent = bytes;
  bent[72 + 12] ^= 1;
  write_bytes(path, bent);
  CHECK_THROWS(read_records(path), Code::kDataLoss,
               "Corrupted record at 72 in '" + path + "': the checksum of its data");
  bent[72] ^= 1;
  write_bytes(path, bent);
  CHECK_THROWS(read_records(path), Code::kDataLoss, "checksum of its length");
}

TEST(io_record_round_trip_of_random_records) {
  std::mt19937_64 random = seeded_generator();
  const std::string folder = fresh_folder("random");
  for (int round = 0; round < 30; ++round) {
    std::vector<std::string> records;
    for (size_t n = random() % 10; n > 0; --n) {
      records.push_back(random_bytes(random, random() % (random() % 2 ? 100 : 200000)));
    }
    const auto compression = static_cast<Compression>(random() % 3);
    const std::string path = str_cat(folder, "/", round);
    {
      RecordWriter writer(path, compression);
      for (const std::string& record : records) writer.write(record);
      if (round % 2) writer.close();
    }
    // An unfinished file does not replace the old one.
    if (round % 2 == 0) {
      CHECK(!file_exists(path));
      continue;
    }
    CHECK(read_records(path, nullptr, compression) == records);
  }
}

// A compressed file may declare and contain any length. Reading a small file must not use all
// memory.
TEST(io_record_limits_compressed_files) {
  const std::string path = fresh_folder("bomb") + "/x";
  std::string header;
  append_fixed64(header, uint64_t{1} << 29);
  append_fixed32(header, mask_crc(crc32c(header.data(), 8)));
  {
    AtomicFile file(path);
    CompressedOutput output(file.output(), Compression::kGzip);
    output.write(header);
    output.finish();
    file.commit();
  }
  RecordReader reader(path, Compression::kGzip);
  std::string data;
  CHECK_THROWS(reader.next(data), Code::kDataLoss, "its length is 536870912 bytes");
}
