// nbody.cu: one leapfrog step of n bodies under gravity, tiled through shared memory.
// Dynamic shared memory: one float4 per thread.

extern "C" __global__ void nbody_step(
    const float4* __restrict__ position,  // f32[n, 4]: x, y, z, mass
    const float4* __restrict__ velocity,  // f32[n, 4]: x, y, z, unused
    float dt, float softening,
    float4* __restrict__ new_position,  // f32[n, 4]
    float4* __restrict__ new_velocity,  // f32[n, 4]
    int n) {
  extern __shared__ float4 tile[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 me = i < n ? position[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  float3 force = make_float3(0.0f, 0.0f, 0.0f);
  for (int first = 0; first < n; first += blockDim.x) {
    int j = first + threadIdx.x;
    // A body of mass zero pulls nobody, so the ragged last tile needs no bounds check.
    tile[threadIdx.x] = j < n ? position[j] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    __syncthreads();
    for (int k = 0; k < blockDim.x; k++) {
      float dx = tile[k].x - me.x;
      float dy = tile[k].y - me.y;
      float dz = tile[k].z - me.z;
      float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
      float pull = tile[k].w * inverse * inverse * inverse;
      force.x += dx * pull;
      force.y += dy * pull;
      force.z += dz * pull;
    }
    __syncthreads();
  }
  if (i >= n) return;
  float4 v = velocity[i];
  v.x += dt * force.x;
  v.y += dt * force.y;
  v.z += dt * force.z;
  new_velocity[i] = v;
  new_position[i] =
      make_float4(me.x + dt * v.x, me.y + dt * v.y, me.z + dt * v.z, me.w);
}
