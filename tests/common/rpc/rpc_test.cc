// Real calls over mTLS on the loopback: who gets through, deadlines, limits, streams.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/time/clock.h"
#include "common/base/check.h"
#include "common/base/status.h"
#include "common/rpc/call.h"
#include "common/rpc/caller.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/server.h"
#include "common/rpc/status.h"
#include "common/rpc/stream.h"
#include "houtu/v1/agent_master_service.grpc.pb.h"
#include "houtu/v1/client_service.grpc.pb.h"
#include "tests/common/rpc/test_pki.h"

namespace houtu {
namespace {

using ::testing::HasSubstr;

/// Answers GetJob by a function.
class AnsweringService final : public v1::ClientService::CallbackService {
 public:
  std::function<void(grpc::ServerUnaryReactor*, const grpc::CallbackServerContext&,
                     v1::GetJobResponse*)>
      on_get;
  grpc::ServerUnaryReactor* GetJob(grpc::CallbackServerContext* context, const v1::GetJobRequest*,
                                   v1::GetJobResponse* response) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    on_get(reactor, *context, response);
    return reactor;
  }
};

/// Hands each session's stream to a function, which sets its events.
class StreamingService final : public v1::AgentMasterService::CallbackService {
 public:
  using Stream = ServerStream<v1::AgentMessage, v1::MasterCommand>;
  explicit StreamingService(EventLoop* loop) : loop_(loop) {}

  std::function<void(const std::shared_ptr<Stream>&)> on_session;
  grpc::ServerBidiReactor<v1::AgentMessage, v1::MasterCommand>* Session(
      grpc::CallbackServerContext*) override {
    const std::shared_ptr<Stream> stream = Stream::Create(loop_);
    on_session(stream);
    return stream.get();
  }

 private:
  EventLoop* const loop_;
};

class RpcTest : public ::testing::Test {
 protected:
  RpcTest() : streaming_(&loop_) {
    auto server =
        RpcServer::Start("127.0.0.1:0", pki_.Issue("houtu:master/dc1"), {&answering_, &streaming_});
    HOUTU_CHECK(server.ok(), server.status().ToString());
    server_ = *std::move(server);
    address_ = fmt::format("127.0.0.1:{}", server_->port());
    answering_.on_get = [](auto* reactor, const auto& context, v1::GetJobResponse* response) {
      const absl::StatusOr<Identity> caller = RequireRole(context, {Role::kClient});
      if (caller.ok()) response->mutable_status()->set_account(caller->account);
      reactor->Finish(ToGrpc(caller.status()));
    };
  }

  absl::StatusOr<v1::GetJobResponse> Get(const std::shared_ptr<grpc::Channel>& channel,
                                         const std::string& job = "j",
                                         absl::Duration deadline = absl::Seconds(10)) {
    const auto stub = v1::ClientService::NewStub(channel);
    grpc::ClientContext context;
    SetDeadline(&context, deadline);
    v1::GetJobRequest request;
    request.set_job(job);
    v1::GetJobResponse response;
    const grpc::Status status = stub->GetJob(&context, request, &response);
    if (!status.ok()) return FromGrpc(status);
    return response;
  }

  TestPki pki_;
  EventLoop loop_;
  AnsweringService answering_;
  StreamingService streaming_;
  std::string address_;
  std::unique_ptr<RpcServer> server_;
  ChannelPool alice_{pki_.Issue("houtu:client/alice")};
};

TEST_F(RpcTest, TheRoleIsReadFromTheCertificatesUri) {
  EXPECT_EQ(Get(alice_.Get(address_))->status().account(), "alice");
  ChannelPool agent(pki_.Issue("houtu:agent/dc1/n1"));
  const absl::Status refused = Get(agent.Get(address_)).status();
  EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
  EXPECT_EQ(Message(refused), "agent dc1/n1 may not make this call");
  ChannelPool nobody(pki_.Issue("urn:nobody"));
  EXPECT_TRUE(absl::IsUnauthenticated(Get(nobody.Get(address_)).status()));
}

TEST_F(RpcTest, WithoutACertificateOfOursNobodyGetsThrough) {
  answering_.on_get = [](auto* reactor, const auto&, auto*) {
    ADD_FAILURE() << "a call got through";
    reactor->Finish(grpc::Status::OK);
  };
  const std::string ca = pki_.Issue("houtu:client/alice").ca;
  TlsMaterial foreign = TestPki().Issue("houtu:client/alice");
  foreign.ca = ca;
  ChannelPool foreigner(foreign);
  const std::shared_ptr<grpc::Channel> channels[] = {
      grpc::CreateChannel(address_, grpc::InsecureChannelCredentials()),
      grpc::CreateChannel(address_,
                          grpc::SslCredentials(
                              {.pem_root_certs = ca, .pem_private_key = "", .pem_cert_chain = ""})),
      foreigner.Get(address_)};
  for (const auto& channel : channels) {
    EXPECT_TRUE(absl::IsUnavailable(Get(channel).status()));
  }
}

TEST_F(RpcTest, AServerOfAnotherAuthorityIsNotBelieved) {
  TestPki other;
  AnsweringService service;
  auto impostor = RpcServer::Start("127.0.0.1:0", other.Issue("houtu:master/dc1"), {&service});
  ASSERT_TRUE(impostor.ok()) << impostor.status();
  const auto channel = alice_.Get(fmt::format("127.0.0.1:{}", (*impostor)->port()));
  EXPECT_TRUE(absl::IsUnavailable(Get(channel).status()));
}

TEST_F(RpcTest, ACallThatIsNotAnsweredEndsAtItsDeadline) {
  std::promise<grpc::ServerUnaryReactor*> asked;
  answering_.on_get = [&](auto* reactor, const auto&, auto*) { asked.set_value(reactor); };
  const absl::Time start = absl::Now();
  const absl::Status status = Get(alice_.Get(address_), "j", absl::Milliseconds(200)).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(190)) << "whole milliseconds are kept";
  asked.get_future().get()->Finish(grpc::Status::OK);
}

TEST_F(RpcTest, AMessageOverTheLimitIsRefusedByNameInBothDirections) {
  const absl::Status too_long =
      Get(alice_.Get(address_), std::string(kMessageBytesMax + 1, 'x')).status();
  EXPECT_TRUE(absl::IsResourceExhausted(too_long)) << too_long;
  EXPECT_THAT(Message(too_long), HasSubstr(std::to_string(kMessageBytesMax)));

  answering_.on_get = [](auto* reactor, const auto&, v1::GetJobResponse* response) {
    response->mutable_status()->set_message(std::string(kMessageBytesMax + 1, 'x'));
    reactor->Finish(grpc::Status::OK);
  };
  const absl::Status answer = Get(alice_.Get(address_)).status();
  EXPECT_TRUE(absl::IsResourceExhausted(answer)) << answer;
  EXPECT_THAT(Message(answer), HasSubstr(std::to_string(kMessageBytesMax)));

  answering_.on_get = [](auto* reactor, const auto&, v1::GetJobResponse* response) {
    response->mutable_status()->set_message(std::string(kMessageBytesMax - 100, 'x'));
    reactor->Finish(grpc::Status::OK);
  };
  EXPECT_TRUE(Get(alice_.Get(address_)).ok()) << "below the limit, and the connection is whole";
}

TEST(RpcLimitsTest, ServersAcceptThePingsThatClientsSend) {
  // A server counts a ping that comes earlier as a strike and answers the third with GOAWAY
  // too_many_pings (C28).
  EXPECT_LE(kPingIntervalAccepted, kKeepaliveInterval);
  EXPECT_LT(kKeepaliveTimeout, kKeepaliveInterval) << "one ping is answered before the next";
}

TEST_F(RpcTest, AChannelIsSharedByAllThatCallOneAddress) {
  EXPECT_EQ(alice_.Get(address_), alice_.Get(address_));
  EXPECT_NE(alice_.Get(address_), alice_.Get("127.0.0.1:1"));
}

TEST_F(RpcTest, AnAddressThatIsTakenIsAnErrorThatNamesIt) {
  AnsweringService service;
  const auto second = RpcServer::Start(address_, pki_.Issue("houtu:master/dc1"), {&service});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(second.status()), HasSubstr(address_));
}

TEST_F(RpcTest, CallOnLoopAnswersOnTheLoop) {
  std::shared_ptr<v1::ClientService::Stub> stub = v1::ClientService::NewStub(alice_.Get(address_));
  std::promise<std::string> answer;
  CallOnLoop<v1::GetJobResponse>(
      &loop_, stub, v1::GetJobRequest(),
      [&](auto* context, auto* request, auto* response, auto done) {
        stub->async()->GetJob(context, request, response, std::move(done));
      },
      [&](const absl::Status& status, const v1::GetJobResponse& response) {
        answer.set_value(fmt::format("{} {} {}", loop_.OnLoopThread(), status.ToString(),
                                     response.status().account()));
      });
  EXPECT_EQ(answer.get_future().get(), "true OK alice");
}

class RpcStreamTest : public RpcTest {
 protected:
  using Client = ClientStream<v1::AgentMessage, v1::MasterCommand>;

  std::shared_ptr<Client> Open(StreamEvents<v1::MasterCommand> events) {
    std::shared_ptr<v1::AgentMasterService::Stub> stub =
        v1::AgentMasterService::NewStub(alice_.Get(address_));
    return Client::Start(&loop_, stub, std::move(events), [stub](auto* context, auto* reactor) {
      stub->async()->Session(context, reactor);
    });
  }
  static v1::AgentMessage Beat(int64_t sequence) {
    v1::AgentMessage message;
    message.mutable_heartbeat()->set_sequence(sequence);
    return message;
  }
};

TEST_F(RpcStreamTest, MessagesArriveInOrderInBothDirections) {
  constexpr int kMessages = 2'000;
  streaming_.on_session = [](const auto& stream) {
    const std::weak_ptr<StreamingService::Stream> weak = stream;
    stream->Begin({.on_message = [weak](const v1::AgentMessage& message) {
      v1::MasterCommand echo;
      echo.mutable_heartbeat()->set_sequence(message.heartbeat().sequence());
      weak.lock()->Send(std::move(echo));
    }});
  };
  std::vector<int64_t> echoed;
  std::promise<void> all;
  std::promise<absl::Status> end;
  const auto client = Open({.on_message =
                                [&](const v1::MasterCommand& command) {
                                  echoed.push_back(command.heartbeat().sequence());
                                  if (echoed.size() == kMessages) all.set_value();
                                },
                            .on_end = [&](const absl::Status& status) { end.set_value(status); }});
  for (int i = 0; i < kMessages; ++i) client->Send(Beat(i));
  all.get_future().wait();
  EXPECT_TRUE(std::is_sorted(echoed.begin(), echoed.end()));
  client->Cancel();
  EXPECT_TRUE(absl::IsCancelled(end.get_future().get()));
}

TEST_F(RpcStreamTest, TheStatusThatTheServerGivesArrivesAsItIs) {
  streaming_.on_session = [](const auto& stream) {
    const std::weak_ptr<StreamingService::Stream> weak = stream;
    stream->Begin({.on_message = [weak](const v1::AgentMessage&) {
      weak.lock()->Finish(absl::PermissionDeniedError("not you"));
    }});
  };
  for (int i = 0; i < 300; ++i) {
    std::promise<absl::Status> end;
    const auto client =
        Open({.on_message = [](const auto&) {},
              .on_end = [&](const absl::Status& status) { end.set_value(status); }});
    for (int k = 0; k < 5; ++k) client->Send(Beat(k));
    ASSERT_EQ(end.get_future().get(), absl::PermissionDeniedError("not you")) << "stream " << i;
  }
}

TEST_F(RpcStreamTest, WhatWasSentBeforeTheServersEndIsHeard) {
  streaming_.on_session = [](const auto& stream) {
    const std::weak_ptr<StreamingService::Stream> weak = stream;
    stream->Begin({.on_message = [weak](const v1::AgentMessage&) {
      weak.lock()->Send(v1::MasterCommand());
    }});
  };
  std::promise<void> heard;
  std::promise<absl::Status> end;
  const auto client = Open({.on_message = [&](const auto&) { heard.set_value(); },
                            .on_end = [&](const absl::Status& s) { end.set_value(s); }});
  client->Send(Beat(1));
  heard.get_future().wait();
  server_->Shutdown(absl::ZeroDuration());
  EXPECT_FALSE(end.get_future().get().ok()) << "a server that goes ends its streams";
  client->Send(Beat(2));  // does nothing
}

TEST_F(RpcStreamTest, TheServerHearsOfAClientThatGoesOnce) {
  std::promise<void> begun;
  std::promise<absl::Status> end;
  streaming_.on_session = [&](const auto& stream) {
    stream->Begin({.on_message = [&](const auto&) { begun.set_value(); },
                   .on_end = [&](const absl::Status& status) { end.set_value(status); }});
  };
  const auto client = Open({.on_message = [](const auto&) {}, .on_end = [](const auto&) {}});
  client->Send(Beat(1));
  begun.get_future().wait();
  client->Cancel();
  end.get_future().wait();  // a second call would throw
}

TEST_F(RpcStreamTest, NobodyAnswersAtAnAddressAndTheStreamEndsUnavailable) {
  std::shared_ptr<v1::AgentMasterService::Stub> stub =
      v1::AgentMasterService::NewStub(alice_.Get("127.0.0.1:1"));
  std::promise<absl::Status> end;
  const auto client = Client::Start(
      &loop_, stub,
      {.on_message = [](const auto&) {},
       .on_end = [&](const absl::Status& status) { end.set_value(status); }},
      [stub](auto* context, auto* reactor) { stub->async()->Session(context, reactor); });
  client->Send(Beat(1));
  EXPECT_TRUE(absl::IsUnavailable(end.get_future().get()));
}

TEST(StatusTest, ABrokenConnectionIsUnavailableHoweverGrpcTellsIt) {
  EXPECT_TRUE(absl::IsUnavailable(FromGrpc({grpc::StatusCode::UNKNOWN, "Stream removed"})));
  EXPECT_TRUE(absl::IsUnknown(FromGrpc({grpc::StatusCode::UNKNOWN, "the peer said so"})));
  EXPECT_TRUE(FromGrpc(grpc::Status::OK).ok());
  const absl::Status lost = absl::DataLossError("half");
  EXPECT_EQ(FromGrpc(ToGrpc(lost)), lost);
}

TEST(WriteQueueTest, OneWriteIsInFlightAndTheLimitIsKept) {
  WriteQueue<int> queue;
  bool write_now = false;
  EXPECT_TRUE(queue.Push(1, &write_now));
  EXPECT_TRUE(write_now);
  EXPECT_TRUE(queue.Push(2, &write_now));
  EXPECT_FALSE(write_now);
  EXPECT_EQ(*queue.Front(), 1);
  EXPECT_EQ(*queue.PopAndNext(), 2);
  EXPECT_EQ(queue.PopAndNext(), nullptr);
  for (size_t i = 0; i < kStreamMessagesQueuedMax; ++i) {
    ASSERT_TRUE(queue.Push(0, &write_now));
  }
  EXPECT_FALSE(queue.Push(0, &write_now));
}

}  // namespace
}  // namespace houtu
