#if !defined(_WIN32)
#include <sys/resource.h>
#endif

#include <cmath>
#include <csignal>
#include <filesystem>
#include <limits>

#include "base/platform.h"
#include "io/checkpoint/tensor_bundle.h"
#include "io_test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

const DType kAllTypes[] = {DType::kFloat32, DType::kFloat64, DType::kInt32,   DType::kUint8,
                           DType::kInt16,   DType::kInt8,    DType::kString,  DType::kInt64,
                           DType::kBool,    DType::kUint16,  DType::kFloat16, DType::kBfloat16,
                           DType::kUint32,  DType::kUint64};

Tensor random_tensor(std::mt19937_64& random, DType dtype, const Shape& shape) {
  Tensor tensor(dtype, shape);
  if (dtype == DType::kString) tensor.set_dictionary(std::make_shared<StringDictionary>());
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const uint64_t bits = dtype == DType::kBool ? random() % 2 : random();
    if (dtype == DType::kString) {
      tensor.data<int32_t>()[i] = tensor.dictionary()->code(random_bytes(random, random() % 200));
    } else {
      const size_t size = dtype_size(dtype);
      std::memcpy(static_cast<char*>(tensor.raw()) + static_cast<size_t>(i) * size, &bits, size);
    }
  }
  return tensor;
}

Shape random_shape(std::mt19937_64& random) {
  Shape shape;
  for (uint64_t n = random() % 4; n > 0; --n) shape.append(static_cast<int64_t>(random() % 5));
  return shape;
}

// Rewrites the contents of `reader` under another prefix, keeping slices.
void rewrite(const BundleReader& reader, const std::string& prefix) {
  BundleWriter writer(prefix);
  for (const BundleReader::Info& info : reader.tensors()) {
    if (!info.is_sliced) writer.add(info.name, reader.read(info.name));
    for (const TensorSlice& slice : info.slices) {
      writer.add_slice(info.name, info.shape, slice, reader.read_slice(info.name, slice));
    }
  }
  writer.finish();
}

void copy_bundle(const std::string& from, const std::string& to) {
  write_bytes(to + ".index", read_whole_file(from + ".index"));
  const std::string data = ".data-00000-of-00001";
  write_bytes(to + data, read_whole_file(from + data));
}

void read_everything(const std::string& prefix) {
  const BundleReader reader(prefix);
  for (const BundleReader::Info& info : reader.tensors()) reader.read(info.name);
}

}  // namespace

TEST(io_bundle_reads_tensorflows_tensors) {
  const BundleReader reader(golden_file("bundle/mixed.ckpt-7"));
  CHECK_EQ(reader.tensors().size(), 25u);
  CHECK(reader.read("layer/kernel")
            .equals(Tensor::of<float>({2, 3}, {1.5f, -2.25f, 3, 0, 1e-7f, 3.4e38f})));
  CHECK(reader.read("global_step").equals(Tensor::scalar<int64_t>(0)));
  CHECK(reader.read("i64").equals(Tensor::vector<int64_t>({-1, 0, 4611686018427387904})));
  CHECK(reader.read("i32").equals(Tensor::of<int32_t>({2, 2}, {1, -2, 3, 2147483647})));
  CHECK(reader.read("f64").equals(Tensor::vector<double>({1.0 / 3, 2.5e-300})));
  CHECK(reader.read("u8").equals(Tensor::vector<uint8_t>({0, 255})));
  CHECK(reader.read("scalar_bool").equals(Tensor::scalar(true)));
  const Tensor flag = reader.read("flag");
  CHECK(flag.data<bool>()[0] && !flag.data<bool>()[1] && flag.data<bool>()[2]);
  CHECK_EQ(reader.read("scalar_f32").number_at(0), static_cast<double>(3.1415927f));
  const Tensor special = reader.read("special_f32");
  CHECK(std::isnan(special.number_at(0)) && std::isinf(special.number_at(1)));
  CHECK(special.number_at(2) == -INFINITY && std::signbit(special.number_at(3)));
  CHECK_EQ(special.number_at(4), static_cast<double>(std::numeric_limits<float>::denorm_min()));
  // Expects the bits of 1.5 and 3 in bfloat16, and of 1.5 and 65504 in float16. These types have no
  // arithmetic here.
  const Tensor bf16 = reader.read("bf16"), f16 = reader.read("f16");
  CHECK_EQ(bf16.data<uint16_t>()[0], 0x3fc0);
  CHECK_EQ(bf16.data<uint16_t>()[1], 0x4040);
  CHECK_EQ(f16.data<uint16_t>()[0], 0x3e00);
  CHECK_EQ(f16.data<uint16_t>()[1], 0x7bff);
  CHECK_EQ(reader.read("i16").data<int16_t>()[0], -300);
  CHECK_EQ(reader.read("i8").data<int8_t>()[0], -128);
  CHECK_EQ(reader.read("empty_matrix").shape(), (Shape{0, 3}));
  CHECK_EQ(reader.read("empty_i64").shape(), (Shape{2, 0}));
}

TEST(io_bundle_reads_tensorflows_strings) {
  const BundleReader reader(golden_file("bundle/mixed.ckpt-7"));
  CHECK(reader.read("strings").equals(Tensor::strings(
      {2, 2}, {"a", "", "h\xc3\xa9llo", std::string("\0\xff\x01\x62\x69\x6e", 6)})));
  CHECK_EQ(reader.read("scalar_string").string_at(0), "just one");
  CHECK_EQ(reader.read("empty_strings").shape(), (Shape{0}));
  const Tensor longer = reader.read("long_string");
  CHECK_EQ(longer.string_at(0), std::string(300, 'x'));
  CHECK_EQ(longer.string_at(1), "y");
}

TEST(io_bundle_assembles_slices) {
  const BundleReader reader(golden_file("bundle/mixed.ckpt-7"));
  const BundleReader::Info info = reader.info("part/weights");
  CHECK(info.is_sliced && info.shape == (Shape{7, 2}) && info.slices.size() == 3);
  CHECK_EQ(info.slices[1].to_string(), "3:2,0:2");
  const std::vector<float> expected = {0, 1, 2, 3, 4, 5, 300, 301, 302, 303, 500, 501, 502, 503};
  CHECK(reader.read("part/weights").equals(Tensor::of<float>({7, 2}, expected)));
  // Reads a slice that crosses the borders of the slices in the file.
  CHECK(reader.read_slice("part/weights", {{2, 1}, {4, 1}})
            .equals(Tensor::of<float>({4, 1}, {5, 301, 303, 501})));
  CHECK(reader.read_slice("layer/kernel", {{0, 1}, {2, 1}})
            .equals(Tensor::of<float>({2, 1}, {-2.25f, 1e-7f})));
  CHECK_EQ(reader.read_slice("part/weights", {{2, 0}, {0, 2}}).shape(), (Shape{0, 2}));
  CHECK_THROWS(reader.read_slice("part/weights", {{5, 0}, {3, 2}}), Code::kInvalidArgument,
               "5:3,0:2");
  const Tensor columns = reader.read("part_cols/weights");
  CHECK_EQ(columns.shape(), (Shape{2, 130}));
  for (int64_t i = 0; i < 260; ++i) CHECK_EQ(columns.number_at(i), i % 130 < 65 ? 0.0 : 65.0);
}

TEST(io_bundle_reads_several_shards) {
  const BundleReader reader(golden_file("bundle/sharded.ckpt"));
  CHECK(reader.read("a/one").equals(Tensor::vector<float>({1})));
  CHECK(reader.read("b/two").equals(Tensor::vector<int32_t>({2, 2})));
  CHECK(reader.read("c/three").equals(Tensor::strings({2}, {"t", "u"})));
}

TEST(io_bundle_rewrites_tensorflows_bytes) {
  for (const char* name : {"bundle/mixed.ckpt-7", "bundle/many.ckpt", "events/model.ckpt-5"}) {
    context() = name;
    const std::string golden = golden_file(name), prefix = fresh_folder("rewrite") + "/sub/x";
    rewrite(BundleReader(golden), prefix);
    CHECK(read_whole_file(prefix + ".index") == read_whole_file(golden + ".index"));
    CHECK(read_whole_file(prefix + ".data-00000-of-00001") ==
          read_whole_file(golden + ".data-00000-of-00001"));
    CHECK_EQ(list_directory(parent_folder(prefix)).size(), 2u);
  }
}

TEST(io_bundle_slice_keys_match_tensorflow) {
  CHECK_EQ(to_hex(bundle_slice_key("part/weights", {{3, 0}, {2, 2}})),
           "00706172742f776569676874730001010283828082");
  // Expects the keys that oc_signed and oc_string of formats.py compute.
  CHECK_EQ(to_hex(bundle_slice_key(std::string("\0\xff", 2), {{-1, 64}, {-64, -65}})),
           "0000ffff000001"
           "0102"
           "7f40"
           "c0403fbf");
  CHECK_EQ(to_hex(bundle_slice_key("", {{8191, 8192}, {1048575, 1048576}})),
           "000001"
           "0102"
           "dfffefffff"
           "e02000f0100000");
  const int64_t large = std::numeric_limits<int64_t>::max();
  CHECK_EQ(
      to_hex(bundle_slice_key("", {{int64_t{1} << 55, int64_t{1} << 62}, {large, -large - 1}})),
      "000001"
      "0102"
      "ff8080000000000000"
      "ffc07fffffffffffffff"
      "ffc04000000000000000"
      "003f8000000000000000");
  CHECK(bundle_slice_key("a", {{2}, {1}}) < bundle_slice_key("a", {{10}, {1}}));
}

TEST(io_bundle_whole_slice_is_a_plain_entry) {
  const std::string prefix = fresh_folder("whole") + "/x";
  BundleWriter writer(prefix);
  writer.add_slice("w", {2, 1}, {{0, 0}, {2, 1}}, Tensor::of<float>({2, 1}, {1, 2}));
  writer.finish();
  const BundleReader reader(prefix);
  CHECK(!reader.info("w").is_sliced);
  CHECK(reader.read("w").equals(Tensor::of<float>({2, 1}, {1, 2})));
}

TEST(io_bundle_writer_validates_its_input) {
  BundleWriter writer(fresh_folder("checks") + "/x");
  const Tensor one = Tensor::vector<float>({1}), two = Tensor::vector<float>({1, 2});
  writer.add("a", one);
  CHECK_THROWS(writer.add("a", one), Code::kInvalidArgument, "already has a tensor 'a'");
  CHECK_THROWS(writer.add("", one), Code::kInvalidArgument, "needs a name");
  CHECK_THROWS(writer.add("b", Tensor()), Code::kInvalidArgument, "'b' of type invalid");
  CHECK_THROWS(writer.add_slice("a", {3}, {{0}, {1}}, one), Code::kInvalidArgument,
               "already has a tensor 'a'");
  CHECK_THROWS(writer.add_slice("s", {3}, {{3}, {1}}, one), Code::kInvalidArgument,
               "does not lie in");
  CHECK_THROWS(writer.add_slice("s", {3}, {{0}, {1}}, two), Code::kInvalidArgument,
               "expected float32 of shape");
  writer.add_slice("s", {3}, {{0}, {1}}, one);
  CHECK_THROWS(writer.add_slice("s", {3}, {{0}, {1}}, one), Code::kInvalidArgument,
               "already has a tensor 's'");
  CHECK_THROWS(writer.add_slice("s", {4}, {{1}, {2}}, two), Code::kInvalidArgument, "(3,)");
  CHECK_THROWS(writer.add("s", one), Code::kInvalidArgument, "already has a tensor 's'");
  writer.finish();
  CHECK_THROWS(writer.add("c", one), Code::kFailedPrecondition, "already been written");
}

TEST(io_bundle_errors_name_missing_entries) {
  const std::string prefix = fresh_folder("missing") + "/model.ckpt-3";
  CHECK_THROWS(BundleReader(prefix), Code::kNotFound, prefix + ".index': No such file");
  copy_bundle(golden_file("bundle/mixed.ckpt-7"), prefix);
  const BundleReader reader(prefix);
  CHECK(reader.contains("i64") && !reader.contains("i65"));
  CHECK_THROWS(reader.read("i65"), Code::kNotFound, "Key i65 not found in checkpoint '" + prefix);
  remove_file(prefix + ".data-00000-of-00001");
  CHECK_THROWS(BundleReader(prefix), Code::kNotFound, prefix + ".data-00000-of-00001': No such");
}

TEST(io_bundle_slices_must_cover_the_tensor) {
  const std::string prefix = fresh_folder("holes") + "/x";
  BundleWriter writer(prefix);
  writer.add_slice("w", {3}, {{0}, {1}}, Tensor::vector<float>({1}));
  writer.finish();
  const BundleReader reader(prefix);
  CHECK_THROWS(reader.read("w"), Code::kDataLoss, "'w' has slices that do not cover all");
  CHECK(reader.read_slice("w", {{0}, {1}}).equals(Tensor::vector<float>({1})));
}

TEST(io_bundle_round_trip_of_random_tensors) {
  std::mt19937_64 random = seeded_generator();
  const std::string folder = fresh_folder("random");
  for (int round = 0; round < 40; ++round) {
    const std::string prefix = str_cat(folder, "/r", round);
    std::vector<std::pair<std::string, Tensor>> tensors;
    BundleWriter writer(prefix);
    for (uint64_t n = random() % 30; n > 0; --n) {
      const std::string name = str_cat("t", random() % 1000, "/", n);
      const DType dtype = kAllTypes[random() % std::size(kAllTypes)];
      const Shape shape = random_shape(random);
      const Tensor tensor = random_tensor(random, dtype, shape);
      tensors.emplace_back(name, tensor);
      if (shape.rank() == 0 || random() % 2 || shape.dim(0) < 2) {
        writer.add(name, tensor);
        continue;
      }
      // Writes slices along the first dimension.
      const int64_t cut =
          1 + static_cast<int64_t>(random() % static_cast<uint64_t>(shape.dim(0) - 1));
      const int64_t row = tensor.num_elements() / shape.dim(0);
      for (const bool is_first : {true, false}) {
        TensorSlice slice = TensorSlice::whole(shape);
        slice.start[0] = is_first ? 0 : cut;
        slice.length[0] = is_first ? cut : shape.dim(0) - cut;
        Tensor part(dtype, Shape(slice.length));
        std::memcpy(part.raw(),
                    static_cast<const char*>(tensor.raw()) +
                        static_cast<size_t>(slice.start[0] * row) * dtype_size(dtype),
                    part.num_bytes());
        if (dtype == DType::kString) part.set_dictionary(tensor.dictionary());
        writer.add_slice(name, shape, slice, part);
      }
    }
    writer.finish();
    const BundleReader reader(prefix);
    CHECK_EQ(reader.tensors().size(), tensors.size());
    for (const auto& item : tensors) CHECK(reader.read(item.first).equals(item.second));
  }
}

TEST(io_bundle_keeps_the_old_one_if_the_disk_is_full) {
#if defined(_WIN32)
  throw NotRun{"Windows cannot limit the size of files"};
#else
  const std::string folder = fresh_folder("full"), prefix = folder + "/x";
  BundleWriter old(prefix);
  old.add("w", Tensor::vector<float>({1, 2}));
  old.finish();
  // Limits files to 64 KB, which has the same effect as a full disk.
  rlimit unlimited;
  getrlimit(RLIMIT_FSIZE, &unlimited);
  rlimit small = unlimited;
  small.rlim_cur = 64 * 1024;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  BundleWriter large(prefix);
  large.add("w", Tensor::zeros(DType::kFloat32, {1 << 20}));
  std::string message;
  try {
    large.finish();
  } catch (const Error& error) {
    message = str_cat(code_name(error.code()), ": ", error.message());
  }
  setrlimit(RLIMIT_FSIZE, &unlimited);
  std::signal(SIGXFSZ, handler);
  CHECK(message.find("resource_exhausted: Cannot write '" + prefix + ".data-00000-of-00002'") == 0);
  CHECK_EQ(list_directory(folder).size(), 2u);
  CHECK(BundleReader(prefix).read("w").equals(Tensor::vector<float>({1, 2})));
#endif
}

// A process that is killed between the two files must leave one of the bundles intact.
TEST(io_bundle_never_overwrites_data_in_use) {
  const std::string folder = fresh_folder("again"), prefix = folder + "/x";
  const auto write = [&prefix](float value) {
    BundleWriter writer(prefix);
    writer.add("w", Tensor::vector<float>({value, 2}));
    writer.add("words", Tensor::strings({2}, {"a", "b"}));
    writer.finish();
    CHECK_EQ(BundleReader(prefix).read("w").number_at(0), static_cast<double>(value));
    return str_join(list_directory(parent_folder(prefix)), " ");
  };
  const std::string first = "x.data-00000-of-00001 x.index";
  const std::string second = "x.data-00000-of-00002 x.data-00001-of-00002 x.index";
  CHECK_EQ(write(1), first);
  CHECK_EQ(write(3), second);
  CHECK_EQ(write(4), first);
  // Simulates the leftovers of a killed writer.
  write_file_atomically(prefix + ".data-00000-of-00002", "half");
  const std::string index = read_whole_file(prefix + ".index");
  CHECK_EQ(write(5), second);
  // A bundle with the same contents is not written again.
  const auto written = std::filesystem::last_write_time(prefix + ".index");
  write_file_atomically(prefix + ".other", index);
  CHECK_EQ(write(5), second + " x.other");
  CHECK(std::filesystem::last_write_time(prefix + ".index") == written);
  // It is written again if its data are missing.
  remove_file(prefix + ".data-00000-of-00002");
  CHECK(!bundle_problem(prefix, false).empty());
  CHECK_EQ(write(5), first + " x.other");
  CHECK_EQ(bundle_problem(prefix, true), "");
}

TEST(io_bundle_reports_any_damage) {
  const std::string golden = golden_file("bundle/mixed.ckpt-7"),
                    prefix = fresh_folder("bent") + "/x";
  copy_bundle(golden, prefix);
  for (const std::string suffix : {".index", ".data-00000-of-00001"}) {
    const std::string path = prefix + suffix, bytes = read_whole_file(path);
    for (size_t size = 0; size < bytes.size(); ++size) {
      write_bytes(path, bytes.substr(0, size));
      CHECK(!reads_or_reports(prefix, [&] { read_everything(prefix); }));
    }
    for (size_t bit = 0; bit < 8 * bytes.size(); bit += 3) {
      std::string bent = bytes;
      bent[bit / 8] = static_cast<char>(bent[bit / 8] ^ 1 << (bit % 8));
      write_bytes(path, bent);
      const bool read = reads_or_reports(prefix, [&] { read_everything(prefix); });
      CHECK(!read || suffix == ".index");  // every byte of the data has a checksum
    }
    write_bytes(path, bytes);
  }
  std::string data = read_whole_file(prefix + ".data-00000-of-00001");
  write_bytes(prefix + ".data-00000-of-00001", data.substr(0, 50));
  CHECK_THROWS(BundleReader(prefix).read("i32"), Code::kDataLoss,
               ".data-00000-of-00001': tensor 'i32' needs 59 bytes of the file, which has 50");
  data[45] = static_cast<char>(data[45] ^ 1);
  write_bytes(prefix + ".data-00000-of-00001", data);
  CHECK_THROWS(BundleReader(prefix).read("i32"), Code::kDataLoss,
               ".data-00000-of-00001': tensor 'i32' does not match its checksum");
}

// The tensor is so large that several threads read it in chunks.
TEST(io_bundle_reads_large_tensors_and_finds_damage_in_them) {
  std::mt19937_64 random = seeded_generator();
  const std::string prefix = fresh_folder("large") + "/x", data = prefix + ".data-00000-of-00001";
  const Tensor large = random_tensor(random, DType::kInt64, {(int64_t{9} << 17) + 5}),
               small = random_tensor(random, DType::kFloat32, {3});
  BundleWriter writer(prefix);
  writer.add("large", large);
  writer.add("small", small);
  writer.finish();
  for (const char* lacking : {"", "pread"}) {
    const DisabledFeatures without(lacking);
    CHECK(BundleReader(prefix).read("large").equals(large));
    CHECK(BundleReader(prefix).read("small").equals(small));
  }
  const std::string bytes = read_whole_file(data);
  for (int i = 0; i < 5; ++i) {
    std::string bent = bytes;
    const size_t at = random() % large.num_bytes();
    bent[at] = static_cast<char>(bent[at] ^ 1 << (random() % 8));
    write_bytes(data, bent);
    CHECK_THROWS(BundleReader(prefix).read("large"), Code::kDataLoss,
                 "tensor 'large' does not match its checksum");
    CHECK(BundleReader(prefix).read("small").equals(small));
  }
}
