/* SPDX-License-Identifier: MIT
 * The data of the pages: scripts that call one of these functions, as a page that is opened from a disk may read nothing else. */
const Data = {
  scripts: new Map(),       /* address -> promise */
  received: new Map(),      /* what it is -> what a script has said */

  key(kind, {host, service = "", level = ""}) {
    return JSON.stringify([kind, host, service, level]);
  },

  keep(kind) {
    return said => Data.received.set(Data.key(kind, said), said);
  },

  /* Runs a script of the output folder, once. */
  run(address) {
    if (!Data.scripts.has(address))
      Data.scripts.set(address, new Promise(done => {
        document.head.append(make("script", {src: Site.address(address), onload: done, onerror: done}));
      }));
    return Data.scripts.get(address);
  },

  /* What a script says, or undefined if there is none. what: {host, level, service} */
  async load(kind, what, address) {
    await Data.run(address);
    return Data.received.get(Data.key(kind, what));
  },

  /* Of a service, or of all of a host. */
  values(host, service, level) {
    return Data.load("data", {host, service, level}, `data/${quote(host)}/${level}${service && "/" + quote(service)}.js`);
  },

  /* The latest first. */
  async events(host) {
    const said = await Data.load("events", {host}, `data/${quote(host)}/events.js`);
    return (said?.events ?? []).sort((a, b) => b.time - a.time);
  },
};
const data = Data.keep("data"), events = Data.keep("events");
