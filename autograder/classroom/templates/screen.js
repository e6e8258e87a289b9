"use strict";
const root = document.getElementById("screen"), base = root.dataset.base;
const get = id => document.getElementById(id);
const detail = get("detail"), told = get("told");
let table = null, order = { by: "student", up: true }, open = null, asked = 0, last = null;

// Text of students is set as text; pages that the server sends were cleaned there.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

function page(html, tag = "div") {
  const element = make(tag, { class: "text" });
  element.innerHTML = html;
  return element;
}

const number = value => String(Math.round(value * 100) / 100);
const session = () => get("session").value;

async function ask(what, values = {}, body = null) {
  const address = `${base}/api/${what}?${new URLSearchParams(values)}`;
  const options = body ? { method: "POST", body: JSON.stringify(body),
    headers: { "Content-Type": "application/json", "X-XSRFToken": root.dataset.xsrf } } : {};
  const reply = await fetch(address, options);
  const found = await reply.json().catch(() => ({}));
  if (reply.status === 409) throw new Error(`overtaken: ${found.overtaken}`);
  if (!reply.ok) throw new Error(found.wrong ?? found.message ?? `the server answers ${reply.status}`);
  return found;
}

function say(text) { told.textContent = text; }

// The class

async function load() {
  if (!session()) return;
  table = await ask("class", { session: session() });
  draw();
  const { pages, exchange } = await ask("outdated", { session: session() });
  get("release").textContent = pages ? `Write feedback (${pages} changed)` : exchange ? "Release feedback again" : "Feedback is up to date";
  get("release").disabled = !pages && !exchange;
}

function words(row) {
  return [row.student, ...row.faults, ...row.concerns, row.late, row.unread ? "unread" : "", row.flags.length ? "tampered" : "",
          ...row.signs.map(one => one.words)].join(" ").toLowerCase();
}

function value(row) {
  if (order.by === "student") return row.student;
  if (order.by === "points") return row.points;
  if (order.by === "unread") return row.unread;
  const i = table.columns.findIndex(column => column.name === order.by);
  return row.signs[i]?.words ?? "";
}

function rows() {
  const wanted = get("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = table.rows.filter(row => wanted.every(word => words(row).includes(word)));
  const sign = order.up ? 1 : -1;
  return found.sort((a, b) => {
    const [one, other] = [value(a), value(b)];
    return sign * (typeof one === "number" ? one - other : String(one).localeCompare(String(other)))
      || a.student.localeCompare(b.student);
  });
}

function heading(name, label, kind, number) {
  const sorted = order.by === name ? (order.up ? "ascending" : "descending") : false;
  const sort = () => { order = { by: name, up: order.by === name ? !order.up : name === "student" }; draw(); };
  const inside = make("button", { type: "button", onclick: sort }, label);
  return make("th", { scope: "col", class: kind, "aria-sort": sorted }, number ? inside : make("span", {}, inside));
}

function draw() {
  const { columns } = table, found = rows();
  const head = make("tr", {}, heading("student", "student", "who", true), heading("points", `of ${number(table.max)}`, "number", true),
    ...columns.map(column => heading(column.name, column.name, "tall")));
  const body = found.map(row => make("tr", {},
    make("th", { scope: "row", class: "who" }, make("bdi", {}, row.student), ...remarks(row)),
    make("td", { class: "number" }, number(row.points)),
    ...row.signs.map((sign, i) => make("td", { class: `sign ${sign.kind}` }, cell(row, columns[i], sign)))));
  get("grid").replaceChildren(make("thead", {}, head), make("tbody", {}, ...body));
  get("shown").textContent = `${found.length} of ${table.rows.length}`;
  const tampered = table.rows.filter(row => row.flags.length).length;
  get("count").replaceChildren(`${table.rows.length} graded · `, make("b", {}, `${table.unread} answers unread`),
    ...(tampered ? [" · ", make("span", { class: "alarm" }, `${tampered} tampered`)] : []));
  arrived();
  below();
}

// What was handed in since the class was graded, and a button that grades that alone.
function arrived() {
  const names = table.arrived.map(one => one.again ? `${one.student} (again)` : one.student);
  get("arrived").hidden = get("new").hidden = !names.length;
  get("arrived").replaceChildren(make("b", {}, "Handed in, not graded yet: "), make("bdi", {}, names.join(", ")));
  get("new").textContent = `Grade ${names.length} new`;
  get("again").hidden = !table.rows.length;
}

function remarks(row) {
  const found = [];
  if (row.flags.length) found.push(make("span", { class: "alarm", role: "img", title: row.flags.join("; "), "aria-label": `tampered: ${row.flags.join("; ")}` }, " ⚑"));
  if (row.times > 1) found.push(make("span", { class: "soft", title: `handed in ${row.times} times` }, ` ×${row.times}`));
  if (row.late && row.late !== "on time") found.push(make("span", { class: "soft", title: row.late }, " late"));
  return found;
}

function cell(row, column, sign) {
  const current = open && (open.student === row.student || column.kind === "question") && open.name === column.name;
  return make("button", { type: "button", "aria-label": `${row.student}, ${column.name}: ${sign.words}`, title: sign.words,
    "aria-current": Boolean(current && (open.kind === "question" ? open.student === row.student : true)) && "true",
    onclick: () => show(row.student, column) }, sign.sign);
}

function below() {
  const parts = [];
  if (table.faults.length) {
    parts.push(make("p", { class: "soft" }, "Faults in this class: ", ...table.faults.flatMap((fault, i) => [i ? " · " : "",
      make("button", { type: "button", title: fault.says, onclick: () => { get("filter").value = fault.name; draw(); } },
        `${fault.name} (${fault.count})`)])));
  }
  if (table.untaken.length) parts.push(make("p", { class: "alarm" }, "Not graded:"), make("ul", {}, ...table.untaken.map(line => make("li", {}, line))));
  get("below").replaceChildren(...parts);
}

// One exercise, one question

async function show(student, column, again = false) {
  open = { student, name: column.name, kind: column.kind };
  draw();
  const mine = ++asked, values = { session: session(), student, name: column.name };
  try {
    const found = await ask(column.kind === "question" ? "question" : "exercise", values);
    if (mine !== asked) return;
    if (column.kind === "question") question(found);
    else exercise(found);
    if (!again && column.kind === "exercise") detail.scrollTop = 0;
    if (!again && matchMedia("(max-width: 60rem)").matches) detail.scrollIntoView();
  } catch (error) { say(error.message); }
}

function exercise(found) {
  const points = make("input", { type: "number", min: 0, max: found.max, step: "any", value: found.byPerson ? number(found.points) : "" });
  const comment = make("textarea", { rows: 2 });
  comment.value = found.comment;
  const store = async body => {
    try {
      const now = await ask("save", {}, { session: session(), student: open.student, name: open.name, version: found.version, ...body });
      say(`Saved in the gradebook: ${open.student}, ${open.name}.`);
      exercise(now);
      load();
    } catch (error) { overtaken(error); }
  };
  const give = () => points.checkValidity() && store({ points: points.value === "" ? null : points.valueAsNumber, comment: comment.value });
  points.addEventListener("change", give);
  comment.addEventListener("change", give);
  detail.replaceChildren(page(found.page), make("div", { class: "give" },
    make("label", { class: "field" }, "Points of your own ", points, make("span", { class: "soft" },
      ` automatic ${number(found.automatic)} of ${number(found.max)}; yours are kept when graded again`)),
    make("label", { class: "field" }, "Comment ", comment),
    make("p", {}, make("a", { href: `${base}/feedback/${encodeURIComponent(session())}/${encodeURIComponent(open.student)}`, target: "_blank", rel: "noopener" },
      "The student's page"), " · ", make("button", { type: "button", onclick: () => work("grade", open.student) }, "Grade this student again"))));
}

function question(found) {
  const unread = found.groups.filter(group => !group.read).length;
  const mine = !open.student ? 0 : Math.max(0, found.groups.findIndex(group => group.students.some(one => one.student === open.student)));
  const articles = found.groups.map((group, i) => article(found, group, i));
  detail.replaceChildren(make("h2", {}, found.name, make("span", { class: "soft" },
    ` ${number(found.max)} points · ${unread} of ${found.groups.length} to read, the same words once`)),
    page(found.text), make("details", {}, make("summary", {}, "Model answer"), page(found.model)),
    ...articles, make("p", { class: "soft" }, found.blank.length ? `${found.blank.length} wrote nothing: ${found.blank.join(", ")}` : ""));
  detail.found = found;
  detail.scrollTop = 0;
  choose(mine, false);
  if (mine) detail.querySelectorAll("article")[mine]?.scrollIntoView({ block: "nearest" });
}

function article(found, group, i) {
  const names = group.students.map(one => one.student);
  const boxes = found.items.map((item, k) => {
    const box = make("input", { type: "checkbox" });
    box.checked = group.ticks[k];
    box.addEventListener("change", () => tick(i, boxes.map(one => one.checked)));
    return box;
  });
  const points = make("input", { type: "number", min: 0, max: found.max, step: "any", value: group.points === null ? "" : number(group.points) });
  const comment = make("textarea", { rows: 2 });
  comment.value = group.comment;
  points.addEventListener("change", () => points.checkValidity() && save(i, { points: points.value === "" ? null : points.valueAsNumber }));
  comment.addEventListener("change", () => save(i, { comment: comment.value }));
  return make("article", { "data-group": i, class: group.read ? "read" : "", tabindex: -1, onfocusin: () => choose(i, false) },
    make("h3", {}, make("span", { class: "soft" }, names.length > 1 ? `the same words from ${names.length} students: ` : ""),
      make("bdi", {}, names.join(", ")), make("span", { class: "points" }, group.read ? "✓ read " : "not read ",
        make("b", {}, group.points === null ? "–" : number(group.points)), ` / ${number(found.max)}`)),
    group.page ? page(group.page) : make("p", { class: "soft" }, "The answer is empty, and the question was deleted."),
    make("fieldset", {}, make("legend", {}, "Rubric"),
      ...boxes.map((box, k) => make("label", { class: "item" }, box, make("kbd", { "aria-hidden": "true" }, String(k + 1)),
        make("span", {}, make("b", {}, `${number(found.items[k].points)} `), page(found.items[k].says, "span")))),
      make("label", { class: "field" }, "Points ", points), make("label", { class: "field" }, "Comment ", comment)));
}

let chosen = 0, saving = Promise.resolve();

function choose(i, focus = true) {
  const all = [...detail.querySelectorAll("article")];
  chosen = Math.max(0, Math.min(i, all.length - 1));
  all.forEach((one, k) => one.classList.toggle("current", k === chosen));
  if (focus && all[chosen]) { all[chosen].focus({ preventScroll: true }); all[chosen].scrollIntoView({ block: "nearest" }); }
}

function tick(i, ticks) {
  const { items, max } = detail.found;
  save(i, { ticks, points: Math.min(max, items.reduce((sum, item, k) => sum + (ticks[k] ? item.points : 0), 0)) });
}

// What is shown changes at once; what is sent goes one after the other, each with the versions that the one before left.
function save(i, values) {
  const group = detail.found.groups[i], names = group.students.map(one => one.student);
  const before = { points: group.points, ticks: group.ticks, comment: group.comment };
  Object.assign(group, values, { read: (values.points === undefined ? group.points : values.points) !== null });
  if (!group.read) Object.assign(group, { ticks: group.ticks.map(() => false) });
  const sent = { points: group.points, ticks: [...group.ticks], comment: group.comment }, name = detail.found.name;
  redraw(i);
  saving = saving.then(async () => {
    try {
      const now = await ask("save", {}, { session: session(), name, students: group.students, ...sent });
      const versions = new Map(now.groups.flatMap(one => one.students.map(each => [each.student, each.version])));
      group.students.forEach(one => { one.version = versions.get(one.student) ?? one.version; });
      last = { name, names, before };
      say(`Saved in the gradebook: ${name}, ${names.length > 1 ? `${names.length} students` : names[0]}. Press z to undo.`);
      await load();
    } catch (error) { overtaken(error); }
  });
}

function redraw(i) {
  const typing = document.activeElement?.closest("article") && document.activeElement.matches("input[type=number], textarea");
  detail.querySelectorAll("article")[i].replaceWith(article(detail.found, detail.found.groups[i], i));
  choose(i, !typing);
}

function undo() {
  if (!last || detail.found?.name !== last.name) return;
  const i = detail.found.groups.findIndex(group => group.students.some(one => one.student === last.names[0]));
  if (i >= 0) save(i, last.before);
}

async function overtaken(error) {
  if (!error.message.startsWith("overtaken")) return say(error.message);
  const column = table.columns.find(one => one.name === open.name);
  await show(open.student, column, true);
  say(`Not saved: somebody else changed this since you loaded it. Their entry is shown now.`);
  load();
}

// Work

async function work(what, student = "") {
  say(what === "feedback" ? "Writing feedback…" : "Grading…");
  try { await ask("work", {}, { what, session: session(), student }); } catch (error) { return say(error.message); }
  follow();
}

async function follow() {
  const state = await ask("work").catch(() => null);
  if (!state) return;
  const done = state.of ? `${state.done} of ${state.of}` : "";
  if (state.running) {
    get("work").replaceChildren(`${state.what === "feedback" ? "Feedback" : "Grading"} ${done} `,
      make("progress", { max: Math.max(1, state.of), value: state.done, "aria-label": "progress" }));
    setTimeout(follow, 700);
  } else if (state.what) {
    get("work").replaceChildren();
    say([`${state.what === "feedback" ? "Feedback written" : "Graded"}: ${done || "nothing had changed"}.`, ...state.said].join(" "));
    await load();
    const column = open && table.columns.find(one => one.name === open.name);
    if (column && !writing()) show(open.student, column, true);
  }
}

// What somebody is typing is not replaced; whoever saves it is told if it was overtaken.
function writing() {
  return detail.contains(document.activeElement) && document.activeElement.matches("textarea, input[type=number]");
}

get("release").addEventListener("click", () => work("feedback"));
get("again").addEventListener("click", () => {
  if (confirm(`Grade all ${table.rows.length} submissions again? Points of your own are kept.`)) work("grade");
});
get("new").addEventListener("click", () => work("new"));
document.addEventListener("visibilitychange", () => { if (!document.hidden) load().catch(error => say(error.message)); });
get("session").addEventListener("change", () => { open = null; detail.replaceChildren(); load(); });
get("filter").addEventListener("input", draw);

// Keys

const KEYS = "n next unread answer · j next, k previous answer · 1–9 item of the rubric · a all points · 0 no points · u mark as unread · c comment · z undo · / filter · Esc back";

function nextUnread() {
  if (open?.kind === "question" && detail.found) {
    const at = detail.found.groups.findIndex((group, i) => i !== chosen && !group.read);
    if (at >= 0) return choose(at);
  }
  for (const row of table.rows) {
    const i = row.signs.findIndex(sign => sign.kind === "waiting");
    if (i >= 0) return show("", table.columns[i]);  // those that most students wrote come first
  }
  say("All answers are read.");
}

document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.altKey || event.metaKey || !table) return;
  if (event.key === "Escape") { document.activeElement?.blur(); return choose(chosen); }
  if (event.target.matches("textarea, input:not([type=checkbox]), select")) return;
  const reading = open?.kind === "question" && detail.found?.groups.length;
  const group = reading ? detail.found.groups[chosen] : null, digit = /^[1-9]$/.exec(event.key)?.[0];
  if (event.key === "?") say(KEYS);
  else if (event.key === "/") get("filter").focus();
  else if (event.key === "n") nextUnread();
  else if (!reading) return;
  else if (event.key === "j") choose(chosen + 1);
  else if (event.key === "k") choose(chosen - 1);
  else if (digit && digit <= group.ticks.length) tick(chosen, group.ticks.map((on, k) => on !== (k === digit - 1)));
  else if (event.key === "a") save(chosen, { points: detail.found.max, ticks: group.ticks.map(() => true) });
  else if (event.key === "0") save(chosen, { points: 0, ticks: group.ticks.map(() => false) });
  else if (event.key === "u") save(chosen, { points: null });
  else if (event.key === "z") undo();
  else if (event.key === "c") detail.querySelectorAll("article")[chosen].querySelector("textarea").focus();
  else return;
  event.preventDefault();
});

load().catch(error => say(error.message));
follow();
