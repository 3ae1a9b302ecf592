/* SPDX-License-Identifier: MIT
 * A flame graph that answers: a bar that is pressed fills the width, with what it called below and its callers above. Keys:
 * arrows go from bar to bar, Enter does what a press does, Escape shows the whole picture, / searches. */
for (const figure of document.querySelectorAll("figure.flame")) {
  const all = [...figure.querySelectorAll(".bar")], search = figure.querySelector("input");
  const output = figure.querySelector("output"), whole = figure.querySelector("button");
  const bars = all.map(bar => {
    const [begin, width, depth] = bar.dataset.at.split(" ").map(Number);
    return {bar, begin, width, depth, end: begin + width, name: bar.querySelector("text").textContent};
  });
  const share = part => (part / bars[0].width * 100).toPrecision(3) + " %";
  let shown = bars[0], current = bars[0];

  const zoom = to => {
    shown = to;
    for (const one of bars) {
      const caller = one.depth < to.depth && one.begin <= to.begin && one.end >= to.end;
      const inside = one.depth >= to.depth && one.begin >= to.begin && one.end <= to.end;
      one.bar.style.display = caller || inside ? "" : "none";
      one.bar.classList.toggle("caller", caller);
      one.bar.setAttribute("x", caller ? "0" : (one.begin - to.begin) / to.width * 100 + "%");
      one.bar.setAttribute("width", caller ? "100%" : one.width / to.width * 100 + "%");
    }
    whole.disabled = to === bars[0];
  };

  /* Of those that are found within each other the outermost alone counts. */
  const find = text => {
    const found = bars.filter(one => text && one.name.toLowerCase().includes(text));
    let sum = 0;
    for (const one of bars)
      one.bar.classList.toggle("found", found.includes(one));
    for (const one of found)
      if (!found.some(other => other.depth < one.depth && other.begin <= one.begin && other.end >= one.end))
        sum += one.width;
    output.textContent = text ? `${share(sum)} in ${found.length} of ${bars.length}` : "";
  };

  const go = to => {
    if (!to)
      return;
    current.bar.tabIndex = -1;
    current = to;
    current.bar.tabIndex = 0;
    current.bar.focus();
  };
  const visible = () => bars.filter(one => one.bar.style.display !== "none");
  const above = () => visible().find(one => one.depth === current.depth - 1 && one.begin <= current.begin && one.end >= current.end);
  const below = () => visible().filter(one => one.depth === current.depth + 1 && one.begin >= current.begin && one.end <= current.end)
    .sort((a, b) => b.width - a.width)[0];
  const beside = step => {
    const row = visible().filter(one => one.depth === current.depth).sort((a, b) => a.begin - b.begin);
    return row[row.indexOf(current) + step];
  };
  const keys = {ArrowUp: above, ArrowDown: below, ArrowLeft: () => beside(-1), ArrowRight: () => beside(1)};

  figure.addEventListener("keydown", event => {
    if (event.key === "Escape") {
      search.value = "";
      find("");
      zoom(bars[0]);
      go(bars[0]);
    } else if (event.target === search) {
      return;
    } else if (event.key === "/") {
      search.focus();
    } else if (event.key === "Enter" && event.target !== whole) {
      zoom(current);
    } else if (event.key in keys) {
      go(keys[event.key]());
    } else {
      return;
    }
    event.preventDefault();
  });
  for (const one of bars)
    one.bar.onclick = () => {
      go(one);
      zoom(one);
    };
  search.oninput = () => find(search.value.trim().toLowerCase());
  whole.onclick = () => zoom(bars[0]);
  bars[0].bar.tabIndex = 0;
  whole.disabled = true;
}
