#include "data/element_or_error.h"

#include <map>
#include <utility>

#include "base/deferred_errors.h"
#include "base/split_text.h"
#include "data/elements.h"
#include "data/one_input_dataset.h"

namespace runhooks {

bool next_or_error(DatasetIterator& input, ElementOrError& element) {
  ComponentsSink sink;
  try {
    const DeferErrorsScope waiting;
    if (!input.next(sink)) return false;
    element.components = sink.take();
  } catch (const ForeignUnwind&) {
    throw;
  } catch (...) {
    element.error = std::current_exception();
  }
  return true;
}

namespace {

class SavedErrors {
 public:
  void add(int64_t position, const std::exception_ptr& error);
  void save(NamedTensors& state) const;
  // Returns the saved errors, keyed by position.
  static std::map<int64_t, std::exception_ptr> read(const NamedTensors& state);

 private:
  std::vector<int64_t> positions_, codes_;
  std::vector<std::string> messages_, classes_;  // classes of R conditions, one per line
};

void SavedErrors::add(int64_t position, const std::exception_ptr& error) {
  Code code = Code::kUnknown;
  std::string message = "The input failed.", classes;
  try {
    std::rethrow_exception(error);
  } catch (const ForeignError& known) {
    code = known.code();
    message = known.message();
    classes = str_join(known.classes(), "\n");
  } catch (const Error& known) {
    code = known.code();
    message = known.message();
  } catch (...) {
  }
  positions_.push_back(position);
  codes_.push_back(static_cast<int64_t>(code));
  messages_.push_back(message);
  classes_.push_back(classes);
}

void SavedErrors::save(NamedTensors& state) const {
  state["error_places"] = Tensor::vector(positions_);
  state["error_codes"] = Tensor::vector(codes_);
  const auto n = static_cast<int64_t>(messages_.size());
  state["errors"] = Tensor::strings({n}, messages_);
  state["error_classes"] = Tensor::strings({n}, classes_);
}

[[noreturn]] void throw_damaged_errors() {
  fail(Code::kDataLoss, "The saved state of queued elements is damaged.");
}

Tensor error_strings(const NamedTensors& state, const char* name, size_t n) {
  const auto found = state.find(name);
  const bool is_valid = found != state.end() && found->second.dtype() == DType::kString &&
                        found->second.num_elements() == static_cast<int64_t>(n);
  if (!is_valid) throw_damaged_errors();
  return found->second;
}

std::exception_ptr error_from_state(const Error& error, const std::string& classes) {
  if (classes.empty()) return std::make_exception_ptr(error);
  return std::make_exception_ptr(ForeignError(error, split_text(classes, '\n')));
}

std::map<int64_t, std::exception_ptr> SavedErrors::read(const NamedTensors& state) {
  const std::vector<int64_t> positions = state_counts(state, "error_places"),
                             codes = state_counts(state, "error_codes");
  const Tensor messages = error_strings(state, "errors", positions.size()),
               classes = error_strings(state, "error_classes", positions.size());
  if (codes.size() != positions.size()) throw_damaged_errors();
  std::map<int64_t, std::exception_ptr> errors;
  for (size_t i = 0; i < positions.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (codes[i] > static_cast<int64_t>(Code::kNanLoss)) throw_damaged_errors();
    errors[positions[i]] = error_from_state(
        Error(static_cast<Code>(codes[i]), messages.string_at(at)), classes.string_at(at));
  }
  return errors;
}

}  // namespace

void serialize_buffered(NamedTensors& state,
                        const std::string& name,
                        const std::vector<const ElementOrError*>& buffered,
                        int64_t first) {
  std::vector<const Components*> elements;
  SavedErrors errors;
  for (size_t i = 0; i < buffered.size(); ++i) {
    if (buffered[i]->error) {
      errors.add(first + static_cast<int64_t>(i), buffered[i]->error);
    } else {
      elements.push_back(&buffered[i]->components);
    }
  }
  errors.save(state);
  add_subtree(state, name, save_elements(elements));
}

std::vector<ElementOrError> deserialize_buffered(const NamedTensors& state,
                                                 const std::string& name,
                                                 const Dataset& input,
                                                 int64_t max_count,
                                                 int64_t first) {
  std::vector<Components> elements = read_elements(subtree(state, name), input, max_count);
  std::map<int64_t, std::exception_ptr> errors;
  if (state.count("error_places")) errors = SavedErrors::read(state);
  const auto count = static_cast<int64_t>(elements.size() + errors.size());
  const bool is_valid =
      errors.empty() || (errors.begin()->first >= first && errors.rbegin()->first < first + count);
  if (count > max_count || !is_valid) throw_damaged_errors();
  std::vector<ElementOrError> buffered(static_cast<size_t>(count));
  auto element = elements.begin();
  for (int64_t i = 0; i < count; ++i) {
    const auto error = errors.find(first + i);
    ElementOrError& buffered_element = buffered[static_cast<size_t>(i)];
    if (error == errors.end()) {
      buffered_element.components = std::move(*element++);
    } else {
      buffered_element.error = error->second;
    }
  }
  return buffered;
}

}  // namespace runhooks
