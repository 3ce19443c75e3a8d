"""Bits of NaN: arithmetic on the CPU gives the device's, copies keep their own."""

from __future__ import annotations

import numpy as np
import pytest
from support.elementwise import elementwise

pytest.importorskip("llvmlite")

CANONICAL = 0x7FFFFFFF
NANS = np.array(
    [0x7FC00005, 0xFFC00005, 0x7F800003, 0xFF912345, 0x7FFFFFFF, 0xFFFFFFFF, 0x7FC00000]
    * 8,
    np.uint32,
)
COPIES = {
    "load and store": "p1[i] = p0[i];",
    "selection": "float a = p0[i]; p1[i] = a > 0.0f ? 1.0f : a;",
    "minimum with a number": "p1[i] = fminf(p0[i], 2.0f) == 2.0f ? p0[i] : 0.0f;",
    "bits": "p1[i] = __uint_as_float(__float_as_uint(p0[i]));",
    "pair": "float2 a = make_float2(p0[i], p0[i]); p1[i] = a.y;",
    "local array": "float a[4]; a[i & 3] = p0[i]; p1[i] = a[i & 3];",
}
RESULTS = {
    "sum": "p1[i] = p0[i] + 1.0f;",
    "negation of a sum": "p1[i] = -(p0[i] + 1.0f);",
    "size of a sum": "p1[i] = fabsf(p0[i] + 1.0f);",
    "root": "p1[i] = sqrtf(p0[i]);",
    "root of a negative number": "p1[i] = sqrtf(p0[i] == 0.0f ? 1.0f : -2.0f);",
    "infinities": "float a = __int_as_float(0x7f800000); p1[i] = a - fmaxf(p0[i], a);",
    "loop": "float s = 0.0f; for (int k = 0; k < 3; k++) s += p0[i]; p1[i] = s;",
    "bits of a product": "p1[i] = __uint_as_float(__float_as_uint(p0[i] * 2.0f));",
    "shuffle": "p1[i] = __shfl_xor_sync(__activemask(), p0[i] * 2.0f, 0);",
    "wider": "p1[i] = (float)(double)(p0[i] * 2.0f);",
    "choice": "p1[i] = i & 1 ? p0[i] * 2.0f : p0[i] + 1.0f;",
    "library": "p1[i] = fmodf(p0[i], 3.0f);",
    "vector": "*(float4*)&p1[i & ~3] = make_float4(p0[i] * 2.0f, p0[i] + 1.0f, "
    "p0[i] - 1.0f, p0[i] / 3.0f);",
    "local array": "float a[4]; a[i & 3] = p0[i] * 2.0f; p1[i] = a[i & 3];",
}


def bits(body):
    zeros = np.zeros(len(NANS), np.float32)
    _, result = elementwise(body, NANS.view(np.float32), zeros)
    return result.view(np.uint32)


# Integers whose bits are those of a NaN, in the registers of f32 results: `x` on odd
# lanes, the bits of `2 * f` on even ones.
MIXED = {
    "choice": "p2[i] = odd ? x : __float_as_int(2.0f * f);",
    "branches": "int r; if (odd) r = x; else r = __float_as_int(2.0f * f); p2[i] = r;",
    "switch": """int r;
      switch (i % 4) {
        case 0: r = __float_as_int(2.0f * f); break;
        case 2: r = __float_as_int(f + f); break;
        default: r = x;
      }
      p2[i] = r;""",
    "union": """union { int i; float f; } u;
      if (odd) u.i = x; else u.f = f + f;
      p2[i] = u.i;""",
    "record": """struct { bool whole; union { int i; float f; }; } v = {odd};
      if (odd) v.i = x + 5; else v.f = sqrtf(4.0f * f * f) * (f < 0.0f ? -1.0f : 1.0f);
      p2[i] = v.whole ? v.i - 5 : __float_as_int(v.f);""",
    "loop": """int r = odd ? x : __float_as_int(f);
      for (int k = 0; k < !odd; k++) r = __float_as_int(2.0f * __int_as_float(r));
      p2[i] = r;""",
    "array": """int r[2] = {__float_as_int(2.0f * f), x};
      p2[i] = r[odd];""",
    "shuffle": """int r = odd ? x : __float_as_int(2.0f * f);
      p2[i] = __shfl_xor_sync(__activemask(), r, 0);""",
    "barrier": """int r = odd ? x : __float_as_int(2.0f * f);
      __syncthreads();
      p2[i] = r;""",
    "guarded copy": """int r;
      asm("{.reg .pred q; setp.ne.s32 q, %3, 0; mul.f32 %0, %1, 0f40000000;"
          " @q mov.b32 %0, %2;}"
          : "=&r"(r) : "r"(__float_as_int(f)), "r"(x), "r"((int)odd));
      p2[i] = r;""",
    "guarded product": """int r = x;
      asm("{.reg .pred q; setp.eq.s32 q, %2, 0; @q mul.f32 %0, %1, 0f40000000;}"
          : "+r"(r) : "r"(__float_as_int(f)), "r"((int)odd));
      p2[i] = r;""",
    "sign set and cleared": """unsigned u = odd ? x : __float_as_int(2.0f * f);
      p1[i] = __uint_as_float(u) + 1.0f;
      unsigned size = u & 0x7fffffffu, sign = u & 0x80000000u;
      float turned = __uint_as_float(size | 0x80000000u);
      p2[i] = __float_as_uint(i % 3 ? turned : f) & 0x7fffffffu | sign;
      if (i % 3 == 0) p2[i] = u;""",
    "sign changed twice": """int r = odd ? x : __float_as_int(2.0f * f);
      float a = __int_as_float(r);
      float b = __uint_as_float(__float_as_uint(a) ^ 0x80000000u);
      b = i % 4 < 2 ? b : a;
      p2[i] = i % 4 < 2 ? __float_as_uint(b) ^ 0x80000000u : __float_as_uint(b);""",
    "pair": """long long r;
      asm("mov.b64 %0, {%1, %2};" : "=l"(r) : "r"(__float_as_int(2.0f * f)), "r"(x));
      p2[i] = odd ? (int)(r >> 32) : (int)r;""",
}


@pytest.mark.parametrize("body", MIXED.values(), ids=MIXED)
def test_integers_in_the_registers_of_results_stay(body, rng):
    count = 256  # a block, for the barrier
    x = rng.integers(-(1 << 23) + 1, 0, count).astype(np.int32)
    f = rng.standard_normal(count).astype(np.float32)
    f[::8] = np.nan
    head = "bool odd = i & 1; int x = p0[i]; float f = p1[i]; "
    *_, result = elementwise(head + body, x, f, np.zeros(count, np.int32))
    doubled = (2 * f).view(np.int32)
    doubled[np.isnan(f)] = CANONICAL
    np.testing.assert_array_equal(result, np.where(np.arange(count) & 1, x, doubled))


@pytest.mark.parametrize("body", COPIES.values(), ids=COPIES)
def test_copies_keep_their_bits(body):
    np.testing.assert_array_equal(bits(body), NANS)


@pytest.mark.parametrize("body", RESULTS.values(), ids=RESULTS)
def test_arithmetic_has_one_nan(body):
    assert set(bits(body).tolist()) == {CANONICAL}
