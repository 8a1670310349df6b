#include "cluster/communicator.h"

#include <algorithm>
#include <cstring>

namespace runhooks {

namespace {

class SingleProcess : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  int local_rank() const override { return 0; }
  std::string library() const override { return ""; }
  void add(void*, int64_t, DType) override {}
  void largest(int64_t*, int64_t) override {}
  void broadcast(void*, int64_t, int) override {}
  void gather(const void* own, int64_t n, void* all) override {
    if (n > 0) std::memcpy(all, own, static_cast<size_t>(n));
  }
  void abort(int) override {}
  void finish() override {}
};

template <typename T>
void average_in_one_message(Communicator& comm,
                            const std::vector<ReduceBuffer>& buffers,
                            DType dtype,
                            std::vector<T>& send_buffer) {
  size_t n = 0;
  for (const ReduceBuffer& buffer : buffers) n += static_cast<size_t>(buffer.n);
  send_buffer.resize(n);
  T* position = send_buffer.data();
  for (const ReduceBuffer& buffer : buffers) {
    const auto* own = static_cast<const T*>(buffer.values);
    position = std::copy(own, own + buffer.n, position);
  }
  comm.add(send_buffer.data(), static_cast<int64_t>(n), dtype);
  position = send_buffer.data();
  for (const ReduceBuffer& buffer : buffers) {
    auto* mean = static_cast<T*>(buffer.mean);
    for (int64_t i = 0; i < buffer.n; ++i) mean[i] = position[i] / static_cast<T>(comm.size());
    position += buffer.n;
  }
}

std::unique_ptr<Communicator>& current() {
  static auto* instance = new std::unique_ptr<Communicator>(std::make_unique<SingleProcess>());
  return *instance;
}

}  // namespace

void Communicator::average(const std::vector<ReduceBuffer>& buffers, DType dtype) {
  dtype == DType::kFloat64 ? average_in_one_message(*this, buffers, dtype, packed_doubles_)
                           : average_in_one_message(*this, buffers, dtype, packed_floats_);
}

Communicator& communicator() { return *current(); }
void set_communicator(std::unique_ptr<Communicator> new_communicator) {
  if (!new_communicator) new_communicator = std::make_unique<SingleProcess>();
  current() = std::move(new_communicator);
}

std::string broadcast_text(Communicator& comm, const std::string& text, int root) {
  auto size = static_cast<int64_t>(text.size());
  comm.broadcast(&size, sizeof size, root);
  std::string result = comm.rank() == root ? text : std::string(static_cast<size_t>(size), '\0');
  comm.broadcast(result.data(), size, root);
  return result;
}

std::vector<std::string> gather_texts(Communicator& comm, const std::string& own) {
  std::vector<std::string> all_texts;
  for (int rank = 0; rank < comm.size(); ++rank)
    all_texts.push_back(broadcast_text(comm, own, rank));
  return all_texts;
}

}  // namespace runhooks
