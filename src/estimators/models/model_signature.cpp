#include "estimators/models/model_signature.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/fingerprint.h"
#include "base/number_text.h"
#include "columns/feature_column.h"
#include "estimators/heads/head.h"
#include "estimators/models/model_traits.h"
#include "io/files/atomic_file.h"
#include "training/optimizer.h"

namespace runhooks {

namespace {

constexpr size_t kMaxTextSize = 150;

std::string hash_text(const std::string& text) {
  return format_text("<%016llx>", static_cast<unsigned long long>(fingerprint64(text)));
}

// Cuts long texts, without splitting a UTF-8 character, and appends a hash of the whole.
std::string shorten_text(const std::string& text) {
  if (text.size() <= kMaxTextSize) return text;
  size_t end = kMaxTextSize;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "... " + hash_text(text);
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\\' || c == '\'') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result + "'";
}

std::string number_text(double x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x < 0 ? "-Inf" : "Inf";
  const std::string digits = format_text("%.14e", x);
  const size_t e = digits.find('e');
  std::string mantissa = digits.substr(0, e);
  const std::string exponent = digits.substr(e);
  mantissa.erase(mantissa.find_last_not_of('0') + 1);
  if (mantissa.back() == '.') mantissa.pop_back();
  const std::string scientific = mantissa + exponent;
  const size_t point = mantissa.find('.');
  const int digits_after =
      point == std::string::npos ? 0 : static_cast<int>(mantissa.size() - point) - 1;
  const int decimals = std::max(0, digits_after - std::atoi(exponent.c_str() + 1));
  const std::string fixed = format_text("%.*f", decimals, x);
  return fixed.size() <= scientific.size() ? fixed : scientific;
}

// Describes a file by a hash of its content, because the file may have moved.
std::string file_text(const std::string& path) {
  if (file_kind(path) != FileKind::kRegular) return "<no file>";
  return hash_text(read_whole_file(path));
}

const std::vector<ArgSpec>* specs_of(const std::string& type) {
  if (const auto* column = Factory<FeatureColumn>::instance().find_or_null(type)) {
    return &column->arguments();
  }
  if (const auto* head = Factory<Head>::instance().find_or_null(type)) return &head->arguments();
  return nullptr;
}

const ArgSpec* spec_of(const std::vector<ArgSpec>& specs, const std::string& name) {
  for (const ArgSpec& spec : specs) {
    if (spec.target == name) return &spec;
  }
  return nullptr;
}

std::string content_text(const Value& value, const std::string& kind);

// Describes arguments: for columns and heads, only those that must match the model directory; for
// other lists, all.
std::string args_text(const Args& args) {
  const std::string type = args.has("type") ? args.text("type") : "";
  const std::vector<ArgSpec>* specs = specs_of(type);
  const bool is_column = Factory<FeatureColumn>::instance().find_or_null(type) != nullptr;
  std::vector<std::string> texts;
  for (const auto& item : args.items()) {
    if (is_column && (item.first == "type" || item.first == "name")) continue;
    const ArgSpec* spec = specs ? spec_of(*specs, item.first) : nullptr;
    if (spec && !spec->affects_checkpoints) continue;
    texts.push_back(item.first + "=" + content_text(item.second, spec ? spec->kind : "any"));
  }
  return (is_column ? type : "") + "(" + str_join(texts, ", ") + ")";
}

// Returns a text that is equal for equal values. `kind` is the declared kind of the argument.
std::string content_text(const Value& value, const std::string& kind) {
  double x;
  if (value.is_null()) return "None";
  if (const auto* flag = value.get_if<bool>()) return *flag ? "TRUE" : "FALSE";
  if (const auto* whole = value.get_if<int64_t>()) return str_cat(*whole);
  if (value_number(value, &x)) return number_text(x);
  if (const auto* text = value.get_if<std::string>()) {
    if (kind == "type") return *text;
    return kind == "path" ? file_text(*text) : quoted(*text);
  }
  if (const auto* args = value.get_if<std::shared_ptr<Args>>()) return args_text(**args);
  if (const auto* list = value.get_if<std::shared_ptr<ValueList>>()) {
    std::vector<std::string> texts;
    for (const Value& item : **list) texts.push_back(content_text(item, "any"));
    return "(" + str_join(texts, ", ") + ")";
  }
  return str_cat("<", std::string(value.kind()).substr(2), ">");  // "a function"
}

// Describes an optimizer by its type and the arguments on which its slots in checkpoints depend.
std::string optimizer_text(const Args& optimizer) {
  const std::string type = optimizer.text("type");
  const auto& entry = Factory<Optimizer>::instance().find("optimizer", type);
  std::string text = type;
  for (const ArgSpec& spec : entry.arguments()) {
    const Value* value = spec.affects_checkpoints ? optimizer.find(spec.target) : nullptr;
    if (!value) continue;
    const std::string setting = content_text(*value, spec.kind);
    if (setting == spec.fallback) continue;
    text += value->get_if<bool>() ? str_cat(" (", spec.name, ")")
                                  : str_cat(" of the ", spec.name, " ", setting);
  }
  return text;
}

NamedTexts head_signature(const Args& spec) {
  NamedTexts texts;
  if (spec.has("head")) texts.emplace_back("head", args_text(spec.args("head")));
  const LabelSpec labels = make_canned_model(spec.text("type"), spec).head->labels();
  if (!labels.width_argument.empty()) {
    const int64_t outputs = labels.n_classes > 0 ? labels.n_classes : labels.width;
    texts.emplace_back(labels.width_argument, str_cat(outputs));
  }
  if (!labels.vocabulary.empty()) {
    std::vector<std::string> names;
    for (const std::string& name : labels.vocabulary) names.push_back(quoted(name));
    const std::string list = "(" + str_join(names, ", ") + ")";
    texts.emplace_back("label_vocabulary", shorten_text(names.size() == 1 ? names[0] : list));
  }
  return texts;
}

void append_columns(const Value& value, const std::string& argument, NamedTexts* texts) {
  const auto* list = value.get_if<std::shared_ptr<ValueList>>();
  if (!list) return;
  const size_t end = argument.find("_feature_columns");
  const std::string prefix = end == std::string::npos ? "" : argument.substr(0, end) + ": ";
  for (const Value& item : **list) {
    const auto* column = item.get_if<std::shared_ptr<Args>>();
    if (!column) continue;
    texts->emplace_back(prefix + make_column(**column)->name(), shorten_text(args_text(**column)));
  }
}

void append_optimizer(const Value& value, const std::string& argument, NamedTexts* texts) {
  if (const auto* name = value.get_if<std::string>()) texts->emplace_back(argument, *name);
  if (const auto* spec = value.get_if<std::shared_ptr<Args>>()) {
    texts->emplace_back(argument, optimizer_text(**spec));
  }
}

}  // namespace

std::vector<std::pair<std::string, NamedTexts>> model_signature(const Args& spec) {
  const std::string type = spec.text("type");
  const Task task = registered_model(type).task;
  NamedTexts layers, columns, optimizers;
  for (const ArgSpec& argument :
       Factory<CannedModel>::instance().find("estimator", type).arguments()) {
    const Value* value = argument.affects_checkpoints ? spec.find(argument.target) : nullptr;
    if (!value || is_label_argument(task, argument.name) || argument.kind == "head") continue;
    if (argument.kind == "columns") {
      append_columns(*value, argument.name, &columns);
    } else if (argument.kind == "optimizer") {
      append_optimizer(*value, argument.name, &optimizers);
    } else if (!value->get_if<std::shared_ptr<Callable>>()) {
      // Functions are ignored, because functions with different code may compute the same.
      layers.emplace_back(argument.name, content_text(*value, argument.kind));
    }
  }
  std::sort(columns.begin(), columns.end());
  return {{"kind", {{"kind", type}}},
          {"head", head_signature(spec)},
          {"layers", layers},
          {"columns", columns},
          {"optimizer", optimizers}};
}

}  // namespace runhooks
