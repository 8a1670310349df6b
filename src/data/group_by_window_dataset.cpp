// Groups elements by a key into windows (tf.data.experimental.group_by_window).
#include <map>

#include "base/interrupt.h"
#include "data/elements.h"
#include "data/function_iterator.h"

namespace runhooks {

namespace {

std::shared_ptr<const DatasetFunction> int64_function(const Args& args, const std::string& name) {
  auto function = args.object<const DatasetFunction>(name, "a graph function");
  const bool returns_int64 = function->dtypes() == std::vector<DType>{DType::kInt64} &&
                             function->shapes()[0].is_compatible_with(Shape());
  if (!returns_int64) {
    invalid_argument("`", name, "` of ", args.owner(), " must return one whole number.");
  }
  return function;
}

int64_t call_for_integer(DatasetFunction::Instance& function, const Components& arguments) {
  return function.run(arguments)[0].integers().at(0);
}

// The components of an element are a key and, for each component of the input, a window.
class GroupByWindowDataset : public Transformation {
 public:
  explicit GroupByWindowDataset(const Args& args)
      : Transformation(dataset_argument(args)),
        key_function_(int64_function(args, "key_func")),
        window_size_function_(int64_function(args, "window_size_func")) {}
  std::vector<DType> dtypes() const override {
    std::vector<DType> result(input().dtypes().size() + 1, DType::kVariant);
    result[0] = DType::kInt64;
    return result;
  }
  std::vector<Shape> shapes() const override {
    return std::vector<Shape>(input().dtypes().size() + 1);
  }
  std::shared_ptr<const Dataset> inner(size_t k) const override {
    return window_type(input(), k - 1);
  }
  bool runs_on_main_thread() const override {
    return input().runs_on_main_thread() || key_function_->runs_on_main_thread() ||
           window_size_function_->runs_on_main_thread();
  }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  const DatasetFunction& function() const { return *key_function_; }
  const DatasetFunction& size() const { return *window_size_function_; }

 private:
  std::shared_ptr<const DatasetFunction> key_function_, window_size_function_;
};

class GroupByWindowIterator : public FunctionIterator<GroupByWindowDataset> {
 public:
  GroupByWindowIterator(std::shared_ptr<const GroupByWindowDataset> dataset,
                        IteratorContext& context)
      : FunctionIterator(std::move(dataset), context),
        window_size_function_(dataset_->size().instantiate(context)) {}
  bool next(ElementSink& sink) override {
    ComponentsSink element;
    InterruptPoll poll;
    while (!at_end_) {
      poll();
      if (!input_->next(element)) {
        at_end_ = true;
        break;
      }
      const Components components = element.take();
      const int64_t key = call_for_integer(*function_, components);
      const auto found = groups_.find(key);
      const int64_t size = found == groups_.end() ? window_size(key) : found->second.size;
      Group& group = groups_[key];
      group.size = size;
      group.elements.push_back(components);
      if (static_cast<int64_t>(group.elements.size()) < size) continue;
      put_group(key, sink);
      return true;
    }
    if (groups_.empty()) return false;
    put_group(groups_.begin()->first, sink);
    return true;
  }

 protected:
  void rewind_own() override {
    groups_.clear();
    at_end_ = false;
  }
  NamedTensors save_own() const override {
    NamedTensors state = FunctionIterator::save_own();
    add_subtree(state, "window_size/", window_size_function_->save());
    state["is_over"] = Tensor::scalar(at_end_);
    state["groups"] = Tensor::scalar(static_cast<int64_t>(groups_.size()));
    size_t i = 0;
    for (const auto& [key, group] : groups_) {
      const std::string path = group_path(i++);
      state[path + "key"] = Tensor::scalar(key);
      state[path + "window_size"] = Tensor::scalar(group.size);
      add_subtree(state, path, save_elements(pointers_to(group)));
    }
    return state;
  }
  void restore_own(const NamedTensors& state) override {
    FunctionIterator::restore_own(state);
    window_size_function_->restore(subtree(state, "window_size/"));
    const auto count = static_cast<size_t>(state_count(state, "groups"));
    std::map<int64_t, Group> groups;
    for (size_t i = 0; i < count; ++i) {
      const NamedTensors group_state = subtree(state, group_path(i));
      Group& group = groups[state_integer(group_state, "key")];
      group.size = state_count(group_state, "window_size");
      group.elements = read_elements(group_state, dataset_->input(), group.size - 1);
      if (group.elements.empty()) fail(Code::kDataLoss, "A saved group has no elements.");
    }
    at_end_ = state_flag(state, "is_over");
    groups_ = std::move(groups);
  }

 private:
  struct Group {
    int64_t size = 0;
    std::vector<Components> elements;
  };
  static std::string group_path(size_t i) { return str_cat("group_", i, "/"); }
  static std::vector<const Components*> pointers_to(const Group& group) {
    std::vector<const Components*> result;
    for (const Components& element : group.elements) result.push_back(&element);
    return result;
  }
  int64_t window_size(int64_t key) {
    const int64_t size = call_for_integer(*window_size_function_, {Tensor::scalar(key)});
    if (size <= 0) {
      invalid_argument("The window size of key ", key, " must be 1 or more, not ", size, ".");
    }
    return size;
  }
  void put_group(int64_t key, ElementSink& sink) {
    const auto found = groups_.find(key);
    const Group group = std::move(found->second);
    groups_.erase(found);
    sink.put(0, Tensor::scalar(key));
    put_window(pointers_to(group), dataset_->input(), 1, sink);
  }

  std::unique_ptr<DatasetFunction::Instance> window_size_function_;
  std::map<int64_t, Group> groups_;
  bool at_end_ = false;
};

std::unique_ptr<DatasetIterator> GroupByWindowDataset::iterator(IteratorContext& context) const {
  return std::make_unique<GroupByWindowIterator>(self(this), context);
}

// The R function adds a map that applies the user's reduce function to each window.
RUNHOOKS_REGISTER_DATASET(
    GroupByWindowDataset,
    "",
    {"dataset: dataset.", "key_func: graph function. Key of an element.",
     "window_size_func: graph function. Number of elements per window of a key."},
    "Group the elements by a key into windows.");

}  // namespace

}  // namespace runhooks
