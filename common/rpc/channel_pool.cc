#include "common/rpc/channel_pool.h"

#include <grpcpp/create_channel.h>

#include "common/rpc/limits.h"

namespace houtu {
namespace {

/// Channels kept although nobody uses them just now.
constexpr size_t kIdleChannelsMax = 256;

int Millis(absl::Duration duration) {
  return static_cast<int>(absl::ToInt64Milliseconds(duration));
}

grpc::ChannelArguments Arguments() {
  grpc::ChannelArguments args;
  args.SetMaxReceiveMessageSize(kMessageBytesMax);
  args.SetMaxSendMessageSize(kMessageBytesMax);
  args.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, Millis(kKeepaliveInterval));
  args.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, Millis(kKeepaliveTimeout));
  args.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  args.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, Millis(kReconnectBackoffFirst));
  args.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, Millis(kReconnectBackoffMax));
  args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, Millis(kReconnectBackoffMax));
  return args;
}

}  // namespace

ChannelPool::ChannelPool(const TlsMaterial& tls)
    : credentials_(grpc::SslCredentials({.pem_root_certs = tls.ca,
                                         .pem_private_key = tls.key,
                                         .pem_cert_chain = tls.certificate})) {}

std::shared_ptr<grpc::Channel> ChannelPool::Get(const std::string& address) {
  const std::lock_guard lock(mutex_);
  if (channels_.size() > kIdleChannelsMax) {
    std::erase_if(channels_, [](const auto& entry) { return entry.second.use_count() == 1; });
  }
  std::shared_ptr<grpc::Channel>& channel = channels_[address];
  if (channel == nullptr) {
    channel = grpc::CreateCustomChannel(address, credentials_, Arguments());
  }
  return channel;
}

}  // namespace houtu
