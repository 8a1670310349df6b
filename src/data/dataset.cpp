#include "data/dataset.h"

#include "base/interrupt.h"
#include "base/random.h"
#include "base/shared_pieces.h"
#include "data/dataset_function.h"
#include "data/elements.h"

namespace runhooks {

void ElementSink::copy(int i, const Tensor& value) {
  Tensor& to = allocate(i, value.dtype(), value.shape());
  if (value.dtype() == DType::kString) to.set_dictionary(value.dictionary());
  const auto* from = static_cast<const char*>(value.raw());
  auto* place = static_cast<char*>(to.raw());
  const auto bytes = static_cast<int64_t>(value.num_bytes());
  share_range((bytes + 7) / 8, [=](int64_t first, int64_t n) {
    const int64_t end = std::min(8 * (first + n), bytes);
    if (end > 8 * first) {
      std::memcpy(place + 8 * first, from + 8 * first, static_cast<size_t>(end - 8 * first));
    }
  });
}

void ElementSink::put_all(Components components) {
  for (size_t i = 0; i < components.size(); ++i) {
    put(static_cast<int>(i), std::move(components[i]));
  }
}

void ComponentsSink::put(int i, Tensor value) {
  const auto place = static_cast<size_t>(i);
  if (components_.size() <= place) components_.resize(place + 1);
  components_[place] = std::move(value);
}

Tensor& ComponentsSink::allocate(int i, DType dtype, const Shape& shape) {
  put(i, Tensor(dtype, shape));
  return components_[static_cast<size_t>(i)];
}

// --- several elements at once

int64_t DatasetIterator::next_rows(int64_t, int64_t*) {
  fail(Code::kInternal, "Elements that are no rows have no numbers.");
}

int64_t DatasetIterator::next_stacked(int64_t n, bool only_whole, ElementSink& sink) {
  std::vector<Components> elements;
  ComponentsSink element;
  InterruptPoll poll;
  while (static_cast<int64_t>(elements.size()) < n && next(element)) {
    poll();
    elements.push_back(element.take());
  }
  const auto taken = static_cast<int64_t>(elements.size());
  if (taken > 0 && (taken == n || !only_whole)) put_stacked(elements, sink);
  return taken;
}

int64_t DatasetIterator::next_block(int64_t, ElementSink& sink) {
  ComponentsSink element;
  if (!next(element)) return 0;
  Components components = element.take();
  for (Tensor& component : components) {
    Shape shape = {1};
    for (int d = 0; d < component.shape().rank(); ++d) shape.append(component.shape().dim(d));
    component = component.reshaped(shape);
  }
  sink.put_all(std::move(components));
  return 1;
}

// --- seeds

namespace {

// Each calls the one that it reads from: what the stack has room for.
constexpr int kDeepest = 2000;
constexpr uint64_t kDefaultGraphSeed = 87654321;  // TensorFlow's

// As unsigned: a state may have been saved at any number.
uint64_t next_after(int64_t* used) {
  const uint64_t next = static_cast<uint64_t>(*used) + 1;
  *used = static_cast<int64_t>(next);
  return next;
}

}  // namespace

IteratorContext::IteratorContext(const Graph& graph)
    : has_graph_seed_(graph.has_seed()), graph_seed_(static_cast<uint64_t>(graph.seed())) {}

Seeds IteratorContext::seeds(std::optional<int64_t> own) {
  Seeds seeds;
  if (own) {
    seeds = {has_graph_seed_ ? graph_seed_ : kDefaultGraphSeed, static_cast<uint64_t>(*own)};
  } else {
    if (!has_graph_seed_ && !has_root_) {
      root_ = fresh_seed();
      has_root_ = true;
    }
    seeds = {has_graph_seed_ ? graph_seed_ : root_, next_after(&used_)};
  }
  if (seeds.seed == 0 && seeds.seed2 == 0) seeds.seed2 = 2147483647;
  return seeds;
}

IteratorContext IteratorContext::fork() {
  const Seeds own = seeds(std::nullopt);
  IteratorContext child;
  child.has_graph_seed_ = has_graph_seed_;
  child.graph_seed_ = graph_seed_;
  child.has_root_ = true;
  child.root_ = own.seed;
  child.used_ = static_cast<int64_t>(own.seed2) << 32;
  return child;
}

NamedTensors IteratorContext::save() const {
  return {{"root", Tensor::scalar(static_cast<int64_t>(has_graph_seed_ ? graph_seed_ : root_))},
          {"used", Tensor::scalar(used_)}};
}

void IteratorContext::restore(const NamedTensors& state) {
  const auto root = static_cast<uint64_t>(state_integer(state, "root"));
  used_ = state_integer(state, "used");
  (has_graph_seed_ ? graph_seed_ : root_) = root;
  has_root_ = true;
}

// --- kinds

namespace {

const ArgSpec* find_spec(const std::string& type, const std::string& name) {
  for (const ArgSpec& spec : Factory<Dataset>::instance().find("dataset", type).arguments()) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

// Numbers that are not known yet.
Args without_unknown_numbers(const std::string& type, const Args& args) {
  Args known = args;
  for (const auto& [name, value] : args.items()) {
    const ArgSpec* spec = find_spec(type, name);
    if (spec && spec->kind == "number" && value.get_if<Output>()) {
      known.set(name, Value::of(int64_t{1}));
    }
  }
  return known;
}

void find_unknowns(const Value& value, std::vector<Output>& all) {
  if (const auto* output = value.get_if<Output>()) all.push_back(*output);
  if (const auto* list = value.get_if<std::shared_ptr<ValueList>>()) {
    for (const Value& item : **list) find_unknowns(item, all);
  }
  if (const auto* made = value.get_if<std::shared_ptr<Made>>()) {
    if (const auto* dataset = dynamic_cast<const Dataset*>(made->get())) {
      const std::vector<Output> own = dataset->unknowns();
      all.insert(all.end(), own.begin(), own.end());
    }
  }
}

// `is_number`: what the argument must be.
Value known_value(const Value& value, const KnownValues& known, bool is_number) {
  if (const auto* output = value.get_if<Output>()) {
    for (size_t i = 0; i < known.tensors.size(); ++i) {
      if (known.tensors[i] != *output) continue;
      const Tensor& tensor = known.values[i];
      if (!is_number) return Value::of(tensor);
      if (tensor.num_elements() != 1) invalid_argument("A single number is expected.");
      return is_integer(tensor.dtype()) ? Value::of(tensor.integers()[0])
                                        : Value::of(tensor.number_at(0));
    }
  }
  if (const auto* list = value.get_if<std::shared_ptr<ValueList>>()) {
    const auto items = std::make_shared<ValueList>();
    for (const Value& item : **list) items->push_back(known_value(item, known, is_number));
    return Value::of(items);
  }
  if (const auto* made = value.get_if<std::shared_ptr<Made>>()) {
    if (const auto* dataset = dynamic_cast<const Dataset*>(made->get())) {
      return Value::of(
          std::shared_ptr<Made>(std::const_pointer_cast<Dataset>(dataset->with_values(known))));
    }
  }
  return value;
}

}  // namespace

int Dataset::depth_of(const Value& value) {
  int depth = 0;
  if (const auto* made = value.get_if<std::shared_ptr<Made>>()) {
    const auto* dataset = dynamic_cast<const Dataset*>(made->get());
    if (dataset) depth = dataset->depth_;
  } else if (const auto* list = value.get_if<std::shared_ptr<ValueList>>()) {
    for (const Value& item : **list) depth = std::max(depth, depth_of(item));
  }
  return depth;
}

std::shared_ptr<Dataset> make_dataset(const std::string& type, const Args& args) {
  int depth = 1;
  for (const auto& item : args.items()) depth = std::max(depth, 1 + Dataset::depth_of(item.second));
  if (depth > kDeepest) {
    throw Error(Code::kResourceExhausted,
                str_cat("A dataset reads from another, and so on, at most ", kDeepest, " deep."),
                {"To put many files or datasets one behind the other, give all to one source."});
  }
  std::shared_ptr<Dataset> dataset =
      Factory<Dataset>::instance().make("dataset", type, without_unknown_numbers(type, args));
  dataset->depth_ = depth;
  dataset->type_ = type;
  dataset->args_ = args;
  return dataset;
}

std::shared_ptr<const Dataset> Dataset::inner(size_t k) const {
  fail(Code::kInternal, "Component ", static_cast<unsigned long>(k), " of ", description(),
       " is no dataset.");
}

std::vector<Output> Dataset::unknowns() const {
  std::vector<Output> all;
  for (const auto& item : args_.items()) find_unknowns(item.second, all);
  return all;
}

std::shared_ptr<const Dataset> Dataset::with_values(const KnownValues& known) const {
  if (auto other = replaced(known)) return other;
  if (type_.empty()) return shared_from_this();
  Args args(args_.owner());
  for (const auto& [name, value] : args_.items()) {
    const ArgSpec* spec = find_spec(type_, name);
    args.set(name, known_value(value, known, spec && spec->kind == "number"));
  }
  return make_dataset(type_, args);
}

}  // namespace runhooks
