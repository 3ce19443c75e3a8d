// aligned_buffer.h: memory that only grows, aligned for any vector access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace jax_rawcuda {

class AlignedBuffer {
 public:
  // The strictest alignment that CUDA asks of shared memory.
  static constexpr std::align_val_t kAlignment{1024};

  // Holds at least `size` bytes from now on, without keeping the contents; false when
  // there is no memory.
  bool Reserve(size_t size) {
    if (size <= size_) return true;
    data_.reset();
    size_ = 0;
    data_.reset(static_cast<uint8_t*>(::operator new(size, kAlignment, std::nothrow)));
    if (data_ == nullptr) return false;
    size_ = size;
    return true;
  }

  uint8_t* data() const { return data_.get(); }
  size_t size() const { return size_; }

 private:
  struct Delete {
    void operator()(uint8_t* data) const { ::operator delete(data, kAlignment); }
  };
  std::unique_ptr<uint8_t, Delete> data_;
  size_t size_ = 0;
};

}  // namespace jax_rawcuda
