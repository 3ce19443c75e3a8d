// host_kernel.cc: the attributes of the Python object, one by one.
#include "ffi/entry/host_kernel.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace jax_rawcuda {
namespace {

template <typename T>
T Get(nb::handle object, const char* name) {
  return nb::cast<T>(object.attr(name));
}

SyncPoint ToSyncPoint(nb::handle object) {
  const auto fields = nb::cast<std::vector<int64_t>>(object);
  if (fields.size() != 8) throw nb::value_error("a synchronisation point has 8 fields");
  const auto field = [&](int i) { return static_cast<int32_t>(fields[i]); };
  return SyncPoint{field(0), field(1), field(2), field(3),
                   field(4), field(5), field(6), field(7)};
}

std::vector<HostKernel::Variable> ToVariables(nb::handle list) {
  std::vector<HostKernel::Variable> variables;
  for (nb::handle each : list) {
    variables.push_back({Get<std::string>(each, "name"), Get<uint64_t>(each, "place"),
                         Get<uint64_t>(each, "size"), Get<uint32_t>(each, "item_bytes"),
                         Get<bool>(each, "writable")});
  }
  return variables;
}

}  // namespace

std::shared_ptr<const HostKernel> ToHostKernel(nb::handle object) {
  auto kernel = std::make_shared<HostKernel>();
  kernel->name = Get<std::string>(object, "name");
  for (const uint64_t address : Get<std::vector<uint64_t>>(object, "regions")) {
    kernel->regions.push_back(reinterpret_cast<RegionFunction>(address));
  }
  for (nb::handle sync : object.attr("syncs")) {
    kernel->syncs.push_back(ToSyncPoint(sync));
  }
  kernel->sync_texts = Get<std::vector<std::string>>(object, "sync_texts");
  kernel->sites = Get<std::vector<std::string>>(object, "sites");
  kernel->slot_bytes = Get<int64_t>(object, "slot_bytes");
  kernel->frame_bytes = Get<int64_t>(object, "frame_bytes");
  kernel->shared_bytes = Get<int64_t>(object, "shared_bytes");
  kernel->sync_inputs = Get<int32_t>(object, "n_in");
  kernel->sync_outputs = Get<int32_t>(object, "n_out");
  using OffsetAndSize = std::pair<uint32_t, uint32_t>;
  for (const auto& [offset, size] : Get<std::vector<OffsetAndSize>>(object, "params")) {
    kernel->parameters.push_back({offset, size});
  }
  kernel->parameter_bytes = Get<uint32_t>(object, "param_bytes");
  kernel->spin_budget = Get<int32_t>(object, "spin_budget");
  kernel->max_threads = Get<uint32_t>(object, "max_threads");
  const auto cluster = Get<std::vector<uint32_t>>(object, "cluster");
  for (size_t axis = 0; axis < 3; ++axis) kernel->cluster[axis] = cluster.at(axis);
  if (nb::object checks = nb::getattr(object, "checks", nb::none());
      !checks.is_none()) {
    kernel->shared_variables = ToVariables(checks.attr("shared"));
    kernel->local_variables = ToVariables(checks.attr("local"));
    kernel->global_variables = ToVariables(checks.attr("globals"));
    kernel->red_zone_bytes = Get<uint64_t>(checks, "red_zone_bytes");
    for (nb::handle sites : checks.attr("passed_sites")) {
      const auto bits = nb::cast<nb::bytes>(sites);
      kernel->passed_sites.emplace_back(bits.c_str(), bits.size());
    }
    kernel->origins = Get<std::vector<uint32_t>>(checks, "origins");
  }
  if (kernel->regions.empty() || kernel->regions.size() != kernel->syncs.size()) {
    throw nb::value_error("a kernel has one synchronisation point per region");
  }
  return kernel;
}

}  // namespace jax_rawcuda
