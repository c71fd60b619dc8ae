#include "tests/master/service/test_client.h"

#include <utility>

namespace houtu::master {

v1::Job SmallJob(const std::string& name) {
  v1::Job job;
  job.set_version("houtu/v1");
  job.set_name(name);
  v1::Stage* stage = job.add_stages();
  stage->set_name("s1");
  stage->add_command("/bin/true");
  stage->set_tasks(2);
  stage->mutable_resources()->set_cpu_millis(100);
  stage->mutable_resources()->set_memory_bytes(64 << 20);
  return job;
}

absl::StatusOr<v1::SubmitJobResponse> TestClient::Submit(const std::string& id,
                                                         const v1::Job& job) const {
  v1::SubmitJobRequest request;
  request.set_job_id(id);
  *request.mutable_job() = job;
  return Call(stub_.get(), &v1::ClientService::Stub::SubmitJob, request);
}

absl::StatusOr<v1::GetJobResponse> TestClient::Get(const std::string& job) const {
  v1::GetJobRequest request;
  request.set_job(job);
  return Call(stub_.get(), &v1::ClientService::Stub::GetJob, request);
}

absl::StatusOr<v1::CancelJobResponse> TestClient::Cancel(const std::string& job) const {
  v1::CancelJobRequest request;
  request.set_job(job);
  return Call(stub_.get(), &v1::ClientService::Stub::CancelJob, request);
}

absl::StatusOr<v1::ListJobsResponse> TestClient::List(bool all, int page_size,
                                                      const std::string& page_token) const {
  v1::ListJobsRequest request;
  request.set_all(all);
  request.set_page_size(page_size);
  request.set_page_token(page_token);
  return Call(stub_.get(), &v1::ClientService::Stub::ListJobs, request);
}

TestAgent::TestAgent(const std::shared_ptr<grpc::Channel>& channel, std::string datacenter,
                     std::string node)
    : datacenter_(std::move(datacenter)),
      node_(std::move(node)),
      stub_(v1::AgentMasterService::NewStub(channel)),
      stream_([this](grpc::ClientContext* context) { return stub_->Session(context); }) {}

void TestAgent::Register(const std::vector<v1::LeaseReport>& leases) {
  v1::AgentMessage message;
  v1::Node* node = message.mutable_register_()->mutable_node();
  node->set_name(node_);
  node->set_datacenter(datacenter_);
  node->set_agent_address("127.0.0.1:1");
  node->set_state(v1::Node::STATE_READY);
  node->mutable_capacity()->set_cpu_millis(16'000);
  node->mutable_capacity()->set_memory_bytes(int64_t{64} << 30);
  message.mutable_register_()->mutable_leases()->Assign(leases.begin(), leases.end());
  stream_.Send(message);
}

void TestAgent::Report(const v1::Lease& lease, v1::LeaseReport::State state) {
  v1::AgentMessage message;
  *message.mutable_lease()->mutable_lease() = lease;
  message.mutable_lease()->set_state(state);
  stream_.Send(message);
}

void TestAgent::Beat() {
  v1::AgentMessage message;
  message.mutable_heartbeat()->set_sequence(++beats_);
  message.mutable_heartbeat()->set_state(v1::Node::STATE_READY);
  stream_.Send(message);
  stream_.Await([this](const v1::MasterCommand& command) {
    return command.has_heartbeat() && command.heartbeat().sequence() == beats_;
  });
}

v1::StartLease TestAgent::NextStart() {
  size_t place = 0;
  const v1::MasterCommand command =
      stream_.Await([](const v1::MasterCommand& c) { return c.has_start(); }, next_, &place);
  next_ = place + 1;
  return command.start();
}

std::vector<std::string> TestAgent::Starts() {
  std::vector<std::string> out;
  for (const v1::MasterCommand& command : stream_.messages()) {
    if (command.has_start()) out.push_back(command.start().lease().id());
  }
  return out;
}

std::vector<std::string> TestAgent::Ends() {
  std::vector<std::string> out;
  for (const v1::MasterCommand& command : stream_.messages()) {
    if (command.has_end()) out.push_back(command.end().lease_id());
  }
  return out;
}

TestManager::TestManager(const std::shared_ptr<grpc::Channel>& channel)
    : stub_(v1::JobMasterService::NewStub(channel)),
      stream_([this](grpc::ClientContext* context) { return stub_->Session(context); }) {}

void TestManager::Hello(const std::string& job, const std::string& datacenter,
                        const std::string& token, int64_t term) {
  v1::JobManagerMessage message;
  message.mutable_hello()->set_job(job);
  message.mutable_hello()->set_datacenter(datacenter);
  message.mutable_hello()->set_token(token);
  message.mutable_hello()->set_term(term);
  stream_.Send(message);
}

void TestManager::Want(int containers, int64_t cpu_millis, int64_t memory_bytes) {
  v1::JobManagerMessage message;
  v1::Demand* demand = message.mutable_desire()->add_demands();
  demand->mutable_resources()->set_cpu_millis(cpu_millis);
  demand->mutable_resources()->set_memory_bytes(memory_bytes);
  demand->set_containers(containers);
  demand->set_image("host");
  stream_.Send(message);
}

v1::JobMasterWelcome TestManager::AwaitWelcome() {
  return stream_.Await([](const v1::JobMasterMessage& m) { return m.has_welcome(); }).welcome();
}

v1::LeaseGranted TestManager::NextGrant() {
  size_t place = 0;
  const v1::JobMasterMessage message =
      stream_.Await([](const v1::JobMasterMessage& m) { return m.has_granted(); }, next_, &place);
  next_ = place + 1;
  return message.granted();
}

}  // namespace houtu::master
