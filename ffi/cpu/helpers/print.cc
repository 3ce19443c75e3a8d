// print.cc: printf inside kernels.
#include "ffi/cpu/helpers/print.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include "ffi/cpu/base/context.h"
#include "ffi/cpu/block/block.h"
#include "ffi/cpu/helpers/symbols.h"
#include "ffi/cpu/launch/faults.h"

namespace jax_rawcuda {
namespace {

// Text beyond this is dropped. The device keeps a megabyte.
constexpr size_t kMaxPending = size_t{64} << 20;

// A conversion asks for at most so many characters, or digits: it cannot be
// interrupted.
constexpr int32_t kMaxField = 1 << 16;

// Text that waits for the interpreter's main thread.
class Printed {
 public:
  static Printed& Get() {
    static auto* const printed = new Printed;  // leaked: a kernel may run during exit
    return *printed;
  }

  void SetWake(WakePrinterFn wake) {
    const std::lock_guard<std::mutex> lock(mutex_);
    wake_ = wake;
  }

  void Append(const std::string& text) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (text_.size() + text.size() > kMaxPending) {
      dropped_ += text.size();
    } else {
      text_ += text;
    }
    WakeLocked();
  }

  void Wake() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!text_.empty()) WakeLocked();
  }

  std::string Take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::string text = std::exchange(text_, std::string());
    if (dropped_ != 0) {
      text += "\n[jax_rawcuda: " + std::to_string(dropped_) +
              " bytes that kernels printed are left out]\n";
    }
    dropped_ = 0;
    awake_ = false;
    return text;
  }

 private:
  void WakeLocked() {
    if (!awake_ && wake_ != nullptr) awake_ = wake_();
  }

  std::mutex mutex_;
  std::string text_;
  size_t dropped_ = 0;
  bool awake_ = false;  // somebody will take the text
  WakePrinterFn wake_ = nullptr;
};

// The packed arguments: each one aligned to its own size.
class Arguments {
 public:
  Arguments(KernelMemory& memory, const uint8_t* data) : memory_(memory), data_(data) {}

  template <typename Value>
  Value Take() {
    offset_ = (offset_ + sizeof(Value) - 1) / sizeof(Value) * sizeof(Value);
    Value value;
    memory_.Copy(&value, data_ + offset_, sizeof(value));
    offset_ += sizeof(value);
    return value;
  }

  // A text, of which a conversion `format` prints what its precision says.
  std::string TakeText(const std::string& format) {
    const auto address = Take<uint64_t>();
    if (address == 0) return "(null)";
    const size_t point = format.find('.');
    if (point == std::string::npos) return memory_.Text(address);
    const long precision = std::strtol(format.c_str() + point + 1, nullptr, 10);
    return memory_.Text(address, precision < 0 ? SIZE_MAX : size_t(precision));
  }

 private:
  KernelMemory& memory_;
  const uint8_t* data_;
  size_t offset_ = 0;
};

template <typename Value>
void AppendFormatted(std::string* out, const std::string& format, Value value) {
  char small[128];
  const int size = std::snprintf(small, sizeof(small), format.c_str(), value);
  if (size < 0) return;
  if (static_cast<size_t>(size) < sizeof(small)) {
    out->append(small, static_cast<size_t>(size));
    return;
  }
  std::string large(static_cast<size_t>(size) + 1, '\0');
  std::snprintf(large.data(), large.size(), format.c_str(), value);
  out->append(large, 0, static_cast<size_t>(size));
}

bool Contains(const char* set, char c) { return c != '\0' && std::strchr(set, c); }

// Prints one conversion; `p` points behind its '%'. Returns what follows it.
const char* AppendConversion(std::string* out, const char* p, Arguments* arguments) {
  const char* const begin = p;
  std::string format = "%";
  bool wide = false;
  for (; Contains("-+ #0123456789.*hlLjzt", *p); ++p) {
    if (*p == '*') {
      const auto given = arguments->Take<int32_t>();
      format += std::to_string(std::clamp(given, -kMaxField, kMaxField));
    } else if (Contains("123456789", *p)) {
      char* end;
      const unsigned long given = std::strtoul(p, &end, 10);
      format += std::to_string(std::min<unsigned long>(given, kMaxField));
      p = end - 1;
    } else if (Contains("hlLjzt", *p)) {
      wide |= *p != 'h';  // the host's length modifiers may differ: add our own below
    } else {
      format += *p;
    }
  }
  const char conversion = *p;
  if (conversion == '\0') return p;
  ++p;
  if (Contains("diouxXc", conversion)) {
    if (wide) {
      AppendFormatted(out, format + "ll" + conversion, arguments->Take<long long>());
    } else {
      AppendFormatted(out, format + conversion, arguments->Take<int>());
    }
  } else if (Contains("fFeEgGaA", conversion)) {
    AppendFormatted(out, format + conversion, arguments->Take<double>());
  } else if (conversion == 's') {
    AppendFormatted(out, format + conversion, arguments->TakeText(format).c_str());
  } else if (conversion == 'p') {
    AppendFormatted(out, format + conversion,
                    reinterpret_cast<void*>(arguments->Take<uint64_t>()));
  } else {
    out->append("%").append(begin, p);  // not a conversion: as it stands
  }
  return p;
}

int32_t jrc_vprintf(Context* context, uint64_t format, uint64_t arguments) {
  if (format == 0) return -1;
  const FaultShield shield;
  KernelMemory memory;
  Arguments values(memory, reinterpret_cast<const uint8_t*>(arguments));
  const std::string format_text = memory.Text(format);
  std::string text;
  int32_t conversions = 0;
  const char* p = format_text.c_str();
  while (*p != '\0') {
    if (*p != '%') {
      const char* const end = p + std::strcspn(p, "%");
      text.append(p, end);
      p = end;
    } else if (p[1] == '%') {
      text += '%';
      p += 2;
    } else {
      p = AppendConversion(&text, p + 1, &values);
      ++conversions;
    }
  }
  if (memory.fault()) {
    context->block->ReportFault(*memory.fault());
    return -1;
  }
  Printed::Get().Append(text);  // at once: lines of different threads do not mix
  return conversions;           // as on the device: not the number of characters
}

}  // namespace

void SetWakePrinter(WakePrinterFn wake) { Printed::Get().SetWake(wake); }

std::string TakePrinted() { return Printed::Get().Take(); }

void WakePrinter() { Printed::Get().Wake(); }

void AppendPrinting(SymbolTable& table) { table.push_back(JRC_SYMBOL(jrc_vprintf)); }

}  // namespace jax_rawcuda
