// The commands and messages that MasterCore sends, each built in one place.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "houtu/v1/agent_master_service.pb.h"
#include "houtu/v1/job_master_service.pb.h"

namespace houtu::master {

/// Command ids are "<term>.<what>.<lease or node>": the same command again has the same id.
v1::MasterCommand RegisteredCommand(int64_t term, absl::Duration heartbeat_interval);
v1::MasterCommand HeartbeatCommand(int64_t term, int64_t sequence);
v1::MasterCommand StartCommand(int64_t term, const v1::Lease& lease,
                               const std::string& manager_token, int account_number);
v1::MasterCommand EndCommand(int64_t term, const std::string& lease, v1::LeaseEndReason reason,
                             absl::Duration grace);
v1::MasterCommand AcknowledgeCommand(int64_t term, const std::string& lease);
v1::MasterCommand ForgetCommand(int64_t term, const std::vector<std::string>& jobs);

v1::JobMasterMessage RevokedMessage(const std::string& lease, v1::LeaseEndReason reason,
                                    const std::string& message, bool node_fault);

}  // namespace houtu::master
