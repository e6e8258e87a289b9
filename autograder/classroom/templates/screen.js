"use strict";
const root = document.getElementById("screen"), base = root.dataset.base;
const get = id => document.getElementById(id);
const detail = get("detail");
let table = null, pseudonyms = new Map(), order = { by: "student", up: true }, open = null, requests = 0, last = null;

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

function html(source, tag = "div") {
  const element = make(tag, { class: "text" });
  element.innerHTML = source;
  return element;
}

const number = value => String(Math.round(value * 100) / 100);
const session = () => get("session").value;

async function ask(what, values = {}, body = null) {
  const address = `${base}/api/${what}?${new URLSearchParams(values)}`;
  const options = body ? { method: "POST", body: JSON.stringify(body),
    headers: { "Content-Type": "application/json", "X-XSRFToken": root.dataset.xsrf } } : {};
  const reply = await fetch(address, options);
  const result = await reply.json().catch(() => ({}));
  if (reply.status === 409) throw new Error(`overtaken: ${result.overtaken}`);
  if (!reply.ok) throw new Error(result.wrong ?? result.message ?? `the server answers ${reply.status}`);
  return result;
}

function say(text) { get("told").textContent = text; }

function fits(points) {
  const valid = points.reportValidity();
  if (!valid) say(`Not saved. ${points.validationMessage}`);
  return valid;
}

// Names

const unnamed = get("unnamed");
unnamed.checked = localStorage.getItem("autograder hides names") === "yes";
const shownName = student => unnamed.checked ? pseudonyms.get(student) ?? "hidden" : student;

unnamed.addEventListener("change", () => {
  localStorage.setItem("autograder hides names", unnamed.checked ? "yes" : "no");
  if (table) drawTable();
  const current = chosen, { scrollTop } = detail;
  if (detail.shown?.groups) {
    question(detail.shown);
    choose(current, false);
  } else if (detail.shown) exercise(detail.shown);
  detail.scrollTop = scrollTop;
});

// The class

let loads = 0, refreshing = false, stale = false;

async function load() {
  if (!session()) return;
  const of = session(), mine = ++loads;
  const now = await ask("class", { session: of }), changed = JSON.stringify(now) !== JSON.stringify(table);
  if (mine !== loads) return;  // asked for again meanwhile, perhaps of another session
  table = now;
  pseudonyms = new Map(table.rows.map(row => [row.student, row.pseudonym]));
  if (changed) drawTable();  // a button that is being pressed stays
}

// Load after saves: one request at a time, the last one behind the last save.
async function refresh() {
  stale = true;
  if (refreshing) return;
  refreshing = true;
  while (stale) {
    stale = false;
    await load().catch(error => say(error.message));
  }
  refreshing = false;
}

function words(row) {
  return [shownName(row.student), ...row.faults, ...row.concerns, row.late, row.unread ? "unread" : "",
          row.flags.length ? "tampered" : "", ...row.signs.map(sign => sign.words)].join(" ").toLowerCase();
}

function sortKey(row) {
  if (order.by === "student") return shownName(row.student);
  if (order.by === "points") return row.points;
  if (order.by === "unread") return row.unread;
  const i = table.columns.findIndex(column => column.name === order.by);
  return row.signs[i]?.words ?? "";
}

function rows() {
  const wanted = get("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = table.rows.filter(row => wanted.every(word => words(row).includes(word)));
  const direction = order.up ? 1 : -1;
  return matching.sort((a, b) => {
    const [left, right] = [sortKey(a), sortKey(b)];
    return direction * (typeof left === "number" ? left - right : String(left).localeCompare(String(right)))
      || shownName(a.student).localeCompare(shownName(b.student));
  });
}

function heading(name, label, kind, level) {
  const sorted = order.by === name ? (order.up ? "ascending" : "descending") : false;
  const sort = () => { order = { by: name, up: order.by === name ? !order.up : name === "student" }; drawTable(); };
  const button = make("button", { type: "button", onclick: sort }, label);
  return make("th", { scope: "col", class: kind, "aria-sort": sorted }, level ? button : make("span", {}, button));
}

function drawTable() {
  const { columns } = table, shown = rows();
  const head = make("tr", {}, heading("student", "student", "who", true), heading("points", `of ${number(table.max)}`, "number", true),
    ...columns.map(column => heading(column.name, column.name, "tall")));
  const body = shown.map(row => make("tr", {},
    make("th", { scope: "row", class: "who" }, make("bdi", {}, shownName(row.student)), ...remarks(row)),
    make("td", { class: "number" }, number(row.points)),
    ...row.signs.map((sign, i) => make("td", { class: `sign ${sign.kind}` }, cell(row, columns[i], sign)))));
  get("grid").replaceChildren(make("thead", {}, head), make("tbody", {}, ...body));
  get("shown").textContent = `${shown.length} of ${table.rows.length}`;
  const tampered = table.rows.filter(row => row.flags.length).length;
  get("count").replaceChildren(`${table.rows.length} graded · `, make("b", {}, `${table.unread} answers unread`),
    ...(tampered ? [" · ", make("span", { class: "alarm" }, `${tampered} tampered`)] : []));
  drawArrived();
  drawBelow();
}

// What was handed in since the class was graded, and a button that grades that alone.
function drawArrived() {
  const names = table.arrived.map(({ student, again }) => again ? `${student} (again)` : student);
  get("arrived").hidden = get("new").hidden = !names.length;
  get("arrived").replaceChildren(make("b", {}, "Handed in, not graded yet: "),
    unnamed.checked ? String(names.length) : make("bdi", {}, names.join(", ")));
  get("new").textContent = `Grade ${names.length} new`;
  get("again").hidden = !table.rows.length;
}

function remarks(row) {
  const parts = [];
  if (row.flags.length) parts.push(make("span", { class: "alarm", role: "img", title: row.flags.join("; "), "aria-label": `tampered: ${row.flags.join("; ")}` }, " ⚑"));
  if (row.times > 1) parts.push(make("span", { class: "soft", title: `handed in ${row.times} times` }, ` ×${row.times}`));
  if (row.late && row.late !== "on time") parts.push(make("span", { class: "soft", title: row.late }, " late"));
  return parts;
}

function cell(row, column, sign) {
  const current = open?.student === row.student && open.name === column.name;
  return make("button", { type: "button", "aria-label": `${shownName(row.student)}, ${column.name}: ${sign.words}`, title: sign.words,
    "aria-current": current && "true", onclick: () => show(row.student, column) }, sign.sign);
}

function drawBelow() {
  const parts = [];
  if (table.faults.length) {
    parts.push(make("p", { class: "soft" }, "Faults in this class: ", ...table.faults.flatMap((fault, i) => [i ? " · " : "",
      make("button", { type: "button", title: fault.feedback, onclick: () => { get("filter").value = fault.name; drawTable(); } },
        `${fault.name} (${fault.students.length})`)])));
  }
  if (table.ignored.length) parts.push(make("p", { class: "alarm" }, "Not graded:"), make("ul", {}, ...table.ignored.map(line => make("li", {}, line))));
  get("below").replaceChildren(...parts);
}

// One exercise, one question: what the server sent of it is kept in `detail.shown`

async function show(student, column, again = false) {
  open = { student, name: column.name, kind: column.kind };
  drawTable();
  const request = ++requests, values = { session: session(), student, name: column.name };
  try {
    await saving;  // else what is still being sent would be missing
    const result = await ask(column.kind === "question" ? "question" : "exercise", values);
    if (request !== requests) return;
    if (column.kind === "question") question(result);
    else exercise(result);
    if (!again && column.kind === "exercise") detail.scrollTop = 0;
    if (!again && matchMedia("(max-width: 60rem)").matches) detail.scrollIntoView();
  } catch (error) { say(error.message); }
}

function exercise(shown) {
  const { student, name } = shown, of = session();
  const points = make("input", { type: "number", min: 0, max: shown.max, step: "any", value: shown.isManual ? shown.points : "" });
  const comment = make("textarea", { rows: 2 });
  comment.value = shown.comment;
  const store = async body => {
    waiting += 1;
    try {
      const now = await ask("save/points", {}, { session: of, student, name, digest: shown.digest, ...body });
      say(`Saved in the gradebook: ${shownName(student)}, ${name}.`);
      if (detail.shown === shown) exercise(now);
      refresh();
    } catch (error) { notSaved(error, of, name); } finally { waiting -= 1; }
  };
  const give = () => fits(points) && store({ points: points.value === "" ? null : points.valueAsNumber, comment: comment.value });
  points.addEventListener("change", give);
  comment.addEventListener("change", give);
  detail.shown = shown;
  detail.replaceChildren(make("h2", {}, make("bdi", {}, shownName(student)), ` · ${name}`), html(shown.page), make("div", { class: "give" },
    make("label", { class: "field" }, "Points of your own ", points, make("span", { class: "soft" },
      ` automatic ${number(shown.automatic)} of ${number(shown.max)}; yours are kept when graded again`)),
    make("label", { class: "field" }, "Comment ", comment),
    make("p", {}, ...(unnamed.checked ? [] : [make("a", { href: `${base}/feedback/${encodeURIComponent(session())}/${encodeURIComponent(student)}`, target: "_blank", rel: "noopener" },
      "The student's page"), " · "]), make("button", { type: "button", onclick: () => begin("grade", student) }, "Grade this student again"))));
}

function question(shown) {
  const ofStudent = shown.groups.findIndex(group => group.students.some(({ student }) => student === open.student));
  const articles = shown.groups.map((group, i) => article(shown, group, i));
  detail.shown = shown;
  detail.replaceChildren(make("h2", {}, shown.name, make("span", { class: "soft" })),
    html(shown.text), make("details", {}, make("summary", {}, "Model answer"), html(shown.model)), ...articles,
    make("p", { class: "soft" }, shown.blank.length ? `${shown.blank.length} wrote nothing and have 0 points: ${shown.blank.map(shownName).join(", ")}` : ""),
    make("div", { class: "earlier", role: "group", "aria-label": "Comments written before", hidden: true }));
  progress();
  detail.scrollTop = 0;
  choose(Math.max(0, ofStudent), false);
  if (ofStudent > 0) articles[ofStudent].scrollIntoView({ block: "nearest" });
}

function progress() {
  const { groups, max } = detail.shown, unread = groups.filter(group => !group.read).length;
  detail.querySelector("h2 .soft").textContent = ` ${number(max)} ${max == 1 ? "point" : "points"} · ${unread} of ${groups.length} to read, the same words once`;
}

function state(group) {
  if (group.unsaved) return "not saved";
  return group.read ? "✓ read" : group.earlier === null ? "not read" : `not read; an earlier answer had ${number(group.earlier)}`;
}

function article(shown, group, i) {
  const names = group.students.map(({ student }) => shownName(student)).join(", ");
  const boxes = shown.items.map((item, k) => {
    const box = make("input", { type: "checkbox" });
    box.checked = group.ticks[k];
    box.addEventListener("change", () => tick(i, boxes.map(each => each.checked)));
    return box;
  });
  const points = make("input", { type: "number", min: 0, max: shown.max, step: "any", value: group.points === null ? "" : number(group.points) });
  const comment = make("textarea", { rows: 2 });
  comment.value = group.comment;
  points.addEventListener("change", () => fits(points) && save(i, { points: points.value === "" ? null : points.valueAsNumber }));
  comment.addEventListener("change", () => save(i, { comment: comment.value }));
  return make("article", { "data-group": i, class: group.read ? "read" : "", tabindex: -1, "aria-label": names, onfocusin: () => choose(i, false) },
    make("h3", {}, make("span", { class: "soft" }, group.students.length > 1 ? `the same words from ${group.students.length} students: ` : ""),
      make("bdi", {}, names), make("span", { class: "points" }, state(group), " ",
        make("b", {}, group.points === null ? "–" : number(group.points)), ` / ${number(shown.max)}`)),
    group.page ? html(group.page) : make("p", { class: "soft" }, "The answer is empty."),
    make("fieldset", {}, make("legend", {}, "Rubric"),
      ...boxes.map((box, k) => make("label", { class: "item" }, box, make("kbd", { "aria-hidden": "true" }, String(k + 1)),
        make("span", {}, make("b", {}, `${number(shown.items[k].points)} `), html(shown.items[k].description, "span")))),
      make("label", { class: "field" }, "Points ", points), make("label", { class: "field" }, "Comment ", comment)));
}

let chosen = 0, saving = Promise.resolve(), waiting = 0;  // how many saves wait

addEventListener("beforeunload", event => { if (waiting) event.preventDefault(); });

function choose(i, focus = true) {
  const articles = [...detail.querySelectorAll("article")];
  chosen = Math.max(0, Math.min(i, articles.length - 1));
  articles.forEach((each, k) => each.classList.toggle("current", k === chosen));
  offerComments();
  if (focus && articles[chosen]) { articles[chosen].focus({ preventScroll: true }); articles[chosen].scrollIntoView({ block: "nearest" }); }
}

// Comments on other answers to the question, the most frequent first; a click adds one to the framed answer.
function offerComments() {
  const bar = detail.querySelector(".earlier"), group = detail.shown?.groups?.[chosen];
  if (!bar || !group) return;
  const times = new Map();
  for (const { comment } of detail.shown.groups) {
    if (comment && comment !== group.comment) times.set(comment, (times.get(comment) ?? 0) + 1);
  }
  const offered = [...times].sort((a, b) => b[1] - a[1]).slice(0, 5), state = JSON.stringify(offered);
  if (bar.dataset.state === state) return;  // a button that is being clicked must stay
  bar.dataset.state = state;
  bar.hidden = !offered.length;
  bar.replaceChildren("Earlier comments:", ...offered.map(([text, count], k) => make("button",
    { type: "button", title: text, "aria-label": text, onclick: () => addComment(text) },
    make("kbd", {}, `⇧${k + 1}`), count > 1 ? ` ${text} (${count})` : ` ${text}`)));
}

function addComment(text) {
  const { comment } = detail.shown.groups[chosen];
  save(chosen, { comment: comment ? `${comment}\n${text}` : text });
}

function tick(i, ticks) {
  const { items, max } = detail.shown;
  save(i, { ticks, points: Math.min(max, items.reduce((sum, item, k) => sum + (ticks[k] ? item.points : 0), 0)) });
}

// What is shown changes at once; what is sent goes one after the other, each with the digests that the one before left.
function save(i, values) {
  const of = session(), { shown } = detail, group = shown.groups[i], students = group.students.map(({ student }) => student);
  const before = { points: group.points, ticks: group.ticks, comment: group.comment };
  Object.assign(group, values, { read: (values.points === undefined ? group.points : values.points) !== null, unsaved: false });
  if (!group.read) Object.assign(group, { ticks: group.ticks.map(() => false) });
  const sent = { points: group.points, ticks: [...group.ticks], comment: group.comment }, { name } = shown;
  redraw(i);
  if (open.name === name) requests += 1;  // what is being loaded of it is older than this
  if (before.points === null && !group.read) return say(group.comment ? "Not saved yet: a comment is saved with the points." : "");
  waiting += 1;
  saving = saving.then(async () => {
    try {
      const now = await ask("save/answers", {}, { session: of, name, students: group.students, ...sent });
      const digests = new Map(now.groups.flatMap(({ students }) => students.map(({ student, digest }) => [student, digest])));
      group.students.forEach(entry => { entry.digest = digests.get(entry.student) ?? entry.digest; });
      last = { of, name, students, before };
      if (group.unsaved) mark(shown, i, false);
      say(`Saved in the gradebook: ${name}, ${students.length > 1 ? `${students.length} students` : shownName(students[0])}. Press z to undo.`);
      refresh();
    } catch (error) {
      mark(shown, i, true);
      notSaved(error, of, name);
    } finally { waiting -= 1; }
  });
}

// Every save holds all of a group: one that fails is made good by the next.
function mark(shown, i, unsaved) {
  const group = shown.groups[i];
  Object.assign(group, { unsaved, read: !unsaved && group.points !== null });
  if (detail.shown !== shown) return;
  const drawn = detail.querySelectorAll("article")[i];  // somebody may be typing in it
  drawn.classList.toggle("read", group.read);
  drawn.querySelector(".points").firstChild.data = state(group);
  progress();
}

function redraw(i) {
  const typing = document.activeElement?.closest("article") && document.activeElement.matches("input[type=number], textarea");
  detail.querySelectorAll("article")[i].replaceWith(article(detail.shown, detail.shown.groups[i], i));
  progress();
  choose(i, !typing);
}

function undo() {
  if (!last || detail.shown.name !== last.name || session() !== last.of) return;
  const i = detail.shown.groups.findIndex(group => group.students.some(({ student }) => student === last.students[0]));
  if (i >= 0) save(i, last.before);
}

async function notSaved(error, of, name) {
  if (!error.message.startsWith("overtaken")) return say(`Not saved, ${name}: ${error.message}`);
  const isOpen = of === session() && open?.name === name;
  if (isOpen) await show(open.student, table.columns.find(column => column.name === name), true);
  say(`Not saved, ${name} of ${of}: somebody else changed this since you loaded it.${isOpen ? " Their entry is shown now." : ""}`);
  refresh();
}

// Tasks

async function begin(kind, student = "") {
  say(kind === "feedback" ? "Writing feedback…" : "Grading…");
  try { await ask("task", {}, { kind, session: session(), student }); } catch (error) { return say(error.message); }
  follow(true);
}

async function follow(begun = false) {
  const state = await ask("task").catch(() => null);
  if (!state) return;
  const done = state.of ? `${state.done} of ${state.of}` : "";
  if (state.running) {
    get("task").replaceChildren(`${state.kind === "feedback" ? "Feedback" : "Grading"} ${done} `,
      make("progress", { max: Math.max(1, state.of), value: state.done, "aria-label": "progress" }));
    setTimeout(follow, 700, true);
  } else if (state.kind) {
    get("task").replaceChildren();
    say([`${state.kind === "feedback" ? "Feedback written" : "Graded"}: ${done || "nothing"}.`, ...state.messages].join(" "));
    await load();
    const column = begun && open && table.columns.find(({ name }) => name === open.name);
    if (column && !writing()) show(open.student, column, true);
  }
}

// What somebody is typing is not replaced; if it was overtaken, saving it says so.
function writing() {
  return detail.contains(document.activeElement) && document.activeElement.matches("textarea, input[type=number]");
}

get("release").addEventListener("click", () => begin("feedback"));
get("again").addEventListener("click", () => {
  if (confirm(`Grade all ${table.rows.length} submissions again? Points of your own are kept.`)) begin("grade");
});
get("new").addEventListener("click", () => begin("new"));
document.addEventListener("visibilitychange", () => { if (!document.hidden) load().catch(error => say(error.message)); });
get("session").addEventListener("change", () => { requests += 1; open = detail.shown = null; detail.replaceChildren(); load(); });
get("filter").addEventListener("input", drawTable);

// Keys

const KEYS = "n next unread answer · j next, k previous answer · 1–9 item of the rubric · a all points · 0 no points · u mark as unread · "
  + "c comment · Shift 1–5 an earlier comment · z undo · / filter · Esc back";

// The groups of answers on the screen; none while another question is being loaded.
function groupsShown() {
  return open && open.name === detail.shown?.name && detail.shown.groups || [];
}

function nextUnread() {
  if (groupsShown().length) {
    const i = groupsShown().findIndex((group, k) => k !== chosen && !group.read);
    if (i >= 0) return choose(i);
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
  const group = groupsShown()[chosen];
  const digit = /^Digit([1-9])$/.exec(event.code)?.[1] ?? /^[1-9]$/.exec(event.key)?.[0];  // with Shift, and on any layout
  if (event.key === "?") say(KEYS);
  else if (event.key === "/") get("filter").focus();
  else if (event.key === "n") nextUnread();
  else if (!group) return;
  else if (event.key === "j") choose(chosen + 1);
  else if (event.key === "k") choose(chosen - 1);
  else if (digit && event.shiftKey) detail.querySelectorAll(".earlier button")[digit - 1]?.click();
  else if (digit && digit <= group.ticks.length) tick(chosen, group.ticks.map((on, k) => on !== (k === digit - 1)));
  else if (event.key === "a") save(chosen, { points: detail.shown.max, ticks: group.ticks.map(() => true) });
  else if (event.key === "0") save(chosen, { points: 0, ticks: group.ticks.map(() => false) });
  else if (event.key === "u") save(chosen, { points: null });
  else if (event.key === "z") undo();
  else if (event.key === "c") detail.querySelectorAll("article")[chosen].querySelector("textarea").focus();
  else return;
  event.preventDefault();
});

load().catch(error => say(error.message));
follow();
