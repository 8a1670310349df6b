#include "estimators/replicas/replica_run.h"

#include <algorithm>

#include "base/fingerprint.h"
#include "cluster/communicator.h"
#include "estimators/run/run_folder.h"
#include "graph/saveable.h"
#include "io/files/atomic_file.h"
#include "session/session.h"
#include "training/saved_step.h"

namespace runhooks {

namespace {

constexpr const char* kEndOfScript = "the end of its script";

template <typename Value>
int first_other(const std::vector<Value>& values) {
  const auto other = std::find_if(values.begin(), values.end(),
                                  [&values](const Value& value) { return value != values[0]; });
  return other == values.end() ? 0 : static_cast<int>(other - values.begin());
}

std::string state_of(const std::string& folder) {
  const std::string newest = newest_checkpoint(folder);
  if (newest.empty()) return "";
  return str_cat(base_name(newest), " ", step_in(newest));
}

// The directory of a process other than the chief contains only files written here.
void write_state(const std::string& folder, const Files& files) {
  create_directories(folder);
  for (const std::string& name : list_directory(folder)) {
    const std::string path = join_path(folder, name);
    if (!is_directory(path)) remove_file(path);
  }
  unpack_snapshot(folder, files, "");
}

void copy_chief_state(const std::string& folder) {
  Communicator& all = communicator();
  Files files;
  if (all.is_chief()) files = pack_snapshot(folder, UINT64_MAX);
  auto n = static_cast<int64_t>(files.size());
  all.broadcast(&n, sizeof n, 0);
  files.resize(static_cast<size_t>(n));
  for (auto& file : files) {
    file.first = broadcast_text(all, file.first);
    file.second = broadcast_text(all, file.second);
  }
  if (!all.is_chief()) write_state(folder, files);
}

std::vector<std::string> lines_of(const Graph& graph) {
  std::vector<std::string> lines;
  for (const auto& op : graph.operations()) {
    std::string line = str_cat("'", op->name(), "' (", op->type());  // lint: allow op-type
    for (const Output& input : op->inputs()) line += " " + input.name();
    if (op->def().holds_variable) line += str_cat(", of shape ", op->output_shape(0));
    for (int i = 0; i < op->num_outputs(); ++i) {
      line += str_cat(i == 0 ? ", " : " ", dtype_name(op->output_dtype(i)));
    }
    lines.push_back(line + ")");
  }
  return lines;
}

std::string line_at(const std::string& text, size_t n) {
  size_t begin = 0;
  for (; n > 0; --n) {
    begin = text.find('\n', begin);
    if (begin == std::string::npos) return "nothing";
    ++begin;
  }
  return begin == text.size() ? "nothing" : text.substr(begin, text.find('\n', begin) - begin);
}

size_t first_other_line(const std::string& a, const std::string& b) {
  const size_t n = std::min(a.size(), b.size());
  const auto at = std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n), b.begin());
  return static_cast<size_t>(std::count(a.begin(), at.first, '\n'));
}

uint64_t fingerprint_of(const Tensor& value) {
  if (value.dtype() != DType::kString) {
    return fingerprint64({static_cast<const char*>(value.raw()), value.num_bytes()});
  }
  uint64_t all = 0;
  for (int64_t i = 0; i < value.num_elements(); ++i) {
    all = fingerprint_cat64(all, fingerprint64(value.string_at(i)));
  }
  return all;
}

struct StateFingerprint {
  std::string name;
  uint64_t fingerprint;
};

class ReplicaHook : public RunHook {
 public:
  std::string name() const override { return "ReplicaHook"; }
  void begin(Graph& graph) override {
    variables_.clear();
    for (const VariablePtr& one : variables_in(graph, collection_keys::kGlobalVariables)) {
      if (one->dtype != DType::kString) variables_.push_back(one);
    }
    other_state_.clear();
    for (const SaveablePtr& one : model_saveables_in(graph)) {
      if (one->is_trainable() && !one->variable()) other_state_.push_back(one);
    }
    steps_ = 0;
  }
  void after_create_session(Session& session, Coordinator&) override {
    Communicator& all = communicator();
    for (const VariablePtr& variable : variables_) {
      Tensor value = session.value(*variable).copy();
      all.broadcast(value.raw(), static_cast<int64_t>(value.num_bytes()), 0);
      if (!all.is_chief()) assign_variable(session.resources(), *variable, value);
    }
  }
  void after_run(RunContext& context, const RunValues&) override {
    if (++steps_ % kCompareEverySteps == 0) compare(context.session());
  }
  void end(Session& session) override { compare(session); }

 private:
  static constexpr int64_t kCompareEverySteps = 100;

  void compare(Session& session) const {
    std::vector<StateFingerprint> own;
    for (const VariablePtr& variable : variables_) {
      own.push_back({variable->name(), fingerprint_of(session.value(*variable))});
    }
    for (const SaveablePtr& one : other_state_) {
      own.push_back({one->display_name(), 0});
      for (const SaveSpec& spec : one->save(session.resources())) {
        own.back().fingerprint =
            fingerprint_cat64(own.back().fingerprint, fingerprint_of(spec.tensor));
      }
    }
    uint64_t combined = 0;
    for (const StateFingerprint& one : own) {
      combined = fingerprint_cat64(combined, one.fingerprint);
    }
    Communicator& all = communicator();
    std::vector<uint64_t> of_all(static_cast<size_t>(all.size()));
    all.gather(&combined, sizeof combined, of_all.data());
    if (first_other(of_all) > 0) throw_at_first(own);
  }
  [[noreturn]] void throw_at_first(const std::vector<StateFingerprint>& states) const {
    Communicator& all = communicator();
    std::vector<uint64_t> own;
    for (const StateFingerprint& one : states) own.push_back(one.fingerprint);
    std::vector<uint64_t> of_all(own.size() * static_cast<size_t>(all.size()));
    all.gather(own.data(), static_cast<int64_t>(own.size() * sizeof(uint64_t)), of_all.data());
    for (size_t i = 0; i < own.size(); ++i) {
      std::vector<uint64_t> replicas;
      for (size_t rank = 0; rank < static_cast<size_t>(all.size()); ++rank) {
        replicas.push_back(of_all[rank * own.size() + i]);
      }
      const int other = first_other(replicas);
      if (other == 0) continue;
      throw Error(Code::kInternal,
                  str_cat("Variable '", states[i].name, "' differs between process ", other,
                          " and process 0 after ", steps_, steps_ == 1 ? " step." : " steps."),
                  {"Updates of variables other than by the optimizer must not depend on the rows "
                   "of a process."});
    }
    fail(Code::kInternal, "The variables differ between processes.");
  }

  std::vector<VariablePtr> variables_;
  std::vector<SaveablePtr> other_state_;  // trained state other than variables, such as trees
  int64_t steps_ = 0;
};

}  // namespace

void check_same_collective(const std::string& what) {
  const std::vector<std::string> calls = gather_texts(communicator(), what);
  const int other = first_other(calls);
  if (other == 0) return;
  throw Error(Code::kFailedPrecondition,
              str_cat("The processes run different calls: process 0 has come to ", calls[0],
                      ", process ", other, " to ", calls[static_cast<size_t>(other)], "."),
              {"All processes must call train(), evaluate() and predict() together. Do not put "
               "these calls below a condition such as `if (strategy$is_chief)`."});
}

void begin_collective(const std::string& what, const std::string& folder) {
  check_same_collective(what);
  const std::string own = communicator().is_chief() || is_directory(folder) ? state_of(folder) : "";
  if (first_other(gather_texts(communicator(), own)) > 0) copy_chief_state(folder);
}

void end_collective() { check_same_collective(kEndOfScript); }

void check_same_graph(const Graph& graph) {
  Communicator& all = communicator();
  std::string text;
  for (const std::string& line : lines_of(graph)) text += line + "\n";
  const uint64_t own = fingerprint64(text);
  std::vector<uint64_t> of_all(static_cast<size_t>(all.size()));
  all.gather(&own, sizeof own, of_all.data());
  const int other = first_other(of_all);
  if (other == 0) return;
  const std::string first = broadcast_text(all, text), second = broadcast_text(all, text, other);
  const size_t line = first_other_line(first, second);
  throw Error(Code::kFailedPrecondition,
              str_cat("The processes train different models: process ", other, " has ",
                      line_at(second, line), " where process 0 has ", line_at(first, line), "."),
              {"All processes must run the same script on data with the same columns."});
}

HookPtr replica_hook() { return std::make_shared<ReplicaHook>(); }

}  // namespace runhooks
