// task_pool.h: somewhere to run the tasks of a launch.
#pragma once

#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace jax_rawcuda {

class TaskPool {
 public:
  virtual ~TaskPool() = default;
  virtual int64_t num_threads() const = 0;
  // May start the task at any time, and on the calling thread, or never: a launch waits
  // only for tasks that have started.
  virtual void Schedule(std::function<void()> task) = 0;
};

// Threads of its own, where no pool is at hand. They end before it does.
class OwnThreads final : public TaskPool {
 public:
  ~OwnThreads() override;
  int64_t num_threads() const override;
  void Schedule(std::function<void()> task) override;

 private:
  std::vector<std::thread> threads_;
};

}  // namespace jax_rawcuda
