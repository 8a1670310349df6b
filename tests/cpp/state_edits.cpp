#include "state_edits.h"

#include <functional>
#include <limits>

using namespace runhooks;

namespace runhooks_test {

namespace {

using Random = std::mt19937_64;

size_t below(Random& random, int64_t n) {
  return n < 1 ? 0 : static_cast<size_t>(random() % static_cast<uint64_t>(n));
}

// --- edits of one entry

template <typename T>
Tensor with_value(const Tensor& tensor, const T& value, Random& random) {
  std::vector<T> all(tensor.data<T>(), tensor.data<T>() + tensor.num_elements());
  if (!all.empty()) all[below(random, tensor.num_elements())] = value;
  return Tensor::of<T>(tensor.shape(), all);
}

std::vector<std::string> strings_in(const Tensor& tensor) {
  std::vector<std::string> all;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) all.push_back(tensor.string_at(i));
  return all;
}

void add_integers(const Tensor& tensor, Random& random, std::vector<Tensor>& all) {
  using Limits = std::numeric_limits<int64_t>;
  std::vector<int64_t> values = {-1,
                                 0,
                                 1,
                                 2,
                                 7,
                                 21,
                                 int64_t{1} << 31,
                                 int64_t{1} << 53,
                                 (int64_t{1} << 53) + 1,
                                 int64_t{1} << 62,
                                 Limits::max(),
                                 Limits::min(),
                                 static_cast<int64_t>(random())};
  if (tensor.num_elements() > 0) {
    const int64_t now = tensor.data<int64_t>()[0];
    values.push_back(static_cast<int64_t>(static_cast<uint64_t>(now) + 1));
    values.push_back(static_cast<int64_t>(static_cast<uint64_t>(now) - 1));
  }
  for (const int64_t value : values) all.push_back(with_value<int64_t>(tensor, value, random));
}

void add_values(const Tensor& tensor, Random& random, std::vector<Tensor>& all) {
  switch (tensor.dtype()) {
    case DType::kInt64:
      return add_integers(tensor, random, all);
    case DType::kFloat64:
      for (const double x : {std::numeric_limits<double>::quiet_NaN(), -1.0, 1e300}) {
        all.push_back(with_value<double>(tensor, x, random));
      }
      return;
    case DType::kFloat32:
      all.push_back(with_value<float>(tensor, std::numeric_limits<float>::infinity(), random));
      return;
    case DType::kBool:
      for (const bool x : {true, false}) {
        Tensor other = Tensor::zeros(DType::kBool, tensor.shape());
        for (int64_t i = 0; i < other.num_elements(); ++i) other.data<bool>()[i] = x;
        all.push_back(other);
      }
      return;
    case DType::kString:
      for (const std::string& x :
           {std::string(), std::string("\0\n%", 3), std::string(1000, 'x')}) {
        std::vector<std::string> words = strings_in(tensor);
        if (!words.empty()) words[below(random, tensor.num_elements())] = x;
        all.push_back(Tensor::strings(tensor.shape(), words));
      }
      return;
    default:
      return;
  }
}

// Repeats the rows of a tensor; a scalar becomes two elements.
Tensor with_doubled_rows(const Tensor& tensor) {
  Shape shape = tensor.shape();
  if (shape.rank() == 0) shape = Shape{1};
  shape.set_dim(0, 2 * shape.dim(0));
  if (tensor.dtype() == DType::kString) {
    std::vector<std::string> words = strings_in(tensor);
    words.insert(words.end(), words.begin(), words.end());
    return Tensor::strings(shape, words);
  }
  Tensor both(tensor.dtype(), shape);
  const size_t bytes = tensor.num_bytes();
  for (size_t i = 0; i < 2 && bytes > 0; ++i) {
    std::memcpy(static_cast<char*>(both.raw()) + i * bytes, tensor.raw(), bytes);
  }
  return both;
}

std::vector<Tensor> replacements_for(const Tensor& tensor, Random& random) {
  const DType other_type = tensor.dtype() == DType::kInt64 ? DType::kFloat32 : DType::kInt64;
  std::vector<Tensor> all = {
      Tensor::zeros(other_type, tensor.shape()), Tensor::zeros(tensor.dtype(), Shape{0}),
      Tensor::zeros(tensor.dtype(), Shape{int64_t{1} << 50, 0}),
      Tensor::zeros(tensor.dtype(), Shape{1, 1, 1}), with_doubled_rows(tensor)};
  add_values(tensor, random, all);
  return all;
}

std::string text_of_tensor(const Tensor& tensor) {
  std::string text = str_cat(dtype_name(tensor.dtype()), tensor.shape(), "=");
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    text += tensor.dtype() == DType::kString ? tensor.string_at(i) : str_cat(tensor.number_at(i));
    text += ' ';
  }
  return text;
}

}  // namespace

std::string text_of(const NamedTensors& state) {
  std::string text;
  for (const auto& [name, tensor] : state) text += name + ": " + text_of_tensor(tensor) + "\n";
  return text;
}

std::vector<EditedState> single_edits(const NamedTensors& state, Random& random) {
  std::vector<EditedState> all;
  for (const auto& [name, tensor] : state) {
    EditedState without = {name + " is gone", state};
    without.state.erase(name);
    all.push_back(std::move(without));
    for (Tensor& other : replacements_for(tensor, random)) {
      EditedState edited = {str_cat(name, " is ", text_of_tensor(other).substr(0, 80)), state};
      edited.state[name] = std::move(other);
      all.push_back(std::move(edited));
    }
  }
  return all;
}

EditedState random_edits(const NamedTensors& state, Random& random) {
  EditedState edited = {"", state};
  for (size_t edits = 1 + below(random, 4); edits > 0 && !edited.state.empty(); --edits) {
    auto item = edited.state.begin();
    std::advance(item, static_cast<long>(below(random, int64_t(edited.state.size()))));
    edited.description += item->first;
    if (random() % 8 == 0) {
      edited.state.erase(item);
      edited.description += " is gone; ";
    } else if (random() % 8 == 0) {  // takes the value of another entry
      auto from = edited.state.begin();
      std::advance(from, static_cast<long>(below(random, int64_t(edited.state.size()))));
      item->second = from->second;
      edited.description += " is " + from->first + "; ";
    } else {
      const std::vector<Tensor> others = replacements_for(item->second, random);
      item->second = others[below(random, int64_t(others.size()))];
      edited.description += str_cat(" is ", text_of_tensor(item->second).substr(0, 80), "; ");
    }
  }
  return edited;
}

// --- edited states as a checkpoint

std::optional<TensorSource::Info> StateSource::find(const std::string& name) const {
  const auto found = state_.find(name);
  if (found == state_.end()) return std::nullopt;
  return Info{found->second.dtype(), found->second.shape()};
}

std::vector<std::string> StateSource::names_with(const std::string& prefix) const {
  std::vector<std::string> names;
  for (const auto& item : subtree(state_, prefix)) names.push_back(prefix + item.first);
  return names;
}

Tensor StateSource::read(const std::string& name) const { return state_.at(name); }

Tensor StateSource::read_part(const std::string& name, const SaveSliceInfo&) const {
  fail(Code::kUnimplemented, "'", name, "' has no parts.");
}

NamedTensors saved_by(Saveable& saveable, ResourceManager& resources) {
  NamedTensors state;
  for (const SaveSpec& spec : saveable.save(resources)) state[spec.name] = spec.tensor;
  return state;
}

NamedTensors saved_by(const std::vector<SaveablePtr>& saveables, ResourceManager& resources) {
  NamedTensors all;
  for (const SaveablePtr& one : saveables) add_subtree(all, "", saved_by(*one, resources));
  return all;
}

}  // namespace runhooks_test
