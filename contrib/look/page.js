/* SPDX-License-Identifier: MIT
 * What the pages can do without, too. A table of services is sorted by the column whose heading is pressed; again: the
 * other way round. The span of time that was chosen stays chosen on the next page. */
for (const button of document.querySelectorAll("table.services button"))
  button.onclick = () => {
    const head = button.parentNode, rows = [...head.closest("table").tBodies[0].rows];
    const down = head.cellIndex > 0 ? head.ariaSort !== "descending" : head.ariaSort === "ascending";
    const value = row => head.cellIndex ? parseFloat(row.cells[head.cellIndex].dataset.value ?? "-1")
                                        : row.cells[0].textContent;
    rows.sort((a, b) => (value(a) < value(b) ? -1 : 1) * (down ? -1 : 1));
    for (const other of head.parentNode.cells)
      other.ariaSort = null;
    head.ariaSort = down ? "descending" : "ascending";
    rows.forEach(row => row.parentNode.append(row));
  };

for (const choice of document.querySelectorAll("input[name=span]")) {
  choice.onchange = () => sessionStorage.setItem("span", choice.id);
  if (sessionStorage.getItem("span") === choice.id)
    choice.checked = true;
}
