// places.cu: kernels whose index leaves one variable for another, or whose call goes
// nowhere, and beside each one that is right. The line that a report must name ends in
// BUG and the kernel's name.

// The second array lies far enough to catch what leaves the first.
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
extern "C" __global__ void far_constant(const float* x, float* y, int shift) {
  int t = threadIdx.x;
  y[t] = x[t] * many[t] + few[(t & 7) + shift];  // BUG far_constant
}
extern "C" __global__ void far_constant_fixed(const float* x, float* y, int shift) {
  int t = threadIdx.x;
  y[t] = x[t] * many[t + shift] + few[t & 7];
}

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
extern "C" __global__ void wrong_prototype(const float* x, float* y, int which) {
  int t = threadIdx.x;
  Wide f = (Wide)operations[which & 1];
  y[t] = f(x[t], 1.0f, 2.0f);  // BUG wrong_prototype
}

// An array among the parameters.
struct Weights {
  float w[4];
};
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
