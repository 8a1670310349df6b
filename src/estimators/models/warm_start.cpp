#include "estimators/models/warm_start.h"

#include <algorithm>

#include "base/log.h"
#include "base/pattern.h"
#include "io/checkpoint/checkpoint_state.h"
#include "training/saved_step.h"
#include "training/saver.h"

namespace runhooks {

namespace {

std::string checkpoint_of(const std::string& path) {
  if (checkpoint_exists(path)) return path;
  const std::string newest = newest_weights(path, CheckpointCheck::kContent);
  if (newest.empty()) {
    fail(Code::kNotFound, "There is no checkpoint to start from: '", path, "'.");
  }
  return newest;
}

Pattern pattern_of(const std::string& text) {
  try {
    return Pattern(text);
  } catch (const Error& error) {
    throw Error(Code::kInvalidArgument,
                str_cat("`vars_to_warm_start` is not a valid regular expression: \"", text, "\"."),
                {error.message()});
  }
}

void check_selected(const std::vector<SaveablePtr>& selected,
                    const std::string& name,
                    const char* argument) {
  const bool is_selected = std::any_of(
      selected.begin(), selected.end(),
      [&name](const SaveablePtr& saveable) { return saveable->display_name() == name; });
  if (is_selected) return;
  invalid_argument("`", argument, "` names '", name,
                   "', which is not among the warm-started variables.");
}

// Presents an entry of a checkpoint under the current name of its saveable instead of the previous
// name.
class RenamedSource : public TensorSource {
 public:
  RenamedSource(const TensorSource& source, std::string current_name, std::string previous)
      : source_(source),
        current_name_(std::move(current_name)),
        previous_name_(std::move(previous)) {}
  const std::string& path() const override { return source_.path(); }
  std::optional<Info> find(const std::string& name) const override {
    const auto info = source_.find(previous(name));
    if (!info) throw_missing(source_, previous(name));
    return info;
  }
  std::vector<std::string> names_with(const std::string& prefix) const override {
    std::vector<std::string> names = source_.names_with(previous(prefix));
    for (std::string& name : names) name = current_name_ + name.substr(previous_name_.size());
    return names;
  }
  Tensor read(const std::string& name) const override { return source_.read(previous(name)); }
  Tensor read_part(const std::string& name, const SaveSliceInfo& slice) const override {
    return source_.read_part(previous(name), slice);
  }

 private:
  std::string previous(const std::string& name) const {
    return previous_name_ + name.substr(current_name_.size());
  }
  const TensorSource& source_;
  std::string current_name_, previous_name_;
};

}  // namespace

WarmStart::WarmStart(const Args& args)
    : checkpoint_(args.text("ckpt_to_initialize_from")),
      patterns_(args.texts("vars_to_warm_start")),
      only_trainable_(patterns_.size() == 1) {
  if (args.has("var_name_to_vocab_info")) {
    for (const auto& item : args.args("var_name_to_vocab_info").items()) {
      const auto* info = item.second.get_if<std::shared_ptr<Args>>();
      if (info) vocabularies_[item.first] = VocabInfo(**info);
    }
  }
  if (!args.has("var_name_to_prev_var_name")) return;
  for (const auto& item : args.args("var_name_to_prev_var_name").items()) {
    const auto* name = item.second.get_if<std::string>();
    if (name) previous_names_[item.first] = *name;
  }
}

std::vector<SaveablePtr> WarmStart::select_from(const Graph& graph) const {
  std::vector<Pattern> patterns;
  for (const std::string& text : patterns_) patterns.push_back(pattern_of(text));
  std::vector<SaveablePtr> selected;
  for (const SaveablePtr& saveable : model_saveables_in(graph)) {
    if (only_trainable_ && !saveable->is_trainable()) continue;
    const std::string& current_name = saveable->display_name();
    const bool matches = std::any_of(
        patterns.begin(), patterns.end(),
        [&current_name](const Pattern& pattern) { return pattern.begins(current_name); });
    if (matches) selected.push_back(saveable);
  }
  for (const auto& previous : previous_names_) {
    check_selected(selected, previous.first, "var_name_to_prev_var_name");
  }
  for (const auto& entry : vocabularies_) {
    check_selected(selected, entry.first, "var_name_to_vocab_info");
  }
  return selected;
}

Saveable::Assign WarmStart::read(const TensorSource& checkpoint, Saveable& saveable) const {
  const std::string& current_name = saveable.display_name();
  const auto found = previous_names_.find(current_name);
  const std::string& previous = found == previous_names_.end() ? current_name : found->second;
  const RenamedSource source(checkpoint, current_name, previous);
  const auto vocabulary = vocabularies_.find(current_name);
  if (vocabulary == vocabularies_.end()) {
    const bool is_saved = saveable.is_in(source);
    if (!is_saved) throw_missing(checkpoint, previous);
    return saveable.read(source, ResourceManager());
  }
  const VariablePtr variable = saveable.variable();
  if (!variable) {
    invalid_argument("`var_name_to_vocab_info` names '", current_name,
                     "', which is not a variable with one row per word.");
  }
  const auto axis = static_cast<size_t>(vocabulary->second.axis);
  const int64_t offset = variable->slice ? variable->slice->offset[axis] : 0;
  source.find(current_name);  // throws if it is missing
  const Tensor value = remapped(vocabulary->second, source.read(current_name), variable->shape,
                                offset, current_name);
  return [variable, value](ResourceManager& resources) {
    assign_variable(resources, *variable, value);
  };
}

void WarmStart::apply(const Graph& graph, Scaffold& scaffold) const {
  const std::string path = checkpoint_of(checkpoint_);
  log(LogLevel::kInfo, str_cat("Warm-starting from: ", path));
  const auto checkpoint = open_checkpoint(path);
  const std::vector<SaveablePtr> selected = select_from(graph);
  std::vector<Saveable::Assign> assigns;
  for (const SaveablePtr& saveable : selected) assigns.push_back(read(*checkpoint, *saveable));
  log(LogLevel::kInfo, str_cat("Warm-started ", selected.size(), " variables."));
  const auto before = scaffold.init_fn;
  scaffold.init_fn = [before, selected, assigns](Session& session) {
    for (const Saveable::Assign& assign : assigns) assign(session.resources());
    if (before) before(session);
  };
}

}  // namespace runhooks
