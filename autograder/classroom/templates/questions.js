"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const articles = [...document.querySelectorAll("article")];
const told = document.getElementById("told");
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

// Of each group of answers of the same words: what is ticked here. It counts on what the gradebook held when the page
// was made, and no longer.
const state = {};
let overtaken = 0;
for (const [key, answer] of Object.entries(data.answers)) state[key] = structuredClone(answer.before);
for (const { id, base, now } of kept()) {
  const key = Object.keys(data.answers).find(one => names(one).includes(id));
  if (!key) continue;
  if (same(base, data.answers[key].before)) state[key] = now;
  else if (!same(now, data.answers[key].before)) overtaken += 1;
}

function names(key) {
  const { question, students } = data.answers[key];
  return students.map(({ student, version }) => [question, student, version].join(" "));
}

function changed() {
  return Object.keys(state).filter(key => !same(state[key], data.answers[key].before));
}

function toEnter() {
  return changed().filter(key => state[key].points !== null);
}

function kept() {
  try {
    return JSON.parse(localStorage.getItem(data.kept)) ?? [];
  } catch {
    return [];
  }
}

function keep() {
  try {
    const all = changed().flatMap(key =>
      names(key).map(id => ({ id, base: data.answers[key].before, now: state[key] })));
    localStorage.setItem(data.kept, JSON.stringify(all));
  } catch {
    told.textContent = "This browser stores nothing: download before you close the page.";
  }
}

// What is seen

const number = value => String(Math.round(value * 1e4) / 1e4);
const keyOf = article => article.dataset.answer;
const boxes = article => [...article.querySelectorAll("input[type=checkbox]")];

function show(article) {
  const now = state[keyOf(article)], read = now.points !== null;
  boxes(article).forEach((box, i) => { box.checked = now.ticks[i]; });
  article.classList.toggle("read", read);
  article.querySelector(".state").textContent = read ? "✓ read" : "not read";
  article.querySelector(".sum").textContent = read ? number(now.points) : "–";
  const points = article.querySelector("input[type=number]"), comment = article.querySelector("textarea");
  if (points !== document.activeElement) points.value = read ? number(now.points) : "";
  if (comment !== document.activeElement) comment.value = now.comment;
}

function offer(article) {
  const key = keyOf(article), times = new Map();
  for (const [other, now] of Object.entries(state)) {
    if (data.answers[other].question === data.answers[key].question && now.comment && now.comment !== state[key].comment) {
      times.set(now.comment, (times.get(now.comment) ?? 0) + 1);
    }
  }
  const often = [...times].sort((one, other) => other[1] - one[1]).slice(0, 5);
  article.querySelector(".again").replaceChildren(...often.map(([text, count]) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = count > 1 ? `${text} (${count})` : text;
    button.addEventListener("click", () => {
      const before = state[key].comment;
      change(article, { comment: before ? `${before}\n${text}` : text });
      article.focus();
    });
    return button;
  }));
}

function count() {
  document.querySelectorAll("[data-progress]").forEach(place => {
    const all = Object.keys(state).filter(key => key.startsWith(`${place.dataset.progress}-`));
    const read = all.filter(key => state[key].points !== null).length;
    place.textContent = `${read} of ${all.length} read`;
  });
  const waiting = toEnter().reduce((sum, key) => sum + data.answers[key].students.length, 0);
  const button = document.getElementById("download");
  button.disabled = waiting === 0;
  button.textContent = waiting ? `Download new entries (${waiting})` : "Nothing new to download";
}

// What is done

function change(article, values) {
  Object.assign(state[keyOf(article)], values);
  keep();
  show(article);
  offer(article);
  count();
}

function tick(article, ticks) {
  const { items, max } = data.answers[keyOf(article)];
  change(article, { ticks, points: Math.min(max, items.reduce((sum, value, i) => sum + (ticks[i] ? value : 0), 0)) });
}

function go(article) {
  article?.focus();
  article?.scrollIntoView({ block: "start" });
}

function cell(text) {
  const start = text.trimStart()[0] ?? "";  // no spreadsheet takes it for a formula
  const safe = "=+@".includes(start) && start || start === "-" && text !== "-" ? `'${text}` : text;
  return /[",;\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function download() {
  const most = Math.max(...Object.values(data.answers).map(answer => answer.items.length));
  const rows = [["TP", "question", "student", "version", "points",
                 ...Array.from({ length: most }, (_, i) => `item ${i + 1}`), "comment"]];
  for (const key of toEnter()) {
    const { question, students } = data.answers[key], now = state[key];
    const ticks = Array.from({ length: most }, (_, i) => now.ticks[i] ? "x" : "");
    for (const { student, version } of students) {
      rows.push([data.assignment, question, student, version, number(now.points), ...ticks, now.comment]);
    }
  }
  const link = document.createElement("a");
  const text = rows.map(row => row.map(cell).join(",")).join("\r\n") + "\r\n";
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = `${data.assignment}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
  told.textContent = `${data.assignment}.csv holds ${rows.length - 1} new entries.`;
}

for (const article of articles) {
  const points = article.querySelector("input[type=number]");
  article.addEventListener("change", event => {
    if (event.target.type === "checkbox") tick(article, boxes(article).map(box => box.checked));
  });
  points.addEventListener("input", () => {
    const value = points.valueAsNumber, max = data.answers[keyOf(article)].max;
    if (points.checkValidity()) change(article, { points: Number.isNaN(value) ? null : Math.min(max, value) });
  });
  points.addEventListener("blur", () => show(article));
  article.querySelector("textarea").addEventListener("input", event => change(article, { comment: event.target.value.trim() }));
  article.addEventListener("focusin", () => offer(article));
  show(article);
}

document.getElementById("download").addEventListener("click", download);
document.addEventListener("keydown", event => {
  const article = event.target.closest("article");
  if (!article || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "Escape") return go(article);
  if (event.target.matches("textarea, input[type=number]")) return;
  const at = articles.indexOf(article), { items, max } = data.answers[keyOf(article)];
  const digit = /^Digit([1-9])$/.exec(event.code)?.[1];
  const unread = one => state[keyOf(one)].points === null;
  if (digit && event.shiftKey) article.querySelectorAll(".again button")[digit - 1]?.click();
  else if (digit && digit <= items.length) tick(article, boxes(article).map((box, i) => box.checked !== (i === digit - 1)));
  else if (event.key === "0") change(article, { points: 0, ticks: items.map(() => false) });
  else if (event.key === "a") change(article, { points: max, ticks: items.map(() => true) });
  else if (event.key === "u") change(article, { points: null, ticks: items.map(() => false) });
  else if (event.key === "j") go(articles[at + 1]);
  else if (event.key === "k") go(articles[at - 1]);
  else if (event.key === "n") go(articles.slice(at + 1).find(unread) ?? articles.find(unread));
  else if (event.key === "c") article.querySelector("textarea").focus();
  else if (event.key === "d") download();
  else return;
  event.preventDefault();
});

if (overtaken) {
  told.textContent = `Changed in the gradebook since you entered them here: ${overtaken}. The gradebook's points are shown.`;
}
count();
