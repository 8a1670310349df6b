#include "session/session.h"

namespace runhooks {

namespace {

int64_t element_id(const Operation* op, int index) {
  return (static_cast<int64_t>(op->id()) << 20) | static_cast<int64_t>(index + 1);
}

}  // namespace

size_t Session::KeyHash::operator()(const std::vector<int64_t>& key) const {
  uint64_t hash = 1469598103934665603ull;
  for (int64_t part : key) hash = (hash ^ static_cast<uint64_t>(part)) * 1099511628211ull;
  return static_cast<size_t>(hash);
}

void Session::check_open() const {
  if (closed_) fail(Code::kFailedPrecondition, "Attempted to use a closed Session.");
}

void Session::check_fetches(const std::vector<Fetch>& fetches,
                            const std::vector<Output>& feeds) const {
  for (const Fetch& fetch : fetches) {
    if (&fetch.op->graph() != graph_.get()) {
      invalid_argument("Fetch '", fetch.op->name(), "' is not an element of this session's graph.");
    }
  }
  for (const Output& feed : feeds) {
    if (&feed.graph() != graph_.get()) {
      invalid_argument("Feed '", feed.name(), "' is not an element of this session's graph.");
    }
  }
}

Plan& Session::plan(const std::vector<Fetch>& fetches, const std::vector<Output>& feeds) {
  check_open();
  std::vector<int64_t> key;
  for (const Fetch& fetch : fetches) key.push_back(element_id(fetch.op, fetch.index));
  key.push_back(-1);
  for (const Output& feed : feeds) key.push_back(element_id(feed.op, feed.index));
  auto found = plans_.find(key);
  if (found == plans_.end()) {
    check_fetches(fetches, feeds);
    found = plans_.emplace(key, std::make_unique<Plan>(fetches, feeds, resources_)).first;
  }
  return *found->second;
}

std::vector<Tensor> Session::run(const std::vector<Fetch>& fetches, const Feeds& feeds) {
  RunMetadata none;
  return run(fetches, feeds, RunOptions(), none);
}

std::vector<Tensor> Session::run(const std::vector<Fetch>& fetches,
                                 const Feeds& feeds,
                                 const RunOptions& options,
                                 RunMetadata& metadata) {
  std::vector<Output> fed;
  std::vector<Tensor> values;
  for (const auto& feed : feeds) {
    fed.push_back(feed.first);
    values.push_back(feed.second);
  }
  Plan* plan = &this->plan(fetches, fed);
  // A function in the graph may run the session again with the same fetches.
  std::unique_ptr<Plan> nested;
  if (plan->in_use()) {
    nested = std::make_unique<Plan>(fetches, fed, resources_);
    plan = nested.get();
  }
  plan->run(values, options, metadata);
  std::vector<Tensor> results;
  for (size_t i = 0; i < plan->num_results(); ++i) results.push_back(plan->result(i));
  return results;
}

Tensor Session::run(Output fetch) { return run(std::vector<Fetch>{fetch}).front(); }

void Session::run(Operation* op) { run(std::vector<Fetch>{op}); }

bool Session::is_initialized(const Variable& variable) const {
  const VariableState* state = find_variable_state(resources_, *variable.handle.op);
  return state && state->is_initialized();
}

const Tensor& Session::value(const Variable& variable) const {
  VariableState* state = find_variable_state(resources_, *variable.handle.op);
  if (!state || !state->is_initialized()) {
    fail(Code::kFailedPrecondition, "Attempting to use uninitialized value ", variable.op_name(),
         ".");
  }
  return state->value();
}

void Session::assign(const Variable& variable, const Tensor& value) {
  auto& state = resources_.get_or_create<VariableState>(variable.op_name(), [&variable] {
    return std::make_unique<VariableState>(variable.op_name(), variable.dtype);
  });
  state.assign(value);
}

void Session::close() {
  closed_ = true;
  // A function in the graph, or a hook between a run and its results, may close the session: what
  // is still in use goes with it.
  for (const auto& plan : plans_) {
    if (plan.second->in_use()) return;
  }
  plans_.clear();
  resources_.clear();
}

}  // namespace runhooks
