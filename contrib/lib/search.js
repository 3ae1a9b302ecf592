/* SPDX-License-Identifier: MIT
 * The search of a page: what is typed filters tables and legends, and Enter goes to the page of a service, of any host. */
const wordsOf = text => text.toLowerCase().split(/[\s/]+/).filter(Boolean);

/* Whether a name has all words of what is typed. */
const hasWords = (name, text) => wordsOf(text).every(word => name.toLowerCase().includes(word));

const matching = (about, text, most) => {
  const words = wordsOf(text), found = [];
  for (const host of about.hosts)
    for (const service of host.services) {
      if (hasWords(`${host.name}/${service.title}`, text))
        found.push({host: host.name, service, begins: service.title.toLowerCase().startsWith(words.at(-1) ?? "")});
    }
  /* First what begins so, services before devices, and short names. */
  const order = one => [!one.begins, one.service.device, one.service.title.length];
  const compare = (a, b) => a.reduce((found, value, place) => found || value - b[place], 0);
  return found.sort((one, other) => compare(order(one), order(other))).slice(0, most);
};

/* A field with a list of services, from which one is picked. */
class Picker {
  /* pick({host, service}): called for what is picked; typed(text): at each change. Without it the list is shown before
   * something is typed. */
  constructor(about, label, pick, typed = null) {
    Object.assign(this, {about, pick, typed, found: [], at: 0});
    const name = `matches${++Picker.count}`;
    this.input = make("input", {type: "search", placeholder: label, "aria-label": label, autocomplete: "off", spellcheck: false,
                                role: "combobox", "aria-expanded": "false", "aria-controls": name, "aria-autocomplete": "list"});
    this.matches = make("ul", {id: name, role: "listbox", "aria-label": "Services", hidden: true, class: "matches"});
    this.element = make("span", {class: "picker"}, this.input, this.matches);
    this.input.oninput = () => this.update();
    this.input.onkeydown = event => this.press(event);
    this.input.onblur = () => this.close();
    this.input.onfocus = () => (this.input.value || !this.typed) && this.update();
  }

  update() {
    const text = this.input.value.trim();
    this.typed?.(text);
    this.found = text || !this.typed ? matching(this.about, text, Picker.MOST) : [];
    this.at = 0;
    this.draw();
  }

  draw() {
    const several = this.about.hosts.length > 1;
    this.matches.hidden = !this.found.length;
    this.input.ariaExpanded = String(!this.matches.hidden);
    this.matches.replaceChildren(...this.found.map((one, place) => make("li", {
      id: `${this.matches.id}-${place}`, role: "option", ariaSelected: String(place === this.at),
      onpointerdown: event => (event.preventDefault(), this.choose(place))},
    one.service.title, several ? make("small", {}, ` ${one.host}`) : "")));
    this.input.setAttribute("aria-activedescendant", this.found.length ? `${this.matches.id}-${this.at}` : "");
    const box = this.input.getBoundingClientRect();
    this.matches.style.top = box.bottom + 2 + "px";
    this.matches.style.left = Math.max(4, Math.min(box.left, innerWidth - 360)) + "px";
  }

  close() {
    this.matches.hidden = true;
    this.input.ariaExpanded = "false";
  }

  choose(place) {
    const one = this.found[place];
    this.close();
    if (one)
      this.pick(one);
  }

  press(event) {
    const way = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (way) {
      this.at = (this.at + way + this.found.length) % Math.max(1, this.found.length);
      this.draw();
    } else if (event.key === "Enter") {
      this.choose(this.at);
    } else if (event.key === "Escape") {
      this.input.value = "";
      this.update();
      this.input.blur();
    } else {
      return;
    }
    event.preventDefault();
  }
}
Picker.count = 0;
Picker.MOST = 12;

/* `/` begins a search, wherever nothing is typed. */
addEventListener("keydown", event => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, .flame"))
    return;
  document.querySelector("nav input[type=search]")?.focus();
  event.preventDefault();
});
