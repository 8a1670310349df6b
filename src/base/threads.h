// How many threads a kernel may use.
#pragma once

namespace runhooks {

// 1 in a child of fork(), whatever was set: threads do not survive it. 1 where several threads are
// at work already.
int kernel_threads() noexcept;
void set_kernel_threads(int threads) noexcept;
// What was set, wherever it is asked; 1 in a child of fork().
int set_threads() noexcept;
bool in_forked_child() noexcept;

// While one lives, kernel_threads() of this thread is 1.
class SingleThreaded {
 public:
  SingleThreaded() noexcept;
  ~SingleThreaded();
  SingleThreaded(const SingleThreaded&) = delete;
  SingleThreaded& operator=(const SingleThreaded&) = delete;

 private:
  bool before_;
};

}  // namespace runhooks
