// faults.h: what the processor refuses while generated code runs, as a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace jax_rawcuda {

// An address as messages show it, such as "0x10".
std::string Hex(uint64_t address);

struct Fault {
  int signal;
  bool has_address;
  uint64_t address;

  // "illegal memory access at address 0x10".
  std::string Describe() const;
};

// Puts the handlers of faults in place, in front of those of others. Before a launch:
// others may have come since.
void ExpectFaults();

// Runs `body`. When the processor refuses something while the thread is armed, leaves
// `body` at once, without destructors, and returns what it was.
std::optional<Fault> CatchFault(const std::function<void()>& body);

// Whether faults of the calling thread leave its innermost CatchFault; otherwise they
// go where they went without us. Returns what held before.
bool ArmFaults(bool armed);

// Lives where leaving would keep a lock, or leak.
class FaultShield {
 public:
  FaultShield() : armed_(ArmFaults(false)) {}
  ~FaultShield() { ArmFaults(armed_); }
  FaultShield(const FaultShield&) = delete;
  FaultShield& operator=(const FaultShield&) = delete;

 private:
  const bool armed_;
};

// Reads what a kernel points at. After the first fault, everything reads as zeros.
class KernelMemory {
 public:
  void Copy(void* to, const void* from, size_t bytes);

  // At most `limit` characters of a text that ends with 0.
  std::string Text(uint64_t address, size_t limit = SIZE_MAX);

  const std::optional<Fault>& fault() const { return fault_; }

 private:
  std::optional<Fault> fault_;
};

}  // namespace jax_rawcuda
