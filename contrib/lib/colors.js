/* SPDX-License-Identifier: MIT
 * Colours that can be read on a card of either theme. */
const Theme = {
  dark: matchMedia("(prefers-color-scheme: dark)"),

  isDark() {
    return Theme.dark.matches && document.documentElement.dataset.theme !== "light";
  },

  values: new Map(),    /* of variables, by name and theme */

  /* The value of a variable of style.css. */
  of(name) {
    const key = name + Theme.isDark();
    if (!Theme.values.has(key))
      Theme.values.set(key, getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim());
    return Theme.values.get(key);
  },

  /* isFilled: areas need less contrast with the card than lines do */
  paint(color, isFilled) {
    if (color === "text")
      return Theme.of("text");
    if (color.startsWith("ramp:")) {
      const part = Number(color.slice(5));
      return Theme.isDark() ? `hsl(204 85% ${44 + 46 * part}%)` : `hsl(204 90% ${46 - 33 * part}%)`;
    }
    return readable(color, isFilled ? (Theme.isDark() ? 2 : 1) : 3);
  },
};

const channels = color => [1, 3, 5].map(place => parseInt(color.slice(place, place + 2), 16));

const luminance = color => {
  const linear = part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  const [red, green, blue] = color.map(one => linear(one / 255));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

const contrast = (one, other) => {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};

/* The colour, as much lighter or darker as it needs for this contrast with the card. */
const readable = (color, least) => {
  const own = channels(color), card = Theme.isDark() ? [22, 27, 34] : [255, 255, 255], end = Theme.isDark() ? 255 : 0;
  let mixed = own;
  for (let part = 0.05; part < 1 && contrast(mixed, card) < least; part += 0.05)
    mixed = own.map(one => Math.round(one + (end - one) * part));
  return `rgb(${mixed.join(" ")})`;
};
