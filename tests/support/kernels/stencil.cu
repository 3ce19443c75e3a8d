// stencil.cu: one explicit step of the heat equation on a 3-D grid; the faces are
// copied.

template <typename T>
__global__ void heat(const T* __restrict__ u,  // T[d, h, w]
                     T rate,
                     T* __restrict__ out,  // T[d, h, w]
                     int d, int h, int w) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= w || y >= h || z >= d) return;
  size_t plane = (size_t)h * w;
  size_t i = z * plane + (size_t)y * w + x;
  bool inside = x > 0 && x < w - 1 && y > 0 && y < h - 1 && z > 0 && z < d - 1;
  if (!inside) {
    out[i] = u[i];
    return;
  }
  T around = u[i - 1] + u[i + 1] + u[i - w] + u[i + w] + u[i - plane] + u[i + plane];
  out[i] = u[i] + rate * (around - T(6) * u[i]);
}
