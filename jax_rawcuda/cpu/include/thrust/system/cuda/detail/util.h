// thrust/system/cuda/detail/util.h: clang looks up cub::SyncStream although no device
// code calls it.
#pragma once
#include <cub/util_device.cuh>

CUB_NAMESPACE_BEGIN
cudaError_t SyncStream(cudaStream_t);
CUB_NAMESPACE_END
#include_next <thrust/system/cuda/detail/util.h>
