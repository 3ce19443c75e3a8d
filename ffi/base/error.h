// error.h: errors as values, used by every layer below the XLA and Python boundaries.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace jax_rawcuda {

// The subset of XLA's codes that this project returns.
enum class Code {
  kOk,
  kInvalidArgument,
  kFailedPrecondition,
  kUnimplemented,
  kInternal,
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  Code code_ = Code::kOk;
  std::string message_;
};

inline Status InvalidArgument(std::string message) {
  return Status(Code::kInvalidArgument, std::move(message));
}
inline Status FailedPrecondition(std::string message) {
  return Status(Code::kFailedPrecondition, std::move(message));
}
inline Status Unimplemented(std::string message) {
  return Status(Code::kUnimplemented, std::move(message));
}
inline Status Internal(std::string message) {
  return Status(Code::kInternal, std::move(message));
}

// Either a value or the Status that explains its absence.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}         // NOLINT: implicit on purpose
  Result(Status status) : state_(std::move(status)) {}  // NOLINT: implicit on purpose

  bool ok() const { return std::holds_alternative<T>(state_); }
  const Status& status() const { return std::get<Status>(state_); }
  T& value() { return std::get<T>(state_); }
  const T& value() const { return std::get<T>(state_); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace jax_rawcuda

#define RETURN_IF_ERROR(expression)                                    \
  do {                                                                 \
    if (::jax_rawcuda::Status status_ = (expression); !status_.ok()) { \
      return status_;                                                  \
    }                                                                  \
  } while (false)
