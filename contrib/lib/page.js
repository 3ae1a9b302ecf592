/* SPDX-License-Identifier: MIT
 * What the pages can do without, too. A table of services is sorted by the column whose heading is pressed; again: the
 * other way round; what is unknown comes last. Of a long
 * table the first rows are shown, and a button shows the rest. The span of time that was chosen stays chosen on the next page. */
for (const button of document.querySelectorAll("table.services button"))
  button.onclick = () => {
    const head = button.parentNode, rows = [...head.closest("table").tBodies[0].rows];
    const down = head.cellIndex > 0 ? head.ariaSort !== "descending" : head.ariaSort === "ascending";
    const last = down ? -Infinity : Infinity;
    const value = row => head.cellIndex ? parseFloat(row.cells[head.cellIndex].dataset.value ?? last)
                                        : row.cells[0].textContent;
    rows.sort((a, b) => (value(a) > value(b)) - (value(a) < value(b)));
    if (down)
      rows.reverse();
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

const MOST = 20;
for (const table of document.querySelectorAll("table.services")) {
  const rows = table.tBodies[0].rows.length, button = document.createElement("button");
  if (rows <= MOST + 5)
    continue;
  table.classList.add("cut");
  button.className = "all";
  button.textContent = `Show all ${rows}`;
  button.onclick = () => {
    table.classList.remove("cut");
    button.remove();
  };
  table.parentNode.after(button);
}
