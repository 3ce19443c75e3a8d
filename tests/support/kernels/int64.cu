// int64.cu: 64-bit integer arithmetic.

extern "C" __global__ void int64_ops(
    const long long* __restrict__ a,  // i64[n]
    const long long* __restrict__ b,  // i64[n], non-zero
    long long* __restrict__ quotient, long long* __restrict__ remainder,  // i64[n]
    long long* __restrict__ high,            // i64[n], upper half of the product
    unsigned long long* __restrict__ mixed,  // u64[n], shifts and bit counts
    int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  quotient[i] = a[i] / b[i];
  remainder[i] = a[i] % b[i];
  high[i] = __mul64hi(a[i], b[i]);
  unsigned long long bits = (unsigned long long)a[i];
  mixed[i] = (bits << 7 | bits >> 57) + __popcll(bits) + 64 * __clzll(b[i]);
}
