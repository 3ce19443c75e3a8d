// language.cu: what CUDA C++ adds, and what C++ brings along.

// Calls: recursion, tables of functions, virtual functions, structs by value.
__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__device__ __noinline__ float add_one(float x) { return x + 1; }
__device__ __noinline__ float twice(float x) { return x * 2; }
typedef float (*Function)(float);
__device__ Function functions[2] = {add_one, twice};

struct Shape {
  __device__ virtual float area() const = 0;
};
struct Square : Shape {
  float side;
  __device__ Square(float side) : side(side) {}
  __device__ float area() const override { return side * side; }
};
struct Disc : Shape {
  float radius;
  __device__ Disc(float radius) : radius(radius) {}
  __device__ float area() const override { return 3.0f * radius * radius; }
};
struct Triple {
  float a, b, c;
};
__device__ __noinline__ Triple spread(float s, const Triple& t) {
  return Triple{s + t.a, s * t.b, s - t.c};
}
extern "C" __global__ void calls(const int* x, int* recursion, float* table,
                                 float* area, float* sum) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  recursion[i] = fibonacci(x[i]);
  table[i] = functions[x[i] & 1](x[i]);
  Square square(x[i]);
  Disc disc(x[i]);
  const Shape* shape = x[i] % 3 ? (const Shape*)&square : &disc;
  area[i] = shape->area();
  Triple t = spread(x[i], Triple{1, 2, 3});
  sum[i] = t.a + t.b + t.c;
}

// Memory from the heap, with constructors; a list that later threads walk.
struct Node {
  int value;
  Node* next;
};
extern "C" __global__ void heap(const int* x, int* sum, int* squares, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Node* list = nullptr;
  for (int j = 0; j < n; ++j) list = new Node{x[i] + j, list};
  int total = 0;
  while (list) {
    Node* next = list->next;
    total += list->value;
    delete list;
    list = next;
  }
  sum[i] = total;
  int* memory = (int*)malloc(n * sizeof(int));
  memset(memory, 0, n * sizeof(int));
  for (int j = 0; j < n; ++j) memory[j] += x[i] * j;
  int* copy = new int[n];
  memcpy(copy, memory, n * sizeof(int));
  free(memory);
  total = 0;
  for (int j = 0; j < n; ++j) total += copy[j];
  delete[] copy;
  squares[i] = total;
}

// A jump table, and loops with several exits.
extern "C" __global__ void jumps(const int* op, const float* x, float* y, int* counts) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i], r = 0;
  switch (op[i]) {
    case 0:
      r = v + 1;
      atomicAdd(counts, 1);
      break;
    case 1:
      r = v * 2;
      atomicAdd(counts + 1, 2);
      break;
    case 2:
      r = -v;
      break;
    case 3:
      r = v * v;
      atomicSub(counts + 3, 1);
      break;
    case 4:
      r = v - 3;
      atomicAdd(counts + 4, 5);
      break;
    case 5:
      r = v / 2;
      break;
    case 6:
      r = fabsf(v);
      atomicMax(counts + 6, i);
      break;
    case 7:
      r = v * v * v;
      break;
    case 8:
      r = 7;
      atomicOr(counts + 8, 1 << (i & 7));
      break;
    default:
      r = 0;
  }
  y[i] = r;
}
extern "C" __global__ void jump_table(const int* op, int* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  asm("{\n\t"
      "targets: .branchtargets zero, one, two;\n\t"
      "brx.idx %1, targets;\n"
      "zero:\n\tmov.u32 %0, 10;\n\tbra done;\n"
      "one:\n\tmov.u32 %0, 20;\n\tbra done;\n"
      "two:\n\tmov.u32 %0, 30;\n"
      "done:\n\t}"
      : "=r"(y[i])
      : "r"(op[i]));
}

// Templates, lambdas, constexpr, a fold, structured bindings, an `if constexpr`.
template <typename F, typename... T>
__device__ auto fold(F f, T... values) {
  return (f(values) + ...);
}
__device__ constexpr int factorial(int n) { return n ? n * factorial(n - 1) : 1; }
template <typename T, int N>
struct Vec {
  T v[N];
  __device__ Vec operator+(const Vec& o) const {
    Vec r;
#pragma unroll
    for (int i = 0; i < N; ++i) r.v[i] = v[i] + o.v[i];
    return r;
  }
};
template <typename T>
__device__ T halved(T x) {
  if constexpr (sizeof(T) == 4)
    return x / 2;
  else
    return x / 2 + 1;
}
struct Pair {
  int low, high;
};
extern "C" __global__ void modern(const int* x, int* folded, double* summed,
                                  int* bound) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, offset = x[i];
  auto shifted = [=](int v) { return v * factorial(4) + offset; };
  folded[i] = fold(shifted, 1, 2, 3);
  Vec<double, 3> a{1.5, 2.5, (double)x[i]}, b{1, 1, 1};
  summed[i] = halved((a + b).v[2]);
  auto [low, high] = Pair{min(x[i], 3), max(x[i], 3)};
  bound[i] = low * 100 + high;
}

// A function object as template and kernel argument.
struct Power {
  int exponent;
  template <typename T>
  __device__ T operator()(T x) const {
    T r = 1;
    for (int i = 0; i < exponent; ++i) r *= x;
    return r;
  }
};
struct Squared {
  template <typename T>
  __device__ T operator()(T x) const {
    return x * x;
  }
};
template <typename T, int PerThread, typename F>
__global__ void mapped(const T* x, T* y, int n, F f) {
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * PerThread;
#pragma unroll
  for (int k = 0; k < PerThread; ++k) {
    if (first + k < n) y[first + k] = f(x[first + k]) + T(k);
  }
}

// Memory of the module: constants, tables, counters that blocks share.
__constant__ float coefficients[4] = {1.0f, -2.0f, 0.5f, 3.0f};
__constant__ int shift = 2;
__device__ float table[4] = {10.0f, 20.0f, 30.0f, 40.0f};
extern "C" __global__ void constants(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 4; ++k) sum = sum * x[i] + coefficients[(k + shift) % 4];
  y[i] = sum + table[i & 3];
}

struct Parameters {
  float scale;
  int offset;
  float weights[4];
};
extern "C" __global__ void __launch_bounds__(128, 2)
    bounded(const float* __restrict__ x, float* __restrict__ y,
            const __grid_constant__ Parameters p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float* weights = p.weights;
  y[i] = p.scale * x[i] + p.offset + weights[i & 3];
}

// Local arrays that are indexed at run time, across a barrier.
extern "C" __global__ void local_arrays(const int* index, int* y) {
  __shared__ int shared[128];
  int a[32], i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 32; ++k) a[k] = k * k + i;
#pragma unroll 1
  for (int k = 0; k < 32; ++k) {
    int j = (index[i] + k * 7) & 31, t = a[j];
    a[j] = a[k];
    a[k] = t;
  }
  shared[threadIdx.x] = a[index[i] & 31];
  __syncthreads();
  int sum = shared[127 - threadIdx.x];
  for (int k = 0; k < 32; ++k) sum += a[k] * (k + 1);
  y[i] = sum;
}

// Clocks, registers of the machine, cache hints, prefetches.
extern "C" __global__ void machine(const int* x, int* y, long long* ticks) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  long long start = clock64(), wall, wall_end;
  clock_t low = clock();
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(wall));
  __nanosleep(100);
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(wall_end));
  ticks[i] = clock64() > start && wall > 0 && wall_end >= wall && clock() - low > 0;
  unsigned lane, warp, sm, count;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
  asm("mov.u32 %0, %%smid;" : "=r"(sm));
  asm("mov.u32 %0, %%nsmid;" : "=r"(count));
  asm volatile("prefetch.global.L1 [%0];" ::"l"(x + i));
  asm volatile("prefetchu.L1 [%0];" ::"l"(x + i));
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;");
  int sum = __ldg(x + i) + __ldca(x + i) + __ldcg(x + i) + __ldcs(x + i) +
            __ldlu(x + i) + __ldcv(x + i);
  __stcs(y + i, sum + (int)lane * 1000 + (sm < count ? 0 : 1));
  __stwt(&y[i], y[i] + (int)(warp * 0));
}
