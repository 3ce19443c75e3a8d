// watch.cc: the thread that looks after running launches.
//
// Host code cannot be stopped from outside, so loops of generated code poll a flag of
// their launch. Somebody has to set it: this thread does, at the time limit and after
// Ctrl-C. The interpreter would raise KeyboardInterrupt only when its main thread is
// back from XLA, so the signal is heard here as well (interrupts.h), but only while a
// launch has been running for long: handlers belong to the program. A launch only
// enters a list, which is looked at every 50 ms: most are over long before.
#include "ffi/cpu/launch/watch.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#include "ffi/cpu/launch/interrupts.h"
#include "ffi/cpu/launch/launch_state.h"

namespace jax_rawcuda {

using Clock = std::chrono::steady_clock;

// How often launches are looked at.
constexpr std::chrono::milliseconds kTick{50};

// Launches that have run for longer can be interrupted.
constexpr std::chrono::milliseconds kLong{200};

// Ticks without any launch after which the thread sleeps until it is woken: waking it
// costs more than a small launch does.
constexpr int kIdleTicks = 100;

void StopLate(LaunchState& launch, double seconds) {
  std::string text = std::to_string(seconds);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  launch.Interrupt("still running after " + text + " s",
                   ". If it would end, set JAX_RAWCUDA_CPU_TIMEOUT to more seconds.");
}

class Watcher {
 public:
  static Watcher& Get() {
    static auto* const watcher = new Watcher;  // leaked: its thread never ends
    return *watcher;
  }

  void Add(LaunchWatch* watch) {
    const std::lock_guard<std::mutex> lock(mutex_);
    watch->next_ = first_;
    if (first_ != nullptr) first_->previous_ = watch;
    first_ = watch;
    if (!started_) Start();
    if (asleep_) wake_.notify_one();
  }

  void Remove(LaunchWatch* watch) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (watch->next_ != nullptr) watch->next_->previous_ = watch->previous_;
    (watch->previous_ != nullptr ? watch->previous_->next_ : first_) = watch->next_;
  }

 private:
  void Start() {
    try {
      std::thread([this] { Loop(); }).detach();
      started_ = true;
    } catch (const std::system_error&) {
      // Without a thread to spare, launches run unwatched.
    }
  }

  void Loop() {
    std::unique_lock<std::mutex> lock(mutex_);
    int idle_ticks = 0;
    while (true) {
      wake_.wait_for(lock, kTick);
      idle_ticks = first_ == nullptr ? idle_ticks + 1 : 0;
      Look();
      if (idle_ticks < kIdleTicks) continue;
      asleep_ = true;
      wake_.wait(lock, [this] { return first_ != nullptr; });
      asleep_ = false;
    }
  }

  void Look() {
    const Clock::time_point now = Clock::now();
    bool any_long = false;
    for (LaunchWatch* watch = first_; watch != nullptr; watch = watch->next_) {
      if (now - watch->start_ < kLong) continue;
      any_long = true;
      CheckTime(*watch, now);
    }
    interrupts_.Listen(any_long);
    if (!interrupts_.Take()) return;
    for (LaunchWatch* watch = first_; watch != nullptr; watch = watch->next_) {
      watch->launch_.Interrupt("interrupted by Ctrl-C", ".");
    }
  }

  static void CheckTime(LaunchWatch& watch, Clock::time_point now) {
    const std::optional<double> limit = watch.launch_.time_limit;
    const std::chrono::duration<double> passed = now - watch.start_;
    if (!limit || passed.count() < *limit) return;
    StopLate(watch.launch_, *limit);
  }

  std::mutex mutex_;  // guards the list and all below
  std::condition_variable wake_;
  LaunchWatch* first_ = nullptr;
  Interrupts interrupts_;
  bool started_ = false;
  bool asleep_ = false;
};

LaunchWatch::LaunchWatch(LaunchState& launch) : launch_(launch), start_(Clock::now()) {
  Watcher::Get().Add(this);
}

LaunchWatch::~LaunchWatch() { Watcher::Get().Remove(this); }

}  // namespace jax_rawcuda
