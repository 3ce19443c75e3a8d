// cuda_pipeline.h: asynchronous copies from global to shared memory.
#pragma once
#include "cuda_pipeline_primitives.h"
