// integers.cu: intrinsics on integers. Each kernel fills columns of `out`.

extern "C" __global__ void words(const unsigned* a, const unsigned* b, unsigned* out,
                                 int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, column = 0;
  unsigned x = a[i], y = b[i];
#define OUT(VALUE) out[column++ * n + i] = (unsigned)(VALUE)
  OUT(__brev(x));
  OUT(__byte_perm(x, y, 0x5140));
  OUT(__funnelshift_l(x, y, 7));
  OUT(__funnelshift_r(x, y, 40));
  OUT(__funnelshift_lc(x, y, 40));
  OUT(__umulhi(x, y));
  OUT(__mulhi((int)x, (int)y));
  OUT(__umul24(x, y));
  OUT(__popc(x));
  OUT(__clz(x >> 9));
  OUT(__ffs(x << 5));
  OUT(__sad((int)x, (int)y, 9u));
  OUT(__usad(x, y, 9u));
  OUT(__uhadd(x, y));
  OUT(__hadd((int)x, (int)y));
  OUT(__urhadd(x, y));
  OUT(__dp4a((int)x, (int)y, 7));
  OUT(__dp4a(x, y, 7u));
  OUT(__dp2a_lo((int)x, (int)y, -3));
  OUT(__dp2a_hi(x, y, 5u));
#undef OUT
}

// SIMD in a word: bytes and halfwords.
extern "C" __global__ void packed(const unsigned* a, const unsigned* b, unsigned* out,
                                  int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, column = 0;
  unsigned x = a[i], y = b[i];
#define OUT(NAME) out[column++ * n + i] = NAME(x, y)
  OUT(__vadd4);
  OUT(__vsub4);
  OUT(__vaddus4);
  OUT(__vaddss4);
  OUT(__vabsdiffu4);
  OUT(__vmaxs4);
  OUT(__vminu4);
  OUT(__vavgu4);
  OUT(__vcmpgtu4);
  OUT(__vsadu4);
  OUT(__vadd2);
  OUT(__vsubss2);
  OUT(__vmaxu2);
  OUT(__vcmples2);
  OUT(__vseteq4);
#undef OUT
}
