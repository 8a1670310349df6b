// SummarySaverHook: computes summaries at intervals and writes them to an event file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hooks/hook_registry.h"
#include "training/scaffold.h"
#include "training/summary_writer.h"

namespace runhooks {

// tf.train.SummarySaverHook: saves at the first step and then at intervals. It fetches nothing in
// other steps. The summaries are those of `summary_op`, which may be several, or of a scaffold.
class SummarySaverHook : public RunHook {
 public:
  explicit SummarySaverHook(const Args& args, std::shared_ptr<Scaffold> scaffold = nullptr);
  std::string name() const override { return "SummarySaverHook"; }
  bool is_for_chief() const override { return true; }

  void begin(Graph& graph) override;
  void after_create_session(Session& session, Coordinator& coordinator) override;
  const RunArgs* before_run(RunContext& context) override;
  void after_run(RunContext& context, const RunValues& values) override;
  void end(Session&) override { writer_.reset(); }
  void on_error(Session*, const LoopFailure&) override { writer_.reset(); }

 private:
  std::string output_dir_;
  ValueList summary_ops_;
  std::shared_ptr<Scaffold> scaffold_;
  Trigger trigger_;
  GlobalStep step_;
  RunArgs run_args_;
  std::shared_ptr<EventFileWriter> writer_;
  bool is_first_ = true, is_due_ = false;
  int64_t next_step_ = 0;
};

}  // namespace runhooks
