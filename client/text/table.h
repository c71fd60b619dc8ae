// Table: aligned columns for people.
#pragma once

#include <string>
#include <vector>

namespace houtu::client {

/// Cells are made safe for a terminal (safe_text.h) and aligned by the columns they take there. Two
/// blanks between columns, none at a line's end.
class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Precondition: as many cells as columns. An empty cell shows "-".
  void Add(std::vector<std::string> cells);

  /// The titles and the rows, each line ended by a newline, indented by `indent` blanks.
  std::string Render(int indent = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace houtu::client
