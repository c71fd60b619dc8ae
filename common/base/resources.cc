#include "common/base/resources.h"

#include <fmt/format.h>

#include <array>

#include "common/base/check.h"

namespace houtu {

Resources Resources::FromProto(const v1::Resources& message) {
  Resources out(message.cpu_millis(), message.memory_bytes());
  for (const auto& [kind, amount] : message.custom()) {
    out.set_custom(kind, amount);
  }
  return out;
}

v1::Resources Resources::ToProto() const {
  v1::Resources message;
  message.set_cpu_millis(cpu_millis_);
  message.set_memory_bytes(memory_bytes_);
  for (const auto& [kind, amount] : custom_) {
    (*message.mutable_custom())[kind] = amount;
  }
  return message;
}

int64_t Resources::custom(const std::string& kind) const {
  const auto it = custom_.find(kind);
  return it == custom_.end() ? 0 : it->second;
}

void Resources::set_custom(const std::string& kind, int64_t amount) {
  if (amount == 0) {
    custom_.erase(kind);
  } else {
    custom_[kind] = amount;
  }
}

bool Resources::FitsIn(const Resources& room) const {
  if (cpu_millis_ > room.cpu_millis_ || memory_bytes_ > room.memory_bytes_) {
    return false;
  }
  for (const auto& [kind, amount] : custom_) {
    if (amount > room.custom(kind)) {
      return false;
    }
  }
  return true;
}

Resources& Resources::operator+=(const Resources& other) {
  HOUTU_CHECK(!__builtin_add_overflow(cpu_millis_, other.cpu_millis_, &cpu_millis_) &&
                  !__builtin_add_overflow(memory_bytes_, other.memory_bytes_, &memory_bytes_),
              "sums of resources fit 64 bits");
  for (const auto& [kind, amount] : other.custom_) {
    int64_t sum = 0;
    HOUTU_CHECK(!__builtin_add_overflow(custom(kind), amount, &sum),
                "sums of resources fit 64 bits");
    set_custom(kind, sum);
  }
  return *this;
}

Resources& Resources::operator-=(const Resources& other) {
  HOUTU_CHECK(other.FitsIn(*this),
              "only what is there is taken: " + other.Describe() + " of " + Describe());
  cpu_millis_ -= other.cpu_millis_;
  memory_bytes_ -= other.memory_bytes_;
  const auto taken = other.custom_;  // a copy: `other` may be this very object
  for (const auto& [kind, amount] : taken) {
    set_custom(kind, custom(kind) - amount);
  }
  return *this;
}

std::weak_ordering Resources::operator<=>(const Resources& other) const {
  if (cpu_millis_ != other.cpu_millis_) {
    return cpu_millis_ <=> other.cpu_millis_;
  }
  if (memory_bytes_ != other.memory_bytes_) {
    return memory_bytes_ <=> other.memory_bytes_;
  }
  if (custom_ == other.custom_) {
    return std::weak_ordering::equivalent;
  }
  return custom_ < other.custom_ ? std::weak_ordering::less : std::weak_ordering::greater;
}

std::string Resources::Describe() const {
  std::string out =
      fmt::format("cpu {}, memory {}", DescribeCpu(cpu_millis_), DescribeBytes(memory_bytes_));
  for (const auto& [kind, amount] : custom_) {
    out += fmt::format(", {} {}", kind, amount);
  }
  return out;
}

std::string DescribeBytes(int64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"", "Ki", "Mi", "Gi", "Ti"};
  size_t unit = 0;
  while (unit + 1 < kUnits.size() && bytes != 0 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{}{}", bytes, kUnits[unit]);
}

std::string DescribeCpu(int64_t millis) {
  return millis % 1000 == 0 ? fmt::format("{}", millis / 1000) : fmt::format("{}m", millis);
}

}  // namespace houtu
