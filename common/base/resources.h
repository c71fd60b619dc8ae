// Amounts of resources as exact integers: free + used is the capacity, always (C18).
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "absl/container/btree_map.h"
#include "houtu/v1/resources.pb.h"

namespace houtu {

/// CPU in millicores, memory in bytes, further kinds in units. No kind is stored with amount 0.
class Resources {
 public:
  Resources() = default;
  Resources(int64_t cpu_millis, int64_t memory_bytes)
      : cpu_millis_(cpu_millis), memory_bytes_(memory_bytes) {}

  static Resources FromProto(const v1::Resources& message);
  v1::Resources ToProto() const;

  int64_t cpu_millis() const { return cpu_millis_; }
  int64_t memory_bytes() const { return memory_bytes_; }
  int64_t custom(const std::string& kind) const;
  const absl::btree_map<std::string, int64_t>& customs() const { return custom_; }
  void set_custom(const std::string& kind, int64_t amount);

  /// Whether this much fits into `room`, kind by kind.
  bool FitsIn(const Resources& room) const;

  Resources& operator+=(const Resources& other);
  /// Precondition: other fits into *this. Amounts never fall below 0.
  Resources& operator-=(const Resources& other);
  friend Resources operator+(Resources a, const Resources& b) { return a += b; }
  friend Resources operator-(Resources a, const Resources& b) { return a -= b; }

  bool operator==(const Resources&) const = default;
  std::weak_ordering operator<=>(const Resources& other) const;

  /// "cpu 500m, memory 64Mi, gpu 1".
  std::string Describe() const;

 private:
  int64_t cpu_millis_ = 0;
  int64_t memory_bytes_ = 0;
  absl::btree_map<std::string, int64_t> custom_;
};

/// "1Gi", "1536Mi", "1000": the shortest exact form with a binary unit.
std::string DescribeBytes(int64_t bytes);

/// "500m", "2": millicores as they are written.
std::string DescribeCpu(int64_t millis);

}  // namespace houtu
