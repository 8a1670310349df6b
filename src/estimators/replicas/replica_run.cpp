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
// Returns the index of the first value that differs from values[0]; 0 if all are equal.
int first_difference(const std::vector<Value>& values) {
  const auto other = std::find_if(values.begin(), values.end(),
                                  [&values](const Value& value) { return value != values[0]; });
  return other == values.end() ? 0 : static_cast<int>(other - values.begin());
}

std::string checkpoint_text(const std::string& folder) {
  const std::string newest = newest_checkpoint(folder);
  if (newest.empty()) return "";
  return str_cat(base_name(newest), " ", step_in(newest));
}

// Replaces all files in the model directory of a process that is not the chief. Such a process
// writes nothing else there, so all files can be removed.
void replace_files(const std::string& folder, const Files& files) {
  create_directories(folder);
  for (const std::string& name : list_directory(folder)) {
    const std::string path = join_path(folder, name);
    if (!is_directory(path)) remove_file(path);
  }
  unpack_snapshot(folder, files, "");
}

void copy_chief_state(const std::string& folder) {
  Communicator& peers = communicator();
  Files files;
  if (peers.is_chief()) files = pack_snapshot(folder, UINT64_MAX);
  auto n = static_cast<int64_t>(files.size());
  peers.broadcast(&n, sizeof n, 0);
  files.resize(static_cast<size_t>(n));
  for (auto& file : files) {
    file.first = broadcast_text(peers, file.first);
    file.second = broadcast_text(peers, file.second);
  }
  if (!peers.is_chief()) replace_files(folder, files);
}

std::vector<std::string> describe_operations(const Graph& graph) {
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

// Returns line `n` of the text, counted from 0.
std::string line_at(const std::string& text, size_t n) {
  size_t begin = 0;
  for (; n > 0; --n) {
    begin = text.find('\n', begin);
    if (begin == std::string::npos) return "nothing";
    ++begin;
  }
  return begin == text.size() ? "nothing" : text.substr(begin, text.find('\n', begin) - begin);
}

size_t first_different_line(const std::string& a, const std::string& b) {
  const size_t n = std::min(a.size(), b.size());
  const auto at = std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n), b.begin());
  return static_cast<size_t>(std::count(a.begin(), at.first, '\n'));
}

uint64_t fingerprint_of(const Tensor& value) {
  if (value.dtype() != DType::kString) {
    return fingerprint64({static_cast<const char*>(value.raw()), value.num_bytes()});
  }
  uint64_t combined = 0;
  for (int64_t i = 0; i < value.num_elements(); ++i) {
    combined = fingerprint_cat64(combined, fingerprint64(value.string_at(i)));
  }
  return combined;
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
    for (const VariablePtr& variable : variables_in(graph, collection_keys::kGlobalVariables)) {
      if (variable->dtype != DType::kString) variables_.push_back(variable);
    }
    other_state_.clear();
    for (const SaveablePtr& saveable : model_saveables_in(graph)) {
      if (saveable->is_trainable() && !saveable->variable()) other_state_.push_back(saveable);
    }
    steps_ = 0;
  }
  void after_create_session(Session& session, Coordinator&) override {
    Communicator& peers = communicator();
    for (const VariablePtr& variable : variables_) {
      Tensor value = session.value(*variable).copy();
      peers.broadcast(value.raw(), static_cast<int64_t>(value.num_bytes()), 0);
      if (!peers.is_chief()) assign_variable(session.resources(), *variable, value);
    }
  }
  void after_run(RunContext& context, const RunValues&) override {
    if (++steps_ % kCompareEverySteps == 0) compare(context.session());
  }
  void end(Session& session) override { compare(session); }

 private:
  static constexpr int64_t kCompareEverySteps = 100;

  void compare(Session& session) const {
    std::vector<StateFingerprint> states;
    for (const VariablePtr& variable : variables_) {
      states.push_back({variable->name(), fingerprint_of(session.value(*variable))});
    }
    for (const SaveablePtr& saveable : other_state_) {
      states.push_back({saveable->display_name(), 0});
      for (const SaveSpec& spec : saveable->save(session.resources())) {
        states.back().fingerprint =
            fingerprint_cat64(states.back().fingerprint, fingerprint_of(spec.tensor));
      }
    }
    uint64_t combined = 0;
    for (const StateFingerprint& state : states) {
      combined = fingerprint_cat64(combined, state.fingerprint);
    }
    Communicator& peers = communicator();
    std::vector<uint64_t> gathered(static_cast<size_t>(peers.size()));
    peers.gather(&combined, sizeof combined, gathered.data());
    if (first_difference(gathered) > 0) throw_first_difference(states);
  }
  [[noreturn]] void throw_first_difference(const std::vector<StateFingerprint>& states) const {
    Communicator& peers = communicator();
    std::vector<uint64_t> local;
    for (const StateFingerprint& state : states) local.push_back(state.fingerprint);
    std::vector<uint64_t> gathered(local.size() * static_cast<size_t>(peers.size()));
    peers.gather(local.data(), static_cast<int64_t>(local.size() * sizeof(uint64_t)),
                 gathered.data());
    for (size_t i = 0; i < local.size(); ++i) {
      std::vector<uint64_t> replicas;
      for (size_t rank = 0; rank < static_cast<size_t>(peers.size()); ++rank) {
        replicas.push_back(gathered[rank * local.size() + i]);
      }
      const int other = first_difference(replicas);
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

void check_same_collective(const std::string& call) {
  const std::vector<std::string> calls = gather_texts(communicator(), call);
  const int other = first_difference(calls);
  if (other == 0) return;
  throw Error(Code::kFailedPrecondition,
              str_cat("The processes run different calls: process 0 has reached ", calls[0],
                      ", process ", other, " ", calls[static_cast<size_t>(other)], "."),
              {"All processes must call train(), evaluate() and predict() together. Do not put "
               "these calls below a condition such as `if (strategy$is_chief)`."});
}

void begin_collective(const std::string& call, const std::string& folder) {
  check_same_collective(call);
  const std::string checkpoint =
      communicator().is_chief() || is_directory(folder) ? checkpoint_text(folder) : "";
  if (first_difference(gather_texts(communicator(), checkpoint)) > 0) copy_chief_state(folder);
}

void end_collective() { check_same_collective(kEndOfScript); }

void check_same_graph(const Graph& graph) {
  Communicator& peers = communicator();
  std::string text;
  for (const std::string& line : describe_operations(graph)) text += line + "\n";
  const uint64_t local = fingerprint64(text);
  std::vector<uint64_t> gathered(static_cast<size_t>(peers.size()));
  peers.gather(&local, sizeof local, gathered.data());
  const int other = first_difference(gathered);
  if (other == 0) return;
  const std::string first = broadcast_text(peers, text),
                    second = broadcast_text(peers, text, other);
  const size_t line = first_different_line(first, second);
  throw Error(Code::kFailedPrecondition,
              str_cat("The processes train different models: process ", other, " has ",
                      line_at(second, line), " where process 0 has ", line_at(first, line), "."),
              {"All processes must run the same script on data with the same columns."});
}

HookPtr replica_hook() { return std::make_shared<ReplicaHook>(); }

}  // namespace runhooks
