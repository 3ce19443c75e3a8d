// alignment.cu: vectors at places that are no multiple of their size, and right uses
// of such places.

template <typename T, int N>
struct alignas(sizeof(T) * N) Pack {
  T part[N];
};
struct Four {
  float a, b, c, d;
};
struct __attribute__((packed)) Record {
  char kind;
  float4 value;
  int count;
};
#pragma pack(4)
struct Entry {
  int kind;
  float4 value;
};
#pragma pack()
__device__ float table[64];

extern "C" {

// CALL: f32(256), zeros(256, "f4") | 256, 256 | grid=1, block=32, in_out="y"

// SAYS: 's' (256; misaligned read of 16 bytes at byte offset 4;
//   thread (1,0,0), block (0,0,0); it needs a multiple of 16 bytes.
__global__ void cast_of_shared(const float* x, float* y) {
  __shared__ alignas(16) float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  s[t + 32] = x[t + 32];
  __syncthreads();
  float4 v = *(float4*)&s[t];  // BUG cast_of_shared
  y[t] = v.x + v.y + v.z + v.w;
}

// SAYS: 'tile'; misaligned read of 8 bytes at byte offset 156;
//   thread (1,0,0), block (0,0,0); it needs a multiple of 8 bytes.
__global__ void odd_row(const float* x, float* y) {
  __shared__ alignas(16) float tile[32][33];
  int t = threadIdx.x;
  for (int i = 0; i < 32; i++) tile[t][i] = x[i];
  __syncthreads();
  float2 v = reinterpret_cast<float2*>(tile[t])[3];  // BUG odd_row
  y[t] = v.x + v.y;
}

// SAYS: 's'; misaligned write of 16 bytes at byte offset 12;
//   thread (1,0,0), block (0,0,0); it needs a multiple of 16 bytes.
__global__ void vector_store(const float* x, float* y) {
  __shared__ alignas(16) float s[128];
  int t = threadIdx.x;
  *(float4*)&s[3 * t] = make_float4(x[t], 1, 2, 3);  // BUG vector_store
  __syncthreads();
  y[t] = s[t];
}

// SAYS: 's'; misaligned write of 4 bytes at byte offset 1;
//   thread (0,0,0), block (0,0,0); it needs a multiple of 4 bytes.
__global__ void number_in_bytes(const float* x, float* y) {
  __shared__ char s[300];
  int t = threadIdx.x;
  *(float*)&s[4 * t + 1] = x[t];  // BUG number_in_bytes
  __syncthreads();
  y[t] = *(float*)&s[4 * t + 1];
}

// SAYS: argument 'y' (float32[256]); misaligned write of 16 bytes at byte offset 8;
//   thread (0,0,0), block (0,0,0); it needs a multiple of 16 bytes.
__global__ void copied_vector(const float* x, float* y) {
  int t = threadIdx.x;
  float4* to = (float4*)(y + 2);
  to[t] = ((const float4*)x)[t];  // BUG copied_vector
}

// SAYS: argument 'x' (float32[256]); misaligned read of 16 bytes at byte offset 8;
//   thread (0,0,0), block (0,0,0); it needs a multiple of 16 bytes.
__global__ void copied_in(const float* x, float* y) {
  int t = threadIdx.x;
  const float4* from = (const float4*)(x + 2);
  float4 v = from[t];  // BUG copied_in
  ((float4*)y)[t] = v;
}

// SAYS: argument 'y' (float32[256]); misaligned write of 16 bytes at byte offset 24;
//   thread (1,0,0), block (0,0,0); it needs a multiple of 16 bytes.
__global__ void copied_out(const float* x, float* y) {
  int t = threadIdx.x;
  float4 v = ((const float4*)x)[t];
  v.x *= 2;
  if (t & 1) ((float4*)(y + 2))[t] = v;  // BUG copied_out
}

// SAYS: argument 'x' (float32[256]); misaligned read of 16 bytes at byte offset 8;
//   thread (0,0,0), block (0,0,0); it needs a multiple of 16 bytes.
__global__ void copied_pack(const float* x, float* y) {
  int t = threadIdx.x;
  Pack<double, 2> v = *(const Pack<double, 2>*)(x + 4 * t + 2);  // BUG copied_pack
  if (t < 31) *(Pack<double, 2>*)(y + 4 * t) = v;
}

// SAYS: 's'; misaligned read of 16 bytes at byte offset 24;
//   thread (1,0,0), block (0,0,0); it needs a multiple of 16 bytes.; Align the index
__global__ void pack(const float* x, float* y) {
  __shared__ alignas(16) float s[256];
  int t = threadIdx.x;
  for (int i = t; i < 256; i += 32) s[i] = x[i];
  __syncthreads();
  auto v = *reinterpret_cast<Pack<float, 4>*>(s + 6 * t);  // BUG pack
  y[t] = v.part[0] + v.part[1] + v.part[2] + v.part[3];
}

// SAYS: 'table'; misaligned read of 8 bytes at byte offset 4;
//   thread (0,0,0), block (0,0,0); it needs a multiple of 8 bytes.
__global__ void global_table(const float* x, float* y) {
  int t = threadIdx.x;
  float2 v = *(float2*)&table[t + 1];  // BUG global_table
  y[t] = x[t] + v.x * v.y;
}

// SAYS: 's' (256 bytes); misaligned write of 8 bytes at byte offset 0;
//   thread (0,0,0), block (0,0,0); it needs a multiple of 8 bytes.;
//   Declare it with alignas(8), or use a narrower type.
__global__ void unaligned_declaration(const float* x, float* y) {
  __shared__ char first[4], s[256];
  int t = threadIdx.x;
  if (t < 4) first[t] = t;
  *(double*)&s[8 * t] = x[t];  // BUG unaligned_declaration
  __syncthreads();
  y[t] = first[t & 3] + *(double*)&s[8 * (t ^ 1)];
}

// From here on nothing is wrong.

__global__ void all_aligned(const float* x, float* y) {
  __shared__ alignas(16) float s[128];
  int t = threadIdx.x;
  *(float4*)&s[4 * t] = ((const float4*)x)[t];
  __syncthreads();
  float4 v = ((float4*)s)[t ^ 1];
  float part[8];  // in registers, whatever its declaration promises
  for (int i = 0; i < 8; i++) part[i] = v.x * i;
  *(float4*)&y[8 * t] = *(float4*)&part[0];
  *(float4*)&y[8 * t + 4] = *(float4*)&part[4];
}

__global__ void first_part(const float* x, float* y) {
  int t = threadIdx.x;
  const float4* rows = (const float4*)x;
  float4 v = rows[t], w = rows[t ^ 1];
  if (t & 1) v = w;
  y[t] = t & 2 ? v.x : v.y;
}

__global__ void copied_bytes(const float* x, float* y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  s[t + 32] = x[t + 32];
  __syncthreads();
  float4 v;
  memcpy(&v, &s[t + 1], sizeof v);
  y[t] = v.x + v.w;
}

__global__ void packed_record(const float* x, float* y) {
  __shared__ Record s[32];
  int t = threadIdx.x;
  s[t].kind = 1;
  s[t].value = make_float4(x[t], 1, 2, 3);
  s[t].count = t;
  __syncthreads();
  float4 v = s[t ^ 1].value;
  y[t] = v.x + v.y + s[t ^ 1].count;
}

__global__ void packed_entry(const float* x, float* y) {
  __shared__ Entry s[32];
  __shared__ Entry one;
  int t = threadIdx.x;
  s[t].kind = 1;
  s[t].value = make_float4(x[t], 1, 2, 3);
  if (t == 0) one.value = make_float4(x[0], 1, 2, 3);
  __syncthreads();
  float4 v = s[t ^ 1].value;
  y[t] = v.x + v.y + one.value.z;
}

__global__ void plain_struct(const float* x, float* y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  s[t + 32] = x[t + 32];
  __syncthreads();
  Four v = *(Four*)&s[t + 1];
  y[t] = v.a + v.b + v.c + v.d;
}

__global__ void one_part(const float* x, float* y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  s[t + 32] = x[t + 32];
  __syncthreads();
  y[t] = ((float4*)&s[t + 1])->y;  // one float: no GPU objects
}
}
