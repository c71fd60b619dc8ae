#include "client/command/pages.h"

#include "common/base/status.h"

namespace houtu::client {
namespace {

/// Well below the message limit even with long names.
constexpr int kItemsPerPage = 5000;

}  // namespace

absl::StatusOr<std::vector<v1::TaskStatus>> AllTasks(Masters* masters, const std::string& job,
                                                     const std::string& stage) {
  v1::ListTasksRequest request;
  request.set_job(job);
  request.set_stage(stage);
  request.set_page_size(kItemsPerPage);
  std::vector<v1::TaskStatus> tasks;
  do {
    HOUTU_ASSIGN_OR_RETURN(v1::ListTasksResponse page, masters->ListTasks(request));
    request.set_page_token(page.next_page_token());
    for (v1::TaskStatus& task : *page.mutable_tasks()) {
      tasks.push_back(std::move(task));
    }
  } while (!request.page_token().empty());
  return tasks;
}

absl::StatusOr<v1::ListOutputsResponse> AllOutputs(Masters* masters, const std::string& job,
                                                   const std::string& stage) {
  v1::ListOutputsRequest request;
  request.set_job(job);
  request.set_stage(stage);
  request.set_page_size(kItemsPerPage);
  v1::ListOutputsResponse all;
  do {
    HOUTU_ASSIGN_OR_RETURN(v1::ListOutputsResponse page, masters->ListOutputs(request));
    request.set_page_token(page.next_page_token());
    all.set_job_id(page.job_id());
    all.mutable_files()->MergeFrom(page.files());
  } while (!request.page_token().empty());
  return all;
}

}  // namespace houtu::client
