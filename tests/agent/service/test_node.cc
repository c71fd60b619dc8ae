#include "tests/agent/service/test_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/rpc/status.h"

namespace houtu::agent {
namespace {

namespace fs = std::filesystem;

template <typename Reader>
FetchedFiles ReadAll(Reader reader) {
  FetchedFiles fetched;
  v1::FileChunk chunk;
  std::string key;
  while (reader->Read(&chunk)) {
    if (chunk.has_header()) {
      key = fmt::format("{}/{}", chunk.header().task(), chunk.header().name());
      fetched.headers[key] = chunk.header();
    }
    fetched.files[key] += chunk.data();
    fetched.largest_chunk = std::max(fetched.largest_chunk, chunk.data().size());
    ++fetched.chunks;
  }
  fetched.status = FromGrpc(reader->Finish());
  return fetched;
}

}  // namespace

TestNode::TestNode(TestPki* pki, const std::string& datacenter, const std::string& node,
                   RemoteFiles* remote)
    : datacenter_(datacenter),
      node_(node),
      channels_(pki->Issue(fmt::format("houtu:agent/{}/{}", datacenter, node))),
      outputs_({.datacenter = datacenter,
                .node = node,
                .roots = {out().native()},
                .retry = {.sleep = [](absl::Duration) {}}},
               &store_, remote == nullptr ? &remote_ : remote),
      service_({.datacenter = datacenter,
                .jobs = &jobs_,
                .store = &store_,
                .roots = &roots_,
                .logs = &logs_,
                .outputs = &outputs_,
                .readers = &readers_,
                .writers = &writers_,
                .loop = &loop_}) {
  fs::create_directories(data());
  fs::create_directories(out());
  HOUTU_CHECK(jobs_.Record(kAlicesJob, {.account = "alice"}).ok(), "the folder is writable");
  HOUTU_CHECK(jobs_.Record(kBobsJob, {.account = "bob"}).ok(), "the folder is writable");
  auto server = RpcServer::Start(
      "127.0.0.1:0", pki->Issue(fmt::format("houtu:agent/{}/{}", datacenter, node)), {&service_});
  HOUTU_CHECK(server.ok(), server.status().ToString());
  server_ = *std::move(server);
}

std::string TestNode::address() const { return fmt::format("127.0.0.1:{}", server_->port()); }

fs::path TestNode::TaskDir(const AttemptKey& id) const {
  return folder_.path() / "tasks" / FolderName(id);
}

void TestNode::Commit(const AttemptKey& id, const std::map<std::string, std::string>& files) {
  fs::create_directories(TaskDir(id) / "out");
  for (const auto& [name, content] : files) {
    testing::WriteText(TaskDir(id) / "out" / name, content);
  }
  const auto committed = store_.Commit(id, TaskDir(id), {});
  HOUTU_CHECK(committed.ok(), committed.status().ToString());
}

void TestNode::Spoil(const AttemptKey& id, const std::string& name,
                     const std::string& content) const {
  const fs::path file = store_.FolderOf(id) / name;
  fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
  testing::WriteText(file, content);
}

v1::PartitionSource TestNode::Source(const std::string& stage,
                                     const std::vector<int>& tasks) const {
  v1::PartitionSource source;
  source.set_stage(stage);
  source.set_datacenter(datacenter_);
  source.set_node(node_);
  source.set_agent_address(address());
  *source.mutable_partitions() = Partitions("", stage, tasks).partitions();
  return source;
}

v1::FetchPartitionsRequest Partitions(const std::string& job, const std::string& stage,
                                      const std::vector<int>& tasks) {
  v1::FetchPartitionsRequest request;
  request.set_job(job);
  request.set_stage(stage);
  for (const int task : tasks) {
    v1::PartitionRef& ref = *request.add_partitions();
    ref.set_task(task);
    ref.set_attempt(1);
  }
  return request;
}

FetchedFiles Fetch(TestPki* pki, const std::string& role, const TestNode& node,
                   const v1::FetchPartitionsRequest& request) {
  ChannelPool channels(pki->Issue(role));
  const auto stub = v1::PartitionService::NewStub(channels.Get(node.address()));
  grpc::ClientContext context;
  return ReadAll(stub->FetchPartitions(&context, request));
}

FetchedFiles Fetch(TestPki* pki, const std::string& role, const TestNode& node,
                   const v1::FetchInputRequest& request) {
  ChannelPool channels(pki->Issue(role));
  const auto stub = v1::PartitionService::NewStub(channels.Get(node.address()));
  grpc::ClientContext context;
  return ReadAll(stub->FetchInput(&context, request));
}

}  // namespace houtu::agent
