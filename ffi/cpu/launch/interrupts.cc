// interrupts.cc: a link in the chain of SIGINT's handlers.
#include "ffi/cpu/launch/interrupts.h"

#include <atomic>
#include <csignal>

namespace jax_rawcuda {

#if defined(_WIN32)

void Interrupts::Listen(bool) {}
bool Interrupts::Take() { return false; }

#else

namespace {

std::atomic<bool> arrived{false};
static_assert(std::atomic<bool>::is_always_lock_free, "used in a signal handler");

struct sigaction previous;  // written only while our handler is not installed

void Handle(int signal, siginfo_t* info, void* context) {
  arrived.store(true, std::memory_order_relaxed);
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else {
    previous.sa_handler(signal);
  }
}

bool IsFunction(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 ||
         (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

bool IsOurs(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == &Handle;
}

}  // namespace

void Interrupts::Listen(bool listen) {
  if (listen == listening_) return;
  struct sigaction current;
  if (sigaction(SIGINT, nullptr, &current) != 0) return;
  if (!listen) {
    // A handler that came after ours may call it: installed again, it would call
    // itself.
    if (IsOurs(current) ? sigaction(SIGINT, &previous, nullptr) == 0
                        : current.sa_handler == previous.sa_handler) {
      listening_ = false;
    }
    return;
  }
  if (IsOurs(current) || !IsFunction(current)) return;
  previous = current;
  struct sigaction ours = current;
  ours.sa_flags |= SA_SIGINFO;
  ours.sa_sigaction = &Handle;
  arrived.store(false, std::memory_order_relaxed);
  listening_ = sigaction(SIGINT, &ours, nullptr) == 0;
}

bool Interrupts::Take() { return arrived.exchange(false, std::memory_order_relaxed); }

#endif

}  // namespace jax_rawcuda
