// commands.h: the second half of DecodePlan, the list of commands.
#pragma once

#include <cstdint>
#include <string>

#include "ffi/base/reader.h"
#include "ffi/plan/plan.h"

namespace jax_rawcuda {

// Decodes the commands at `reader` into `plan`, whose other fields are complete.
Status DecodeCommands(Reader& reader, Plan& plan);

Status MalformedPlan(const Plan& plan, const std::string& detail);

// Called after each record, before anything in it is used.
Status CheckReadable(const Reader& reader, const Plan& plan, const std::string& record);

}  // namespace jax_rawcuda
