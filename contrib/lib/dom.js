/* SPDX-License-Identifier: MIT
 * Elements of a page. Texts become text nodes, so that names that others choose stay names. */

/* A name as text: without what would turn the text around it, or hide it. */
const printable = text => text.replace(/\p{C}/gu, "\ufffd");

/* A new element: properties by name ("class", "aria-...", "data-..." and the like are attributes), then what is in it. */
const make = (name, properties = {}, ...inside) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties))
    if (key in element && !(key === "list"))
      element[key] = value;
    else if (value !== null)
      element.setAttribute(key, value);
  const shown = inside.flat().filter(one => one !== null && one !== undefined && one !== "");
  element.append(...shown.map(one => typeof one === "string" ? printable(one) : one));
  return element;
};

/* A component of an address. Bytes of a name that are no UTF-8 are half characters, see Python's os.fsdecode(). */
const quote = text => [...text].map(one => one >= "\udc80" && one <= "\udcff" && one.length === 1
  ? "%" + (one.charCodeAt(0) - 0xdc00).toString(16) : encodeURIComponent(one)).join("");

const Site = {
  /* From this page to the output folder. */
  get up() {
    return document.body.dataset.up ?? "";
  },

  /* Addresses in the data are relative to the output folder. */
  address(link) {
    return Site.up + link;
  },

  service(host, service) {
    return `services/${quote(host)}/${quote(service)}.html`;
  },

  machine(host) {
    return `hosts/${quote(host)}.html`;
  },

  /* Whether the machine has a page: without all of its services it has none. */
  hasTriage(about, host) {
    return about.hosts.find(({name}) => name === host)?.triage !== false;
  },

  /* HTML of ebpf-graph, with the addresses that this page needs. */
  html(text) {
    const box = make("div", {innerHTML: text});
    for (const link of box.querySelectorAll("a[href]"))
      if (!/^(#|[a-z]+:)/i.test(link.getAttribute("href")))
        link.setAttribute("href", Site.address(link.getAttribute("href")));
    return [...box.childNodes];
  },
};
