#include "common/yaml/document.h"

#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <exception>
#include <sstream>

#include "common/yaml/tree_builder.h"

namespace houtu::yaml {
namespace {

// Whether the line is indented by a tab, which YAML does not allow and which nobody sees.
bool IndentedByTab(std::string_view text, int line) {
  for (; line > 1 && text.find('\n') != std::string_view::npos; --line) {
    text.remove_prefix(text.find('\n') + 1);
  }
  const size_t content = text.find_first_not_of(" \t");
  return text.substr(0, content).find('\t') != std::string_view::npos;
}

void AddSyntaxProblem(std::string_view text, Place place, const std::string& message,
                      std::vector<Problem>* problems) {
  const std::string hint = IndentedByTab(text, place.line)
                               ? "the line is indented by a tab: use blanks"
                               : "check the indentation, quotes and brackets here and above";
  problems->push_back({.line = place.line,
                       .column = place.column,
                       .text = "not valid YAML (" + message + "); " + hint});
}

// The end of the document, written out: yaml-cpp takes the end of the file for a missing quote, but
// not this.
std::string_view EndMarker(std::string_view text) {
  return text.empty() || text.ends_with('\n') ? "...\n" : "\n...\n";
}

void ParseAll(YAML::Parser* parser, TreeBuilder* builder, std::vector<Problem>* problems,
              bool* complete) {
  if (!parser->HandleNextDocument(*builder) || builder->IsEmpty()) {
    problems->push_back(
        {.line = 1, .column = 1, .text = "the file is empty; write KEY: VALUE lines"});
    *complete = false;
    return;
  }
  std::vector<Problem> ignored;
  TreeBuilder second("", &ignored);
  if (parser->HandleNextDocument(second)) {
    const Node root = second.TakeRoot();
    problems->push_back({.line = root.place.line,
                         .column = 1,
                         .text = "a second document, or text outside of the first; keep one "
                                 "document a file"});
  }
}

}  // namespace

Node* Node::Find(std::string_view key) {
  for (Entry& entry : entries) {
    if (entry.key == key) {
      return &entry.value;
    }
  }
  return nullptr;
}

Node ParseDocument(std::string_view text, std::vector<Problem>* problems, bool* complete) {
  *complete = true;
  TreeBuilder builder(text, problems);
  try {
    std::istringstream stream(std::string(text) + std::string(EndMarker(text)));
    YAML::Parser parser(stream);
    ParseAll(&parser, &builder, problems, complete);
  } catch (const YAML::Exception& error) {
    AddSyntaxProblem(text, builder.PlaceOf(error.mark), error.msg, problems);
    *complete = false;
  } catch (const std::exception& error) {
    AddSyntaxProblem(text, {.line = 1, .column = 1}, error.what(), problems);
    *complete = false;
  }
  *complete = *complete && builder.complete();
  return builder.TakeRoot();
}

}  // namespace houtu::yaml
