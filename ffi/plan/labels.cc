// labels.cc: the part of a plan that is there when its kernels are checked.
#include "ffi/plan/labels.h"

#include <memory>
#include <utility>

#include "ffi/base/reader.h"
#include "ffi/plan/commands.h"
#include "ffi/plan/plan.h"

namespace jax_rawcuda {
Status DecodeLabels(Reader& reader, Plan& plan) {
  if (reader.PeekU32() != kLabelsMagic) return Status();
  reader.U32();
  auto labels = std::make_shared<BufferLabels>();
  const std::pair<std::vector<BufferLabel>*, size_t> lists[] = {
      {&labels->operands, plan.operand_bytes.size()},
      {&labels->results, plan.result_bytes.size()}};
  for (const auto& [list, count] : lists) {
    for (size_t i = 0; i < count; ++i) {
      BufferLabel label;
      label.name = reader.Text();
      label.type = reader.Text();
      label.item_bytes = reader.U32();
      const uint8_t state = reader.U8();
      label.initialized = Has(state, BufferState::kInitialized);
      label.visible = Has(state, BufferState::kVisible);
      label.read_only = Has(state, BufferState::kReadOnly);
      list->push_back(std::move(label));
    }
  }
  plan.labels = std::move(labels);
  return CheckReadable(reader, plan, "the list of labels");
}

}  // namespace jax_rawcuda
