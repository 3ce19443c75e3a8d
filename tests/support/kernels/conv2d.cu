// conv2d.cu: convolution of an image of several channels, zeros outside of it. A block
// of 16 x 16 threads computes all output channels of its pixels in registers; a channel
// of the image, with a margin, and its weights are in shared memory.

template <int K, int Out>
__global__ void conv2d(const float* __restrict__ x,        // f32[channels, h, w]
                       const float* __restrict__ weights,  // f32[Out, channels, K, K]
                       float* __restrict__ y,              // f32[Out, h, w]
                       int channels, int h, int w) {
  constexpr int kTile = 16, kSide = kTile + K - 1, kTaps = K * K;
  __shared__ float image[kSide][kSide];
  __shared__ float filter[Out][kTaps];
  int rank = threadIdx.y * kTile + threadIdx.x;
  int row = blockIdx.y * kTile + threadIdx.y;
  int column = blockIdx.x * kTile + threadIdx.x;
  float sums[Out] = {};
  for (int channel = 0; channel < channels; channel++) {
    for (int i = rank; i < kSide * kSide; i += kTile * kTile) {
      int r = (int)blockIdx.y * kTile + i / kSide - K / 2;
      int c = (int)blockIdx.x * kTile + i % kSide - K / 2;
      bool inside = r >= 0 && r < h && c >= 0 && c < w;
      image[i / kSide][i % kSide] =
          inside ? __ldg(&x[((size_t)channel * h + r) * w + c]) : 0.0f;
    }
    for (int i = rank; i < Out * kTaps; i += kTile * kTile) {
      size_t plane = (size_t)(i / kTaps) * channels + channel;
      filter[i / kTaps][i % kTaps] = weights[plane * kTaps + i % kTaps];
    }
    __syncthreads();
    for (int i = 0; i < K; i++) {
      for (int j = 0; j < K; j++) {
        float value = image[threadIdx.y + i][threadIdx.x + j];
#pragma unroll
        for (int o = 0; o < Out; o++) sums[o] += value * filter[o][i * K + j];
      }
    }
    __syncthreads();
  }
  if (row >= h || column >= w) return;
  for (int o = 0; o < Out; o++) y[((size_t)o * h + row) * w + column] = sums[o];
}
