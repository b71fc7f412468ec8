// elements.js - elements of the page: found, made, named, filled.
// SPDX-License-Identifier: MIT

export const get = (id) => document.getElementById(id);

export function make(tag, text) {
  return Object.assign(document.createElement(tag), { textContent: text });
}

// Name a control for screen readers and tips, with its key.
export function name(element, text, key) {
  element.setAttribute("aria-label", text);
  element.title = key ? `${text} (${key})` : text;
}

// Fill a list of choices: [value, text].
export function fill(id, entries, value) {
  get(id).replaceChildren(...entries.map(([v, text]) => new Option(text, v, false, v === value)));
}
