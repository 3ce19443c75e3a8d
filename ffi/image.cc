#include "ffi/image.h"

#include <cstring>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "ffi/counters.h"

namespace jax_rawcuda {
namespace {

struct DigestHash {
  size_t operator()(const Digest& digest) const {
    size_t hash;  // a digest's bits are as good as random already
    std::memcpy(&hash, digest.data(), sizeof(hash));
    return hash;
  }
};

struct Table {
  std::mutex mutex;
  std::unordered_map<Digest, std::weak_ptr<Image>, DigestHash> images;
};

Table& GlobalTable() {
  static Table* table = new Table();  // leaked: images may die after statics
  return *table;
}

std::shared_ptr<Image> Find(const Digest& digest) {
  Table& table = GlobalTable();
  std::lock_guard<std::mutex> lock(table.mutex);
  const auto found = table.images.find(digest);
  return found == table.images.end() ? nullptr : found->second.lock();
}

// Returns the image that another thread has made meanwhile, if one has.
std::shared_ptr<Image> Insert(const Digest& digest, std::string bytes) {
  // Declared before the lock: an image's destructor takes the same one.
  auto image = std::make_shared<Image>(digest, std::move(bytes));
  Table& table = GlobalTable();
  std::lock_guard<std::mutex> lock(table.mutex);
  std::weak_ptr<Image>& slot = table.images[digest];
  if (std::shared_ptr<Image> first = slot.lock()) return first;
  slot = image;
  return image;
}

}  // namespace

Image::Image(const Digest& digest, std::string bytes)
    : digest_(digest), bytes_(std::move(bytes)) {
  ++GlobalCounters().images;
}

Image::~Image() {
  --GlobalCounters().images;
  Table& table = GlobalTable();
  std::lock_guard<std::mutex> lock(table.mutex);
  const auto found = table.images.find(digest_);
  // A successor may live under this digest by now.
  if (found != table.images.end() && found->second.expired()) table.images.erase(found);
}

std::shared_ptr<CUlib_st> Image::library() const { return std::atomic_load(&library_); }

std::shared_ptr<CUlib_st> Image::Publish(std::shared_ptr<CUlib_st> library) {
  std::shared_ptr<CUlib_st> kept;
  if (std::atomic_compare_exchange_strong(&library_, &kept, library)) return library;
  return kept;
}

Result<Images> AcquireImages(const Plan& plan, std::string_view stored,
                             InflateFn inflate) {
  Images images;
  for (const ImageEntry& entry : plan.images) {
    std::shared_ptr<Image> image = Find(entry.digest);
    if (image == nullptr) {
      Result<std::string> raw =
          inflate(stored.substr(entry.offset, entry.stored_size), entry.digest);
      ++GlobalCounters().inflate;
      const std::string who =
          plan.op_name + ": module image " + std::to_string(images.size());
      if (!raw.ok()) {
        return Status(raw.status().code(), who + ": " + raw.status().message());
      }
      if (raw.value().size() != entry.raw_size) {
        return InvalidArgument(who + " has " + std::to_string(raw.value().size()) +
                               " bytes; the plan says " +
                               std::to_string(entry.raw_size) + ".");
      }
      image = Insert(entry.digest, std::move(raw.value()));
    }
    images.push_back(std::move(image));
  }
  return images;
}

}  // namespace jax_rawcuda
