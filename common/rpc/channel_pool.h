// ChannelPool: one mTLS connection per address, shared by every caller in the process.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/security/credentials.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "common/rpc/tls_material.h"

namespace houtu {

/// Thread-safe. Channels connect when first used and reconnect by themselves; one that nobody uses
/// any more is dropped at the next Get.
class ChannelPool {
 public:
  explicit ChannelPool(const TlsMaterial& tls);

  /// The channel to host:port; the server's certificate must name that host.
  std::shared_ptr<grpc::Channel> Get(const std::string& address);

 private:
  std::mutex mutex_;
  std::shared_ptr<grpc::ChannelCredentials> credentials_;
  std::map<std::string, std::shared_ptr<grpc::Channel>> channels_;
};

}  // namespace houtu
