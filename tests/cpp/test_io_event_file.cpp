#include <cfloat>
#include <cmath>
#include <map>

#include "base/complexity_counter.h"
#include "io/events/event_file.h"
#include "io/proto/tensor_proto.h"
#include "io/proto/wire.h"
#include "io_test.h"

using namespace runhooks;
using namespace runhooks_test;

namespace {

const char* const kTraining = "events/events.out.tfevents.1700000000.host";

// Returns a clock that returns 100.5, 101.5, ...
EventFileWriter::Clock steady_clock() {
  return [seconds = 99.5]() mutable { return seconds += 1; };
}

}  // namespace

TEST(io_event_file_reads_tensorflows_files) {
  bool truncated = true;
  const std::vector<Event> events = read_events(golden_file(kTraining), &truncated);
  CHECK(!truncated);
  CHECK_EQ(events.size(), 14u);
  CHECK(events[0].kind == Event::Kind::kFileVersion);
  CHECK_EQ(events[0].bytes, "brain.Event:2");
  CHECK_EQ(events[0].wall_time, 1795252877.0);
  CHECK_EQ(events[0].source_writer, "tensorflow.core.util.events_writer");
  CHECK(events[1].kind == Event::Kind::kGraphDef && events[1].bytes.size() == 15291);
  CHECK(events[4].kind == Event::Kind::kMetaGraphDef);
  CHECK(events[5].session_log.status == SessionLog::kCheckpoint);
  CHECK_EQ(events[5].session_log.checkpoint_path, "run1/model.ckpt");
  CHECK(events[6].session_log.status == SessionLog::kStart && events[6].step == 1);
  CHECK_EQ(*events[7].scalar("loss"), 21.0f);
  CHECK_EQ(*events[7].scalar("pred_mean"), 0.0f);
  CHECK(!events[7].scalar("x") && !events[7].scalar("none"));
  CHECK_EQ(events[10].wall_time, 1795252877.9714022);
  CHECK_EQ(events[10].step, 3);
  CHECK_EQ(*events[10].scalar("loss"), 1.6852574f);
  const SummaryValue& note = events[7].summary[3];
  CHECK_EQ(note.tag, "note");
  CHECK_EQ(note.metadata->plugin_name, "text");
  CHECK(note.tensor()->equals(Tensor::strings({2}, {"first", "second"})));
  CHECK(!events[10].summary[3].metadata);
}

TEST(io_event_file_rewrites_tensorflows_bytes) {
  for (const std::string& record : read_records(golden_file(kTraining))) {
    CHECK(write_event(read_event(record, "x")) == record);
  }
}

TEST(io_event_file_is_appended_to_after_close) {
  const std::string folder = temporary_folder() + "/behind";
  EventFileWriter first(folder, "", steady_clock());
  first.add_scalars({{"loss", 1}}, 1);
  first.close();
  const auto second = EventFileWriter::append_to(first.path(), steady_clock());
  CHECK_EQ(second->logdir(), folder);
  CHECK_EQ(second->path(), first.path());
  second->add_scalars({{"loss", 2}}, 2);
  second->close();
  const std::vector<Event> events = read_events(first.path());
  CHECK_EQ(events.size(), 3u);
  CHECK(events[0].kind == Event::Kind::kFileVersion);
  CHECK_EQ(*events[1].scalar("loss") + *events[2].scalar("loss"), 3.0f);
  CHECK_THROWS(EventFileWriter::append_to(folder), Code::kFailedPrecondition, folder);
  CHECK_THROWS(EventFileWriter::append_to(folder + "/none"), Code::kNotFound, "/none");
}

TEST(io_event_histograms_match_tensorflow) {
  const std::vector<Event> events = read_events(golden_file(kTraining));
  const Tensor x = Tensor::of<float>({4, 2}, {1, -2, 0, 3, -4, 0.5, 2, 2});
  const std::string golden = write_summary({events[7].summary[2]});
  CHECK(write_summary({histogram_summary("x", x)}) == golden);
  CHECK(write_summary({histogram_summary("pred", Tensor::zeros(DType::kFloat32, {4, 1}))}) ==
        write_summary({events[7].summary[1]}));
  // Expects TensorFlow 2.15.1's results for values beyond the limits, and for no values.
  const std::vector<double> extreme_values = {-1, 2.5, 0, 1e-13, 1e30, -1e30};
  const Histogram h = make_histogram(extreme_values.data(), extreme_values.size());
  CHECK(h.bucket_limit ==
        (std::vector<double>{-DBL_MAX, -9.9207756218597835e+19, -1.0089710279437536,
                             -0.917246389039776, 0, 1e-12, 2.3791009056258718, 2.6170109961884593,
                             9.9207756218597835e+19, DBL_MAX}));
  CHECK(h.bucket == (std::vector<double>{0, 1, 0, 1, 0, 2, 0, 1, 0, 1}));
  CHECK_EQ(h.sum, 0.0);
  const Histogram empty = make_histogram(nullptr, 0);
  CHECK(empty.min == DBL_MAX && empty.max == -DBL_MAX && empty.num == 0);
  CHECK(empty.bucket_limit == std::vector<double>{DBL_MAX} &&
        empty.bucket == std::vector<double>{0});
  const double nan = NAN;
  CHECK_EQ(make_histogram(&nan, 1).bucket.back(), 1.0);
}

TEST(io_event_writer_writes_immediately) {
  const std::string folder = fresh_folder("events") + "/new";
  EventFileWriter writer(folder, ".suffix", steady_clock());
  CHECK(base_name(writer.path()).rfind("events.out.tfevents.0000000100.", 0) == 0);
  CHECK_EQ(writer.path().substr(writer.path().size() - 7), ".suffix");
  CHECK_EQ(read_events(writer.path()).size(), 1u);
  writer.add_scalars({{"loss", 0}}, 7);
  writer.add_scalars({{"a", 1.5}, {"b", NAN}}, 8);
  writer.add_graph_def("graph");
  writer.add_meta_graph("meta");
  writer.add_session_log(SessionLog::kStart, "", 7);
  writer.add_run_metadata("step_9", "run", 9);
  const std::vector<Event> events = read_events(writer.path());
  CHECK_EQ(events.size(), 7u);
  CHECK_EQ(events[0].wall_time, 100.0);
  CHECK_EQ(events[1].wall_time, 101.5);
  CHECK_EQ(*events[1].scalar("loss"), 0.0f);
  CHECK_EQ(events[1].step, 7);
  CHECK(*events[2].scalar("a") == 1.5f && std::isnan(*events[2].scalar("b")));
  CHECK(events[3].kind == Event::Kind::kGraphDef && events[3].bytes == "graph");
  CHECK(events[4].kind == Event::Kind::kMetaGraphDef && events[4].bytes == "meta");
  CHECK(events[5].session_log.status == SessionLog::kStart);
  CHECK(events[6].kind == Event::Kind::kRunMetadata && events[6].step == 9);
  writer.close();
  CHECK_THROWS(writer.add_scalars({{"loss", 1}}, 9), Code::kFailedPrecondition, "closed");
}

TEST(io_event_writer_gives_tensorflows_first_record) {
  EventFileWriter writer(fresh_folder("events"), "", [] { return 1795252877.5; });
  const auto golden = read_records(golden_file(kTraining));
  CHECK(read_records(writer.path())[0] == golden[0]);
}

// A loop can write many evaluations per second, and each must find a free file name quickly.
TEST(io_event_writers_of_one_second_find_names_quickly) {
  const std::string folder = fresh_folder("events");
  std::vector<std::string> paths;
  for (int i = 0; i < 300; ++i) {
    const uint64_t before = pass_work_count();
    paths.push_back(EventFileWriter(folder, "", [] { return 100.0; }).path());
    CHECK(pass_work_count() - before < 25);
  }
  CHECK(list_event_files(folder) == paths);
  CHECK(base_name(paths[299]).rfind("events.out.tfevents.0000000399.", 0) == 0);
  // A freed name may be reused or not, but no name in use may be taken.
  remove_file(paths[150]);
  for (int i = 0; i < 5; ++i) {
    const std::string path = EventFileWriter(folder, "", [] { return 120.0; }).path();
    CHECK_EQ(read_events(path).size(), 1u);
  }
  CHECK_EQ(list_event_files(folder).size(), 304u);
}

TEST(io_event_writers_of_one_second_do_not_share_a_file) {
  const std::string folder = fresh_folder("events");
  EventFileWriter first(folder, "", [] { return 100.0; });
  EventFileWriter second(folder, "", [] { return 100.0; });
  CHECK(first.path() != second.path());
  CHECK(list_event_files(folder) == (std::vector<std::string>{first.path(), second.path()}));
  CHECK(list_event_files(folder + "/none").empty());
}

TEST(io_event_writer_keeps_metadata_of_a_tag_once) {
  EventFileWriter writer(fresh_folder("events"), "", steady_clock());
  const SummaryValue note = text_summary("note", Tensor::string_scalar("hello"));
  writer.add_summary({note}, 1);
  writer.add_serialized_summary(write_summary({note, scalar_summary("loss", 2)}), 2);
  const std::vector<Event> events = read_events(writer.path());
  CHECK(events[1].summary[0].metadata && !events[2].summary[0].metadata);
  CHECK_EQ(*events[2].scalar("loss"), 2.0f);
}

TEST(io_event_file_may_be_truncated) {
  const std::string bytes = read_whole_file(golden_file(kTraining));
  const std::string path = fresh_folder("tail") + "/x";
  // Truncates the file within the last two records.
  for (size_t size = 111967; size <= bytes.size(); ++size) {
    write_bytes(path, bytes.substr(0, size));
    bool truncated = false;
    const size_t count = read_events(path, &truncated).size();
    CHECK_EQ(count, size < 112564 ? 12u : size < bytes.size() ? 13u : 14u);
    CHECK_EQ(truncated, size != 111967 && size != 112564 && size != bytes.size());
  }
  std::string bent = bytes;
  bent[112000] = static_cast<char>(bent[112000] ^ 1);
  write_bytes(path, bent);
  CHECK_THROWS(read_events(path), Code::kDataLoss, "Corrupted record at 111967 in '" + path);
}

TEST(io_event_reader_survives_random_messages) {
  std::mt19937_64 random = seeded_generator();
  const auto records = read_records(golden_file(kTraining));
  for (int round = 0; round < 3000; ++round) {
    std::string record = records[7 + random() % 7];
    for (int n = 0; n < 3; ++n) record[random() % record.size()] = static_cast<char>(random());
    reads_or_reports("a file", [&] { read_event(record, "a file"); });
  }
}

// Two tensors that expand from one element to 256 MB each are accepted, a third is not.
TEST(io_event_file_limits_expanded_tensors) {
  WireWriter shape, tensor, value, summary, event;
  shape.put_message(2, WireWriter().add_int(1, kMaxExpandedTensorBytes / 4));
  tensor.add_int(1, 1).put_message(2, shape);
  value.add_bytes(1, "a").put_message(8, tensor);
  summary.put_message(1, value);
  event.put_message(5, summary);
  const std::string bytes = event.take();
  for (const unsigned n : {2u, 3u}) {
    RecordWriter writer(join_path(fresh_folder("many_events"), "events"));
    for (unsigned i = 0; i < n; ++i) writer.write(bytes);
    writer.close();
    bool is_refused = false;
    try {
      CHECK_EQ(read_events(writer.path()).size(), 2u);
    } catch (const Error& error) {
      is_refused = error.code() == Code::kResourceExhausted;
    }
    CHECK_EQ(is_refused, n == 3u);
  }
}
