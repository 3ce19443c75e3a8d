// places.cu: kernels whose index leaves one variable for another, or whose call goes
// nowhere, and beside each one that is right.

// The second array lies far enough to catch what leaves the first.
// CALL: f32(32), 200 | 32 -> 32 | grid=1, block=32
// SAYS: shared memory 'low' (128 bytes); out of bounds; byte offset 800 (element 200)
extern "C" __global__ void far_neighbour(const float* x, float* y, int shift) {
  __shared__ float low[32];
  __shared__ float high[1024];
  int t = threadIdx.x;
  for (int i = t; i < 1024; i += 32) high[i] = x[t];
  __syncthreads();
  low[t + shift] = x[t];  // BUG far_neighbour
  __syncthreads();
  y[t] = low[t + shift] + high[t];
}
extern "C" __global__ void far_neighbour_fixed(const float* x, float* y, int shift) {
  __shared__ float low[32];
  __shared__ float high[1024];
  int t = threadIdx.x;
  for (int i = t; i < 1024; i += 32) high[i] = x[t];
  __syncthreads();
  high[t + shift] = x[t];
  low[t] = x[t];
  __syncthreads();
  y[t] = low[t] + high[t + shift];
}

// CALL: f32(32), 300 | 32 -> 32 | grid=1, block=32
// SAYS: shared memory 'high' (128 bytes); out of bounds;
//   byte offset -1200 (element -300)
extern "C" __global__ void far_before(const float* x, float* y, int shift) {
  __shared__ float low[1024];
  __shared__ float high[32];
  int t = threadIdx.x;
  for (int i = t; i < 1024; i += 32) low[i] = x[t];
  high[t] = x[t];
  __syncthreads();
  float* place = &high[t];
  for (int k = 0; k < shift; k++) place -= 1;
  y[t] = *place + low[t];  // BUG far_before
}
extern "C" __global__ void far_before_fixed(const float* x, float* y, int shift) {
  __shared__ float low[1024];
  __shared__ float high[32];
  int t = threadIdx.x;
  for (int i = t; i < 1024; i += 32) low[i] = x[t];
  high[t] = x[t];
  __syncthreads();
  float* place = &low[1023 - t];
  for (int k = 0; k < shift; k++) place -= 1;
  y[t] = *place + high[t];
}

// The static array runs over into what the launch asked for.
// CALL: f32(32), 200 | 32 -> 32 | grid=1, block=32, shared_mem_bytes=4096
// SAYS: shared memory 'fixed' (128 bytes); out of bounds; byte offset 800
extern "C" __global__ void into_dynamic(const float* x, float* y, int shift) {
  extern __shared__ float row[];
  __shared__ float fixed[32];
  int t = threadIdx.x;
  for (int i = t; i < 1024; i += 32) row[i] = 0.0f;
  __syncthreads();
  fixed[t + shift] = x[t];  // BUG into_dynamic
  __syncthreads();
  y[t] = fixed[t + shift] + row[t];
}
extern "C" __global__ void into_dynamic_fixed(const float* x, float* y, int shift) {
  extern __shared__ float row[];
  __shared__ float fixed[32];
  int t = threadIdx.x;
  for (int i = t; i < 1024; i += 32) row[i] = 0.0f;
  __syncthreads();
  row[t + shift] = x[t];
  fixed[t] = x[t];
  __syncthreads();
  y[t] = fixed[t] + row[t + shift];
}

__device__ float first_table[16];
__device__ float second_table[4096];
// CALL: f32(32), 100 | 32 -> 32 | grid=1, block=32
// SAYS: global variable 'first_table' (64 bytes); out of bounds; element 100
extern "C" __global__ void far_global(const float* x, float* y, int shift) {
  int t = threadIdx.x;
  second_table[t] = x[t];
  first_table[t & 15] = 1.0f;
  y[t] = second_table[t] + first_table[(t & 15) + shift];  // BUG far_global
}
extern "C" __global__ void far_global_fixed(const float* x, float* y, int shift) {
  int t = threadIdx.x;
  second_table[t + shift] = x[t];
  y[t] = second_table[t + shift];
}

__constant__ float few[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__constant__ float many[2048] = {1};
// SAYS: constant variable 'few' (32 bytes); out of bounds; element 100
extern "C" __global__ void far_constant(const float* x, float* y, int shift) {
  int t = threadIdx.x;
  y[t] = x[t] * many[t] + few[(t & 7) + shift];  // BUG far_constant
}
extern "C" __global__ void far_constant_fixed(const float* x, float* y, int shift) {
  int t = threadIdx.x;
  y[t] = x[t] * many[t + shift] + few[t & 7];
}

// CALL: f32(32), 50 | 32 -> 32 | grid=1, block=32
// SAYS: shared memory 's' (128 bytes); out of bounds; element 50000
extern "C" __global__ void beyond_shared(const float* x, float* y, int shift) {
  __shared__ float s[32];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  y[t] = s[t + 1000 * shift];  // BUG beyond_shared
}
extern "C" __global__ void beyond_shared_fixed(const float* x, float* y, int shift) {
  __shared__ float s[32];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  y[t] = s[(t + 1000 * shift) % 32];
}

// Pointers to functions.
typedef float (*Operation)(float);
__device__ float twice(float v) { return v + v; }
__device__ float square(float v) { return v * v; }
__device__ Operation operations[] = {twice, square, nullptr};

// CALL: f32(32), 2 | 32 -> 32 | grid=1, block=32
// SAYS: holds no function; thread (16,0,0), block (0,0,0)
extern "C" __global__ void null_function(const float* x, float* y, int which) {
  int t = threadIdx.x;
  Operation f = operations[t < 16 ? 0 : which];
  y[t] = f(x[t]);  // BUG null_function
}
extern "C" __global__ void null_function_fixed(const float* x, float* y, int which) {
  int t = threadIdx.x;
  Operation f = operations[t < 16 ? 0 : which];
  y[t] = f ? f(x[t]) : 0.0f;
}

// CALL: f32(32), 8 | 32 -> 32 | grid=1, block=32
// SAYS: holds no function; thread (0,0,0), block (0,0,0)
extern "C" __global__ void wild_function(const float* x, float* y, int which) {
  int t = threadIdx.x;
  char* place = (char*)operations[t & 1];
  y[t] = ((Operation)(place + which))(x[t]);  // BUG wild_function
}
extern "C" __global__ void wild_function_fixed(const float* x, float* y, int which) {
  int t = threadIdx.x;
  char* place = (char*)operations[t & 1];
  y[t] = ((Operation)(place + 0 * which))(x[t]);
}

// The function takes fewer arguments than the pointer says.
typedef float (*Wide)(float, float, float);
// CALL: f32(32), 0 | 32 -> 32 | grid=1, block=32
// SAYS: of that many parameters
extern "C" __global__ void wrong_prototype(const float* x, float* y, int which) {
  int t = threadIdx.x;
  Wide f = (Wide)operations[which & 1];
  y[t] = f(x[t], 1.0f, 2.0f);  // BUG wrong_prototype
}

// An array among the parameters.
struct Weights {
  float w[4];
};
// CALL: i32(0, 3, 4, 2), rc.KernelArg.scalar(np.arange(4, dtype="f4")) | 4 -> 4 |
//   grid=1, block=4
// SAYS: parameter 'weights' (16 bytes); out of bounds; element 4; thread (2,0,0)
extern "C" __global__ void weighted(const int* x, Weights weights, float* y) {
  int t = threadIdx.x;
  y[t] = weights.w[x[t]];  // BUG weighted
}
extern "C" __global__ void weighted_fixed(const int* x, Weights weights, float* y) {
  int t = threadIdx.x;
  y[t] = weights.w[x[t] & 3];
}

// Unrolled, the array is in registers, and what is beyond it is gone before there is
// PTX.
// CALL: f32(32) | 32 -> 32 | grid=1, block=32
// SAYS: local memory of a thread (16 bytes); out of bounds; byte offset 16 (element 4)
extern "C" __global__ void unrolled(const float* x, float* y) {
  float part[4];
  int t = threadIdx.x;
  for (int i = 0; i <= 4; i++) part[i] = x[(t + i) & 31];  // BUG unrolled
  y[t] = part[0] + part[1] + part[2] + part[3];
}
extern "C" __global__ void unrolled_fixed(const float* x, float* y) {
  float part[4], tile[2][4];
  int t = threadIdx.x;
  for (int i = 0; i < 4; i++) part[i] = x[(t + i) & 31];
  for (int i = 0; i < 8; i++) tile[0][i] = part[i & 3];  // a row, and the next
  y[t] = tile[0][0] + tile[0][1] + tile[1][2] + tile[1][3];
}

// SAYS: local memory of a thread (16 bytes); out of bounds; byte offset -4 (element -1)
extern "C" __global__ void unrolled_below(const float* x, float* y) {
  float part[4] = {1, 2, 3, 4}, sum = 0;
  for (int i = 0; i < 4; i++) sum += part[i - 1] * x[i];  // BUG unrolled_below
  y[threadIdx.x] = sum;
}
extern "C" __global__ void unrolled_below_fixed(const float* x, float* y) {
  float part[4] = {1, 2, 3, 4}, sum = 0;
  for (float *at = part, *end = &part[4]; at != end; at++) sum += *at * x[at - part];
  y[threadIdx.x] = sum;
}
