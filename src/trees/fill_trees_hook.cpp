#include "trees/fill_trees_hook.h"

#include "trees/in_memory_trees.h"

namespace runhooks {

namespace {

class FillTreesHook : public RunHook {
 public:
  FillTreesHook(const Output& data, const std::vector<Operation*>& fill) : data_(data.op->name()) {
    args_.fetches.assign(fill.begin(), fill.end());
  }
  std::string name() const override { return "FillTreesHook"; }

  const RunArgs* before_run(RunContext& context) override {
    const auto* data = context.session().resources().find<InMemoryTrees>(data_);
    return data && data->is_filled() ? nullptr : &args_;
  }

 private:
  std::string data_;
  RunArgs args_;
};

}  // namespace

HookPtr fill_trees_hook(const Output& data, const std::vector<Operation*>& fill) {
  return std::make_shared<FillTreesHook>(data, fill);
}

}  // namespace runhooks
