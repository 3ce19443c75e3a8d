// copies.cu: what nobody has written, copied and used.

struct Item {
  int key;
  float value;
  int link, spare;
};
struct Node {
  int value;
  Node* next;
};

extern "C" {

// CALL: f32(32) | 32 -> 32 | grid=1, block=32

// Whole items move, but only the fields that have been written are used.
// SAYS: 'a' (512 bytes); that nothing has written; byte offset 504 (element 126)
__global__ void moved_items(const float* x, float* y) {
  __shared__ Item a[32], b[32];
  int t = threadIdx.x;
  a[t].key = t;
  a[t].value = x[t];
  __syncthreads();
  b[31 - t] = a[t];  // BUG moved_items
  __syncthreads();
  y[t] = b[t].value + (RIGHT ? b[t].key : b[t].link);
}

// SAYS: 'a'; that nothing has written; byte offset 48 (element 12); (0,0,0)
__global__ void sorted_items(const float* x, float* y) {
  __shared__ Item a[32];
  int t = threadIdx.x;
  a[t].value = x[t];
  if (RIGHT || t != 3) a[t].key = (int)(x[t] * 100);
  __syncthreads();
  if (t == 0) {
    for (int i = 0; i < 31; i++) {
      for (int j = 0; j < 31 - i; j++) {
        if (a[j].key > a[j + 1].key) {  // BUG sorted_items
          Item item = a[j];
          a[j] = a[j + 1];
          a[j + 1] = item;
        }
      }
    }
  }
  __syncthreads();
  y[t] = a[t].value;
}

// Through local memory, which has no shadow of its own.
// SAYS: 'a'; that nothing has written; thread (0,0,0)
__global__ void chosen_item(const float* x, float* y) {
  __shared__ Item a[32];
  int t = threadIdx.x;
  a[t].key = t;
  a[t].value = x[t];
  __syncthreads();
  Item mine[4];
  for (int i = 0; i < 4; i++) mine[i] = a[(t + i) & 31];  // BUG chosen_item
  int k = (int)(x[t] * 4) & 3;
  y[t] = mine[k].value + (RIGHT ? mine[k].key : mine[k].spare);
}

// The copy is written over before anybody reads it.
// SAYS: 'a'; that nothing has written; byte offset 64 (element 16)
__global__ void written_over(const float* x, float* y) {
  __shared__ float a[32], b[32];
  int t = threadIdx.x;
  if (t < 16) a[t] = x[t];
  __syncthreads();
  b[t] = a[t];  // BUG written_over
  __syncthreads();
  if (RIGHT && t >= 16) b[t] = x[t];
  __syncthreads();
  y[t] = b[t] * 2;
}

// A result shows what it is copied from.
// SAYS: 'a'; that nothing has written; byte offset 496 (element 124); (0,0,0)
__global__ void copied_out(const float* x, float* y) {
  __shared__ float4 a[32];
  int t = threadIdx.x;
  if (RIGHT || t < 31) a[t].x = x[t];
  __syncthreads();
  y[t] = a[31 - t].x;  // BUG copied_out
}

// SAYS: memory from malloc (16 bytes); that nothing has written; thread (3,0,0)
__global__ void heap_gap(const float* x, float* y) {
  int t = threadIdx.x;
  float* row = (float*)malloc(4 * sizeof(float));
  for (int i = 0; i < (RIGHT ? 4 : 3); i++) row[i] = x[t] * i;
  y[t] = row[t & 3] + row[0];  // BUG heap_gap
  free(row);
}

// SAYS: memory from malloc (128 bytes); that nothing has written
__global__ void heap_race(const float* x, float* y) {
  __shared__ float* team;
  int t = threadIdx.x;
  if (t == 0) team = (float*)malloc(32 * sizeof(float));
  __syncthreads();
  team[t] = x[t];
#if RIGHT
  __syncthreads();
#endif
  y[t] = team[t ^ 1];  // BUG heap_race
  __syncthreads();
  if (t == 0) free(team);
}

// The last thread frees what the others may still be reading.
// SAYS: memory from malloc (128 bytes); data race; not ordered
__global__ void freed_early(const float* x, float* y) {
  __shared__ float* team;
  int t = threadIdx.x;
  if (t == 0) team = (float*)malloc(32 * sizeof(float));
  __syncthreads();
  team[t] = x[t];
  __syncthreads();
  y[t] = team[31 - t];  // BUG freed_early
#if RIGHT
  __syncthreads();
#endif
  if (t == 31) free(team);  // BUG freed_early
}

// A list of which the last node has no end.
// SAYS: from malloc (16 bytes); that nothing has written; byte offset 8 (element 1)
__global__ void endless_list(const float* x, float* y) {
  Node* head = nullptr;
  int t = threadIdx.x, sum = 0;
  for (int i = 0; i < 3; i++) {
    Node* node = (Node*)malloc(sizeof(Node));
    node->value = i * t;
    if (RIGHT || i > 0) node->next = head;
    head = node;
  }
  for (Node* node = head; node != nullptr;) {
    Node* next = node->next;  // BUG endless_list
    sum += node->value;
    free(node);
    node = next;
  }
  y[t] = sum;
}
}
