// struct_by_value.cu: a by-value struct with padding and a nested array.

struct Affine {
  unsigned char axes;  // 7 bytes of padding follow
  double scale;
  float matrix[3][4];
  int count;  // 4 bytes of padding follow
};

extern "C" __global__ void transform(const float* __restrict__ points,  // f32[n, 3]
                                     const Affine affine,
                                     float* __restrict__ out) {  // f32[n, 3]
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= affine.count) return;
  for (int r = 0; r < affine.axes; r++) {
    float sum = affine.matrix[r][3];
    for (int c = 0; c < 3; c++) sum += affine.matrix[r][c] * points[3 * i + c];
    out[3 * i + r] = (float)(sum * affine.scale);
  }
}
