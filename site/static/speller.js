// The model of session 7 in plain JavaScript: letters in, sounds and attention weights out.
"use strict";

const LETTERS = "'abcdefghijklmnopqrstuvwxyz";
const SOUNDS = ("AA AE AH AO AW AY B CH D DH EH ER EY F G HH IH IY JH K L M N NG OW OY P R S SH T TH UH UW V W Y Z " +
  "ZH").split(" ");
const START = 1, END = 2, FIRST = 3, LONGEST = 28;

// How the weights are stored: see `shipped` in tp/pronunciation.py.
const LARGE = 4096, BLOCK = 32;

async function load(folder) {
  const [about, buffer] = await Promise.all([
    fetch(`${folder}/pronunciation.json`).then(answer => answer.json()),
    fetch(`${folder}/pronunciation.bin`).then(answer => answer.arrayBuffer())]);
  const all = about.weights.map(([name, shape]) => ({name, shape, size: shape.reduce((a, b) => a * b)}));
  for (const one of all) one.count = one.size < LARGE ? one.size : Math.ceil(one.size / BLOCK);
  const weights = {};
  let first = 0, next = 4 * all.reduce((sum, one) => sum + one.count, 0);
  for (const {name, shape, size, count} of all) {
    let data = new Float32Array(buffer, 4 * first, count);
    first += count;
    if (size >= LARGE) {
      const scales = data;
      data = Float32Array.from(new Int8Array(buffer, next, size), (x, i) => x * scales[Math.floor(i / BLOCK)]);
      next += size;
    }
    weights[name] = {data, columns: shape[shape.length - 1]};
  }
  return weights;
}

const row = (matrix, i) => matrix.data.subarray(i * matrix.columns, (i + 1) * matrix.columns);
const join = (a, b) => Float32Array.of(...a, ...b);
const sigmoid = x => 1 / (1 + Math.exp(-x));

function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

// matrix (N, D) times x (D,) plus bias (N,)
function linear(matrix, x, bias) {
  const result = new Float32Array(matrix.data.length / matrix.columns);
  for (let i = 0; i < result.length; i++) result[i] = dot(row(matrix, i), x) + (bias ? bias.data[i] : 0);
  return result;
}

// One step of a GRU, parts in the order r, z, n.
function gru(weights, part, end, x, h) {
  const H = h.length;
  const a = linear(weights[`${part}.weight_ih${end}`], x, weights[`${part}.bias_ih${end}`]);
  const b = linear(weights[`${part}.weight_hh${end}`], h, weights[`${part}.bias_hh${end}`]);
  return h.map((old, i) => {
    const r = sigmoid(a[i] + b[i]), z = sigmoid(a[H + i] + b[H + i]);
    return (1 - z) * Math.tanh(a[2 * H + i] + r * b[2 * H + i]) + z * old;
  });
}

// A word → the states of its letters, and the decoder's first state.
function encode(weights, word) {
  let states = [...word].map(letter => row(weights["letters.weight"], 1 + LETTERS.indexOf(letter))), last = [];
  for (const layer of [0, 1]) {
    const ways = ["", "_reverse"].map(way => {
      let h = new Float32Array(weights["encoder.weight_hh_l0"].columns);
      const order = way ? [...states].reverse() : states;
      const seen = order.map(x => h = gru(weights, "encoder", `_l${layer}${way}`, x, h));
      last.push(h);
      return way ? seen.reverse() : seen;
    });
    states = ways[0].map((forward, i) => join(forward, ways[1][i]));
  }
  const first = linear(weights["bridge.weight"], join(last[2], last[3]), weights["bridge.bias"]);
  return {states, first: first.map(Math.tanh)};
}

// The sound just written and the state → logits, the next state, attention weights.
function step(weights, token, state, states) {
  const query = linear(weights["query.weight"], state);
  const scores = states.map(h => dot(h, query) / Math.sqrt(query.length)), top = Math.max(...scores);
  const powers = scores.map(score => Math.exp(score - top)), sum = powers.reduce((a, b) => a + b);
  const attention = powers.map(power => power / sum);
  const context = state.map((_, i) => states.reduce((all, h, s) => all + attention[s] * h[i], 0));
  const next = gru(weights, "cell", "", join(row(weights["sounds.weight"], token), context), state);
  const both = linear(weights["combine.weight"], join(next, context), weights["combine.bias"]).map(Math.tanh);
  return {logits: linear(weights["output.weight"], both, weights["output.bias"]), state: next, attention};
}

// Logits → the logarithm of the sum of their powers of e.
function logSum(logits) {
  const top = Math.max(...logits);
  return top + Math.log(logits.reduce((all, x) => all + Math.exp(x - top), 0));
}

// Greedy decoding: the sounds, and for each the weights of the letters and its probability.
function pronounce(weights, word) {
  const {states, first} = encode(weights, word), found = [];
  let token = START, state = first;
  while (found.length < LONGEST) {
    const said = step(weights, token, state, states);
    state = said.state;
    token = said.logits.indexOf(Math.max(...said.logits));
    if (token === END) break;
    const probability = Math.exp(said.logits[token] - logSum(said.logits));
    found.push({sound: SOUNDS[token - FIRST], attention: said.attention, probability, logits: said.logits});
  }
  return found;
}

// Beam search: the tree of all hypotheses that were among the best, and the complete ones, the best first.
// A node has its token, the sum of its log-probabilities, and the nodes that continue it.
function beam(weights, word, width) {
  const {states, first} = encode(weights, word), root = {token: START, score: 0, after: first, next: []}, complete = [];
  let alive = [root];
  for (let t = 0; t < LONGEST && alive.length; t++) {
    const candidates = alive.flatMap(from => {
      const {logits, state} = step(weights, from.token, from.after, states), sum = logSum(logits);
      return Array.from(logits, (logit, token) =>
        ({token, from, score: from.score + logit - sum, after: state, next: []}));
    });
    const best = candidates.sort((a, b) => b.score - a.score).slice(0, width);
    for (const node of best) node.from.next.push(node);
    complete.push(...best.filter(node => node.token === END));
    alive = best.filter(node => node.token !== END);
  }
  return {root, complete: complete.sort((a, b) => b.score - a.score)};
}

// A node → the sounds from the start to it.
const path = node => node.from ? [...path(node.from), SOUNDS[node.token - FIRST] ?? []].flat() : [];

const element = (kind, text = "") => Object.assign(document.createElement(kind), {textContent: text});

// The weights: a row for each sound, a column for each letter.
function show(place, word, found) {
  const table = element("table"), head = table.createTHead().insertRow();
  const cell = (line, text, kind = "td") => line.appendChild(element(kind, text));
  cell(head, "");
  for (const letter of word) cell(head, letter, "th").scope = "col";
  cell(head, "probability", "th").scope = "col";
  const body = table.createTBody();
  for (const {sound, attention, probability} of found) {
    const line = body.insertRow();
    cell(line, sound, "th").scope = "row";
    for (const weight of attention) {
      const made = cell(line, weight.toFixed(2));
      made.style.background = `rgb(11 98 164 / ${Math.round(45 * weight)}%)`;
    }
    cell(line, probability.toFixed(2));
  }
  place.replaceChildren(table);
}

// The tree: nested lists; sounds without a branch between them stand in one line.
function grow(node, winner) {
  const item = element("li"), sounds = [];
  let last = node;
  for (;; last = last.next[0]) {
    if (last.token >= FIRST) sounds.push(SOUNDS[last.token - FIRST]);
    if (last.next.length !== 1) break;
  }
  const ended = last.token === END;
  item.append(element("code", sounds.join(" ") || (node.from ? "" : "start")),
    ` ${ended ? "■ " : ""}${Math.exp(last.score).toFixed(2)}${ended || last.next.length ? "" : " dropped"}`);
  item.className = last === winner ? "best" : ended ? "complete" : last.next.length ? "branch" : "dropped";
  if (last.next.length) {
    const list = item.appendChild(element("ul"));
    for (const next of [...last.next].sort((a, b) => b.score - a.score)) list.append(grow(next, winner));
  }
  return item;
}

function showBeam(place, {root, complete}) {
  const list = element("ul");
  if (root.next.length) list.append(grow(root, complete[0]));
  const answers = element("ol");
  for (const node of complete.slice(0, 4)) {
    const item = answers.appendChild(element("li"));
    item.append(element("code", path(node).join(" ")), ` ${Math.exp(node.score).toFixed(2)}`);
  }
  place.replaceChildren(answers, list);
}

async function start() {
  const form = document.getElementById("speller");
  if (!form) return;
  const [field, width, answer, map, tree] = ["input", "select", "output", ".map", ".tree"]
    .map(name => form.querySelector(name));
  let weights;
  try { weights = await load(form.dataset.folder); } catch {
    answer.textContent = "The network cannot be read. A page that is opened from disk needs a server: python -m http.server";
    return;
  }
  const say = () => {
    const word = field.value.toLowerCase().replace(/[^a-z']/g, "").slice(0, 24);
    const found = word ? pronounce(weights, word) : [];
    answer.textContent = found.map(one => one.sound).join(" ");
    show(map, word, found);
    if (word) showBeam(tree, beam(weights, word, Number(width.value))); else tree.replaceChildren();
  };
  form.addEventListener("input", say);
  form.addEventListener("submit", event => event.preventDefault());
  say();
}

start();
