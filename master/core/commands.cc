#include "master/core/commands.h"

#include <fmt/format.h>

#include "common/base/time.h"

namespace houtu::master {
namespace {

v1::MasterCommand Command(int64_t term, std::string_view what, std::string_view about) {
  v1::MasterCommand command;
  command.set_term(term);
  command.set_command_id(fmt::format("{}.{}.{}", term, what, about));
  return command;
}

}  // namespace

v1::MasterCommand RegisteredCommand(int64_t term, absl::Duration heartbeat_interval) {
  v1::MasterCommand command = Command(term, "registered", "");
  *command.mutable_registered()->mutable_heartbeat_interval() = ToProto(heartbeat_interval);
  return command;
}

v1::MasterCommand HeartbeatCommand(int64_t term, int64_t sequence) {
  v1::MasterCommand command = Command(term, "heartbeat", std::to_string(sequence));
  command.mutable_heartbeat()->set_sequence(sequence);
  return command;
}

v1::MasterCommand StartCommand(int64_t term, const v1::Lease& lease,
                               const std::string& manager_token, int account_number) {
  v1::MasterCommand command = Command(term, "start", lease.id());
  *command.mutable_start()->mutable_lease() = lease;
  command.mutable_start()->set_manager_token(manager_token);
  command.mutable_start()->set_account_number(account_number);
  return command;
}

v1::MasterCommand EndCommand(int64_t term, const std::string& lease, v1::LeaseEndReason reason,
                             absl::Duration grace) {
  v1::MasterCommand command = Command(term, "end", lease);
  command.mutable_end()->set_lease_id(lease);
  command.mutable_end()->set_reason(reason);
  *command.mutable_end()->mutable_grace() = ToProto(grace);
  return command;
}

v1::MasterCommand AcknowledgeCommand(int64_t term, const std::string& lease) {
  v1::MasterCommand command = Command(term, "acknowledged", lease);
  command.mutable_acknowledged()->set_lease_id(lease);
  return command;
}

v1::MasterCommand ForgetCommand(int64_t term, const std::vector<std::string>& jobs) {
  v1::MasterCommand command = Command(term, "forget", jobs.empty() ? "" : jobs.front());
  for (const std::string& job : jobs) {
    command.mutable_forget()->add_job_ids(job);
  }
  return command;
}

v1::JobMasterMessage RevokedMessage(const std::string& lease, v1::LeaseEndReason reason,
                                    const std::string& message, bool node_fault) {
  v1::JobMasterMessage out;
  out.mutable_revoked()->set_lease_id(lease);
  out.mutable_revoked()->set_reason(reason);
  out.mutable_revoked()->set_message(message);
  out.mutable_revoked()->set_node_fault(node_fault);
  return out;
}

}  // namespace houtu::master
