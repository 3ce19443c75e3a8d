// fake_driver.c: a libcuda that runs nothing. It writes down its calls, and refuses
// what the real one refuses while a stream is captured.
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int captured;
static int current = 0;  // context: 0 none, 1 the primary one, 2 another
static CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
static char calls[1 << 16];

static CUstream const kCaptured = (CUstream)0x77;  // the caller's
static CUstream const kOwn = (CUstream)0x88;       // that cuStreamCreate makes
static CUcontext const kContext = (CUcontext)0x99;

static void note(const char* name) {
  strncat(calls, name, sizeof(calls) - strlen(calls) - 1);
  strncat(calls, "\n", sizeof(calls) - strlen(calls) - 1);
}

// For tests.
void fake_context(int context) { current = context; }
void fake_capture(int capture) { captured = capture; }
const char* fake_calls(void) { return calls; }
void fake_forget(void) { calls[0] = 0; }

static CUresult unsafe(const char* name) {
  note(name);
  return captured && mode != CU_STREAM_CAPTURE_MODE_RELAXED
             ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
             : CUDA_SUCCESS;
}
// On the captured stream these would be recorded, or end the capture.
static CUresult on_stream(const char* name, CUstream stream, int allowed) {
  note(name);
  return captured && stream == kCaptured && !allowed
             ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
             : CUDA_SUCCESS;
}

static CUresult init(unsigned flags) { return flags; }
static CUresult error_name(CUresult error, const char** text) {
  *text = error == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
              ? "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"
              : "CUDA_ERROR_FAKE";
  return CUDA_SUCCESS;
}
static CUresult push(CUcontext context) {
  return context == kContext ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
static CUresult pop(CUcontext* context) {
  *context = kContext;
  return CUDA_SUCCESS;
}
static CUresult get_current(CUcontext* context) {
  *context = current == 0 ? NULL : current == 1 ? kContext : (CUcontext)0xAA;
  return CUDA_SUCCESS;
}
static CUresult primary_state(CUdevice device, unsigned* flags, int* active) {
  *flags = 0;
  *active = device == 0;
  return CUDA_SUCCESS;
}
static CUresult retain(CUcontext* context, CUdevice device) {
  *context = kContext;
  note("retain");
  return device != 0;
}
static CUresult release(CUdevice device) {
  note("release");
  return device != 0;
}
static CUresult device(CUdevice* found) {
  *found = 0;
  return CUDA_SUCCESS;
}
static CUresult device_name(char* text, int length, CUdevice of) {
  snprintf(text, length, "Fake %d", of);
  return CUDA_SUCCESS;
}
static CUresult device_attribute(int* value, CUdevice_attribute what, CUdevice of) {
  *value = what == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR   ? 9
           : what == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? of
                                                                  : 232448;
  return CUDA_SUCCESS;
}
static CUresult kernel_attribute(int* value, CUfunction_attribute what, CUkernel of,
                                 CUdevice on) {
  *value = what == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : 0;
  return of == NULL || on != 0;
}
static CUresult load(CUlibrary* library, const void* code, CUjit_option* options,
                     void** values, unsigned count, CUlibraryOption* more,
                     void** more_values, unsigned more_count) {
  (void)options, (void)values, (void)count;
  (void)more, (void)more_values, (void)more_count;
  *library = (CUlibrary)code;
  return unsafe("load");
}
static CUresult get_kernel(CUkernel* kernel, CUlibrary library, const char* name) {
  (void)name;
  *kernel = (CUkernel)library;
  return CUDA_SUCCESS;
}
static CUresult get_function(CUfunction* function, CUkernel kernel) {
  *function = (CUfunction)kernel;
  return unsafe("get_function");
}
static CUresult get_global(CUdeviceptr* address, size_t* bytes, CUlibrary library,
                           const char* name) {
  (void)library, (void)name;
  *address = 0x1000;
  *bytes = 4;
  return unsafe("get_global");
}
static CUresult create(CUstream* stream, unsigned flags) {
  (void)flags;
  *stream = kOwn;
  return unsafe("create_stream");
}
static CUresult destroy(CUstream stream) {
  return stream == kOwn ? unsafe("destroy_stream") : CUDA_ERROR_INVALID_HANDLE;
}
static CUresult context_of(CUstream stream, CUcontext* context) {
  *context = kContext;
  return stream == NULL;
}
static CUresult upload(CUdeviceptr to, const void* from, size_t bytes,
                       CUstream stream) {
  (void)to, (void)from, (void)bytes;
  return on_stream("upload", stream, 0);
}
static CUresult wait(CUstream stream) { return on_stream("wait", stream, 0); }
static CUresult launch(const CUlaunchConfig* config, CUfunction function,
                       void** arguments, void** extra) {
  (void)function, (void)arguments, (void)extra;
  return on_stream("launch", config->hStream, 1);
}
static CUresult set8(CUdeviceptr to, unsigned char value, size_t count,
                     CUstream stream) {
  (void)to, (void)value, (void)count;
  return on_stream("fill", stream, 1);
}
static CUresult exchange(CUstreamCaptureMode* other) {
  const CUstreamCaptureMode before = mode;
  mode = *other;
  *other = before;
  note(mode == CU_STREAM_CAPTURE_MODE_RELAXED ? "relax" : "restrict");
  return CUDA_SUCCESS;
}
static CUresult unload(CUlibrary library) {
  note("unload");
  return library == NULL;
}
static CUresult missing(void) { return CUDA_ERROR_NOT_SUPPORTED; }

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version,
                             cuuint64_t flags, CUdriverProcAddressQueryResult* found) {
  (void)version, (void)flags, (void)found;
  static const struct {
    const char* name;
    void* function;
  } table[] = {
      {"cuInit", init},
      {"cuGetErrorName", error_name},
      {"cuGetErrorString", error_name},
      {"cuCtxGetCurrent", get_current},
      {"cuCtxGetDevice", device},
      {"cuCtxPopCurrent", pop},
      {"cuCtxPushCurrent", push},
      {"cuDeviceGetAttribute", device_attribute},
      {"cuDeviceGetName", device_name},
      {"cuDevicePrimaryCtxGetState", primary_state},
      {"cuDevicePrimaryCtxRelease", release},
      {"cuDevicePrimaryCtxRetain", retain},
      {"cuKernelGetAttribute", kernel_attribute},
      {"cuKernelGetFunction", get_function},
      {"cuLaunchKernelEx", launch},
      {"cuLibraryGetGlobal", get_global},
      {"cuLibraryGetKernel", get_kernel},
      {"cuLibraryLoadData", load},
      {"cuLibraryUnload", unload},
      {"cuMemcpyHtoDAsync", upload},
      {"cuMemsetD8Async", set8},
      {"cuStreamCreate", create},
      {"cuStreamDestroy", destroy},
      {"cuStreamGetCtx", context_of},
      {"cuStreamSynchronize", wait},
      {"cuThreadExchangeStreamCaptureMode", exchange},
  };
  if (strcmp(symbol, "cuKernelGetParamInfo") == 0) return CUDA_ERROR_NOT_FOUND;
  *function = missing;
  for (size_t i = 0; i < sizeof(table) / sizeof(*table); ++i) {
    if (strcmp(symbol, table[i].name) == 0) *function = table[i].function;
  }
  return CUDA_SUCCESS;
}
