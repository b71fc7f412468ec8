// rule_box.js - the rule of Life's cells: shown, and changed by viewers while the run is paused.
// SPDX-License-Identifier: MIT
import { get } from "./elements.js";

export class RuleBox {
  // act(what, more): asks the run; said(text): tells the user
  constructor(act, said) {
    Object.assign(this, { act, said });
    get("rule").onchange = ({ target }) => this.ask(target.value);
  }

  begin({ can, cells }) {
    get("rule-row").hidden = !can.includes("rule");
    get("rule").value = cells ? cells.rule : "";
  }

  ask(text) {
    const rule = text.trim();
    if (/^[ -~]{1,511}$/.test(rule)) this.act("rule", { rule });
    else this.said("A rule has letters, digits and signs, such as B36/S23.");
  }

  // Write a new rule of the run into its hello; false if the hello has it.
  take(rule, hello) {
    const { cells } = hello;
    if (!rule || !cells || rule === cells.rule) return false;
    hello.title = hello.title.replace(cells.rule, rule);
    hello.facts = hello.facts.map(([term, text]) => [term, term === "rule" ? rule : text]);
    cells.rule = rule;
    return true;
  }
}
