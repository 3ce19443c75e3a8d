// philox.cu: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2,
// 3", SC 2011), one counter per thread.

extern "C" __global__ void philox(const uint4* __restrict__ counter,  // u32[n, 4]
                                  unsigned key0, unsigned key1,
                                  uint4* __restrict__ out,  // u32[n, 4]
                                  int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint4 c = counter[i];
  for (int round = 0; round < 10; round++) {
    unsigned high0 = __umulhi(0xD2511F53u, c.x);
    unsigned high1 = __umulhi(0xCD9E8D57u, c.z);
    c = make_uint4(high1 ^ c.y ^ key0, 0xCD9E8D57u * c.z, high0 ^ c.w ^ key1,
                   0xD2511F53u * c.x);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  out[i] = c;
}
