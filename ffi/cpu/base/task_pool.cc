// task_pool.cc: a pool that starts one thread per task.
#include "ffi/cpu/base/task_pool.h"

#include <system_error>
#include <utility>

namespace jax_rawcuda {

OwnThreads::~OwnThreads() {
  for (std::thread& thread : threads_) thread.join();
}

int64_t OwnThreads::num_threads() const { return std::thread::hardware_concurrency(); }

void OwnThreads::Schedule(std::function<void()> task) {
  try {
    threads_.emplace_back(std::move(task));
  } catch (const std::system_error&) {
    // The machine has no more threads: the launch goes on with those it has.
  }
}

}  // namespace jax_rawcuda
