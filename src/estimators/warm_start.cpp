#include "estimators/warm_start.h"

#include <algorithm>

#include "base/log.h"
#include "base/pattern.h"
#include "io/checkpoint/checkpoint_state.h"
#include "io/checkpoint/tensor_bundle.h"
#include "training/saver.h"

namespace runhooks {

namespace {

std::string checkpoint_of(const std::string& path) {
  if (checkpoint_exists(path)) return path;
  std::vector<std::string> warnings;
  const std::string newest = latest_checkpoint(path, &warnings);
  if (newest.empty()) {
    fail(Code::kNotFound, "There is no checkpoint to start from: '", path, "'.");
  }
  return newest;
}

Pattern pattern_of(const std::string& text) {
  try {
    return Pattern(text);
  } catch (const Error&) {
    invalid_argument("`vars_to_warm_start` is no regular expression: \"", text, "\".");
  }
}

void check_chosen(const std::vector<VariablePtr>& chosen,
                  const std::string& name,
                  const char* argument) {
  const bool is_there = std::any_of(chosen.begin(), chosen.end(), [&](const VariablePtr& variable) {
    return variable->save_name() == name;
  });
  if (is_there) return;
  invalid_argument("`", argument, "` names '", name,
                   "', which is no variable that is warm-started.");
}

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

std::vector<VariablePtr> WarmStart::chosen_variables(const Graph& graph) const {
  std::vector<Pattern> patterns;
  for (const std::string& text : patterns_) patterns.push_back(pattern_of(text));
  std::vector<VariablePtr> chosen;
  const char* collection =
      only_trainable_ ? collection_keys::kTrainableVariables : collection_keys::kGlobalVariables;
  for (const VariablePtr& variable : variables_in(graph, collection)) {
    const std::string& name = variable->save_name();
    const bool matches =
        std::any_of(patterns.begin(), patterns.end(),
                    [&name](const Pattern& pattern) { return pattern.begins(name); });
    if (matches) chosen.push_back(variable);
  }
  for (const auto& previous : previous_names_) {
    check_chosen(chosen, previous.first, "var_name_to_prev_var_name");
  }
  for (const auto& entry : vocabularies_) {
    check_chosen(chosen, entry.first, "var_name_to_vocab_info");
  }
  return chosen;
}

Tensor WarmStart::value_of(const std::string& checkpoint, const VariablePtr& variable) const {
  const std::string& name = variable->save_name();
  const auto previous = previous_names_.find(name);
  const std::string& key = previous == previous_names_.end() ? name : previous->second;
  const auto vocabulary = vocabularies_.find(name);
  if (vocabulary == vocabularies_.end()) return read_variables(checkpoint, {variable}, {key})[0];
  const auto axis = static_cast<size_t>(vocabulary->second.axis);
  const int64_t offset = variable->slice ? variable->slice->offset[axis] : 0;
  return remapped(vocabulary->second, BundleReader(checkpoint).read(key), variable->shape, offset,
                  name);
}

void WarmStart::apply(const Graph& graph, Scaffold& scaffold) const {
  const std::string checkpoint = checkpoint_of(checkpoint_);
  log(LogLevel::kInfo, str_cat("Warm-starting from: ", checkpoint));
  const std::vector<VariablePtr> variables = chosen_variables(graph);
  std::vector<Tensor> values;
  for (const VariablePtr& variable : variables) values.push_back(value_of(checkpoint, variable));
  log(LogLevel::kInfo, str_cat("Warm-started ", variables.size(), " variables."));
  const auto before = scaffold.init_fn;
  scaffold.init_fn = [before, variables, values](Session& session) {
    for (size_t i = 0; i < variables.size(); ++i) session.assign(*variables[i], values[i]);
    if (before) before(session);
  };
}

}  // namespace runhooks
