// commands.cc: the commands of a plan, checked one by one.
#include "ffi/plan/commands.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "ffi/base/limits.h"
#include "ffi/base/text.h"
#include "ffi/plan/tags.h"

namespace jax_rawcuda {
namespace {

constexpr uint32_t kLaunchFlags = static_cast<uint32_t>(LaunchFlag::kCooperative) |
                                  static_cast<uint32_t>(LaunchFlag::kProgrammatic) |
                                  static_cast<uint32_t>(LaunchFlag::kAtOnce);
constexpr uint64_t kMaxGuardBytes = uint64_t{1} << 20;
constexpr uint64_t kMaxBufferBytes = uint64_t{1} << 62;
constexpr uint64_t kMaxSharedBytes = std::numeric_limits<int32_t>::max();

bool Within(const Extent& extent, const Extent& limit) {
  return extent[0] <= limit[0] && extent[1] <= limit[1] && extent[2] <= limit[2];
}

class CommandDecoder {
 public:
  CommandDecoder(Reader& reader, Plan& plan) : reader_(reader), plan_(plan) {}

  Status Decode() {
    const size_t count = reader_.Count(1);
    for (size_t i = 0; i < count; ++i) {
      where_ = "command " + Str(i);
      RETURN_IF_ERROR(DecodeCommand(static_cast<CommandTag>(reader_.U8())));
    }
    where_ = "the list of commands";
    return Readable();
  }

 private:
  Status Malformed(const std::string& detail) const {
    return MalformedPlan(plan_, where_ + detail);
  }
  Status Readable() const { return CheckReadable(reader_, plan_, where_); }

  Status DecodeCommand(CommandTag tag) {
    switch (tag) {
      case CommandTag::kLaunch:
        return DecodeLaunch();
      case CommandTag::kCopy:
        return DecodeCopy();
      case CommandTag::kFill:
        return DecodeFill();
      case CommandTag::kSynchronize:
        plan_.commands.push_back(Synchronize{});
        return Status();
      case CommandTag::kVerify:
        return DecodeVerify();
    }
    RETURN_IF_ERROR(Readable());
    return Malformed(" has tag " + Str(static_cast<uint8_t>(tag)));
  }

  Extent ReadExtent() {
    Extent extent;
    for (uint32_t& axis : extent) axis = reader_.U32();
    return extent;
  }

  Status DecodeLaunch() {
    Launch launch;
    launch.function = reader_.U32();
    launch.grid = ReadExtent();
    launch.block = ReadExtent();
    launch.cluster = ReadExtent();
    launch.shared_mem_bytes = reader_.U32();
    const uint32_t flags = reader_.U32();
    launch.cooperative = Has(flags, LaunchFlag::kCooperative);
    launch.programmatic = Has(flags, LaunchFlag::kProgrammatic);
    launch.at_once = Has(flags, LaunchFlag::kAtOnce);
    const size_t arguments = reader_.Count(1 + 4);
    RETURN_IF_ERROR(Readable());
    if (launch.function >= plan_.functions.size()) {
      return Malformed(" launches function " + Str(launch.function) + " of " +
                       Str(plan_.functions.size()));
    }
    const FunctionInfo& function = plan_.functions[launch.function];
    where_ += " (launch of '" + function.display_name + "')";
    if ((flags & ~kLaunchFlags) != 0) return Malformed(" has flags " + Str(flags));
    RETURN_IF_ERROR(CheckGeometry(launch));
    if (arguments != function.parameters.size()) {
      return Malformed(" passes " + Str(arguments) + " arguments; it has " +
                       Str(function.parameters.size()) + " parameters");
    }
    launch.arguments.reserve(arguments);
    for (const ParameterInfo& parameter : function.parameters) {
      RETURN_IF_ERROR(DecodeArgument(parameter, launch));
    }
    if (Product(launch.grid) != 0) plan_.commands.push_back(std::move(launch));
    return Status();
  }

  Status CheckGeometry(const Launch& launch) const {
    const uint64_t threads = Product(launch.block);
    if (!Within(launch.grid, kMaxGrid)) {
      return Malformed(" has grid=" + Str(launch.grid) +
                       "; the limits are 2147483647, 65535 and 65535");
    }
    if (!Within(launch.block, kMaxBlock) || threads < 1 || threads > kMaxThreads) {
      return Malformed(" has block=" + Str(launch.block) +
                       "; the limits are 1024, 1024 and 64, and 1 to 1024 threads");
    }
    if (launch.shared_mem_bytes > kMaxSharedBytes) {
      return Malformed(" asks for " + Str(launch.shared_mem_bytes) +
                       " bytes of dynamic shared memory");
    }
    const uint64_t elements = std::min(plan_.at_once, plan_.batch_elements);
    if (launch.at_once && (launch.cooperative || launch.cluster != Extent{} ||
                           launch.grid[2] * elements > kMaxGrid[2])) {
      return Malformed(" cannot serve " + Str(elements) + " batch elements at once");
    }
    if (launch.cluster == Extent{}) return Status();
    const uint64_t blocks = Product(launch.cluster);
    bool divides = blocks >= 1 && Within(launch.cluster, {16, 16, 16});
    for (int i = 0; divides && i < 3; ++i) {
      divides = launch.grid[i] % launch.cluster[i] == 0;
    }
    if (!divides || blocks > kMaxClusterBlocks) {
      return Malformed(" has cluster=" + Str(launch.cluster) +
                       "; it must divide grid=" + Str(launch.grid) +
                       " and hold 1 to 16 blocks");
    }
    return Status();
  }

  Status DecodeArgument(const ParameterInfo& parameter, Launch& launch) {
    Argument argument{};
    argument.kind = static_cast<ArgumentTag>(reader_.U8());
    uint64_t given = sizeof(uint64_t);
    uint64_t span = 0;  // bytes that must be there
    switch (argument.kind) {
      case ArgumentTag::kPointer:
        argument.place = ReadRef();
        break;
      case ArgumentTag::kScalar:
        argument.scalar = reader_.Bytes();
        given = argument.scalar.size();
        break;
      case ArgumentTag::kDynamic:
        argument.place = ReadRef();
        given = span = reader_.U32();
        break;
      case ArgumentTag::kStart:
        break;
      default:
        return Malformed(", parameter '" + parameter.name + "' has argument kind " +
                         Str(static_cast<uint8_t>(argument.kind)));
    }
    RETURN_IF_ERROR(Readable());
    const std::string name = ", parameter '" + parameter.name + "'";
    if (argument.kind == ArgumentTag::kPointer ||
        argument.kind == ArgumentTag::kDynamic) {
      RETURN_IF_ERROR(CheckSpan(argument.place, span, name));
    }
    if (given != parameter.size) {
      return Malformed(name + " has " + Str(parameter.size) + " bytes, its argument " +
                       Str(given));
    }
    launch.arguments.push_back(std::move(argument));
    return Status();
  }

  Status DecodeCopy() {
    Copy copy;
    copy.destination = ReadRef();
    copy.source = ReadRef();
    copy.bytes = reader_.U64();
    where_ += " (copy)";
    RETURN_IF_ERROR(Readable());
    RETURN_IF_ERROR(CheckWritten(copy.destination, copy.bytes));
    RETURN_IF_ERROR(CheckSpan(copy.source, copy.bytes, ", source"));
    const BufferRef& to = copy.destination;
    const BufferRef& from = copy.source;
    if (to.space == from.space && to.index == from.index &&
        to.offset < from.offset + copy.bytes && from.offset < to.offset + copy.bytes) {
      return Malformed(" has overlapping source and destination");
    }
    plan_.commands.push_back(copy);
    return Status();
  }

  Status DecodeFill() {
    Fill fill;
    fill.destination = ReadRef();
    fill.bytes = reader_.U64();
    fill.width = reader_.U8();
    fill.value = reader_.U32();
    where_ += " (fill)";
    RETURN_IF_ERROR(Readable());
    RETURN_IF_ERROR(CheckWritten(fill.destination, fill.bytes));
    if (fill.width != 1 && fill.width != 2 && fill.width != 4) {
      return Malformed(" has width " + Str(fill.width) + "; 1, 2 or 4 exist");
    }
    bool aligned = (fill.bytes | fill.destination.offset) % fill.width == 0;
    for (const BatchAxis& axis : plan_.batch_axes) {
      aligned &= axis.result_strides[fill.destination.index] % fill.width == 0;
    }
    if (!aligned || uint64_t{fill.value} >> (8 * fill.width) != 0) {
      return Malformed(" of " + Str(fill.width) +
                       "-byte values is misaligned, or its value is wider");
    }
    plan_.commands.push_back(fill);
    return Status();
  }

  Status DecodeVerify() {
    Verify verify;
    verify.begin = ReadRef();
    verify.bytes = reader_.U64();
    verify.guard = reader_.U64();
    verify.what = reader_.Text();
    where_ += " (verify)";
    RETURN_IF_ERROR(Readable());
    if (verify.guard > kMaxGuardBytes || verify.bytes > kMaxBufferBytes) {
      return Malformed(" has bands of " + Str(verify.guard) + " bytes around " +
                       Str(verify.bytes));
    }
    const uint64_t bytes = verify.bytes + 2 * verify.guard;
    RETURN_IF_ERROR(CheckSpan(verify.begin, bytes, ", buffer"));
    plan_.commands.push_back(std::move(verify));
    return Status();
  }

  // Kinds above 1 are left for CheckSpan to refuse.
  BufferRef ReadRef() {
    BufferRef ref;
    ref.space = static_cast<Space>(reader_.U8());
    ref.index = reader_.U32();
    ref.offset = reader_.U64();
    return ref;
  }

  Status CheckSpan(const BufferRef& ref, uint64_t bytes,
                   const std::string& name) const {
    if (ref.space != Space::kOperand && ref.space != Space::kResult) {
      return Malformed(name + " is in space " + Str(static_cast<uint8_t>(ref.space)));
    }
    const bool operand = ref.space == Space::kOperand;
    const auto& sizes = operand ? plan_.operand_bytes : plan_.result_bytes;
    const std::string buffer = (operand ? "operand " : "result ") + Str(ref.index);
    if (ref.index >= sizes.size()) {
      return Malformed(name + " is " + buffer + " of " + Str(sizes.size()));
    }
    const uint64_t size = sizes[ref.index];
    if (ref.offset > size || bytes > size - ref.offset) {
      return Malformed(name + " takes " + Str(bytes) + " bytes at offset " +
                       Str(ref.offset) + " of " + buffer + ", which has " + Str(size));
    }
    return Status();
  }

  Status CheckWritten(const BufferRef& ref, uint64_t bytes) const {
    RETURN_IF_ERROR(CheckSpan(ref, bytes, ", destination"));
    if (ref.space == Space::kResult) return Status();
    return Malformed(" writes to operand " + Str(ref.index));
  }

  Reader& reader_;
  Plan& plan_;
  std::string where_;  // the command being decoded, for messages
};

}  // namespace

Status DecodeCommands(Reader& reader, Plan& plan) {
  return CommandDecoder(reader, plan).Decode();
}

Status MalformedPlan(const Plan& plan, const std::string& detail) {
  const std::string who = plan.op_name.empty() ? "jax_rawcuda" : plan.op_name;
  return InvalidArgument(who + ": malformed plan: " + detail + ".");
}

Status CheckReadable(const Reader& reader, const Plan& plan,
                     const std::string& record) {
  if (!reader.failed()) return Status();
  return MalformedPlan(
      plan, record + " is cut short, or holds text that is not UTF-8, near " + "byte " +
                Str(reader.position()));
}

}  // namespace jax_rawcuda
