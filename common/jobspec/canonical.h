// A job in canonical form: every default written out, so that who carries it out decides none, and
// two files that mean the same are the same bytes.
#pragma once

#include <string>
#include <vector>

#include "houtu/v1/job.pb.h"

namespace houtu::jobspec {

/// Fills what the job leaves out: image, retry, checkpoint mode; for each stage its image and retry
/// (from the job), number of tasks, resources, process time, grace, network, exchanges, residency;
/// datacenters (those of the inputs, sorted). Left alone: the account and, where no input names
/// one, the datacenters, which only the master that accepts the job knows; the number of tasks of a
/// stage with inputs, and of one that is one_to_one with such a stage; output, see OutputStages.
/// Idempotent. Precondition: the job is valid.
void Canonicalize(v1::Job* job);

/// Bytes that are equal for equal messages of one program version: maps sorted by key.
std::string SerializeDeterministic(const google::protobuf::Message& message);

/// The names of the stages whose partitions are the job's result: output.stage, else every stage
/// that no other stage needs, in the job's order.
std::vector<std::string> OutputStages(const v1::Job& job);

}  // namespace houtu::jobspec
