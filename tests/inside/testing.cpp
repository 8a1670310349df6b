// Access to internals for tests: a settable clock and sleep, observers of hooks, and files and
// streams from other writers. tools/inside.sh links this library against the installed package, and
// helper-inside.R loads it.
#include "../cpp/state_edits.cpp"  // the edits of the core's tests
#include "base/clock.h"
#include "base/log_first.h"
#include "base/threads.h"
#include "estimators/run/run_folder.h"
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

// Wraps a hook. Calls an R function of (what, names or name, session) for the five documented
// methods and for stop requests.
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

// Reports a new loop ("loop_made"), and wraps its hooks.
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

// The tags of a summary, with their numbers if they have any.
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

// All events of a file: lists of the step, the kind, and the contents.
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

// Writes an event file of scalars, with one event per element: a named numeric vector and its step.
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

// The metrics that early stopping reads from a folder: a list of steps with their metrics.
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

// Sets the core's clock to `seconds` since 1970; NULL restores the real clock.
void cpp_clock_set(SEXP seconds) {
  guarded_entry([&] {
    if (seconds == R_NilValue) return set_clock(nullptr);
    test_time = number_from_r(seconds, "`seconds`");
    set_clock(read_test_time);
  });
}

// Sets an R function that replaces waiting; NULL restores waiting.
void cpp_sleep_set(SEXP sleep) {
  guarded_entry([&] {
    if (sleep != R_NilValue) function_from_r(sleep, "`sleep`");
    sleeper().reset(sleep);
    if (sleep == R_NilValue) return setup_sleep();
    set_sleep(sleep_in_r);
  });
}

// Resets the counts of lines that are logged a limited number of times.
void cpp_reset_log_counts() {
  guarded_entry([] { reset_log_counts(); });
}

// Sets an R function that observes hooks of loops that start from now on; NULL removes it.
void cpp_observe_loops(SEXP tell) {
  guarded_entry([&] {
    hook_decorator() = nullptr;
    if (tell == R_NilValue) return;
    function_from_r(tell, "`tell`");
    const auto function = std::make_shared<Preserved>(tell);
    hook_decorator() = [function](HookList hooks) { return traced(hooks, function); };
  });
}

// Adds a tensor to a checkpoint: the bytes as uint8 or as a string.
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

// Returns the number of possible edits of a checkpoint, or writes edit `which` to `to` and returns
// its description.
SEXP cpp_edit_checkpoint(Text path, Text to, double seed, double which) {
  return guarded_entry([&]() -> SEXP {
    const BundleReader reader(path);
    NamedTensors state;
    for (const BundleReader::Info& info : reader.tensors()) state[info.name] = reader.read(info.name);
    std::mt19937_64 random(static_cast<uint64_t>(seed));
    const auto all = runhooks_test::single_edits(state, random);
    if (which < 1) return Rf_ScalarReal(static_cast<double>(all.size()));
    const auto& edit = all.at(static_cast<size_t>(which) - 1);
    BundleWriter writer(to);
    for (const auto& item : edit.state) writer.add(item.first, item.second);
    writer.finish();
    return Rf_mkString(edit.description.c_str());
  });
}

// Throws an exception of another type than the core's.
void cpp_test_throw(Text kind) {
  guarded_entry([&] {
    if (kind == "std") throw std::out_of_range("on purpose");
    throw 1;
  });
}

// The number of R objects that the core preserves.
int cpp_held_count() { return runhooks::r::Preserved::count(); }

SEXP cpp_new_arrow_stream();

// --- an Arrow stream with three rows per batch

namespace {

struct TestStream {
  int batches = 0, given = 0;  // a negative number: the first batch fails
  int null_row = -1;           // row of column n, over all batches
  std::string format;          // of column n
};

struct TestColumn {
  ArrowArray array = {};
  std::vector<const void*> buffers;
  std::vector<int32_t> numbers;
  uint8_t valid = 7;
};

// The contents of a batch; the arrays point into it.
struct TestBatch {
  TestColumn x, n, w, f, b, words;
  std::vector<ArrowArray*> children;
  double doubles[3] = {0.5, 1.5, 2.5};
  uint8_t bits = 5;
  int8_t codes[4] = {99, 1, 0, 1};  // after an offset of one
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

// Writes to `pointer`, or creates one like nanoarrow does.
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
    Rcpp::Shield<SEXP> place(pointer == R_NilValue ? cpp_new_arrow_stream() : pointer);
    *static_cast<ArrowArrayStream*>(R_ExternalPtrAddr(place)) = made;
    Rf_setAttrib(place, R_ClassSymbol, Rf_mkString("nanoarrow_array_stream"));
    return place;
  });
}

// The number of model directories that this process has read.
double cpp_folder_reads() {
  return guarded_entry([] { return static_cast<double>(RunFolder::reads()); });
}

// The numbers of model graphs that this process has built, and of those in the cache.
SEXP cpp_model_graphs() {
  return guarded_entry([]() -> SEXP {
    return Rcpp::NumericVector::create(
        Rcpp::_["built"] = static_cast<double>(Estimator::num_built()),
        Rcpp::_["sessions"] = static_cast<double>(ChiefSessionCreator::num_sessions_created()),
        Rcpp::_["kept"] = static_cast<double>(ModelGraphCache::num_cached()));
  });
}

void cpp_reset_model_graphs() {
  guarded_entry([] { ModelGraphCache::reset(); });
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

// --- entry points for helper-inside.R

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

SEXP inside_reset_log_counts() {
  BEGIN_RCPP
  cpp_reset_log_counts();
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

SEXP inside_reset_model_graphs() {
  BEGIN_RCPP
  cpp_reset_model_graphs();
  return R_NilValue;
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
