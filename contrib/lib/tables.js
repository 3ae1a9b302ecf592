/* SPDX-License-Identifier: MIT
 * Tables are sorted by the column whose heading is pressed; again: the other way round; what is unknown comes last. Of a long
 * table the first rows are shown, and a button shows all. */
const Tables = {
  MOST: 20,
  LITTLE: 5,    /* more rows, for which no button is worth it */

  /* of: what its rows are, such as services; text: see filter() */
  prepare(table, of, text) {
    for (const button of table.querySelectorAll("thead button"))
      button.onclick = () => Tables.sort(table, button.closest("th"));
    const rows = [...table.tBodies[0].rows], isLong = rows.length > Tables.MOST + Tables.LITTLE;
    table.shows = {of, text, isCut: isLong, note: make("p", {class: "count"})};
    table.parentNode.after(table.shows.note);
    Tables.update(table);
  },

  sort(table, head) {
    const place = head.cellIndex, down = place > 0 ? head.ariaSort !== "descending" : head.ariaSort === "ascending";
    const body = table.tBodies[0];
    const value = row => place ? parseFloat(row.cells[place].dataset.value ?? "") : row.cells[0].textContent;
    const order = (one, other) => {
      const [a, b] = [value(one), value(other)];
      if (Number.isNaN(a) || Number.isNaN(b))
        return Number.isNaN(a) - Number.isNaN(b);
      return ((a > b) - (a < b)) * (down ? -1 : 1);
    };
    for (const other of head.parentNode.cells)
      other.ariaSort = null;
    head.ariaSort = down ? "descending" : "ascending";
    body.append(...[...body.rows].sort(order));
    Tables.update(table);
  },

  /* text: words that names have to contain */
  filter(table, text) {
    table.shows.text = text;
    Tables.update(table);
  },

  update(table) {
    const {of, text, isCut, note} = table.shows, rows = [...table.tBodies[0].rows];
    const {host} = table.closest("section").dataset, words = wordsOf(text);
    /* Words may be of the host, but not all of them. */
    const isFound = name => hasWords(`${host}/${name}`, text) && (!words.length || words.some(word => hasWords(name, word)));
    const found = rows.filter(row => isFound(row.cells[0].textContent));
    const shown = new Set(isCut && !text ? found.slice(0, Tables.MOST) : found);
    rows.forEach(row => row.classList.toggle("rest", !shown.has(row)));
    note.hidden = shown.size === rows.length;
    note.replaceChildren(`${shown.size} of ${rows.length} ${of} `, isCut && !text ? make("button", {onclick: () => {
      table.shows.isCut = false;
      Tables.update(table);
    }}, `Show all ${rows.length}`) : "");
  },
};
