// faults.cc: a link in the chain of the handlers of SIGSEGV and its like.
//
// A wild pointer in a kernel must be an error of its launch, not the end of the
// process, and a test of every access would cost more than the access. So the processor
// finds it, and the handler jumps out of the work-item loop, back to where the launch
// can fail. That is sound because generated code holds no lock and has no destructors;
// a thread is armed only while a block runs. Helpers that lock or allocate disarm
// it (FaultShield), and read a kernel's memory before they do (KernelMemory).
//
// Others have handlers too: Python's faulthandler, a debugger, a crash reporter. Ours
// stands in front, takes only faults of armed threads, and hands on everything else as
// if it were not there. They may come at any time and replace it, hence ExpectFaults
// before each launch.
#include "ffi/cpu/launch/faults.h"

#include <csignal>
#include <cstdio>
#include <cstring>

#if !defined(_WIN32)
#include <pthread.h>
#include <setjmp.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#endif

namespace jax_rawcuda {

std::string Hex(uint64_t address) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

std::string Fault::Describe() const {
  if (signal == SIGFPE) return "arithmetic that the processor refuses";
  if (signal == SIGILL) return "an instruction that the processor refuses";
  if (!has_address) return "illegal memory access at an address that no memory has";
  return "illegal memory access at address " + Hex(address);
}

#if defined(_WIN32)

void ExpectFaults() {}

std::optional<Fault> CatchFault(const std::function<void()>& body) {
  body();
  return std::nullopt;
}

bool ArmFaults(bool) { return false; }

#else

namespace {

constexpr std::array<int, 4> kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

// Whether a landing brings back the signal mask. The handler leaves it alone, but macOS
// keeps a note beside it of whether the handlers' stack is in use.
#if defined(__APPLE__)
constexpr int kWithMask = 1;
#else
constexpr int kWithMask = 0;
#endif

// A stack overflow leaves no room for a handler on the stack.
constexpr size_t kStackBytes = size_t{64} << 10;

struct ThreadState {
  sigjmp_buf* landing = nullptr;  // of the innermost CatchFault
  volatile sig_atomic_t armed = 0;
  Fault fault = {};
};
thread_local ThreadState thread_state;

// Where the handler finds a thread's state: it must not be the first to touch a
// thread_local, which may allocate.
pthread_key_t key;
const bool has_key = pthread_key_create(&key, nullptr) == 0;

struct sigaction previous[kSignals.size()];  // handlers before ours

struct sigaction& PreviousOf(int signal) {
  size_t i = 0;
  while (kSignals[i] != signal) ++i;
  return previous[i];
}

bool IsFault(const siginfo_t& info) {  // not a signal that a program has sent
  return info.si_code > 0 && info.si_code != SI_USER && info.si_code != SI_QUEUE;
}

bool HasAddress([[maybe_unused]] const siginfo_t& info) {
#if defined(SI_KERNEL)
  return info.si_code != SI_KERNEL;  // x86-64: its upper bits are no address's
#else
  return true;
#endif
}

// Does what would have happened without us.
void PassOn(int signal, siginfo_t* info, void* context) {
  static std::atomic<pthread_t> passing{};
  const pthread_t self = pthread_self();
  const struct sigaction& before = PreviousOf(signal);
  const bool has_info = (before.sa_flags & SA_SIGINFO) != 0;
  // A handler that came after ours may end with ours, which then must not call it.
  const bool again = pthread_equal(passing.exchange(self), self) != 0;
  if (!again &&
      (has_info || (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN))) {
    has_info ? before.sa_sigaction(signal, info, context) : before.sa_handler(signal);
    passing = pthread_t();
    return;
  }
  struct sigaction end = {};
  end.sa_handler = again ? SIG_DFL : before.sa_handler;
  sigaction(signal, &end, nullptr);
  if (!IsFault(*info)) raise(signal);  // a fault comes again by itself
  passing = pthread_t();
}

void Handle(int signal, siginfo_t* info, void* context) {
  auto* const state = static_cast<ThreadState*>(pthread_getspecific(key));
  if (state == nullptr || state->armed == 0 || !IsFault(*info)) {
    return PassOn(signal, info, context);
  }
  state->armed = 0;
  state->fault = {signal, HasAddress(*info), reinterpret_cast<uint64_t>(info->si_addr)};
  siglongjmp(*state->landing, 1);
}

// The calling thread's stack for handlers, unless it has one already.
class HandlerStack {
 public:
  HandlerStack() {
    stack_t current;
    if (sigaltstack(nullptr, &current) != 0) return;
    if ((current.ss_flags & SS_DISABLE) == 0) return;
    memory_.reset(new (std::nothrow) char[kStackBytes]);
    if (memory_ == nullptr) return;
    stack_t ours = {};
    ours.ss_sp = memory_.get();
    ours.ss_size = kStackBytes;
    if (sigaltstack(&ours, nullptr) != 0) memory_.reset();
  }
  ~HandlerStack() {
    stack_t current;
    if (memory_ == nullptr || sigaltstack(nullptr, &current) != 0) return;
    if (current.ss_sp != memory_.get()) return;
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    none.ss_size = kStackBytes;  // macOS reads it
    sigaltstack(&none, nullptr);
  }

 private:
  std::unique_ptr<char[]> memory_;
};

void PrepareThread() {
  thread_local const HandlerStack stack;
  if (has_key) pthread_setspecific(key, &thread_state);
}

}  // namespace

void ExpectFaults() {
  if (!has_key) return;
  struct sigaction current;
  const auto is_ours = [&](int signal) {
    return sigaction(signal, nullptr, &current) != 0 ||
           ((current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == &Handle);
  };
  // Who comes for one comes for all of them, and asking takes a third of a microsecond.
  if (is_ours(kSignals[0])) return;
  static auto* const mutex = new std::mutex;  // leaked: a kernel may run during exit
  const std::lock_guard<std::mutex> lock(*mutex);
  for (auto signal = kSignals.rbegin(); signal != kSignals.rend(); ++signal) {
    if (is_ours(*signal)) continue;
    PreviousOf(*signal) = current;
    struct sigaction ours = {};
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    ours.sa_sigaction = &Handle;
    sigaction(*signal, &ours, nullptr);
  }
}

std::optional<Fault> CatchFault(const std::function<void()>& body) {
  PrepareThread();
  ThreadState& state = thread_state;
  sigjmp_buf* const outer = state.landing;
  const bool armed = ArmFaults(false);
  sigjmp_buf landing;
  std::optional<Fault> fault;
  if (sigsetjmp(landing, kWithMask) == 0) {
    state.landing = &landing;
    body();
  } else {
    fault = state.fault;
  }
  state.landing = outer;
  ArmFaults(armed);
  return fault;
}

bool ArmFaults(bool armed) {
  ThreadState& state = thread_state;
  const bool before = state.armed != 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  state.armed = armed ? 1 : 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return before;
}

#endif

void KernelMemory::Copy(void* to, const void* from, size_t bytes) {
  if (!fault_) {
    fault_ = CatchFault([=] {
      ArmFaults(true);
      std::memcpy(to, from, bytes);
      ArmFaults(false);
    });
  }
  if (fault_) std::memset(to, 0, bytes);
}

std::string KernelMemory::Text(uint64_t address, size_t limit) {
  const auto* const text = reinterpret_cast<const char*>(address);
  size_t length = 0;
  if (!fault_) {
    fault_ = CatchFault([&] {
      ArmFaults(true);
      const size_t found = strnlen(text, limit);
      ArmFaults(false);
      length = found;
    });
  }
  return fault_ ? std::string() : std::string(text, length);
}

}  // namespace jax_rawcuda
