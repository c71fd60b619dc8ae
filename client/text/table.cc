#include "client/text/table.h"

#include <algorithm>
#include <utility>

#include "client/text/safe_text.h"
#include "client/text/utf8.h"
#include "common/base/check.h"

namespace houtu::client {
namespace {

constexpr int kGap = 2;

std::string Blanks(int count) { return std::string(static_cast<size_t>(std::max(0, count)), ' '); }

}  // namespace

void Table::Add(std::vector<std::string> cells) {
  HOUTU_CHECK(cells.size() == columns_.size(), "a row has a cell for every column");
  for (std::string& cell : cells) {
    cell = cell.empty() ? "-" : SafeLine(cell);
  }
  rows_.push_back(std::move(cells));
}

std::string Table::Render(int indent) const {
  std::vector<std::string> titles;
  std::vector<int> widths;
  for (const Column& column : columns_) {
    titles.push_back(column.title);
    widths.push_back(TextWidth(column.title));
  }
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], TextWidth(row[i]));
    }
  }
  std::string out;
  const auto add_line = [&](const std::vector<std::string>& cells) {
    std::string line = Blanks(indent);
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string padding = Blanks(widths[i] - TextWidth(cells[i]));
      line += i == 0 ? "" : Blanks(kGap);
      line += columns_[i].align == Align::kRight ? padding + cells[i] : cells[i] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  add_line(titles);
  std::for_each(rows_.begin(), rows_.end(), add_line);
  return out;
}

}  // namespace houtu::client
