// cuda_device_runtime_api.h: the prelude declares all of it.
#pragma once
