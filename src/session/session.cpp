#include "session/session.h"

#include "graph/saveable.h"

namespace runhooks {

namespace {

int64_t element_id(const Operation* op, int index) {
  return (static_cast<int64_t>(op->id()) << 20) | static_cast<int64_t>(index + 1);
}

}  // namespace

void Session::check_open() const {
  if (closed_) fail(Code::kFailedPrecondition, "Attempted to use a closed Session.");
}

void Session::check_fetches(const std::vector<Fetch>& fetches,
                            const std::vector<Output>& feeds) const {
  for (const Fetch& fetch : fetches) {
    if (fetch.op->graph().is_function()) {
      throw Error(Code::kInvalidArgument,
                  str_cat("Fetch '", fetch.op->name(),
                          "' belongs to a function of tf$cond() or tf$while_loop()."),
                  {"Return it from the function and fetch the result of the call."});
    }
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

const std::shared_ptr<NodeTable>& Session::free_table() {
  for (const auto& table : tables_) {
    if (!table->is_running()) return table;
  }
  tables_.push_back(std::make_shared<NodeTable>(resources_, options_.buffers));
  return tables_.back();
}

std::shared_ptr<Executor> Session::executor(const std::vector<Fetch>& fetches,
                                            const std::vector<Output>& feeds) {
  check_open();
  std::vector<int64_t> key;
  for (const Fetch& fetch : fetches) key.push_back(element_id(fetch.op, fetch.index));
  key.push_back(-1);
  for (const Output& feed : feeds) key.push_back(element_id(feed.op, feed.index));
  if (extensions_ != graph_->extensions()) {
    // An extension adds inputs or outputs to existing operations, so all plans are invalid.
    extensions_ = graph_->extensions();
    executors_.clear();
    tables_.clear();
  }
  const std::shared_ptr<NodeTable>& table = free_table();
  if (auto cached = executors_.find(key, *table)) return cached;
  check_fetches(fetches, feeds);
  auto executor = std::make_shared<Executor>(table, fetches, feeds);
  executors_.add(std::move(key), executor);
  return executor;
}

std::vector<Tensor> Session::run(const std::vector<Fetch>& fetches, const Feeds& feeds) {
  RunMetadata ignored;
  return run(fetches, feeds, RunOptions(), ignored);
}

std::vector<Tensor> Session::run(const std::vector<Fetch>& fetches,
                                 const Feeds& feeds,
                                 const RunOptions& options,
                                 RunMetadata& metadata) {
  std::vector<Output> fed_tensors;
  std::vector<Tensor> values;
  for (const auto& feed : feeds) {
    fed_tensors.push_back(feed.first);
    values.push_back(feed.second);
  }
  const std::shared_ptr<Executor> executor = this->executor(fetches, fed_tensors);
  executor->run(values, options, metadata);
  std::vector<Tensor> results;
  for (size_t i = 0; i < executor->num_results(); ++i) results.push_back(executor->result(i));
  return results;
}

Tensor Session::run(Output fetch) { return run(std::vector<Fetch>{fetch}).front(); }

void Session::run(Operation* op) { run(std::vector<Fetch>{op}); }

bool Session::is_initialized(const Variable& variable) const {
  const VariableState* state = find_variable_state(resources_, *variable.handle.op);
  return state && state->is_initialized();
}

const Tensor& Session::value(const Variable& variable) const {
  // Hooks read the global step after each step, so the last lookup is cached.
  if (last_lookup_.op != variable.handle.op || !last_lookup_.state) {
    last_lookup_ = {variable.handle.op, find_variable_state(resources_, *variable.handle.op)};
  }
  if (!last_lookup_.state || !last_lookup_.state->is_initialized()) {
    fail(Code::kFailedPrecondition, "Attempting to use uninitialized value ", variable.op_name(),
         ".");
  }
  return last_lookup_.state->value();
}

void Session::assign(const Variable& variable, const Tensor& value) {
  assign_variable(resources_, variable, value);
}

void Session::close() {
  closed_ = true;
  // A run may call R code that closes the session, or a hook may close it before results are read.
  // Then a table is still in use, so the destructor of the session frees the memory.
  for (const auto& table : tables_) {
    if (table->users > 0) return;
  }
  executors_.clear();
  tables_.clear();
  last_lookup_ = {};
  resources_.clear();
}

}  // namespace runhooks
