// image.cc: the table of images, and what is in the attribute that brings them.
#include "ffi/plan/image.h"

#include <cstring>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "ffi/base/counters.h"
#include "ffi/base/reader.h"

namespace jax_rawcuda {
namespace {

struct KeyHash {
  size_t operator()(const ImageKey& key) const {
    size_t hash[2];  // a digest's bits are as good as random already
    std::memcpy(&hash[0], key[0].data(), sizeof(size_t));
    std::memcpy(&hash[1], key[1].data(), sizeof(size_t));
    return hash[0] ^ hash[1];
  }
};

struct Table {
  std::mutex mutex;
  std::unordered_map<ImageKey, std::weak_ptr<Image>, KeyHash> images;
};

Table& GlobalTable() {
  static Table* table = new Table();  // leaked: images may die after statics
  return *table;
}

std::shared_ptr<Image> Find(const ImageKey& key) {
  Table& table = GlobalTable();
  std::lock_guard<std::mutex> lock(table.mutex);
  const auto found = table.images.find(key);
  return found == table.images.end() ? nullptr : found->second.lock();
}

// Returns the image that another thread has made meanwhile, if one has.
std::shared_ptr<Image> Insert(const ImageKey& key, std::string bytes,
                              std::vector<VariableValue> variables) {
  // Declared before the lock: an image's destructor takes the same one.
  auto image = std::make_shared<Image>(key, std::move(bytes), std::move(variables));
  Table& table = GlobalTable();
  std::lock_guard<std::mutex> lock(table.mutex);
  std::weak_ptr<Image>& slot = table.images[key];
  if (std::shared_ptr<Image> first = slot.lock()) return first;
  slot = image;
  return image;
}

ImageKey KeyOf(const ImageEntry& entry) {
  return {entry.code.digest, entry.variables ? entry.variables->digest : Digest{}};
}

Result<std::string> Load(const Blob& blob, std::string_view stored, InflateFn inflate,
                         const std::string& who) {
  Result<std::string> raw =
      inflate(stored.substr(blob.offset, blob.stored_size), blob.digest);
  ++GlobalCounters().inflate;
  if (!raw.ok()) {
    return Status(raw.status().code(), who + ": " + raw.status().message());
  }
  if (raw.value().size() != blob.raw_size) {
    return InvalidArgument(who + " has " + std::to_string(raw.value().size()) +
                           " bytes; the plan says " + std::to_string(blob.raw_size) +
                           ".");
  }
  return raw;
}

Result<std::vector<VariableValue>> DecodeVariables(std::string_view bytes,
                                                   const std::string& who) {
  Reader reader(bytes);
  std::vector<VariableValue> variables(reader.Count(2 * 4));
  for (VariableValue& variable : variables) {
    variable.symbol = reader.Text();
    variable.bytes = reader.Bytes();
  }
  if (!reader.failed() && reader.remaining() == 0) return variables;
  return InvalidArgument(who + ": malformed values of its variables.");
}

Result<std::shared_ptr<Image>> LoadImage(const ImageEntry& entry,
                                         std::string_view stored, InflateFn inflate,
                                         const std::string& who) {
  Result<std::string> code = Load(entry.code, stored, inflate, who);
  if (!code.ok()) return code.status();
  std::vector<VariableValue> variables;
  if (entry.variables) {
    const Result<std::string> raw =
        Load(*entry.variables, stored, inflate, who + "'s values");
    if (!raw.ok()) return raw.status();
    Result<std::vector<VariableValue>> decoded = DecodeVariables(raw.value(), who);
    if (!decoded.ok()) return decoded.status();
    variables = std::move(decoded.value());
  }
  return Insert(KeyOf(entry), std::move(code.value()), std::move(variables));
}

}  // namespace

Image::Image(const ImageKey& key, std::string bytes,
             std::vector<VariableValue> variables)
    : key_(key), bytes_(std::move(bytes)), variables_(std::move(variables)) {
  ++GlobalCounters().images;
}

Image::~Image() {
  --GlobalCounters().images;
  Table& table = GlobalTable();
  std::lock_guard<std::mutex> lock(table.mutex);
  const auto found = table.images.find(key_);
  // A successor may live under this key by now.
  if (found != table.images.end() && found->second.expired()) table.images.erase(found);
}

std::shared_ptr<CUlib_st> Image::library(int device) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = libraries_.find(Slot(device));
  return found == libraries_.end() ? nullptr : found->second;
}

std::shared_ptr<CUlib_st> Image::Publish(int device,
                                         std::shared_ptr<CUlib_st> library) {
  // A library that comes second is unloaded by its owner, after the lock.
  std::lock_guard<std::mutex> lock(mutex_);
  return libraries_.try_emplace(Slot(device), library).first->second;
}

Result<Images> AcquireImages(const Plan& plan, std::string_view stored,
                             InflateFn inflate) {
  Images images;
  for (const ImageEntry& entry : plan.images) {
    std::shared_ptr<Image> image = Find(KeyOf(entry));
    if (image == nullptr) {
      const std::string who =
          plan.op_name + ": module image " + std::to_string(images.size());
      Result<std::shared_ptr<Image>> loaded = LoadImage(entry, stored, inflate, who);
      if (!loaded.ok()) return loaded.status();
      image = std::move(loaded.value());
    }
    images.push_back(std::move(image));
  }
  return images;
}

}  // namespace jax_rawcuda
