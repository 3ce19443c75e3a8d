// context.h: what generated code reads and writes; jax_rawcuda/cpu/abi.py mirrors it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jax_rawcuda {

class Block;

// Value of Context::next for a thread that has exited.
inline constexpr int32_t kExited = -1;

inline constexpr uint32_t kWarpSize = 32;

// What a thread waits for between two regions (SyncPoint::kind).
enum class SyncKind : int32_t {
  kNone = 0,
  kBarrier = 1,     // sub: BarrierOperation; aux 1: barrier 0 of the whole block;
                    // immediate0: how many there are
  kWarpSync = 2,    //
  kShuffle = 3,     // sub: ShuffleMode; aux 1: lane and clamp are the immediates
  kVote = 4,        // sub: VoteMode
  kMatch = 5,       // sub 0: any, 1: all
  kActiveMask = 6,  //
  kRedux = 7,       // sub: ReduxOperation; aux 0: unsigned, 1: signed, 2: float
  kYield = 8,       // a spin loop has used up its budget
  kMma = 9,         // D = A B + C, see Product in matrix.cc
  kLdmatrix = 10,   // sub: matrices; aux bit 0: transposed, bit 1: shared addresses
  kElect = 11,      //
  kCluster = 12,    // sub 0: arrive, 1: wait
  kStmatrix = 13,   // as kLdmatrix
  kWmma = 14,       // as kMma, with fragments that wmma.load makes
  kLoop = 15,       // a cut that waits for nobody: the block walks a loop in step
  kMovmatrix = 16,  // transposes an 8x8 matrix
};

// The state of one block of threads. Generated code addresses the fields by offset.
struct Context {
  void* zero;          // always null: the base of generic and global addresses
  const void* params;  // the kernel's parameters at their offsets
  uint8_t* shared;
  uint8_t* local;     // frame_bytes per thread, thread after thread
  int32_t* next;      // per thread: the region to resume in, or kExited
  uint8_t* slots;     // live registers, as arrays over threads
  uint64_t* sync_in;  // operands of synchronisation points, as arrays over threads
  uint64_t* sync_out;
  uint32_t ntid[3];
  uint32_t nctaid[3];
  uint32_t ctaid[3];
  uint32_t thread_count;
  uint32_t thread_stride;  // elements between arrays over threads
  uint32_t dynamic_shared;
  uint32_t total_shared;
  int32_t spin_budget;  // loop iterations left before spinning threads yield
  void* spans;
  Block* block;
  uint64_t grid_id;
  uint32_t cluster_ctaid[3];
  uint32_t cluster_nctaid[3];
  uint32_t cluster_rank;
  uint32_t cluster_size;
  void* grid_workspace;
  int32_t faulted;       // set by a helper that has recorded a fault
  const void* stop;      // an int32_t, not zero once the launch has to end
  uint64_t stack_limit;  // address that the stack must not reach
};

static_assert(sizeof(void*) == 8, "generated code assumes 64-bit pointers");
static_assert(offsetof(Context, zero) == 0);
static_assert(offsetof(Context, params) == 8);
static_assert(offsetof(Context, shared) == 16);
static_assert(offsetof(Context, local) == 24);
static_assert(offsetof(Context, next) == 32);
static_assert(offsetof(Context, slots) == 40);
static_assert(offsetof(Context, sync_in) == 48);
static_assert(offsetof(Context, sync_out) == 56);
static_assert(offsetof(Context, ntid) == 64);
static_assert(offsetof(Context, nctaid) == 76);
static_assert(offsetof(Context, ctaid) == 88);
static_assert(offsetof(Context, thread_count) == 100);
static_assert(offsetof(Context, thread_stride) == 104);
static_assert(offsetof(Context, dynamic_shared) == 108);
static_assert(offsetof(Context, total_shared) == 112);
static_assert(offsetof(Context, spin_budget) == 116);
static_assert(offsetof(Context, spans) == 120);
static_assert(offsetof(Context, block) == 128);
static_assert(offsetof(Context, grid_id) == 136);
static_assert(offsetof(Context, cluster_ctaid) == 144);
static_assert(offsetof(Context, cluster_nctaid) == 156);
static_assert(offsetof(Context, cluster_rank) == 168);
static_assert(offsetof(Context, cluster_size) == 172);
static_assert(offsetof(Context, grid_workspace) == 176);
static_assert(offsetof(Context, faulted) == 184);
static_assert(offsetof(Context, stop) == 192);
static_assert(offsetof(Context, stack_limit) == 200);

}  // namespace jax_rawcuda
