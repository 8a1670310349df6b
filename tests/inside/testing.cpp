// What only tests use: a clock and a way to sleep of their own, an eye on all calls to hooks, files and
// streams as others would write them. A library of its own, which tools/inside.sh links against the
// installed package and helper-inside.R loads.
#include "base/clock.h"
#include "base/log_first.h"
#include "base/threads.h"
#include "estimators/run_folder.h"
#include "io/checkpoint/tensor_bundle.h"
#include "io/events/event_file.h"
#include "io/events/recorded_evaluations.h"
#include "io/files/atomic_file.h"
#include "io/formats/arrow_stream.h"
#include "monitored/monitored_session.h"
#include "r/loop/loop.h"
#include "r/loop/session.h"
#include "r/values/guarded_entry.h"
#include "r/values/handles.h"
#include "r/values/values.h"

#include "../cpp/state_edits.cpp"  // the edits of the core's tests

using namespace runhooks;
using namespace runhooks::r;

namespace {

double test_time = 0;
double read_test_time() { return test_time; }

Preserved& sleeper() {
  static auto* function = new Preserved;
  return *function;
}

void sleep_in_r(double seconds) {
  Rcpp::Shield<SEXP> secs(Rf_ScalarReal(seconds));
  Rcpp::Shield<SEXP> call(Rf_lang2(sleeper().get(), secs));
  eval_r(call, R_GlobalEnv);
}

// Around a hook: an R function of (what, names or name, session) is told of the five calls that
// users know, and of a request to stop.
class TracedHook : public RunHook {
 public:
  TracedHook(HookPtr hook, std::shared_ptr<Preserved> function)
      : hook_(std::move(hook)), function_(std::move(function)) {}
  std::string name() const override { return hook_->name(); }
  void begin(Graph& graph) override {
    tell("begin", nullptr);
    hook_->begin(graph);
  }
  void after_create_session(Session& session, Coordinator& coordinator) override {
    tell("after_create_session", &session);
    hook_->after_create_session(session, coordinator);
  }
  const RunArgs* before_run(RunContext& context) override {
    tell("before_run", &context.session());
    return hook_->before_run(context);
  }
  void after_run(RunContext& context, const RunValues& values) override {
    tell("after_run", &context.session());
    const bool was_requested = context.stop_requested();
    hook_->after_run(context, values);
    if (context.stop_requested() != was_requested) tell("stop_requested", nullptr);
  }
  void end(Session& session) override {
    tell("end", &session);
    hook_->end(session);
  }
  void on_error(Session* session, const LoopFailure& failure) override {
    hook_->on_error(session, failure);
  }
  bool saves_checkpoints() const override { return hook_->saves_checkpoints(); }
  bool changes_variables() const override { return hook_->changes_variables(); }
  bool has_state() const override { return hook_->has_state(); }
  NamedTensors save_state() override { return hook_->save_state(); }
  std::function<void()> read_state(const NamedTensors& state) override {
    return hook_->read_state(state);
  }

  static void tell(const Preserved& function,
                   const char* what,
                   const std::vector<std::string>& names,
                   Session* session) {
    Rcpp::Shield<SEXP> said(Rf_mkString(what)), who(Rcpp::wrap(names));
    Rcpp::Shield<SEXP> where(session ? session_handle(*session) : R_NilValue);
    Rcpp::Shield<SEXP> call(Rf_lang4(function.get(), said, who, where));
    eval_r(call, R_GlobalEnv);
  }

 private:
  void tell(const char* what, Session* session) const { tell(*function_, what, {name()}, session); }

  HookPtr hook_;
  std::shared_ptr<Preserved> function_;
};

// Tells of a loop that begins ("loop_made"), and of all calls to its hooks.
HookList traced(const HookList& hooks, const std::shared_ptr<Preserved>& function) {
  std::vector<std::string> names;
  HookList around;
  for (const HookPtr& hook : hooks) {
    names.push_back(hook->name());
    around.push_back(std::make_shared<TracedHook>(hook, function));
  }
  TracedHook::tell(*function, "loop_made", names, nullptr);
  return around;
}

const char* kind_name(Event::Kind kind) {
  switch (kind) {
    case Event::Kind::kFileVersion:
      return "file_version";
    case Event::Kind::kGraphDef:
      return "graph_def";
    case Event::Kind::kSummary:
      return "summary";
    case Event::Kind::kSessionLog:
      return "session_log";
    case Event::Kind::kRunMetadata:
      return "tagged_run_metadata";
    case Event::Kind::kMetaGraphDef:
      return "meta_graph_def";
    default:
      return "other";
  }
}

// The tags of a summary, with the numbers of those that have one.
SEXP summary_to_r(const Summary& summary) {
  Rcpp::List values;
  Rcpp::CharacterVector tags;
  for (const SummaryValue& value : summary) {
    const float* number = value.scalar();
    tags.push_back(value.tag);
    values.push_back(number ? Rcpp::RObject(Rf_ScalarReal(*number)) : Rcpp::RObject(R_NilValue));
  }
  values.names() = tags;
  return values;
}

}  // namespace

// All that is in an event file: lists of the step, what it is, and its parts.
SEXP cpp_read_all_events(Text path) {
  return guarded_entry([&]() -> SEXP {
    Rcpp::List all;
    bool truncated = false;
    for (const Event& event : read_events(path, &truncated)) {
      Rcpp::Shield<SEXP> values(summary_to_r(event.summary));
      all.push_back(
          Rcpp::List::create(Rcpp::_["step"] = static_cast<double>(event.step),
                             Rcpp::_["what"] = kind_name(event.kind),
                             Rcpp::_["status"] = static_cast<int>(event.session_log.status),
                             Rcpp::_["checkpoint_path"] = event.session_log.checkpoint_path,
                             Rcpp::_["values"] = values));
    }
    return all;
  });
}

// An event file of scalars: one event for each element, a named numeric vector, of its step.
void cpp_write_events(Text folder, Text suffix, std::vector<double> steps, SEXP values) {
  guarded_entry([&] {
    EventFileWriter writer(folder, suffix);
    const RList given(values, "`values`");
    for (size_t i = 0; i < steps.size(); ++i) {
      SEXP scalars = given[static_cast<R_xlen_t>(i)];
      SEXP names = Rf_getAttrib(scalars, R_NamesSymbol);
      if (TYPEOF(scalars) != REALSXP || names == R_NilValue) {
        invalid_argument("The values of an event are a named numeric vector.");
      }
      std::vector<std::pair<std::string, double>> pairs;
      for (R_xlen_t k = 0; k < Rf_xlength(scalars); ++k) {
        pairs.emplace_back(CHAR(STRING_ELT(names, k)), REAL(scalars)[k]);
      }
      writer.add_scalars(pairs, whole_from_r(steps[i], "`steps`"));
    }
  });
}

// What early stopping reads from a folder: a list of a step and its metrics for each step.
SEXP cpp_read_eval_metrics(Text folder) {
  return guarded_entry([&]() -> SEXP {
    Rcpp::List all;
    for (const auto& step : read_eval_metrics(folder)) {
      Rcpp::List metrics;
      Rcpp::CharacterVector names;
      for (const auto& metric : step.second) {
        metrics.push_back(metric.second);
        names.push_back(metric.first);
      }
      metrics.names() = names;
      all.push_back(Rcpp::List::create(static_cast<double>(step.first), metrics));
    }
    return all;
  });
}

// Seconds since 1970 that the core shall read until the next call; NULL brings the real clock back.
void cpp_clock_set(SEXP seconds) {
  guarded_entry([&] {
    if (seconds == R_NilValue) return set_clock(nullptr);
    test_time = number_from_r(seconds, "`seconds`");
    set_clock(read_test_time);
  });
}

// A function of seconds that the core shall call where it would wait; NULL: it waits again.
void cpp_sleep_set(SEXP sleep) {
  guarded_entry([&] {
    if (sleep != R_NilValue) function_from_r(sleep, "`sleep`");
    sleeper().reset(sleep);
    if (sleep == R_NilValue) return setup_sleep();
    set_sleep(sleep_in_r);
  });
}

// Lines that are shown a few times only are shown again.
void cpp_forget_logged_lines() {
  guarded_entry([] { forget_logged_lines(); });
}

// A function that shall be told of each call to a hook of the loops that begin from now on; NULL:
// nobody is told.
void cpp_observe_loops(SEXP tell) {
  guarded_entry([&] {
    hook_decorator() = nullptr;
    if (tell == R_NilValue) return;
    function_from_r(tell, "`tell`");
    const auto function = std::make_shared<Preserved>(tell);
    hook_decorator() = [function](HookList hooks) { return traced(hooks, function); };
  });
}

// Puts one more tensor into a checkpoint: the bytes, as uint8 or as a string.
void cpp_add_to_checkpoint(Text path, Text name, SEXP bytes, bool is_string) {
  guarded_entry([&] {
    if (TYPEOF(bytes) != RAWSXP) invalid_argument("A raw vector is expected for `bytes`.");
    const auto n = static_cast<size_t>(Rf_xlength(bytes));
    Tensor added(DType::kUint8, Shape{static_cast<int64_t>(n)});
    std::memcpy(added.raw(), RAW(bytes), n);
    if (is_string) {
      added = Tensor::string_scalar(std::string(reinterpret_cast<const char*>(RAW(bytes)), n));
    }
    const BundleReader reader(path);
    std::vector<std::pair<std::string, Tensor>> all;
    for (const BundleReader::Info& info : reader.tensors()) {
      if (info.name != name) all.emplace_back(info.name, reader.read(info.name));
    }
    all.emplace_back(name, added);
    BundleWriter writer(path);
    for (const auto& item : all) writer.add(item.first, item.second);
    writer.finish();
  });
}

// How many edits there are of a checkpoint, each of one of its parts; the one with the number `which`
// is written to `to`, and said.
SEXP cpp_edit_checkpoint(Text path, Text to, double seed, double which) {
  return guarded_entry([&]() -> SEXP {
    const BundleReader reader(path);
    NamedTensors state;
    for (const BundleReader::Info& info : reader.tensors()) state[info.name] = reader.read(info.name);
    std::mt19937_64 random(static_cast<uint64_t>(seed));
    const auto all = runhooks_test::each_edit(state, random);
    if (which < 1) return Rf_ScalarReal(static_cast<double>(all.size()));
    const auto& edit = all.at(static_cast<size_t>(which) - 1);
    BundleWriter writer(to);
    for (const auto& item : edit.state) writer.add(item.first, item.second);
    writer.finish();
    return Rf_mkString(edit.what.c_str());
  });
}

// Leaves by an exception that is none of the core's.
void cpp_test_throw(Text kind) {
  guarded_entry([&] {
    if (kind == "std") throw std::out_of_range("on purpose");
    throw 1;
  });
}

// How many R objects the core holds.
int cpp_held_count() { return runhooks::r::Preserved::count(); }

SEXP cpp_arrow_room();

// --- an Arrow stream whose batches have three rows each

namespace {

struct TestStream {
  int batches = 0, given = 0;  // below 0: the first one fails
  int null_row = -1;           // of column n, of all rows
  std::string format;          // of column n
};

struct TestColumn {
  ArrowArray array = {};
  std::vector<const void*> buffers;
  std::vector<int32_t> numbers;
  uint8_t valid = 7;
};

// Everything in a batch; the arrays point into it.
struct TestBatch {
  TestColumn x, n, w, f, b, words;
  std::vector<ArrowArray*> children;
  double doubles[3] = {0.5, 1.5, 2.5};
  uint8_t bits = 5;
  int8_t codes[4] = {99, 1, 0, 1};  // behind an offset of one
};

void fill(TestColumn& column, std::vector<const void*> buffers, int64_t length = 3) {
  column.buffers = std::move(buffers);
  column.array.length = length;
  column.array.n_buffers = static_cast<int64_t>(column.buffers.size());
  column.array.buffers = column.buffers.data();
}

int give_batch(ArrowArrayStream* stream, ArrowArray* out) {
  auto& own = *static_cast<TestStream*>(stream->private_data);
  *out = ArrowArray();
  if (own.batches < 0) return 5;
  if (own.given == own.batches) return 0;
  auto* batch = new TestBatch;
  batch->x.valid = 5;
  batch->x.array.null_count = 1;
  fill(batch->x, {&batch->x.valid, batch->doubles});
  const int begin = own.given * 3;
  const int place = own.null_row - begin;
  if (place >= 0 && place < 3) batch->n.valid = static_cast<uint8_t>(7 & ~(1 << place));
  batch->n.array.null_count = -1;
  batch->n.numbers = {own.given * 10, own.given * 10 + 1, own.given * 10 + 2};
  fill(batch->n, {&batch->n.valid, batch->n.numbers.data()});
  batch->w.numbers = {0, 1, 1, 4};
  fill(batch->w, {nullptr, batch->w.numbers.data(), "accc"});
  batch->words.numbers = {0, 2, 5};
  fill(batch->words, {nullptr, batch->words.numbers.data(), "noyes"}, 2);
  fill(batch->f, {nullptr, batch->codes});
  batch->f.array.offset = 1;
  batch->f.array.dictionary = &batch->words.array;
  fill(batch->b, {nullptr, &batch->bits});
  batch->children = {&batch->x.array, &batch->n.array, &batch->w.array, &batch->f.array,
                     &batch->b.array};
  out->length = 3;
  out->n_children = 5;
  out->children = batch->children.data();
  out->private_data = batch;
  out->release = [](ArrowArray* array) {
    delete static_cast<TestBatch*>(array->private_data);
    array->release = nullptr;
  };
  ++own.given;
  return 0;
}

struct TestSchema {
  ArrowSchema columns[5] = {}, words = {};
  ArrowSchema* children[5];
  std::string format;
};

int give_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  auto* schema = new TestSchema;
  schema->format = static_cast<TestStream*>(stream->private_data)->format;
  const char* names[] = {"x", "n", "w", "f", "b"};
  const char* formats[] = {"g", schema->format.c_str(), "u", "c", "b"};
  for (int k = 0; k < 5; ++k) {
    schema->columns[k].name = names[k];
    schema->columns[k].format = formats[k];
    schema->children[k] = &schema->columns[k];
  }
  schema->words.format = "u";
  schema->columns[3].dictionary = &schema->words;
  *out = ArrowSchema();
  out->format = "+s";
  out->n_children = 5;
  out->children = schema->children;
  out->private_data = schema;
  out->release = [](ArrowSchema* x) {
    delete static_cast<TestSchema*>(x->private_data);
    x->release = nullptr;
  };
  return 0;
}

}  // namespace

// Into `pointer`, or into a new one as nanoarrow gives them.
SEXP cpp_test_arrow_stream(int batches,
                           int null_row,
                           SEXP pointer,
                           SEXP format) {
  return guarded_entry([&]() -> SEXP {
    auto* own = new TestStream;
    own->batches = batches;
    own->null_row = null_row;
    own->format = format == R_NilValue ? "i" : string_from_r(format);
    ArrowArrayStream made = {};
    made.get_schema = give_schema;
    made.get_next = give_batch;
    made.get_last_error = [](ArrowArrayStream*) { return "out of luck"; };
    made.private_data = own;
    made.release = [](ArrowArrayStream* stream) {
      delete static_cast<TestStream*>(stream->private_data);
      stream->release = nullptr;
    };
    Rcpp::Shield<SEXP> place(pointer == R_NilValue ? cpp_arrow_room() : pointer);
    *static_cast<ArrowArrayStream*>(R_ExternalPtrAddr(place)) = made;
    Rf_setAttrib(place, R_ClassSymbol, Rf_mkString("nanoarrow_array_stream"));
    return place;
  });
}

// How many folders were read in this process.
double cpp_folder_reads() {
  return guarded_entry([] { return static_cast<double>(RunFolder::reads()); });
}

// How many graphs of models were built in this process, and how many stay for later calls.
SEXP cpp_model_graphs() {
  return guarded_entry([]() -> SEXP {
    return Rcpp::NumericVector::create(
        Rcpp::_["built"] = static_cast<double>(Estimator::num_built()),
        Rcpp::_["sessions"] = static_cast<double>(ChiefSessionCreator::num_made()),
        Rcpp::_["kept"] = static_cast<double>(ModelGraphCache::num_kept()));
  });
}

void cpp_write_plain_file(Text path, SEXP x, Text owner) {
  guarded_entry([&] {
    create_directories(parent_folder(path));
    write_plain_file(path, plain_from_r(x, owner, "x"));
  });
}

SEXP cpp_read_plain_file(Text path) {
  return guarded_entry([&]() -> SEXP { return plain_to_r(read_plain_file(path)); });
}

// --- what helper-inside.R calls

extern "C" {

SEXP inside_read_all_events(SEXP path) {
  BEGIN_RCPP
  return cpp_read_all_events(Text(path));
  END_RCPP
}

SEXP inside_write_events(SEXP folder, SEXP suffix, SEXP steps, SEXP values) {
  BEGIN_RCPP
  const std::vector<double> numbers(REAL(steps), REAL(steps) + Rf_xlength(steps));
  cpp_write_events(Text(folder), Text(suffix), numbers, values);
  return R_NilValue;
  END_RCPP
}

SEXP inside_read_eval_metrics(SEXP folder) {
  BEGIN_RCPP
  return cpp_read_eval_metrics(Text(folder));
  END_RCPP
}

SEXP inside_clock_set(SEXP seconds) {
  BEGIN_RCPP
  cpp_clock_set(seconds);
  return R_NilValue;
  END_RCPP
}

SEXP inside_sleep_set(SEXP sleep) {
  BEGIN_RCPP
  cpp_sleep_set(sleep);
  return R_NilValue;
  END_RCPP
}

SEXP inside_forget_logged_lines() {
  BEGIN_RCPP
  cpp_forget_logged_lines();
  return R_NilValue;
  END_RCPP
}

SEXP inside_observe_loops(SEXP tell) {
  BEGIN_RCPP
  cpp_observe_loops(tell);
  return R_NilValue;
  END_RCPP
}

SEXP inside_add_to_checkpoint(SEXP path, SEXP name, SEXP bytes, SEXP is_string) {
  BEGIN_RCPP
  cpp_add_to_checkpoint(Text(path), Text(name), bytes, Rf_asLogical(is_string) == TRUE);
  return R_NilValue;
  END_RCPP
}

SEXP inside_edit_checkpoint(SEXP path, SEXP to, SEXP seed, SEXP which) {
  BEGIN_RCPP
  return cpp_edit_checkpoint(Text(path), Text(to), Rf_asReal(seed), Rf_asReal(which));
  END_RCPP
}

SEXP inside_throw(SEXP kind) {
  BEGIN_RCPP
  cpp_test_throw(Text(kind));
  return R_NilValue;
  END_RCPP
}

SEXP inside_held_count() {
  BEGIN_RCPP
  return Rf_ScalarInteger(cpp_held_count());
  END_RCPP
}

SEXP inside_arrow_stream(SEXP batches, SEXP null_row, SEXP pointer, SEXP format) {
  BEGIN_RCPP
  return cpp_test_arrow_stream(Rf_asInteger(batches), Rf_asInteger(null_row), pointer, format);
  END_RCPP
}

SEXP inside_folder_reads() {
  BEGIN_RCPP
  return Rf_ScalarReal(cpp_folder_reads());
  END_RCPP
}

SEXP inside_kernel_threads_set(SEXP threads) {
  BEGIN_RCPP
  set_kernel_threads(Rf_asInteger(threads));
  return R_NilValue;
  END_RCPP
}

SEXP inside_model_graphs() {
  BEGIN_RCPP
  return cpp_model_graphs();
  END_RCPP
}

SEXP inside_write_plain_file(SEXP path, SEXP x, SEXP owner) {
  BEGIN_RCPP
  cpp_write_plain_file(Text(path), x, Text(owner));
  return R_NilValue;
  END_RCPP
}

SEXP inside_read_plain_file(SEXP path) {
  BEGIN_RCPP
  return cpp_read_plain_file(Text(path));
  END_RCPP
}

}  // extern "C"
