// What names, paths, images and texts of a job may be. Each check returns what is wrong and what to
// write instead, or "".
#pragma once

#include <string>
#include <string_view>

namespace houtu::jobspec {

/// A job's name: any text without control characters, 1 to kJobNameCharactersMax characters (C10).
std::string CheckJobName(std::string_view name);

/// A stage's or account's name, which becomes part of paths and certificates: letters, digits, "-",
/// "_" and "." of ASCII, starting with a letter, a digit or "_" (C07: so no name has two
/// spellings).
std::string CheckPlainName(std::string_view name);

/// A datacenter's, node's or resource's name: what its owner chose, but no "/" and no control
/// character.
std::string CheckForeignName(std::string_view name);

/// "host" or "oci:PATH[:TAG]" with an absolute path.
std::string CheckImage(std::string_view image);

/// An absolute path without "..", "." or empty parts.
std::string CheckAbsolutePath(std::string_view path);

/// An input's path: CheckAbsolutePath, no folder, and well-formed patterns.
std::string CheckInputPath(std::string_view path);

/// The name of a file in an output folder: one part of a path.
std::string CheckFileName(std::string_view name);

/// An environment variable's name. HOUTU_ ones are set by the agent.
std::string CheckVariableName(std::string_view name);

/// A text that the kernel takes as argument or variable: no NUL, at most kArgumentBytesMax.
std::string CheckArgument(std::string_view text);

}  // namespace houtu::jobspec
