#include "datasets_test.h"

#include "test.h"

using namespace runhooks;

namespace runhooks_test {

std::set<std::string>& created_types() {
  static std::set<std::string> all;
  return all;
}

DatasetPtr dataset_of(const std::string& type, const NamedValues& args, DatasetPtr input) {
  created_types().insert(type);
  Args all(type);
  if (input) all.set("dataset", Value::of(std::shared_ptr<CoreObject>(std::move(input))));
  for (const auto& [name, value] : args) all.set(name, value);
  return make_dataset(type, all);
}

DatasetPtr range_of(int64_t n) { return dataset_of("RangeDataset", {{"to", Value::of(n)}}); }

std::vector<Components> elements_of(DatasetIterator& iterator, size_t limit) {
  std::vector<Components> all;
  ComponentsSink sink;
  while (all.size() < limit && iterator.next(sink)) all.push_back(sink.take());
  return all;
}

namespace {

std::string text_of(const Tensor& tensor) {
  std::string text = str_cat(dtype_name(tensor.dtype()), tensor.shape(), "=");
  if (tensor.dtype() == DType::kVariant) {
    const auto inner = std::static_pointer_cast<const Dataset>(tensor.object());
    return str_cat(text, "[", runhooks_test::text_of(elements_of(*inner->make_iterator())), "]");
  }
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    text += tensor.dtype() == DType::kString ? tensor.string_at(i) : str_cat(tensor.number_at(i));
    text += ' ';
  }
  return text;
}

}  // namespace

std::string text_of(const std::vector<Components>& elements) {
  std::string text;
  for (const Components& element : elements) {
    for (const Tensor& component : element) text += text_of(component);
    text += "; ";
  }
  return text;
}

std::vector<double> numbers_of(const Dataset& dataset, size_t limit) {
  std::vector<double> all;
  for (const Components& element : elements_of(*dataset.make_iterator(), limit)) {
    for (int64_t i = 0; i < element[0].num_elements(); ++i) {
      all.push_back(element[0].number_at(i));
    }
  }
  return all;
}

void check_resumes(const Dataset& dataset, size_t cut, size_t limit) {
  auto whole = dataset.make_iterator(), stopped = dataset.make_iterator(),
       resumed = dataset.make_iterator();
  stopped->restore(whole->save());  // gives both iterators the same random seeds
  std::vector<Components> expected = elements_of(*whole, limit);
  const size_t num_read = elements_of(*stopped, cut).size();
  elements_of(*resumed, 3);
  resumed->restore(stopped->save());
  expected.erase(expected.begin(), expected.begin() + static_cast<long>(num_read));
  CHECK_EQ(resumed->rows_seen(), stopped->rows_seen());
  CHECK_EQ(resumed->epoch(), stopped->epoch());
  const std::string actual = text_of(elements_of(*resumed, expected.size()));
  if (actual != text_of(expected)) {
    fail_at(__FILE__, __LINE__,
            str_cat(dataset.description(), " stopped after ", (long)cut, "\n goes on with ", actual,
                    "\n instead of    ", text_of(expected)));
  }
  // Saving did not disturb the original iterator.
  CHECK_EQ(text_of(elements_of(*stopped, expected.size())), actual);
}

void check_iterators_are_independent(const Dataset& dataset,
                                     std::mt19937_64& random,
                                     size_t limit) {
  std::unique_ptr<DatasetIterator> iterators[] = {dataset.make_iterator(), dataset.make_iterator()};
  std::string separate[2], interleaved[2];
  for (int i = 0; i < 2; ++i) {
    auto other = dataset.make_iterator();
    other->restore(iterators[i]->save());  // gives both iterators the same random seeds
    separate[i] = text_of(elements_of(*other, limit));
  }
  size_t num_left[] = {limit, limit};
  while (num_left[0] + num_left[1] > 0) {
    const size_t i = num_left[0] == 0 || (num_left[1] > 0 && random() % 2 == 1) ? 1 : 0;
    --num_left[i];
    interleaved[i] += text_of(elements_of(*iterators[i], 1));
  }
  for (int i = 0; i < 2; ++i) {
    if (interleaved[i] != separate[i]) {
      fail_at(__FILE__, __LINE__,
              str_cat(dataset.description(), "\n gives ", interleaved[i], "\n instead of ",
                      separate[i]));
    }
  }
}

}  // namespace runhooks_test
