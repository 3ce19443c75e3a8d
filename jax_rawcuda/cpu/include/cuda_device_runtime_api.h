// cuda_device_runtime_api.h: programmatic dependent launch.
#pragma once
#pragma clang system_header

__JRC_FN void cudaGridDependencySynchronize() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}
__JRC_FN void cudaTriggerProgrammaticLaunchCompletion() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
