"use strict";
// Everything of the project's (subjects, names, paths) goes into the page as text nodes only.
const audit = JSON.parse(document.getElementById("data").textContent);
const commits = audit.commits;
const OUTCOMES = ["clear", "mixed", "weakened", "review", "waived", "unreadable", "unseen"];
const MEANS = {
  clear: "nothing to say", mixed: "production and test paths in one commit", weakened: "refused for what it does to tests",
  review: "only new tests", waived: "a person merges", unreadable: "something cannot be read", unseen: "beyond the shallow clone",
};
const LOOKED = ["new_property", "waived", "policy_changed"];
const PAGE = 100;
const state = { words: "", outcome: "", rule: "", shown: PAGE, open: new Set(), at: commits.length - 1 };

const $ = (id) => document.getElementById(id);
const number = (value) => value.toLocaleString("en-US");
const signed = (value) => (value > 0 ? "+" : value < 0 ? "\u2212" : "\u00b1") + number(Math.abs(value));
const share = (part, whole) => (whole ? (100 * part / whole).toFixed(part && part * 200 < whole ? 1 : 0) : "0") + "\u202f%";
const day = (time) => (time ? new Date(time * 1000).toISOString().slice(0, 10) : "no date");
const plural = (count, noun) => number(count) + "\u00a0" + noun + (count === 1 ? "" : "s");

function el(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function svg(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const main = commits.map((commit, at) => at).filter((at) => commits[at].mainline && commits[at].totals);

function headline() {
  const all = commits.length;
  const refused = audit.outcomes.mixed + audit.outcomes.weakened + audit.outcomes.unreadable;
  $("project").textContent = audit.project ? "\u00b7 " + audit.project : "";
  document.title = "Seedgate audit" + (audit.project ? " \u00b7 " + audit.project : "");
  $("verdict").textContent = all === 0 ? "No commit to audit"
    : refused === 0 ? "The gate would have refused none of " + plural(all, "commit")
    : "The gate would have refused " + number(refused) + " of " + plural(all, "commit") + " (" + share(refused, all) + ")";
  const first = commits.find((commit) => commit.time), last = commits[all - 1];
  const span = first && last ? ", " + day(first.time) + " to " + day(last.time) : "";
  $("scope").textContent = audit.asked + span + "; judged by " + audit.policy + (audit.shallow ? "; the clone is shallow, what lies before is not here" : "") + ".";
  const present = OUTCOMES.filter((outcome) => audit.outcomes[outcome] > 0);
  $("bar").setAttribute("aria-label", present.map((outcome) => audit.outcomes[outcome] + " " + outcome).join(", "));
  for (const outcome of present) {
    const part = el("span", { class: outcome, title: outcome });
    part.style.flexGrow = audit.outcomes[outcome];
    $("bar").append(part);
    const pick = () => choose({ outcome: state.outcome === outcome ? "" : outcome });
    $("outcomes").append(el("li", {}, el("button", { type: "button", title: MEANS[outcome], "data-outcome": outcome, onclick: pick },
      el("span", { class: "dot " + outcome }), number(audit.outcomes[outcome]) + " " + outcome)));
  }
}

function tiles() {
  if (!main.length) return;
  const now = commits[main[main.length - 1]].totals, then = commits[main[0]].totals;
  const tile = (name, value, beside) => $("tiles").append(el("li", {}, el("b", {}, value, el("i", {}, beside)), el("span", {}, name)));
  for (const name of ["properties", "tests", "assertions", "cases"]) tile(name, number(now[name]), signed(now[name] - then[name]));
  tile("of properties opaque", share(now.opaque, now.properties), "was " + share(then.opaque, then.properties));
}

const LEFT = 46, RIGHT = 128;
const PANELS = [
  { name: "Properties and tests", height: 130, series: [["properties", "one"], ["tests", "two"]] },
  { name: "Assertions and cases", height: 130, series: [["assertions", "one"], ["cases", "two"]] },
  { name: "Opaque properties", height: 90, percent: true, series: [["opaque", "opaque"]] },
];
let plot = null;

function nice(most) {
  const unit = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((step) => step * unit).find((step) => step >= most) || 1;
}

function draw() {
  const width = Math.max(320, $("chart").clientWidth), inner = width - LEFT - RIGHT, count = commits.length;
  if (!count) return;
  const x = (at) => LEFT + (at + 0.5) * inner / count;
  const canvas = svg("svg", { tabindex: 0, role: "slider", "aria-label": "Commit of the history", "aria-valuemin": 1, "aria-valuemax": count });
  let top = 0;
  top = strip(canvas, inner, top);
  if (main.length) for (const panel of PANELS) top = lines(canvas, panel, x, inner, top);
  dates(canvas, x, inner, top + 16);
  const cursor = svg("line", { class: "cursor", y1: 22, y2: top, visibility: "hidden" });
  canvas.append(cursor);
  canvas.setAttribute("height", top + 26);
  canvas.setAttribute("viewBox", "0 0 " + width + " " + (top + 26));
  if (plot) plot.canvas.remove();
  plot = { canvas, cursor, x, width, inner };
  $("chart").prepend(canvas);
  canvas.addEventListener("pointermove", (event) => point(under(event)));
  canvas.addEventListener("pointerleave", () => unpoint());
  canvas.addEventListener("focus", () => { if (canvas.matches(":focus-visible")) point(state.at); });
  canvas.addEventListener("blur", unpoint);
  canvas.addEventListener("click", (event) => show(worst(under(event))));
  canvas.addEventListener("keydown", keys);
  canvas.setAttribute("aria-valuenow", state.at + 1);
  canvas.setAttribute("aria-valuetext", spoken(state.at));
}

function strip(canvas, inner, top) {
  canvas.append(svg("text", { class: "name", x: LEFT, y: top + 13 }, "Commits"));
  const bins = Math.min(commits.length, Math.max(1, Math.floor(inner / 3))), y = top + 22, height = 64, wide = inner / bins;
  for (let bin = 0; bin < bins; bin += 1) {
    const from = Math.floor(bin * commits.length / bins), to = Math.floor((bin + 1) * commits.length / bins);
    const counts = {};
    for (let at = from; at < to; at += 1) counts[commits[at].outcome] = (counts[commits[at].outcome] || 0) + 1;
    let below = y + height;
    for (const outcome of ["weakened", "unreadable", "mixed", "waived", "review", "unseen", "clear"].filter((name) => counts[name])) {
      const part = height * counts[outcome] / (to - from);
      below -= part;
      const gap = wide > 4 ? 1 : 0;
      canvas.append(svg("rect", { class: outcome, x: (LEFT + bin * wide).toFixed(2), y: below.toFixed(2), width: (wide - gap).toFixed(2), height: part.toFixed(2) }));
    }
  }
  return y + height + 18;
}

function lines(canvas, panel, x, inner, top) {
  const value = (at, name) => (panel.percent ? 100 * commits[at].totals.opaque / Math.max(1, commits[at].totals.properties) : commits[at].totals[name]);
  const most = nice(Math.max(1, ...panel.series.map(([name]) => main.reduce((most, at) => Math.max(most, value(at, name)), 0))));
  const low = top + panel.height, high = top + 26, y = (v) => low - (low - high) * v / most;
  canvas.append(svg("text", { class: "name", x: LEFT, y: top + 13 }, panel.name));
  for (const mark of [0, most / 2, most]) {
    canvas.append(svg("line", { class: "rule-line", x1: LEFT, x2: LEFT + inner, y1: y(mark), y2: y(mark) }));
    canvas.append(svg("text", { x: LEFT - 8, y: y(mark) + 4, "text-anchor": "end" }, number(mark) + (panel.percent ? "\u202f%" : "")));
  }
  const ends = [];
  for (const [name, kind] of panel.series) {
    const points = [];
    let column = -1;
    main.forEach((at, place) => {
      const here = Math.round(x(at));
      if (here !== column || place === main.length - 1) points.push(x(at).toFixed(1) + " " + y(value(at, name)).toFixed(1));
      column = here;
    });
    const path = "M" + points.join("L"), last = main[main.length - 1];
    if (panel.percent) canvas.append(svg("path", { class: "area " + kind, d: path + "L" + x(last).toFixed(1) + " " + low + "L" + x(main[0]).toFixed(1) + " " + low + "Z" }));
    canvas.append(svg("path", { class: "series " + kind, d: path }));
    const now = value(last, name);
    ends.push({ at: y(now) + 4, kind, text: panel.percent ? share(commits[last].totals.opaque, commits[last].totals.properties) + " opaque" : number(now) + " " + name });
  }
  ends.sort((one, two) => one.at - two.at);
  ends.forEach((end, place) => {
    if (place && end.at - ends[place - 1].at < 15) end.at = ends[place - 1].at + 15;
    canvas.append(svg("text", { class: "end " + end.kind, x: LEFT + inner + 8, y: end.at }, end.text));
  });
  return low + 20;
}

function dates(canvas, x, inner, y) {
  const marks = Math.max(2, Math.min(7, Math.floor(inner / 130), commits.length));
  for (let mark = 0; mark < marks; mark += 1) {
    const at = marks === 1 ? 0 : Math.round(mark * (commits.length - 1) / (marks - 1));
    const anchor = mark === 0 ? "start" : mark === marks - 1 ? "end" : "middle";
    canvas.append(svg("text", { x: mark === 0 ? LEFT : mark === marks - 1 ? LEFT + inner : x(at), y, "text-anchor": anchor }, day(commits[at].time)));
  }
}

function under(event) {
  const place = event.clientX - plot.canvas.getBoundingClientRect().left;
  return Math.max(0, Math.min(commits.length - 1, Math.floor((place - LEFT) * commits.length / plot.inner)));
}

// Where several commits share a pixel, the one with most to say is meant.
function worst(at) {
  const reach = Math.max(0, Math.floor(commits.length * 1.5 / plot.inner));
  const rank = (outcome) => ["weakened", "unreadable", "mixed", "waived", "review", "unseen", "clear"].indexOf(outcome);
  let best = at;
  for (let near = Math.max(0, at - reach); near <= Math.min(commits.length - 1, at + reach); near += 1) {
    if (rank(commits[near].outcome) < rank(commits[best].outcome)) best = near;
  }
  return best;
}

function spoken(at) {
  const commit = commits[at];
  return commit.subject + ", " + commit.outcome + ", " + day(commit.time);
}

function point(at) {
  state.at = at;
  const commit = commits[at], x = plot.x(at), tip = $("tip");
  plot.cursor.setAttribute("x1", x);
  plot.cursor.setAttribute("x2", x);
  plot.cursor.setAttribute("visibility", "visible");
  plot.canvas.setAttribute("aria-valuenow", at + 1);
  plot.canvas.setAttribute("aria-valuetext", spoken(at));
  tip.replaceChildren(el("b", {}, commit.subject || "no subject"),
    el("span", { class: "quiet" }, commit.commit.slice(0, 12) + " \u00b7 " + day(commit.time)), el("br"),
    el("span", { class: "dot " + commit.outcome }), commit.outcome + (Object.keys(commit.rules).length ? ": " + Object.keys(commit.rules).join(", ") : ""));
  if (commit.totals) {
    const held = commit.totals;
    tip.append(el("br"), number(held.properties) + " properties, " + number(held.tests) + " tests, " + number(held.assertions) + " assertions, "
      + number(held.cases) + " cases, " + share(held.opaque, held.properties) + " opaque");
  }
  tip.hidden = false;
  tip.style.left = Math.max(0, Math.min(plot.width - 290, x + (x > plot.width / 2 ? -306 : 16))) + "px";
  tip.style.top = "96px";
}

function unpoint() {
  if (document.activeElement === plot.canvas && plot.canvas.matches(":focus-visible")) return point(state.at);
  $("tip").hidden = true;
  plot.cursor.setAttribute("visibility", "hidden");
}

function keys(event) {
  const far = Math.max(10, Math.round(commits.length / 20));
  const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageDown: -far, PageUp: far, Home: -Infinity, End: Infinity };
  if (event.key in steps) point(Math.max(0, Math.min(commits.length - 1, state.at + steps[event.key])));
  else if (event.key === "Enter" || event.key === " ") show(state.at);
  else return;
  event.preventDefault();
}

function ruleTable() {
  const most = Math.max(1, ...audit.rules.map((rule) => rule.commits));
  const off = audit.rules.some((rule) => rule.silenced > 0);
  if (!off) $("off").remove();
  const rows = [...audit.rules].sort((one, two) => two.commits - one.commits);
  for (const rule of rows) {
    const kind = LOOKED.includes(rule.rule) || rule.level !== "refuse" ? "review" : rule.rule === "split_required" ? "mixed" : "weakened";
    const bar = el("span", { class: "share " + kind });
    bar.style.width = 100 * rule.commits / most + "%";
    const pick = () => choose({ rule: state.rule === rule.rule ? "" : rule.rule }, true);
    $("rules").append(el("tr", { "data-rule": rule.rule }, el("td", {}, el("button", { type: "button", class: "link", onclick: pick }, rule.rule)),
      el("td", { class: "number" }, number(rule.commits)), el("td", { class: "number" }, share(rule.commits, commits.length)), el("td", {}, bar),
      el("td", { class: "number" }, number(rule.findings)), off ? el("td", { class: "number" }, number(rule.silenced)) : null));
  }
  if (!rows.length) $("rules").append(el("tr", {}, el("td", { colspan: 6 }, "No rule has anything to say.")));
}

function patterns() {
  if (!audit.patterns.length) {
    $("misfiled").hidden = true;
    document.querySelector(".columns").classList.add("single");
    return;
  }
  const saved = audit.patterns.reduce((sum, pattern) => sum + pattern.commits, 0);
  $("saved").textContent = plural(saved, "commit") + " of " + number(audit.mixed) + " would not be mixed if these paths did not count:";
  for (const pattern of audit.patterns) {
    const see = pattern.example ? () => show(commits.findIndex((commit) => commit.commit === pattern.example)) : null;
    $("patterns").append(el("tr", {}, el("td", {}, el("button", { type: "button", class: "link id", title: "See " + pattern.path, onclick: see }, pattern.glob)),
      el("td", {}, pattern.counted_as), el("td", { class: "number" }, number(pattern.commits))));
  }
  $("config").textContent = audit.config;
  $("copy").addEventListener("click", async () => {
    getSelection().selectAllChildren($("config"));
    const done = navigator.clipboard ? await navigator.clipboard.writeText(audit.config).then(() => true, () => false) : false;
    $("copy").textContent = done ? "Copied" : "Selected";
  });
}

function matches(commit) {
  if (state.outcome && commit.outcome !== state.outcome) return false;
  if (state.rule && !(state.rule in commit.rules) && !(state.rule in commit.silenced)) return false;
  if (!state.words) return true;
  const places = commit.findings.flatMap((finding) => [finding.path || "", finding.property || "", finding.says]);
  return [commit.commit, commit.subject, commit.author, ...places].join("\n").toLowerCase().includes(state.words.toLowerCase());
}

function choose(change, scroll) {
  Object.assign(state, change, { shown: PAGE });
  list();
  if (scroll) $("list").scrollIntoView({ block: "start" });
}

function list() {
  const found = [];
  for (let at = commits.length - 1; at >= 0; at -= 1) if (matches(commits[at])) found.push(at);
  $("found").textContent = found.length === commits.length ? plural(found.length, "commit") + ", newest first" : number(found.length) + " of " + plural(commits.length, "commit");
  $("commits").replaceChildren(...found.slice(0, state.shown).map(item));
  $("more").hidden = found.length <= state.shown;
  $("words").value = state.words;
  $("outcome").value = state.outcome;
  $("rule").value = state.rule;
  for (const button of document.querySelectorAll("[data-outcome]")) button.setAttribute("aria-pressed", button.dataset.outcome === state.outcome);
  for (const row of document.querySelectorAll("[data-rule]")) row.classList.toggle("picked", row.dataset.rule === state.rule);
  return found;
}

function item(at) {
  const commit = commits[at], open = state.open.has(at), body = "body-" + at;
  const rules = Object.entries(commit.rules).map(([rule, count]) => (count > 1 ? rule + " \u00d7" + count : rule)).join(", ");
  const toggle = () => {
    if (state.open.has(at)) state.open.delete(at); else state.open.add(at);
    const fresh = item(at);
    row.replaceWith(fresh);
    fresh.querySelector(".head").focus();
  };
  const row = el("li", { id: "at-" + at }, el("button", { type: "button", class: "head", "aria-expanded": String(open), "aria-controls": body, onclick: toggle },
    el("span", { class: "pill" }, el("span", { class: "dot " + commit.outcome }), commit.outcome),
    el("span", { class: "id" }, commit.commit.slice(0, 10)),
    el("span", { class: "subject" }, commit.subject || "no subject", rules ? el("span", { class: "rules" }, rules) : null),
    el("span", { class: "who" }, commit.author + " \u00b7 " + day(commit.time))));
  if (open) row.append(details(commit, body));
  return row;
}

function details(commit, id) {
  const body = el("div", { class: "body", id });
  if (commit.error) body.append(el("div", { class: "finding refused" }, el("pre", {}, commit.error)));
  for (const finding of commit.findings) {
    const place = finding.path ? finding.path + (finding.line ? ":" + finding.line : "") : "";
    body.append(el("div", { class: "finding " + (finding.exit === 2 ? "refused" : "looked") },
      el("p", {}, el("b", {}, finding.rule), finding.property || place), finding.property && place ? el("p", { class: "place" }, place) : null,
      finding.says ? el("pre", {}, finding.says) : null));
  }
  for (const [rule, count] of Object.entries(commit.rules)) {
    const told = commit.findings.filter((finding) => finding.rule === rule).length;
    if (count > told) body.append(el("p", { class: "quiet" }, "\u2026 and " + number(count - told) + " more of " + rule));
  }
  const off = Object.entries(commit.silenced).map(([rule, count]) => rule + " " + count);
  if (off.length) body.append(el("p", { class: "quiet" }, "Off by policy: " + off.join(", ")));
  if (!commit.error && !commit.findings.length && !off.length) body.append(el("p", { class: "quiet" }, "Nothing to say: " + MEANS[commit.outcome] + "."));
  const short = commit.commit.slice(0, 12);
  if (commit.parents.length) body.append(el("p", {}, el("code", { class: "command" }, "seedgate check --base " + short + "^ --head " + short)));
  return body;
}

// Opens one commit in the list, whatever the filter is.
function show(at) {
  if (at < 0 || at >= commits.length) return;
  if (!matches(commits[at])) Object.assign(state, { words: "", outcome: "", rule: "" });
  state.open.add(at);
  state.at = at;
  const place = list().indexOf(at);
  if (place >= state.shown) {
    state.shown = Math.ceil((place + 1) / PAGE) * PAGE;
    list();
  }
  const row = $("at-" + at);
  row.scrollIntoView({ block: "center" });
  row.querySelector(".head").focus({ preventScroll: true });
}

function filter() {
  $("outcome").append(el("option", { value: "" }, "every outcome"), ...OUTCOMES.filter((name) => audit.outcomes[name]).map((name) => el("option", { value: name }, name)));
  $("rule").append(el("option", { value: "" }, "every rule"), ...audit.rules.map((rule) => el("option", { value: rule.rule }, rule.rule)));
  $("words").addEventListener("input", (event) => choose({ words: event.target.value }));
  $("outcome").addEventListener("change", (event) => choose({ outcome: event.target.value }));
  $("rule").addEventListener("change", (event) => choose({ rule: event.target.value }));
  $("filter").addEventListener("submit", (event) => event.preventDefault());
  $("filter").addEventListener("reset", (event) => { event.preventDefault(); choose({ words: "", outcome: "", rule: "" }); });
  $("more").addEventListener("click", () => { state.shown += PAGE * 5; list(); });
}

headline();
tiles();
ruleTable();
patterns();
filter();
$("page").hidden = false;
list();
draw();
if (!commits.length) for (const id of ["history", "list"]) $(id).hidden = true;
if (!commits.length) document.querySelector(".columns").hidden = true;
// An id after the # opens that commit, so that a finding can be pointed at.
const named = location.hash.slice(1);
if (/^[0-9a-f]{7,64}$/.test(named)) show(commits.findIndex((commit) => commit.commit.startsWith(named)));
new ResizeObserver(() => { if (plot && Math.abs($("chart").clientWidth - plot.width) > 1) draw(); }).observe($("chart"));
const time = audit.time;
if (commits.length) $("time").textContent = "A judgement took " + (time.median_us / 1000).toFixed(1) + " ms in the median and at most " + (time.p99_us / 1000).toFixed(1)
  + " ms for 99 % of the commits; " + (time.all_ms / 1000).toFixed(1) + " s in all on " + plural(time.threads, "thread") + ".";
