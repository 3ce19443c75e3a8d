// checked_buffers.cc: guarded copies, and what must be true of them after the plan.
#include "ffi/cpu/replay/checked_buffers.h"

#include <cstring>
#include <utility>

namespace jax_rawcuda {
namespace {

// Accesses are checked before they happen, so this is only for what the checks miss.
constexpr uint64_t kGuardBytes = 1024;  // a multiple of every alignment

constexpr int kUndefined = 0xFF;

// Like the device heap it outlives launches; leaked, as a kernel may run during exit.
CheckedHeap& TheHeap() {
  static auto* const heap = new CheckedHeap;
  return *heap;
}

}  // namespace

CheckedBuffers::CheckedBuffers(const Plan& plan)
    : plan_(plan), labels_(*plan.labels), operand_count_(plan.operand_bytes.size()) {
  const size_t count = operand_count_ + plan.result_bytes.size();
  spans_.resize(count);
  copies_.resize(count);
  shadows_.resize(count);
  last_users_.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const bool operand = i < operand_count_;
    Span& span = spans_[i];
    span.size = operand ? plan.operand_bytes[i] : plan.result_bytes[i - operand_count_];
    span.item_bytes = Label(i).item_bytes;
    span.writable = !operand && !Label(i).read_only;
    span.initialized = Label(i).initialized;
  }
}

Status CheckedBuffers::Enter(std::vector<uint8_t*>& operands,
                             std::vector<uint8_t*>& results) {
  originals_ = operands;
  originals_.insert(originals_.end(), results.begin(), results.end());
  for (size_t i = 0; i < spans_.size(); ++i) {
    Span& span = spans_[i];
    if (!copies_[i].Reserve(span.size + 2 * kGuardBytes)) {
      return Internal(plan_.op_name + ": out of host memory for the checked copy of '" +
                      Label(i).name + "'.");
    }
    uint8_t* const data = copies_[i].data() + kGuardBytes;
    if (span.initialized && span.size != 0) {
      std::memcpy(data, originals_[i], span.size);
    } else {
      std::memset(data, kUndefined, span.size);
    }
    span.begin = reinterpret_cast<uint64_t>(data);
    if (span.writable) shadows_[i] = std::make_unique<Shadow>(span.size);
    span.shadow = shadows_[i].get();
    (i < operand_count_ ? operands[i] : results[i - operand_count_]) = data;
  }
  return Status();
}

Status CheckedBuffers::Leave() {
  for (size_t i = operand_count_; i < spans_.size(); ++i) {
    RETURN_IF_ERROR(CheckWritten(i));
    if (spans_[i].size == 0 || !spans_[i].writable) continue;
    std::memcpy(originals_[i], reinterpret_cast<void*>(spans_[i].begin),
                spans_[i].size);
  }
  return Status();
}

Status CheckedBuffers::CheckWritten(size_t index) const {
  const Span& span = spans_[index];
  const BufferLabel& label = Label(index);
  if (span.initialized || !label.visible || label.item_bytes == 0) return Status();
  const uint64_t count = span.size / label.item_bytes;
  uint64_t missing = 0, first = 0;
  for (uint64_t element = 0; element < count; ++element) {
    bool written = true;
    for (uint64_t byte = 0; byte < label.item_bytes && written; ++byte) {
      written = span.shadow->WrittenByte(element * label.item_bytes + byte);
    }
    if (!written && missing++ == 0) first = element;
  }
  if (missing == 0) return Status();
  const std::string& user = last_users_[index];
  return Internal(
      (user.empty() ? plan_.op_name : user) + ": " + kCheckFailed + "result '" +
      label.name + "' (" + label.type + "): " + std::to_string(missing) + " of " +
      std::to_string(count) + " elements are never written; the first is element " +
      std::to_string(first) +
      ". Launch enough threads, write the rest, or allocate it with fill=.");
}

std::unique_ptr<LaunchChecks> CheckedBuffers::Launch(
    const HostKernel& kernel, const FunctionInfo& function,
    const ::jax_rawcuda::Launch& launch) {
  for (size_t i = 0; i < spans_.size(); ++i) {
    spans_[i].what = "buffer '" + Label(i).name + "' (" + Label(i).type + ")";
  }
  // From the last to the first: a buffer passed twice is called after the first.
  for (size_t k = launch.arguments.size(); k-- > 0;) {
    const Argument& argument = launch.arguments[k];
    if (argument.kind != ArgumentTag::kPointer) continue;
    const size_t index = Index(argument.place);
    const std::string& parameter = function.parameters[k].name;
    const BufferLabel& label = Label(index);
    spans_[index].what = "argument '" + parameter + "' (" + label.type +
                         (label.name == parameter ? "" : ", '" + label.name + "'") +
                         ")";
    last_users_[index] = function.display_name;
  }
  globals_.clear();
  global_shadows_.clear();
  for (const HostKernel::Variable& variable : kernel.global_variables) {
    Span span;
    span.what = std::string(variable.writable ? "global" : "constant") + " variable '" +
                variable.name + "' (" + std::to_string(variable.size) + " bytes)";
    span.begin = variable.place;
    span.size = variable.size;
    span.item_bytes = variable.item_bytes;
    span.writable = variable.writable;
    if (variable.writable) {
      global_shadows_.push_back(std::make_unique<Shadow>(span.size));
      span.shadow = global_shadows_.back().get();
    }
    globals_.push_back(std::move(span));
  }
  std::vector<Span> parameters;
  for (size_t k = 0; k < kernel.parameters.size(); ++k) {
    const HostKernel::Parameter& parameter = kernel.parameters[k];
    Span span;
    span.what = "parameter '" + function.parameters[k].name + "' (" +
                std::to_string(parameter.size) + " bytes)";
    span.begin = parameter.offset;
    span.size = parameter.size;
    span.writable = false;
    parameters.push_back(std::move(span));
  }
  return std::make_unique<LaunchChecks>(spans_, globals_, std::move(parameters),
                                        TheHeap(), now_);
}

Status CheckedBuffers::CheckScalars(const FunctionInfo& function,
                                    const ::jax_rawcuda::Launch& launch) const {
  for (size_t k = 0; k < launch.arguments.size(); ++k) {
    const Argument& argument = launch.arguments[k];
    if (argument.kind != ArgumentTag::kDynamic) continue;
    const size_t index = Index(argument.place);
    if (spans_[index].initialized) continue;
    const ParameterInfo& parameter = function.parameters[k];
    const uint64_t begin = argument.place.offset;
    bool written = false;
    for (uint64_t byte = 0; byte < parameter.size && !written; ++byte) {
      written = shadows_[index]->WrittenByte(begin + byte);
    }
    if (written) continue;
    const BufferLabel& label = Label(index);
    return Internal(function.display_name + ": " + kCheckFailed + "scalar '" +
                    parameter.name + "' is read from '" + label.name + "' (" +
                    label.type + ") at byte offset " + std::to_string(begin) +
                    ", where nothing has been written. Write it in every case before " +
                    "this launch.");
  }
  return Status();
}

Status CheckedBuffers::MarkFilled(const BufferRef& ref, uint64_t bytes) {
  Shadow& shadow = *shadows_[Index(ref)];
  if (!shadow.Prepare(ref.offset, bytes)) {
    return Internal(plan_.op_name + ": out of host memory for the checks.");
  }
  Cell* const end = shadow.end(ref.offset, bytes);
  for (Cell* cell = shadow.begin(ref.offset); cell != end; ++cell) {
    cell->write.time = 1;
  }
  return Status();
}

// What is undefined stays undefined in its copy.
Status CheckedBuffers::MarkCopied(const Copy& copy) {
  const size_t source = Index(copy.source);
  if (spans_[source].initialized) return MarkFilled(copy.destination, copy.bytes);
  for (uint64_t i = 0; i < copy.bytes; ++i) {
    if (!shadows_[source]->WrittenByte(copy.source.offset + i)) continue;
    const BufferRef byte{copy.destination.space, copy.destination.index,
                         copy.destination.offset + i};
    RETURN_IF_ERROR(MarkFilled(byte, 1));
  }
  return Status();
}

}  // namespace jax_rawcuda
