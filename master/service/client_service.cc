#include "master/service/client_service.h"

#include <algorithm>
#include <future>
#include <map>
#include <set>

#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "common/base/ids.h"
#include "common/base/status.h"
#include "common/base/time.h"
#include "common/jobspec/canonical.h"
#include "common/jobspec/validate.h"
#include "common/log/log.h"
#include "common/rpc/call.h"
#include "common/rpc/caller.h"
#include "houtu/v1/master_service.grpc.pb.h"
#include "master/service/job_reader.h"
#include "master/service/job_watch.h"
#include "master/service/job_writer.h"

namespace houtu::master {
namespace {

/// Jobs of one page of a listing.
constexpr int kJobsPageMax = 1000;
constexpr int kJobsPageDefault = 100;
/// How long another datacenter's master may take to describe itself.
constexpr absl::Duration kDescribeDeadline = absl::Seconds(2);

std::vector<v1::WaitReason> WaitsOf(const SharedView& view, const std::string& job) {
  const auto cluster = view.ClusterNow();
  const auto it = cluster->waits.find(job);
  return it == cluster->waits.end() ? std::vector<v1::WaitReason>() : it->second;
}

}  // namespace

grpc::ServerUnaryReactor* ClientServiceShell::Serve(
    grpc::CallbackServerContext* context,
    std::function<absl::Status(const Identity&, const Store&)> serve) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const absl::StatusOr<Identity> caller = RequireRole(*context, {Role::kClient, Role::kAdmin});
  if (!caller.ok()) {
    reactor->Finish(ToGrpc(caller.status()));
    return reactor;
  }
  parts_.workers->Submit([this, reactor, caller = *caller, serve = std::move(serve)] {
    const absl::StatusOr<std::shared_ptr<coordination::Coordination>> store = parts_.view->Store();
    absl::Status status = store.status();
    if (status.ok()) {
      status = serve(caller, Store(store->get(), SharedView::kStoreTimeout));
    }
    reactor->Finish(ToGrpc(status));
  });
  return reactor;
}

absl::StatusOr<v1::JobRecord> ClientServiceShell::FindJob(const Identity& caller,
                                                          const Store& store,
                                                          const std::string& text) {
  HOUTU_ASSIGN_OR_RETURN(const std::string id, index_.Resolve(store, text, caller));
  return JobReader(store, paths_).Record(id);
}

absl::StatusOr<v1::JobStatus> ClientServiceShell::StatusOf(const Store& store,
                                                           const v1::JobRecord& record) {
  return JobReader(store, paths_).Status(record, WaitsOf(*parts_.view, record.id()));
}

grpc::ServerUnaryReactor* ClientServiceShell::SubmitJob(grpc::CallbackServerContext* context,
                                                        const v1::SubmitJobRequest* request,
                                                        v1::SubmitJobResponse* response) {
  return Serve(context, [this, request, response](const Identity& caller, const Store& store) {
    return Submit(caller, store, *request, response);
  });
}

absl::StatusOr<std::vector<std::string>> ClientServiceShell::ResolveDatacenters(
    const v1::Job& job) const {
  std::set<std::string> named(job.datacenters().begin(), job.datacenters().end());
  for (const v1::Stage& stage : job.stages()) {
    for (const v1::Input& input : stage.inputs()) {
      named.insert(input.datacenter());
    }
  }
  if (job.has_output() && !job.output().datacenter().empty()) {
    named.insert(job.output().datacenter());
  }
  if (named.empty()) {
    named.insert(parts_.config.datacenter());
  }
  std::vector<std::string> known;
  for (const auto& [name, master] : parts_.view->Masters()) {
    known.push_back(name);
  }
  for (const std::string& name : named) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return Error(absl::StatusCode::kFailedPrecondition,
                   "there is no datacenter \"{}\" (known: {})", name, absl::StrJoin(known, ", "));
    }
  }
  return std::vector<std::string>(named.begin(), named.end());
}

absl::Status ClientServiceShell::Submit(const Identity& caller, const Store& store,
                                        const v1::SubmitJobRequest& request,
                                        v1::SubmitJobResponse* response) {
  HOUTU_ASSIGN_OR_RETURN(const SharedView::Leading leading, parts_.view->RequireLeading());
  if (!IsJobId(request.job_id())) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "job_id \"{}\" is not an id (j and 19 of [0-9a-z])", request.job_id());
  }
  v1::JobRecord record;
  record.set_id(request.job_id());
  record.set_job_sha256(Sha256(jobspec::SerializeDeterministic(request.job())));
  *record.mutable_job() = request.job();
  v1::Job& job = *record.mutable_job();
  if (job.account().empty()) {
    job.set_account(caller.account);
  }
  if (!caller.MayUseAccount(job.account())) {
    return Error(absl::StatusCode::kPermissionDenied, "{} may not submit for account {}",
                 Describe(caller), job.account());
  }
  jobspec::Canonicalize(&job);
  HOUTU_RETURN_IF_ERROR(jobspec::CheckJob(job));
  HOUTU_ASSIGN_OR_RETURN(const std::vector<std::string> datacenters, ResolveDatacenters(job));
  record.mutable_datacenters()->Assign(datacenters.begin(), datacenters.end());
  const bool here = std::find(datacenters.begin(), datacenters.end(), parts_.config.datacenter()) !=
                    datacenters.end();
  record.set_primary_datacenter(here ? parts_.config.datacenter() : datacenters.front());
  record.set_token(RandomBytes(32));
  *record.mutable_submitted_at() = ToProto(absl::Now());
  JobWriter writer(store, paths_, leading.term_check);
  HOUTU_RETURN_IF_ERROR(writer.EnsureAccount(job.account()).status());
  HOUTU_ASSIGN_OR_RETURN(
      const JobWriter::Submitted submitted,
      writer.Submit(
          record, parts_.config.jobs_active_max() > 0 ? parts_.config.jobs_active_max() : 10'000));
  if (submitted.is_new) {
    parts_.metrics->JobSubmitted();
    LogInfo("job accepted", {{"job", record.id()}, {"account", job.account()}});
    Nudge(record);
  }
  HOUTU_ASSIGN_OR_RETURN(*response->mutable_status(), StatusOf(store, submitted.record));
  return absl::OkStatus();
}

void ClientServiceShell::Nudge(const v1::JobRecord& record) {
  const std::map<std::string, MasterAddress> masters = parts_.view->Masters();
  for (const std::string& dc : record.datacenters()) {
    if (dc == parts_.config.datacenter()) {
      parts_.loop->Post([shell = parts_.shell, id = record.id()] { shell->LookAtJob(id); });
      continue;
    }
    const auto master = masters.find(dc);
    if (master == masters.end() || master->second.address.empty()) {
      continue;
    }
    std::shared_ptr<v1::MasterService::Stub> stub =
        v1::MasterService::NewStub(parts_.channels->Get(master->second.address));
    v1::ForwardJobRequest request;
    request.set_job_id(record.id());
    CallOnLoop<v1::ForwardJobResponse>(
        parts_.loop, stub, request,
        [stub](auto* context, auto* q, auto* r, auto done) {
          stub->async()->ForwardJob(context, q, r, std::move(done));
        },
        [dc](const absl::Status& status, const v1::ForwardJobResponse&) {
          if (!status.ok()) {
            LogInfo("a forwarded job will be found by the watch", {{"to", dc}, {"status", status}});
          }
        });
  }
}

grpc::ServerUnaryReactor* ClientServiceShell::ListJobs(grpc::CallbackServerContext* context,
                                                       const v1::ListJobsRequest* request,
                                                       v1::ListJobsResponse* response) {
  return Serve(
      context,
      [this, request, response](const Identity& caller, const Store& store) -> absl::Status {
        HOUTU_RETURN_IF_ERROR(index_.Refresh(store));
        HOUTU_ASSIGN_OR_RETURN(const std::vector<std::string> active_names,
                               store.GetChildren(paths_.AllActive()));
        const std::set<std::string> active(active_names.begin(), active_names.end());
        const int limit = request->page_size() <= 0 ? kJobsPageDefault
                                                    : std::min(request->page_size(), kJobsPageMax);
        size_t bytes = 0;
        for (const std::string& id : index_.Visible(caller)) {
          if (!request->page_token().empty() && id >= request->page_token()) {
            continue;
          }
          if (!request->all() && !active.contains(id)) {
            continue;
          }
          if (response->jobs_size() == limit || bytes >= JobReader::kPageBytesMax) {
            response->set_next_page_token(response->jobs(response->jobs_size() - 1).id());
            break;
          }
          const JobReader reader(store, paths_);
          const absl::StatusOr<v1::JobRecord> record = reader.Record(id);
          if (absl::IsNotFound(record.status())) {
            continue;
          }
          HOUTU_RETURN_IF_ERROR(record.status());
          HOUTU_ASSIGN_OR_RETURN(*response->add_jobs(), StatusOf(store, *record));
          bytes += response->jobs(response->jobs_size() - 1).ByteSizeLong();
        }
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* ClientServiceShell::GetJob(grpc::CallbackServerContext* context,
                                                     const v1::GetJobRequest* request,
                                                     v1::GetJobResponse* response) {
  return Serve(
      context,
      [this, request, response](const Identity& caller, const Store& store) -> absl::Status {
        HOUTU_ASSIGN_OR_RETURN(const v1::JobRecord record, FindJob(caller, store, request->job()));
        *response->mutable_job() = record.job();
        HOUTU_ASSIGN_OR_RETURN(*response->mutable_status(), StatusOf(store, record));
        return absl::OkStatus();
      });
}

grpc::ServerWriteReactor<v1::JobStatus>* ClientServiceShell::WatchJob(
    grpc::CallbackServerContext* context, const v1::GetJobRequest* request) {
  const std::shared_ptr<JobWatch> watch = JobWatch::Create(parts_.loop, parts_.view);
  const absl::StatusOr<Identity> caller = RequireRole(*context, {Role::kClient, Role::kAdmin});
  if (!caller.ok()) {
    watch->Refuse(caller.status());
    return watch.get();
  }
  parts_.workers->Submit([this, watch, caller = *caller, job = request->job()] {
    const auto store = parts_.view->Store();
    if (!store.ok()) {
      watch->Refuse(store.status());
      return;
    }
    absl::StatusOr<v1::JobRecord> record =
        FindJob(caller, Store(store->get(), SharedView::kStoreTimeout), job);
    if (!record.ok()) {
      watch->Refuse(record.status());
      return;
    }
    watch->Watch(*store, paths_, *std::move(record));
  });
  return watch.get();
}

grpc::ServerUnaryReactor* ClientServiceShell::ListTasks(grpc::CallbackServerContext* context,
                                                        const v1::ListTasksRequest* request,
                                                        v1::ListTasksResponse* response) {
  return Serve(
      context,
      [this, request, response](const Identity& caller, const Store& store) -> absl::Status {
        HOUTU_ASSIGN_OR_RETURN(const v1::JobRecord record, FindJob(caller, store, request->job()));
        HOUTU_ASSIGN_OR_RETURN(*response, JobReader(store, paths_).Tasks(record, *request));
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* ClientServiceShell::ListOutputs(grpc::CallbackServerContext* context,
                                                          const v1::ListOutputsRequest* request,
                                                          v1::ListOutputsResponse* response) {
  return Serve(
      context,
      [this, request, response](const Identity& caller, const Store& store) -> absl::Status {
        HOUTU_ASSIGN_OR_RETURN(const v1::JobRecord record, FindJob(caller, store, request->job()));
        HOUTU_ASSIGN_OR_RETURN(*response, JobReader(store, paths_).Outputs(record, *request));
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* ClientServiceShell::CancelJob(grpc::CallbackServerContext* context,
                                                        const v1::CancelJobRequest* request,
                                                        v1::CancelJobResponse* response) {
  return Serve(context, [this, request, response](const Identity& caller, const Store& store) {
    return Cancel(caller, store, *request, response);
  });
}

absl::Status ClientServiceShell::Cancel(const Identity& caller, const Store& store,
                                        const v1::CancelJobRequest& request,
                                        v1::CancelJobResponse* response) {
  HOUTU_ASSIGN_OR_RETURN(const SharedView::Leading leading, parts_.view->RequireLeading());
  HOUTU_ASSIGN_OR_RETURN(const v1::JobRecord record, FindJob(caller, store, request.job()));
  HOUTU_ASSIGN_OR_RETURN(v1::JobStatus status, StatusOf(store, record));
  if (!HasEnded(status.state())) {
    HOUTU_RETURN_IF_ERROR(JobWriter(store, paths_, leading.term_check)
                              .RequestCancel(record.id(), caller.account, absl::Now()));
    Nudge(record);
    HOUTU_ASSIGN_OR_RETURN(status, StatusOf(store, record));
  }
  *response->mutable_status() = std::move(status);
  return absl::OkStatus();
}

grpc::ServerUnaryReactor* ClientServiceShell::ListEvents(grpc::CallbackServerContext* context,
                                                         const v1::ListEventsRequest* request,
                                                         v1::ListEventsResponse* response) {
  return Serve(
      context,
      [this, request, response](const Identity& caller, const Store& store) -> absl::Status {
        HOUTU_ASSIGN_OR_RETURN(const v1::JobRecord record, FindJob(caller, store, request->job()));
        HOUTU_ASSIGN_OR_RETURN(const std::vector<v1::JobEvent> events,
                               JobReader(store, paths_).Events(record));
        response->mutable_events()->Assign(events.begin(), events.end());
        return absl::OkStatus();
      });
}

std::vector<v1::DescribeDatacenterResponse> ClientServiceShell::DescribeAll(
    const std::string& only, bool summary, std::vector<std::string>* unreachable) {
  struct Asked {
    std::string datacenter;
    std::future<absl::StatusOr<v1::DescribeDatacenterResponse>> answer;
  };
  std::vector<Asked> asked;
  for (const auto& [dc, master] : parts_.view->Masters()) {
    if (!only.empty() && dc != only) {
      continue;
    }
    if (master.address.empty()) {
      unreachable->push_back(dc);
      continue;
    }
    std::shared_ptr<v1::MasterService::Stub> stub =
        v1::MasterService::NewStub(parts_.channels->Get(master.address));
    auto promise = std::make_shared<std::promise<absl::StatusOr<v1::DescribeDatacenterResponse>>>();
    asked.push_back({.datacenter = dc, .answer = promise->get_future()});
    v1::DescribeDatacenterRequest request;
    request.set_summary(summary);
    CallOnLoop<v1::DescribeDatacenterResponse>(
        parts_.loop, stub, request,
        [stub](auto* context, auto* q, auto* r, auto done) {
          stub->async()->DescribeDatacenter(context, q, r, std::move(done));
        },
        [promise](const absl::Status& status, const v1::DescribeDatacenterResponse& response) {
          if (status.ok()) {
            promise->set_value(response);
          } else {
            promise->set_value(status);
          }
        },
        kDescribeDeadline);
  }
  std::vector<v1::DescribeDatacenterResponse> out;
  for (Asked& one : asked) {
    absl::StatusOr<v1::DescribeDatacenterResponse> answer = one.answer.get();
    if (answer.ok()) {
      answer->mutable_datacenter()->set_name(one.datacenter);
      out.push_back(*std::move(answer));
    } else {
      unreachable->push_back(one.datacenter);
    }
  }
  return out;
}

grpc::ServerUnaryReactor* ClientServiceShell::ListNodes(grpc::CallbackServerContext* context,
                                                        const v1::ListNodesRequest* request,
                                                        v1::ListNodesResponse* response) {
  return Serve(
      context,
      [this, request, response](const Identity& /*caller*/,
                                const Store& /*store*/) -> absl::Status {
        std::vector<std::string> unreachable;
        for (const auto& dc : DescribeAll(request->datacenter(), false, &unreachable)) {
          for (const v1::Node& node : dc.nodes()) {
            if (request->node().empty() || node.name() == request->node()) {
              *response->add_nodes() = node;
            }
          }
        }
        response->mutable_unreachable()->Assign(unreachable.begin(), unreachable.end());
        if (response->nodes_size() == 0 && unreachable.empty() && !request->node().empty()) {
          return Error(absl::StatusCode::kNotFound, "no node \"{}\"", request->node());
        }
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* ClientServiceShell::ListDatacenters(
    grpc::CallbackServerContext* context, const v1::ListDatacentersRequest* /*request*/,
    v1::ListDatacentersResponse* response) {
  return Serve(
      context, [this, response](const Identity& /*caller*/, const Store& store) -> absl::Status {
        std::vector<std::string> unreachable;
        std::map<std::string, v1::Datacenter> reached;
        for (const auto& dc : DescribeAll("", true, &unreachable)) {
          reached[dc.datacenter().name()] = dc.datacenter();
        }
        for (const auto& [name, master] : parts_.view->Masters()) {
          v1::Datacenter* out = response->add_datacenters();
          *out = reached[name];
          out->set_name(name);
          out->set_master_address(master.address);
          out->set_master_term(master.term);
          const auto candidates = store.GetChildren(paths_.MasterElection(name) + "/election");
          if (candidates.ok() && !candidates->empty()) {
            out->set_standbys(static_cast<int>(candidates->size()) -
                              (master.address.empty() ? 0 : 1));
          }
        }
        return absl::OkStatus();
      });
}

}  // namespace houtu::master
