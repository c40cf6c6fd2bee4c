// The script of the page in which algorithms are played by hand. Go, in a worker, plays the algorithms; this
// script shows the states that it answers, and sends it the steps that a person chooses.
//
// A session is one cluster that is played. There are two of them side by side. The script keeps no rules of
// algorithms: what can happen is what the state of a session lists.
"use strict";

// ---------------------------------------------------------------------------------------------- Elements

const SVG = "http://www.w3.org/2000/svg";
const byId = id => document.getElementById(id);

// make returns a new element of HTML; shape returns one of SVG. An attribute that is null or false is left
// out, and so is such a child.
function make(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function shape(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if ((value ?? false) !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(9).filter(child => (child ?? false) !== false));
  return element;
}

const ruler = document.createElement("canvas").getContext("2d");
const widths = new Map(); // of texts that were measured, in letters of 100 pixels

// widthOf returns how wide a text is in letters of a size.
function widthOf(text, size, weight = "") {
  const key = weight + text;
  if (!widths.has(key)) {
    ruler.font = `${weight} 100px ${getComputedStyle(document.body).fontFamily}`;
    widths.set(key, ruler.measureText(text).width);
  }
  return widths.get(key) * size / 100;
}

// listed writes "0, 1 and 2".
function listed(all) {
  if (all.length < 2) return all.join("");
  return all.slice(0, -1).join(", ") + " and " + all[all.length - 1];
}

// counted writes "1 step" or "2 steps".
const counted = (count, one, many) => count + " " + (count === 1 ? one : many);

const pause = ms => new Promise(done => setTimeout(done, ms));
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// letters returns the size of the letters of the page in pixels.
const letters = () => parseFloat(getComputedStyle(document.documentElement).fontSize);

// ---------------------------------------------------------------------------------------------- Worker

let worker = null;
let lastCall = 0;
const calls = new Map(); // the calls that have no answer yet, by number

// unpack reads gzipped bytes that are written as base64.
async function unpack(base64) {
  const bytes = Uint8Array.from(atob(base64.trim()), letter => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

// inWorker is the program of the worker: it starts Go, and then answers one call after the other.
function inWorker() {
  async function begin(wasm) {
    const go = new Go();
    const {instance} = await WebAssembly.instantiate(await unpack(wasm), go.importObject);
    go.run(instance);
  }
  self.onmessage = async ({data}) => {
    const answer = {id: data.id};
    try {
      if (data.wasm) await begin(data.wasm);
      else Object.assign(answer, JSON.parse(self.turnstile(data.name, data.args)));
    } catch (problem) {
      answer.error = "The program in this page has stopped: " + problem.message + ". Open the page again.";
    }
    self.postMessage(answer);
  };
}

// startWorker starts Go. It resolves when Go can be called.
function startWorker() {
  for (const needed of ["Worker", "WebAssembly", "DecompressionStream"]) {
    if (!(needed in window)) {
      throw new Error(`This browser has no ${needed}, which this page needs: use one of 2023 or later.`);
    }
  }
  const program = [byId("wasm_exec").textContent, unpack, "(" + inWorker + ")();"].join("\n");
  worker = new Worker(URL.createObjectURL(new Blob([program], {type: "text/javascript"})));
  worker.onmessage = ({data}) => hear(data);
  worker.onerror = event => {
    const problem = new Error("The program of this page fails: " + event.message);
    for (const {reject} of calls.values()) reject(problem);
    calls.clear();
  };
  return send({wasm: byId("wasm").textContent});
}

function send(message) {
  return new Promise((resolve, reject) => {
    calls.set(++lastCall, {resolve, reject});
    worker.postMessage({id: lastCall, ...message});
  });
}

function hear(answer) {
  const {resolve, reject} = calls.get(answer.id) || {};
  calls.delete(answer.id);
  if (!resolve) return;
  if (answer.error === undefined) resolve(answer.ok);
  else reject(new Error(answer.error));
}

// call asks Go.
const call = (name, args) => send({name, args: JSON.stringify(args || {})});

// inTurn does one piece of work after the other, and shows what went wrong in the page.
let working = Promise.resolve();
let queued = 0; // pieces of work that are not done
function inTurn(work) {
  queued++;
  working = working.then(work).catch(problem => complain(problem)).finally(() => { queued--; });
  return working;
}

// complain shows a sentence. Nothing else changes: what was played stays as it is.
function complain(problem) {
  running = false;
  const text = problem.message || problem;
  byId("trouble").textContent = sentence(/^[a-z]/.test(text) ? "That cannot be done: " + text : text);
  byId("trouble").hidden = false;
  if (problem instanceof TypeError || problem instanceof ReferenceError) console.error(problem);
}

const noTrouble = () => { byId("trouble").hidden = true; };

// ---------------------------------------------------------------------------------------------- Sessions

let catalog = {algorithms: [], stories: [], challenges: []};
let sessions = [newSession(0)];
let active = 0; // the session that the lists and the diagram are of
let chosen = null; // the node whose panel is open

function newSession(id) {
  return {
    id,
    state: null,
    told: [], // what is known of each step: its text, story and message, and whether it was played (seen)
    answered: new Map(), // the answers to questions
    owed: [], // steps of clients that were made in the other session, and not yet here
    spots: new Map(), // where each message is drawn
    drawn: 0, // how many times the stage was drawn, to give up animations that are late
    wentOn: -1, // the step of a stall after which a person wants to go on
  };
}

const present = () => sessions[active];

// sessionOf returns the session that an element belongs to.
function sessionOf(element) {
  const figure = element && element.closest("[data-session]");
  return (figure && sessions[Number(figure.dataset.session)]) || present();
}

// asking reports whether a question hides what happened and what can happen.
function asking(s) {
  const {question} = s.state;
  return Boolean(question && question.answers.length && !s.answered.has(question.text));
}

// ended reports whether the page is frozen: a promise is broken, or nothing is left to happen.
function ended(s) {
  return Boolean(s.state.found || (s.state.stuck && s.wentOn !== s.state.step));
}

// frozen reports whether the page shows that the run has ended.
const frozen = s => ended(s) && !asking(s);

const ahead = s => s.state.step < s.state.steps;

// begin plays a schedule in a session.
async function begin(s, text) {
  await meet(s, await call("new", {session: s.id, schedule: text}));
}

// beginAlone begins something else, in a single session. If the call fails, all stays as it was.
async function beginAlone(name, args) {
  noTrouble();
  const state = await call(name, {session: 0, ...args});
  alone();
  challenge = null;
  if (name !== "simulate") adopt(state, args.schedule || "");
  await meet(sessions[0], state);
}

// meet shows a session that has just begun.
async function meet(s, state) {
  Object.assign(s, newSession(s.id), {drawn: s.drawn});
  chosen = null;
  await show(s, state);
}

// learn asks for steps that were played without being shown, and lists them.
async function learn(s, from, to) {
  to = Math.min(to, s.state.steps);
  if (from >= to) return;
  const all = await call("told", {session: s.id, from, to});
  all.forEach((step, i) => {
    const known = s.told[from + i];
    if (!known || !known.seen) s.told[from + i] = {...step, number: 0, seen: from + i < s.state.step};
  });
  showSteps(s);
}

// show takes a new state of a session, and draws it.
async function show(s, state) {
  const before = s.state;
  s.state = state;
  if (state.last) s.told[state.step - 1] = {...state.last, seen: true};
  const drawing = ++s.drawn;
  const time = motion();
  if (before && time && state.step === before.step + 1) await leave(s, before, time);
  if (drawing === s.drawn) {
    draw(s);
    if (before && time && state.step === before.step + 1) arrive(s, before, time);
  }
}

// draw draws all of a session.
function draw(s) {
  keepingFocus(() => {
    drawStage(s);
    if (s === present()) drawSide(s);
  });
}

// drawSide draws everything about the session that has the lists.
function drawSide(s) {
  showChallenge(s);
  showQuestion(s);
  showBanner(s);
  showSaying(s);
  showTransport(s);
  showNode(s);
  showNext(s);
  showSteps(s);
  showCode(s);
  drawStrip(s);
  planDiagram();
  document.title = s.state.title + " - Turnstile";
}

// keepingFocus gives the focus back to what has the same key after something was drawn anew.
function keepingFocus(work) {
  const key = document.activeElement && document.activeElement.dataset.key;
  const inList = document.activeElement && document.activeElement.closest("#next-list");
  work();
  if (!key || document.activeElement.dataset.key === key) return;
  const again = document.querySelector(`[data-key="${CSS.escape(key)}"]`) ||
    (inList && document.querySelector("#next-list [data-step]"));
  if (again) again.focus({preventScroll: true});
}

// take makes a step.
async function take(s, step) {
  noTrouble();
  const state = await call("take", {session: s.id, step});
  s.told.length = Math.min(s.told.length, s.state.step);
  await show(s, state);
  mirror(s);
  await payAll();
}

// mirror notes that the client of a node did something, for the session beside this one.
function mirror(s) {
  const step = s.state.last ? s.state.last.text : "";
  if (sessions.length < 2 || !/^(req|exit|campaign) /.test(step)) return;
  if (s.owed.includes(step)) s.owed.splice(s.owed.indexOf(step), 1);
  else sessions.find(other => other !== s).owed.push(step);
}

// payAll makes the steps of clients that were made in the other session, as soon as they can be made.
async function payAll() {
  for (const s of sessions.length > 1 ? sessions : []) {
    for (;;) {
      const step = s.owed.find(step => s.state.enabled.some(e => e.step === step));
      if (step === undefined || ended(s)) break;
      await show(s, await call("take", {session: s.id, step}));
      mirror(s);
    }
  }
}

// mayTake reports whether a step can be taken here, and says why not.
function mayTake(s) {
  if (asking(s)) complain("Answer the question first.");
  else if (ended(s)) complain("The run has ended here: go back, or begin again.");
  else return true;
  return false;
}

// choose makes a step that a person chose.
function choose(s, step) {
  return inTurn(async () => { if (mayTake(s)) await take(s, step); });
}

// hit delivers, drops or copies a message; without what, as a click is set to do. Its step is looked up when
// its turn comes, since a step before it can change how it is named.
function hit(s, number, what = document.querySelector("[name=mode]:checked").value) {
  return inTurn(async () => {
    const m = s.state.flying.find(m => m.number === number);
    if (!m || s.state.film || !mayTake(s)) return;
    if (what === "deliver" && !m.open) complain(m.blocked || "This message cannot arrive now.");
    else await take(s, m[what]);
  });
}

// go goes to a step that is known, and move so many steps forward, or back if by is negative.
const go = (s, to) => inTurn(() => visit(s, to));
const move = (s, by) => inTurn(() => visit(s, s.state.step + by));

async function visit(s, to) {
  noTrouble();
  to = Math.max(0, Math.min(s.state.steps, to));
  if (to === s.state.step) return;
  if (to < s.state.step) s.owed = [];
  await show(s, await call("back", {session: s.id, to}));
}

// onward takes a known step, or else the next event. It reports whether something happened.
async function onward(s) {
  if (asking(s) || (ended(s) && !ahead(s)) || (s.state.film && !ahead(s))) return false;
  if (ahead(s)) {
    await show(s, await call("back", {session: s.id, to: s.state.step + 1}));
    return true;
  }
  const state = await call("next", {session: s.id, by: byId("by").value});
  if (state.step === s.state.step) return false;
  await show(s, state);
  mirror(s);
  return true;
}

// onwardAll takes a step in every session.
async function onwardAll() {
  noTrouble();
  let moved = false;
  for (const s of sessions) moved = await onward(s) || moved;
  await payAll();
  return moved;
}

// askAll has every idle client ask.
async function askAll() {
  noTrouble();
  const s = present();
  const idle = s.state.enabled.filter(e => /^(req|campaign) \d+$/.test(e.step)).map(e => e.step);
  for (const step of idle) {
    if (!ended(s) && s.state.enabled.some(e => e.step === step)) await take(s, step);
  }
}

// ---------------------------------------------------------------------------------------------- Run

let running = false;
let runs = 0; // how many runs were begun
const delays = [2400, 1700, 1200, 850, 600, 420, 280, 170, 80, 25, 0];
const delay = () => delays[Number(byId("speed").value)];

// motion returns how long an animation takes, in milliseconds; 0: there is none, as when more work waits.
function motion() {
  if (still() || queued > 1) return 0;
  const time = running ? Math.min(320, delay() * 0.6) : 320;
  return time < 60 ? 0 : time;
}

// run takes steps until nothing happens, the run has ended or somebody stops it.
async function run() {
  running = !running;
  showRunning();
  const mine = ++runs;
  const replayed = sessions.some(ahead);
  while (running && mine === runs) {
    let moved = false;
    await inTurn(async () => { moved = await onwardAll(); });
    const over = sessions.every(s => asking(s) || (ended(s) && !ahead(s)));
    if (!moved || over || (replayed && !sessions.some(ahead))) running = false;
    else await pause(delay());
  }
  showRunning();
}

function showRunning() {
  byId("run").textContent = running ? "Stop" : "Run";
  byId("run").setAttribute("aria-pressed", running);
}

function stepOnce() {
  return inTurn(async () => {
    if (!await onwardAll() && !ended(present()) && !asking(present())) {
      byId("say").textContent = "Nothing happens by itself now: let a node ask, or campaign.";
    }
  });
}

// ---------------------------------------------------------------------------------------------- Stage

const colors = 7; // of kinds of messages; kinds beyond them share the last
const colorOf = kind => `var(--k${Math.min(kind, colors - 1)})`;

// sideColors are the colors of the sides of a cut.
const sideColors = ["var(--k3)", "var(--k2)", "var(--k5)", "var(--k1)"];

// makeStages puts one figure into the page for each session.
function makeStages() {
  byId("stages").replaceChildren(...sessions.map(s => {
    s.svg = shape("svg", {class: "stage", role: "group"});
    s.figure = make("figure", {"data-session": s.id, class: "stage"},
      make("figcaption"), s.svg, make("p", {class: "kinds"}));
    return s.figure;
  }));
  document.body.classList.toggle("two", sessions.length > 1);
}

// drawStage draws the nodes and the messages of a session.
function drawStage(s) {
  const box = s.svg.getBoundingClientRect();
  const view = {s, state: s.state, wide: Math.max(200, box.width), high: Math.max(200, box.height)};
  view.letter = letters() * (s.state.nodes.length > 24 ? 0.7 : s.state.nodes.length > 10 ? 0.85 : 1);
  measure(view);
  s.view = view;
  s.svg.setAttribute("viewBox", `0 0 ${view.wide} ${view.high}`);
  s.svg.setAttribute("aria-label", "Stage: " + s.state.title);
  s.figure.classList.toggle("ended", frozen(s));
  s.figure.classList.toggle("active", sessions.length > 1 && s === present());
  const labels = [];
  s.svg.replaceChildren();
  fill(s.svg, {}, [patterns(0.75 * view.letter), drawLinks(view), drawSides(view), drawWays(view),
    drawWaits(view), s.state.nodes.map(node => drawNode(view, node, labels)), drawMessages(view, labels)]);
  const stop = s.svg.querySelector("[role=button]"); // for the Tab key; arrow keys go on from there
  if (stop) stop.setAttribute("tabindex", 0);
  captionStage(s);
}

// captionStage writes what the figure shows: the algorithm, its counts and the colors of its messages.
function captionStage(s) {
  const {counts, kinds} = s.state;
  const per = counts.entries ? `, ${(counts.messages / counts.entries).toFixed(1)} messages per entry` : "";
  const title = sessions.length > 1 && s.id > 0 ? otherAlgorithms(s) : make("b", {}, s.state.title);
  const texts = [counted(counts.messages, "message", "messages")];
  if (s.state.kind !== "election") {
    texts.push(counted(counts.entries, "entry", "entries"), counted(counts.waits, "wait", "waits"));
  }
  const more = s.state.flying.length - mostDrawn;
  if (more > 0) texts.push(`${more} of them on their way without a dot`);
  s.figure.querySelector("figcaption").replaceChildren(title, " ",
    make("span", {class: "counts"}, texts.join(", ") + per), " ",
    s.state.film ? make("i", {}, "A recorded run: it does not show the states of nodes.") : "");
  s.figure.querySelector(".kinds").replaceChildren(...kinds.map((kind, i) =>
    make("span", {}, make("i", {class: "chip " + mark(kind), style: "--c:" + colorOf(i)}), kind.name)));
}

// mark names the shape of a kind of message.
const mark = kind => kind.token ? "token" : kind.permit ? "permit" : "plain";

// patterns returns the hatching of paused nodes, and the heads of arrows.
function patterns(size) {
  return shape("defs", {}, shape("pattern", {id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse",
    patternTransform: "rotate(45)"}, shape("path", {d: "M0 0V6", class: "hatching"})),
  shape("marker", {id: "head", viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: size,
    markerHeight: size, markerUnits: "userSpaceOnUse", orient: "auto"},
  shape("path", {d: "M0 0L10 5L0 10z", class: "head"})));
}

// measure gives every node its place, and all nodes their size.
function measure(view) {
  const {state, wide, high, letter} = view;
  const side = 4.2 * letter;
  const below = (state.nodes.length > mostByHand ? 3.4 : 5.4) * letter; // for words and buttons below a node
  const above = (state.kind === "election" ? 4.2 : 3) * letter; // for a crown
  const inner = {left: side, top: above, right: wide - side, bottom: high - below};
  const places = layouts[state.layout.shape] || onCircle;
  const unit = places(state, (inner.right - inner.left) / (inner.bottom - inner.top));
  view.at = unit.map(p => ({x: inner.left + p.x * (inner.right - inner.left),
    y: inner.top + p.y * (inner.bottom - inner.top)}));
  let nearest = Infinity;
  view.at.forEach((a, i) => view.at.slice(0, i).forEach(b => {
    nearest = Math.min(nearest, Math.hypot(a.x - b.x, (a.y - b.y) * 0.8));
  }));
  view.radius = Math.max(0.55 * letter, Math.min(0.11 * Math.min(wide, high), 1.9 * letter, 0.24 * nearest));
}

// onCircle places the nodes on an ellipse, equally far from each other along it; the first is at the top.
// Both axes go from 0 to 1; aspect is how many times the stage is wider than high.
function onCircle({nodes}, aspect) {
  if (nodes.length === 1) return [{x: 0.5, y: 0.5}];
  if (nodes.length === 2) return [{x: 0.15, y: 0.5}, {x: 0.85, y: 0.5}];
  const fine = 720; // pieces of the ellipse that are taken as straight
  const points = Array.from({length: fine + 1}, (_, i) => ({x: 0.5 + 0.5 * Math.sin(2 * Math.PI * i / fine),
    y: 0.5 - 0.5 * Math.cos(2 * Math.PI * i / fine)}));
  const far = [0];
  for (let i = 1; i <= fine; i++) {
    const a = points[i - 1], b = points[i];
    far.push(far[i - 1] + Math.hypot((b.x - a.x) * aspect, b.y - a.y));
  }
  const apart = far[fine] / nodes.length;
  const places = nodes.map((_, i) => points[far.findIndex(length => length >= apart * i - 1e-9)]);
  const lowest = Math.max(...places.map(place => place.y));
  return places.map(({x, y}) => ({x, y: y / lowest}));
}

// aroundOne places the node with the most links, or a server, amid the others.
function aroundOne(state, aspect) {
  const links = id => state.layout.links.filter(link => link.includes(id)).length;
  const most = (a, b) => Number(b.server) - Number(a.server) || links(b.id) - links(a.id);
  const middle = [...state.nodes].sort(most)[0].id;
  const rest = onCircle({nodes: state.nodes.filter(node => node.id !== middle)}, aspect);
  return state.nodes.map(node => node.id === middle ? {x: 0.5, y: 0.5} : rest[node.id - (node.id > middle)]);
}

// onGrid places the nodes in rows and columns; the number of rows divides that of the nodes.
function onGrid({nodes}) {
  let rows = Math.floor(Math.sqrt(nodes.length));
  while (nodes.length % rows) rows--;
  const columns = nodes.length / rows;
  const share = (i, of) => of === 1 ? 0.5 : i / (of - 1);
  return nodes.map((_, i) => ({x: share(i % columns, columns), y: share(Math.floor(i / columns), rows)}));
}

// asTree places the nodes in levels below node 0, along their links.
function asTree(state) {
  const below = state.nodes.map(() => []);
  const level = state.nodes.map(() => -1);
  const x = state.nodes.map(() => 0);
  let leaves = 0;
  const visit = (id, depth) => {
    level[id] = depth;
    for (const [a, b] of state.layout.links) {
      const other = a === id ? b : b === id ? a : -1;
      if (other >= 0 && level[other] < 0) {
        below[id].push(other);
        visit(other, depth + 1);
      }
    }
    const mine = below[id];
    x[id] = mine.length ? (x[mine[0]] + x[mine[mine.length - 1]]) / 2 : leaves++;
  };
  state.nodes.forEach(node => { if (level[node.id] < 0) visit(node.id, 0); });
  const deep = Math.max(1, ...level);
  return state.nodes.map(({id}) => ({x: leaves > 1 ? x[id] / (leaves - 1) : 0.5, y: level[id] / deep}));
}

const layouts = {ring: onCircle, all: onCircle, star: aroundOne, grid: onGrid, tree: asTree};

// drawLinks draws the links that the algorithm uses.
function drawLinks({state, at}) {
  const {shape: form, links} = state.layout;
  let pairs = links;
  if (!links.length && form === "all" && at.length <= 8) {
    pairs = at.flatMap((_, i) => at.slice(0, i).map((_, j) => [i, j]));
  }
  return shape("g", {class: "links"}, pairs.map(([a, b]) =>
    shape("line", {x1: at[a].x, y1: at[a].y, x2: at[b].x, y2: at[b].y})));
}

// drawSides gives the nodes on each side of a cut a ring of one color, and a letter.
function drawSides({state, at, radius, letter}) {
  if (!state.cut.length) return "";
  return shape("g", {class: "sides"}, state.nodes.filter(({side}) => side >= 0).map(({id, side}) => [
    shape("circle", {cx: at[id].x, cy: at[id].y, r: radius * 1.42, style: "--c:" + sideColors[side % 4]}),
    shape("text", {x: at[id].x - radius * 1.6, y: at[id].y - radius * 0.9, "font-size": letter,
      style: "--c:" + sideColors[side % 4]}, "ABCDEFGH"[side % 8]),
  ]));
}

// way returns the curved way of messages from one node to another: the ways to and fro are apart.
function way({at, radius, wide, high}, from, to) {
  const a = at[from], b = at[to];
  const long = Math.max(1, Math.hypot(b.x - a.x, b.y - a.y));
  const along = {x: (b.x - a.x) / long, y: (b.y - a.y) / long};
  const bend = Math.min(0.13 * long + 6, 0.09 * Math.max(wide, high)) * Math.min(1, 7 / at.length);
  const pull = at.length > 8 ? 0.5 : 0; // towards the middle, past other nodes
  const middle = {x: (a.x + b.x) / 2 * (1 - pull) + wide / 2 * pull - along.y * bend,
    y: (a.y + b.y) / 2 * (1 - pull) + high / 2 * pull + along.x * bend};
  const gap = Math.min(radius * 1.1, long / 3);
  return {a: {x: a.x + along.x * gap, y: a.y + along.y * gap}, middle,
    b: {x: b.x - along.x * gap, y: b.y - along.y * gap}, side: {x: -along.y, y: along.x}};
}

// placeOn returns the place on a way at a share of it from 0 to 1.
function placeOn({a, middle, b}, share) {
  const rest = 1 - share;
  const mix = key => rest * rest * a[key] + 2 * rest * share * middle[key] + share * share * b[key];
  return {x: mix("x"), y: mix("y")};
}

const mostDrawn = 400; // messages on the stage, and items of a list

// drawWays draws the ways of messages that are on their way.
function drawWays(view) {
  const seen = new Set();
  return shape("g", {class: "ways"}, view.state.flying.slice(0, mostDrawn).map(m => {
    const pair = m.from + ">" + m.to;
    if (seen.has(pair) || m.from === m.to) return null;
    seen.add(pair);
    const {a, middle, b} = way(view, m.from, m.to);
    const d = `M${a.x} ${a.y}Q${middle.x} ${middle.y} ${b.x} ${b.y}`;
    return shape("path", {d, "marker-end": "url(#head)"});
  }));
}

// drawWaits draws arrows from the chosen node to the nodes that it waits for, and those of a circle of
// waiting nodes.
function drawWaits({s, state, at, radius}) {
  if (asking(s)) return "";
  const arrows = state.nodes.flatMap(node => node.waitsFor.map(to => {
    const circle = node.circle.includes(node.id) && node.circle.includes(to);
    if (node.id === to || !(circle || (s === present() && node.id === chosen) || state.stuck)) return null;
    const a = at[node.id], b = at[to];
    const long = Math.max(1, Math.hypot(b.x - a.x, b.y - a.y));
    const x = (b.x - a.x) / long * radius * 1.35, y = (b.y - a.y) / long * radius * 1.35;
    return shape("line", {class: circle ? "circle" : null, x1: a.x + x - y / 5, y1: a.y + y + x / 5,
      x2: b.x - x - y / 5, y2: b.y - y + x / 5, // arrows to and fro are apart
      "marker-end": "url(#head)"}, shape("title", {}, `node ${node.id} waits for node ${to}`));
  }));
  return shape("g", {class: "waits"}, arrows);
}

// standingOf returns the words and the class of what a node does.
function standingOf(state, node) {
  const leads = node.leads ? (node.term > 0 ? `leads, term ${node.term}` : "leads") : "";
  if (!node.up) return {name: "down", says: "down"};
  const about = [node.state === "waiting" ? "waits" : node.state === "inside" ? "inside" : "", leads];
  if (node.paused) about.push("paused");
  if (!leads && node.standing) about.push(node.standing);
  if (!leads && state.kind === "election" && node.leader !== null && node.leader !== undefined) {
    about.push(node.leader < 0 ? "follows another" : "follows " + node.leader);
  }
  return {name: node.state, says: about.filter(Boolean).join(", ")};
}

// outline returns the shape of a node by what it does: a circle, a hexagon that waits, a square inside.
function outline(name, x, y, r) {
  if (name === "inside") {
    return shape("rect", {class: "body", x: x - r, y: y - r, width: r * 2, height: r * 2, rx: 2});
  }
  if (name === "waiting") {
    const corners = [0, 1, 2, 3, 4, 5].map(i => [x + 1.18 * r * Math.cos(i * Math.PI / 3),
      y + 1.18 * r * Math.sin(i * Math.PI / 3)].join(" "));
    return shape("path", {class: "body", d: "M" + corners.join("L") + "z"});
  }
  return shape("circle", {class: "body", cx: x, cy: y, r});
}

// badges returns the signs on a node: a crown, a token, a cross, two bars.
function badges(state, node, x, y, r) {
  const signs = [];
  if (node.leads && node.up) {
    signs.push(shape("path", {class: "crown", d: `M${x - r * 0.7} ${y - r * 1.15}v${-r * 0.75}l${r * 0.35} ` +
      `${r * 0.4}l${r * 0.35} ${-r * 0.6}l${r * 0.35} ${r * 0.6}l${r * 0.35} ${-r * 0.4}v${r * 0.75}z`}));
  }
  if (node.token) {
    const style = "--c:" + colorOf(Math.max(0, state.kinds.findIndex(kind => kind.token)));
    signs.push(diamond(x + r * 1.15, y - r * 0.95, r * 0.5, {class: "holds", style}));
  }
  if (!node.up) {
    const arm = r * 0.75;
    signs.push(shape("path", {class: "cross",
      d: `M${x - arm} ${y - arm}L${x + arm} ${y + arm}M${x + arm} ${y - arm}L${x - arm} ${y + arm}`}));
  } else if (node.paused) {
    signs.push(shape("path", {class: "bars", d: `M${x - r * 1.5} ${y - r * 0.5}v${r}m${r * 0.28} 0v${-r}`}));
  }
  return signs;
}

const diamond = (x, y, r, attributes) =>
  shape("path", {d: `M${x} ${y - r}L${x + r} ${y}L${x} ${y + r}L${x - r} ${y}z`, ...attributes});

// drawNode draws a node: its shape, number, what it does, and a button for its client.
function drawNode(view, node, labels) {
  const {s, state, at, radius: r, letter} = view;
  const {x, y} = at[node.id];
  const {name, says: all} = standingOf(state, node);
  const says = at.length > mostByHand ? "" : all;
  const wrong = state.found && !asking(s) &&
    new RegExp(`nodes? ([0-9]+(, | and ))*${node.id}\\b`).test(state.found.says);
  const classes = ["node", name, node.paused && "paused", s === present() && node.id === chosen && "chosen",
    wrong && "wrong", node.circle.length && !asking(s) && "circled"].filter(Boolean).join(" ");
  const half = widthOf(says, letter * 0.95) / 2 + 2;
  const word = shape("text", {class: "word", x: Math.max(half, Math.min(view.wide - half, x)),
    y: y + r * 1.25 + letter * 0.95, "font-size": letter * 0.95}, says);
  const title = node.server ? "server" : "node";
  labels.push({x: x - r * 1.3, y: y - r * 1.3, wide: r * 2.6, high: r * 2.6});
  if (says) labels.push({x: x - half, y: y + r * 1.25, wide: 2 * half, high: letter * 1.1});
  const group = shape("g", {class: classes, role: "button", tabindex: -1, "data-node": node.id,
    "data-key": `n${s.id}-${node.id}`, "aria-label": `${title} ${node.id}${all ? ", " + all : ""}`},
  outline(name, x, y, r), node.paused && shape("circle", {class: "pausing", cx: x, cy: y, r: r * 0.98}),
  badges(state, node, x, y, r), shape("text", {class: "id", x, y: y + r * 0.36, "font-size": r * 1.05},
    (node.server ? "S" : "") + node.id), says && word);
  return [group, pill(view, node, says ? 1 : 0, labels)];
}

const mostByHand = 24; // more nodes have no buttons on the stage

// verbs are the words on buttons, by the first word of a step.
const verbs = {req: "ask", exit: "leave", campaign: "campaign", crash: "crash", restart: "restart",
  amnesia: "restart without memory", pause: "pause", resume: "resume", start: "start"};

// pill draws the button of the client of a node below it.
function pill({s, state, at, radius: r, letter}, node, row, labels) {
  const offers = state.enabled.filter(e => e.node === node.id && e.group === "client");
  if (!offers.length || asking(s) || ended(s) || at.length > mostByHand) return null;
  const {step} = offers.find(e => /^\w+ \d+$/.test(e.step)) || offers[0];
  const verb = verbs[step.split(" ")[0]] || step;
  const {x} = at[node.id], y = at[node.id].y + r * 1.3 + row * letter * 1.1 + letter * 0.2;
  const wide = widthOf(verb, letter * 0.95) + letter * 1.2;
  labels.push({x: x - wide / 2, y, wide, high: letter * 1.45});
  return shape("g", {class: "pill", role: "button", tabindex: -1, "data-step": step,
    "data-key": `p${s.id}-${node.id}`, "aria-label": `node ${node.id}: ${verb}`},
  shape("rect", {x: x - wide / 2, y, width: wide, height: letter * 1.45, rx: letter * 0.7}),
  shape("text", {x, y: y + letter * 1.05, "font-size": letter * 0.95}, verb));
}

// drawMessages draws the messages on their ways, the oldest nearest to its receiver.
function drawMessages(view, labels) {
  const {s, state, at, radius, letter} = view;
  const groups = new Map();
  const drawn = state.flying.slice(0, mostDrawn);
  for (const m of drawn) {
    const pair = m.from + ">" + m.to;
    groups.set(pair, [...(groups.get(pair) || []), m]);
  }
  s.spots = new Map();
  for (const all of groups.values()) {
    const {from, to} = all[0];
    const line = from === to ? null : way(view, from, to);
    const apart = Math.min(0.15, 0.7 / all.length);
    all.forEach((m, i) => {
      const share = Math.max(0.08, Math.min(0.92, 0.42 + ((all.length - 1) / 2 - i) * apart));
      const spot = line ? placeOn(line, share) : {x: at[from].x + radius * (1.6 + i), y: at[from].y};
      s.spots.set(m.number, {...spot, side: line ? line.side : {x: 1, y: 0}, m});
    });
  }
  const size = Math.max(5, Math.min(letter * 0.55, radius * 0.5));
  for (const {x, y} of s.spots.values()) {
    labels.push({x: x - size, y: y - size, wide: 2 * size, high: 2 * size});
  }
  return drawn.map(m => drawMessage(view, m, size, labels));
}

// drawMessage draws a message as a dot with its label.
function drawMessage(view, m, size, labels) {
  const {s, state} = view;
  const spot = s.spots.get(m.number);
  const kind = state.kinds[m.kind];
  const told = `${kind.name} from node ${m.from} to node ${m.to}${m.text ? ": " + m.text : ""}`;
  const group = shape("g", {class: "message" + (m.open ? "" : " shut"), role: "button", tabindex: -1,
    "data-number": m.number, "data-link": `${m.from}>${m.to}`, "data-key": `m${s.id}-${m.number}`,
    style: "--c:" + colorOf(m.kind),
    "aria-label": told + (m.open ? "" : `, ${m.blocked}`)},
  shape("title", {}, told + (m.open ? "" : `\n${m.blocked}`)),
  shape("circle", {class: "reach", cx: spot.x, cy: spot.y, r: Math.max(16, size * 1.8)}),
  dot(mark(kind), spot.x, spot.y, size));
  const label = m.text ? `${kind.name} ${m.text.replace(/: /g, " ")}` : kind.name;
  const short = label.length > 30 ? label.slice(0, 29) + "\u2026" : label;
  group.append(labelAt(view, spot, size, short, labels));
  return group;
}

// dot returns the shape of a message: a token is a diamond, a permit a square.
function dot(name, x, y, size) {
  if (name === "token") return diamond(x, y, size * 1.7, {class: "dot"});
  if (name === "permit") {
    return shape("rect", {class: "dot", x: x - size, y: y - size, width: 2 * size, height: 2 * size});
  }
  return shape("circle", {class: "dot", cx: x, cy: y, r: size});
}

// labelAt writes a label beside a dot where there is room. Without room it shows only while it is pointed at.
function labelAt(view, {x, y, side}, size, text, labels) {
  const letter = view.letter * 0.85;
  const wide = widthOf(text, letter, "600"), high = letter * 1.1;
  const right = {x: x + size * 2, y: y - high / 2}, left = {x: x - size * 2 - wide, y: y - high / 2};
  const above = {x: x - wide / 2, y: y - size * 1.6 - high}, below = {x: x - wide / 2, y: y + size * 1.6};
  const order = Math.abs(side.x) > Math.abs(side.y) ? (side.x > 0 ? [right, left] : [left, right])
    : (side.y > 0 ? [below, above] : [above, below]);
  const inside = p => p.x > 0 && p.x + wide < view.wide && p.y > 0 && p.y + high < view.high;
  const free = [...order, right, above, below, left].find(place => inside(place) &&
    !labels.some(other => overlap({...place, wide, high}, other)));
  const place = free || above;
  if (free) labels.push({...place, wide, high});
  return shape("text", {class: "label" + (free ? "" : " crowded"), x: place.x, y: place.y + letter * 0.85,
    "font-size": letter}, text);
}

const overlap = (a, b) => a.x < b.x + b.wide && b.x < a.x + a.wide &&
  a.y < b.y + b.high && b.y < a.y + a.high;

// leave moves the message of the step that comes next to its receiver, or lets it fade when it is lost.
async function leave(s, before, time) {
  const {last} = s.state;
  const spot = last && s.spots.get(last.number);
  const gone = spot && !s.state.flying.some(m => m.number === last.number);
  const group = gone && s.svg.querySelector(`[data-number="${last.number}"]`);
  if (!group || !s.view) return;
  const lost = last.text.startsWith("drop ");
  const to = s.view.at[spot.m.to];
  group.classList.add("moving");
  const end = lost ? {opacity: 0, transform: "translate(0, 30px)"}
    : {transform: `translate(${to.x - spot.x}px, ${to.y - spot.y}px)`};
  await group.animate([{}, end], {duration: time, easing: "ease-in"}).finished;
}

// arrive moves the messages that were just sent from their senders to their places.
function arrive(s, before, time) {
  const old = new Set(before.flying.map(m => m.number));
  for (const [number, spot] of s.spots) {
    if (old.has(number)) continue;
    const group = s.svg.querySelector(`[data-number="${number}"]`);
    const from = s.view.at[spot.m.from];
    group.animate([{transform: `translate(${from.x - spot.x}px, ${from.y - spot.y}px)`, opacity: 0.3}, {}],
      {duration: time, easing: "ease-out"});
  }
}

// roam moves the focus to the next or the previous thing on the stage or in a list. It reports whether the
// focus is in one of these.
function roam(target, by) {
  const box = target.closest("svg.stage, #next-list, #step-list");
  if (!box) return false;
  const shown = element => element.getClientRects().length > 0;
  const all = [...box.querySelectorAll("[role=button], button, summary")].filter(shown);
  const next = all[(all.indexOf(document.activeElement) + by + all.length) % all.length];
  if (next) next.focus();
  return true;
}

// ---------------------------------------------------------------------------------------------- Lists

const openGroups = new Set(); // the groups of the list that are unfolded

// headings are the groups of what can happen next; the folded ones are shown on demand.
const headings = [["message", "Messages"], ["client", "Clients"], ["timer", "Timers"], ["time", "Time"]];
const folded = [["fault", "Faults"], ["detector", "Suspicions"]];

// showNext lists what can happen next. The first nine have the keys 1 to 9.
function showNext(s) {
  const list = byId("next-list");
  byId("next").hidden = s.state.film || frozen(s);
  if (asking(s)) {
    list.replaceChildren(make("p", {}, "Hidden until the question is answered."));
    return;
  }
  const groups = groupsOf(s.state.enabled);
  let key = 0;
  const parts = headings.map(([name, title]) => groups.get(name) && groups.get(name).length &&
    make("div", {role: "group", "aria-label": title}, make("h3", {}, title),
      nextItems(s, groups.get(name), () => ++key)));
  const faults = folded.map(([name, title]) => foldedGroup(s, name, title, groups.get(name) || []));
  list.replaceChildren(...[...parts, ...faults].filter(Boolean));
  if (!list.children.length) list.append(make("p", {}, "Nothing."));
  const first = list.querySelector("[data-step]");
  if (first) first.setAttribute("tabindex", 0);
}

function groupsOf(all) {
  const groups = new Map();
  for (const e of all) groups.set(e.group, [...(groups.get(e.group) || []), e]);
  return groups;
}

// foldedGroup returns a group that is unfolded on demand.
function foldedGroup(s, name, title, all) {
  if (!all.length) return null;
  const details = make("details", {open: openGroups.has(name)},
    make("summary", {}, `${title} (${all.length})`), nextItems(s, all, () => 0));
  details.addEventListener("toggle", () => openGroups[details.open ? "add" : "delete"](name));
  return details;
}

// nextItems returns the buttons of some things that can happen.
function nextItems(s, all, key) {
  const more = all.length - mostDrawn;
  return [...all.slice(0, mostDrawn).map(e => nextItem(s, e, key())),
    more > 0 && make("p", {class: "gap"}, `and ${more} more`)];
}

// nextItem returns the button of something that can happen.
function nextItem(s, e, key) {
  const m = e.number ? s.state.flying.find(m => m.number === e.number) : null;
  return make("button", {class: "item", "data-step": e.step, "data-number": e.number || null, tabindex: -1,
    "data-key": "e" + e.step, "data-digit": key > 0 && key < 10 ? key : null, title: e.step},
  make("kbd", {}, key > 0 && key < 10 ? String(key) : ""),
  m && make("i", {class: "chip " + mark(s.state.kinds[m.kind]), style: "--c:" + colorOf(m.kind)}),
  make("span", {}, e.says, m && m.text ? make("small", {}, " " + m.text) : null));
}

const around = 150; // how many steps before and after the present one are listed

// showSteps lists what has happened, and the known steps to come.
function showSteps(s) {
  const {step, steps} = s.state;
  const from = Math.max(0, step - around), to = asking(s) ? step : Math.min(steps, step + around);
  const list = byId("step-list");
  const items = [stepItem(s, 0, step)];
  if (from > 0) items.push(make("li", {class: "gap"}, counted(from, "earlier step", "earlier steps")));
  for (let k = from + 1; k <= to; k++) items.push(stepItem(s, k, step));
  if (to < steps && !asking(s)) {
    items.push(make("li", {class: "gap"}, counted(steps - to, "later step", "later steps")));
  }
  list.replaceChildren(...items);
  byId("steps-title").textContent = frozen(s) ? "The steps that led to it" : "What has happened";
  const now = list.querySelector("[aria-current]");
  if (now) scrollTo(list, now);
  const unknown = k => !s.told[k] || (k < step && !s.told[k].seen);
  const missing = Array.from({length: to - from}, (_, i) => from + i).find(unknown);
  if (missing !== undefined) inTurn(() => learn(s, missing, to));
}

// scrollTo scrolls a box so that something in it shows, and does not scroll the page.
function scrollTo(box, element, share = 0.6) {
  const top = element.getBoundingClientRect().top - box.getBoundingClientRect().top + box.scrollTop;
  if (top < box.scrollTop || top + element.offsetHeight > box.scrollTop + box.clientHeight) {
    box.scrollTop = top - box.clientHeight * share;
  }
}

// stepItem returns the button that goes to the state after k steps.
function stepItem(s, k, step) {
  const told = s.told[k - 1];
  const story = k === 0 ? "the start" : told && told.story.length ? told.story.join("; ") : told && told.text;
  return make("li", {class: k > step ? "later" : null}, make("button", {class: "item", "data-go": k,
    "data-number": (told && told.number) || null, "data-key": "g" + k, title: told ? told.text : null,
    "aria-current": k === step ? "step" : null},
  make("kbd", {}, String(k)), make("span", {}, story || "(not yet seen)")));
}

// showSaying writes the story of the last step above the stage, or what to do first.
function showSaying(s) {
  const {last, step} = s.state;
  const story = last ? (last.story.length ? last.story.join("; ") : last.text) : "";
  byId("say").replaceChildren(...(story ? [`${step}. ${story}`] : firstHint(s.state)));
}

// firstHint says what to do before the first step, and what to look for in an algorithm known to be broken.
function firstHint(state) {
  if (state.steps > 0) return ["Press Forward (key Right) for the next step, or Run."];
  const verb = state.kind === "election" ? "campaign" : "ask";
  const hint = `Press \u201c${verb}\u201d below a node. Click a message: it arrives. ` +
    "Click a node: its state. ";
  const one = catalog.challenges.find(c => c.algorithm === state.algorithm);
  if (challenge || !one || !algorithmNamed(state.algorithm).flaw) return [hint];
  return [hint + "This algorithm is known to be broken: ",
    make("button", {"data-challenge": one.id}, one.title)];
}

// showNode shows the state of the chosen node, and what can be done with it.
function showNode(s) {
  const panel = byId("node");
  const node = s.state.nodes.find(node => node.id === chosen);
  panel.hidden = !node;
  if (!node) return;
  const {says} = standingOf(s.state, node);
  const hide = asking(s);
  panel.replaceChildren(make("h2", {}, `${node.server ? "Server" : "Node"} ${node.id}`,
    make("small", {}, says ? " " + says : " idle"),
    make("button", {"data-unchoose": true, "aria-label": "Close", title: "Close (key Escape)"}, "\u00d7")),
  hide || ended(s) || s.state.film ? "" : make("p", {class: "buttons"}, nodeButtons(s.state, node)),
  make("p", {}, nodeFacts(s.state, node, hide).join(" ")), nodeFields(node));
}

// nodeButtons returns the buttons of what can happen to a node.
function nodeButtons(state, node) {
  const about = e => new RegExp(`^(suspect|trust) \\d+>${node.id}$`).test(e.step);
  const own = state.enabled.filter(e => about(e) ||
    (e.node === node.id && !e.number && e.group !== "detector"));
  const others = state.nodes.map(n => n.id).filter(id => id !== node.id);
  const buttons = own.map(e => make("button", {"data-step": e.step, title: e.says, "data-key": "b" + e.step},
    verbOf(e)));
  if (others.length) {
    const step = cutStep([[node.id], others]);
    buttons.push(make("button", {"data-step": step, title: "It reaches no other node"}, "cut it off"));
  }
  return buttons;
}

// verbOf names a step on a button of its node.
function verbOf({step, says}) {
  const [word, who, what] = step.split(" ");
  if (word === "suspect") return `be suspected by ${who.split(">")[0]}`;
  if (word === "trust") return `be trusted again by ${who.split(">")[0]}`;
  if (word === "timeout") return `timer ${what} runs out`;
  return /^\w+ \d+$/.test(step) ? verbs[word] || says : says;
}

// cutStep writes the step that cuts nodes from each other.
const cutStep = sides => "cut " + sides.map(side => side.join(",")).join("/");

// nodeFacts tells what is known of a node beside its fields.
function nodeFacts(state, node, hide) {
  const facts = [];
  const named = ids => listed(ids.map(id => "node " + id));
  if (!hide && node.waitsFor.length) facts.push(`It waits for ${named(node.waitsFor)}.`);
  const circle = [...node.circle, node.circle[0]].join(" waits for ");
  if (!hide && node.circle.length) facts.push(`It is in a circle: ${circle}.`);
  if (node.token) facts.push("It holds the token.");
  if (node.fence) facts.push(`Its fence number is ${node.fence}.`);
  if (state.kind === "election" && node.term) facts.push(`Its term is ${node.term}.`);
  if (node.suspects.length) facts.push(`It suspects ${named(node.suspects)}.`);
  if (node.timers.length) facts.push(`Its timers: ${node.timers.join(", ")}.`);
  if (node.incarnation > 1) facts.push(`It is in its life number ${node.incarnation}.`);
  return facts;
}

// nodeFields lists the fields of the machine; what the last step changed is bold.
function nodeFields(node) {
  if (!node.fields || !node.fields.length) return "";
  return make("table", {}, make("tbody", {}, node.fields.map(field =>
    make("tr", {class: field.changed ? "changed" : null}, make("th", {scope: "row"}, field.name),
      make("td", {}, field.value, field.changed ? make("span", {class: "hidden"}, " (changed)") : null)))));
}

// ---------------------------------------------------------------------------------------------- Code

let sources = null; // the sources of the machines, by the name of their type, and of the files
let shownFile = ""; // the file whose text is in the page

// loadSources reads the sources that the page holds.
async function loadSources() {
  const packed = byId("sources").textContent.trim();
  if (packed) sources = JSON.parse(new TextDecoder().decode(await unpack(packed)));
}

// machineOf returns the source of the machine that ran last, or that of node 0.
function machineOf(state) {
  const known = ((state.last && state.last.ran) || []).filter(ran => sources[ran.machine]);
  const ran = known.find(ran => ran.case) || known[0];
  const source = sources[ran ? ran.machine : state.machine];
  return source ? {source, ran} : null;
}

// executed returns what a machine executed: the handler, and the part of it that is about the case. If that
// is in the handler of an embedded type, in another file, it is all that shows.
function executed({source, ran}) {
  const handler = ran && source.handlers && source.handlers[ran.method];
  if (!handler) return null;
  const part = handler.cases[ran.case];
  return part && part.file !== handler.file ? {whole: part} : {whole: handler, part};
}

// showCode shows the file of the algorithm and marks what the last step executed. Before the first step it
// shows the comment about the algorithm.
function showCode(s) {
  const body = byId("code-body");
  const machine = sources && !s.state.film && machineOf(s.state);
  if (!machine) {
    shownFile = "";
    body.replaceChildren(make("p", {}, s.state.film ? "A recorded run does not tell which code ran."
      : "The code of each step shows here."));
    return;
  }
  const {source, ran} = machine;
  const place = executed(machine);
  const file = place ? place.whole.file : source.file;
  if (file !== shownFile) showFile(body, file);
  const lines = body.querySelectorAll(".line");
  lines.forEach(line => line.classList.remove("ran", "case"));
  for (const [part, name] of place ? [[place.whole, "ran"], [place.part, "case"]] : []) {
    if (part) lines.forEach((line, i) => line.classList.toggle(name, i + 1 >= part.from && i < part.to));
  }
  body.querySelector(".where").textContent = file +
    (place ? `: ${ran.method}${ran.case ? ", " + ran.case : ""}, at node ${ran.node}` : "");
  if (!place && s.state.step > 0) return;
  const first = place ? (place.part || place.whole).from : (source.doc || [1])[0];
  const box = body.querySelector("pre");
  if (lines[first - 1]) {
    box.scrollTop = lines[first - 1].offsetTop - box.offsetTop - (place ? box.clientHeight * 0.25 : 0);
  }
}

// showFile puts the text of a file into the page, line by line.
function showFile(body, file) {
  shownFile = file;
  const text = sources.files[file] || "";
  body.replaceChildren(make("p", {class: "where"}), make("pre", {tabindex: 0, "aria-label": file},
    text.split("\n").map((line, i) => make("span", {class: "line"},
      make("i", {}, String(i + 1).padStart(4) + "  "), codeLine(line), "\n"))));
}

// codeLine returns a line of code with its comment apart.
function codeLine(line) {
  const at = line.search(/(^|\s)\/\/ /);
  if (at < 0) return line;
  return [line.slice(0, at), make("em", {}, line.slice(at))];
}

// ---------------------------------------------------------------------------------------------- Diagram

let diagramPlan = 0;
let diagramDrawn = 0; // when the diagram was drawn last

// planDiagram draws the diagram when the page has been still for a moment, and now and then during a run.
function planDiagram() {
  if (running && performance.now() - diagramDrawn > 1000) return inTurn(showDiagram);
  clearTimeout(diagramPlan);
  diagramPlan = setTimeout(() => inTurn(showDiagram), running ? 400 : 120);
}

// showDiagram draws the latest steps, as many as fit.
async function showDiagram() {
  const s = present();
  const box = byId("diagram");
  diagramDrawn = performance.now();
  if (!s.state || s.state.step === 0) {
    box.replaceChildren(make("p", {}, "The space-time diagram grows here, with a line for each node."));
    return;
  }
  const least = letters() / 17, wide = box.clientWidth - 12; // letters have 11 pixels, and a step 44
  const steps = Math.max(12, Math.min(40, Math.floor((wide / least - 110) / 44)));
  const range = {session: s.id, from: Math.max(0, s.state.step - steps), to: s.state.step};
  try {
    const parsed = new DOMParser().parseFromString(await call("diagram", range), "image/svg+xml");
    const picture = document.importNode(parsed.documentElement, true);
    picture.style.zoom = Math.max(least, Math.min(letters() / 13, wide / picture.viewBox.baseVal.width));
    box.replaceChildren(picture);
    box.scrollLeft = box.scrollWidth;
  } catch (problem) { // after a colon it names options of another command
    box.replaceChildren(make("p", {}, "No diagram: " + problem.message.split(": ")[0] + "."));
  }
}

// drawStrip draws who was inside, waiting, leading, down or paused at which of the latest steps, with cuts
// and other faults as bands.
function drawStrip(s) {
  const {state} = s;
  const box = byId("strip");
  const wide = Math.max(200, box.clientWidth), left = letters() * 1.6;
  const row = Math.max(1.2, Math.min(letters() * 0.95, letters() * 6 / state.nodes.length));
  const high = row * state.nodes.length + 2;
  const from = state.from || 0, to = Math.max(state.step, from + 12);
  const x = step => left + (Math.max(from, Math.min(to, step)) - from) / (to - from) * (wide - left - 4);
  const end = bar => x(bar.to === null ? state.step : bar.to);
  const parts = asking(s) ? [] : state.strip;
  box.replaceChildren(shape("svg", {width: wide, height: high, viewBox: `0 0 ${wide} ${high}`},
    parts.filter(bar => bar.node < 0).map(bar => shape("rect", {class: "cut", x: x(bar.from), y: 0,
      height: high, width: Math.max(2, end(bar) - x(bar.from))}, shape("title", {}, "a fault"))),
    state.nodes.map(({id}) => [
      row > 7 && shape("text", {x: left - 5, y: (id + 0.8) * row, "font-size": row * 0.85}, String(id)),
      shape("line", {class: "life", x1: left, x2: wide - 4, y1: (id + 0.5) * row, y2: (id + 0.5) * row})]),
    parts.filter(bar => bar.node >= 0).map(bar => stripBar(bar, row, x(bar.from), end(bar))),
    shape("line", {class: "now", x1: x(state.step), x2: x(state.step), y1: 0, y2: high})));
}

// stripBar returns the bar of one thing that a node did.
function stripBar({node, what, from, to}, row, x, end) {
  const half = {waiting: 0.14, inside: 0.4, leads: 0.4, down: 0.3, paused: 0.4}[what] || 0.2;
  return shape("rect", {class: what, x, y: (node + 0.5 - half) * row, width: Math.max(2, end - x),
    height: 2 * half * row}, shape("title", {}, `node ${node}: ${what} from step ${from}` +
      (to === null ? "" : ` to step ${to}`)));
}

// light lights up all that is about one message: on the stage, in the lists and in the diagram.
function light(number) {
  for (const e of document.querySelectorAll(".lit")) e.classList.remove("lit");
  if (!number) return;
  for (const e of document.querySelectorAll(`[data-number="${number}"]`)) e.classList.add("lit");
}

// ---------------------------------------------------------------------------------------------- Banner

// promises are what the checks check, in words.
const promises = {
  exclusion: "no more clients are inside than may be", panic: "an algorithm can handle all that comes",
  deadlock: "of clients that wait, one enters in the end",
  starvation: "each client that waits enters in the end",
  fairness: "no client is passed over more often than promised",
  minority: "no client enters without a majority", leaders: "no two nodes lead at once",
  terms: "no two nodes lead in one term", agreement: "the nodes that are up agree on a leader in the end",
};

// showBanner says which promise is broken and how that came about, or why nothing goes on.
function showBanner(s) {
  const banner = byId("banner");
  const over = frozen(s);
  document.body.classList.toggle("frozen", over);
  banner.hidden = !over;
  if (!over) return banner.replaceChildren();
  const {found, stuck, film} = s.state;
  banner.replaceChildren(make("p", {}, make("b", {}, sentence(found ? found.says : stuck)), " ",
    film ? "" : promiseOf(s.state), make("span", {class: "verdict"}), " ",
    make("button", {"data-do": "back"}, "Back one step"), " ",
    found ? null : make("button", {"data-do": "wentOn"}, "Go on all the same")));
  inTurn(() => showVerdict(s));
}

const sentence = text => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");

// promiseOf says which promise is broken, or why none was made.
function promiseOf({found, broken, kind}) {
  if (broken) return `Outside its model: ${broken}. `;
  const check = found ? found.check : kind === "election" ? "agreement" : "deadlock";
  const promise = promises[check] || check;
  return `Broken promise: ${promise}. All was as the algorithm assumes, so the algorithm itself is broken. `;
}

// showVerdict says what the checks say. Those of a recorded run judged the whole run.
async function showVerdict(s) {
  const {outcome, reason} = await call("verdict", {session: s.id});
  const place = byId("banner").querySelector(".verdict");
  if (place && outcome) {
    place.textContent = s.state.film ? `The checks judged the run ${outcome}: ${reason}.`
      : `The checks judge the run ${outcome}.`;
  }
}

// ---------------------------------------------------------------------------------------------- Scenes

// showQuestion shows what a scene says or asks here. A question hides what happened and what can happen until
// it is answered.
function showQuestion(s) {
  const box = byId("question");
  const {question} = s.state;
  document.body.classList.toggle("asking", asking(s));
  box.hidden = !question;
  if (!question) return;
  const {text, answers} = question;
  const after = s.answered.has(text) ? make("p", {}, judged(question, s.answered.get(text)))
    : make("p", {class: "buttons"}, answers.map(answer => make("button", {"data-answer": answer}, answer)));
  box.replaceChildren(make("p", {}, answers.length ? make("b", {}, text) : text), after);
}

// judged says whether an answer is right.
function judged({answers, right}, answer) {
  if (right < 0) return `You say: ${answer}. Now see what happens.`;
  if (answers[right] === answer) return `${answer}: that is right.`;
  return `You say: ${answer}. It is: ${answers[right]}.`;
}

function answer(text) {
  const s = present();
  s.answered.set(s.state.question.text, text);
  draw(s);
}

// ---------------------------------------------------------------------------------------------- Challenges

let challenge = null; // what a person tries to reach

async function challengeTo(one) {
  await beginAlone("new", {schedule: one.schedule});
  challenge = {...one, first: sessions[0].state.step};
  draw(sessions[0]);
}

// showChallenge says what to reach, counts the steps, and in the end says how few are enough.
function showChallenge(s) {
  const box = byId("challenge");
  box.hidden = !challenge;
  if (!challenge) return;
  const steps = s.state.step - challenge.first;
  const {found, stuck} = s.state;
  const reached = found ? !challenge.check || found.check === challenge.check
    : Boolean(stuck) && ["deadlock", "starvation", "agreement"].includes(challenge.check);
  const count = counted(steps, "step", "steps");
  const done = challenge.shown ? `This is a shortest way: ${count}. ` : `Done, in ${count}. `;
  const text = reached ? done : `${count} so far. `;
  box.replaceChildren(make("b", {}, `Challenge: ${challenge.title}. `), text,
    make("span", {class: "fewest"}, reached && challenge.fewest && !challenge.shown ? fewestTold(steps) : ""),
    make("span", {class: "buttons"}, make("button", {"data-do": "again"}, "Again"),
      make("button", {"data-do": "reveal"}, "Show me"), make("button", {"data-do": "leave"}, "Leave")));
  if (!reached || challenge.fewest || challenge.sought) return;
  inTurn(async () => { await explored(); showChallenge(s); });
}

function fewestTold(steps) {
  const {fewest} = challenge;
  const all = `The explorer, which tries every order, needs ${fewest}`;
  return steps <= fewest ? `${all}, too. ` : `${all}: yours are ${steps - fewest} more. `;
}

// explored asks for a shortest way.
async function explored() {
  challenge.sought = true;
  byId("challenge").querySelector(".fewest").textContent = "Looking for the shortest way ... ";
  const found = await call("explore", {schedule: challenge.schedule, check: challenge.check});
  challenge.fewest = found.steps;
  return found.schedule;
}

async function reveal() {
  const schedule = await explored();
  challenge.shown = true;
  await begin(sessions[0], schedule);
}

// ---------------------------------------------------------------------------------------------- Schedules

// openSchedule shows what was done as text and as a link.
function openSchedule() {
  return inTurn(async () => {
    const s = present();
    byId("schedule-note").textContent = s.state.film ? "A recorded run has no schedule." : "";
    byId("text").value = s.state.film ? "" : await call("schedule", {session: s.id});
    byId("link").value = byId("text").value ? await linkTo(byId("text").value) : "";
    byId("schedule").showModal();
  });
}

// linkTo returns a link to this page that opens a schedule.
async function linkTo(text) {
  const packed = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  const base64 = btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(""));
  const name = base64.replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  return location.href.split("#")[0] + "#schedule=" + name;
}

// scheduleOf reads the schedule of a link: packed, or the text itself.
async function scheduleOf(value) {
  try {
    const plain = decodeURIComponent(value);
    if (/^[\s#]|^turnstile\b/.test(plain)) return plain;
    const bytes = Uint8Array.from(atob(value.replace(/-/g, "+").replace(/_/g, "/")), c => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return await new Response(stream).text();
  } catch {
    throw new Error("The link is damaged: its schedule cannot be read. Ask for the schedule as a text.");
  }
}

// openText plays a schedule or shows a recorded run.
async function openText(text) {
  const first = text.trimStart();
  if (!first) throw new Error("This is empty: a schedule begins with a line turnstile schedule 1.");
  if (/^[{[]/.test(first)) return beginAlone("film", {film: text});
  await beginAlone("new", {schedule: text});
}

async function openFile(file) {
  if (file.size > 64e6) throw new Error(`${file.name} is larger than 64 MB: too much for this page.`);
  await openText(await file.text());
  byId("schedule").close();
}

// copy puts a text on the clipboard, or selects it if the browser does not allow that.
async function copy(field, note) {
  try {
    await navigator.clipboard.writeText(field.value);
    byId("schedule-note").textContent = note;
  } catch {
    field.select();
    byId("schedule-note").textContent = "It is selected: copy it with Ctrl+C.";
  }
}

function save() {
  const link = make("a", {download: present().state.algorithm + ".txt",
    href: URL.createObjectURL(new Blob([byId("text").value], {type: "text/plain"}))});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// ---------------------------------------------------------------------------------------------- Choice

const mostNodes = 64;
const algorithmNamed = name => catalog.algorithms.find(a => a.name === name);

// offer fills a list of choices, in groups.
function offer(select, groups, title) {
  select.replaceChildren(...(title ? [make("option", {value: ""}, title)] : []),
    ...groups.filter(([, all]) => all.length).map(([label, all]) => make("optgroup", {label},
      all.map(([value, text]) => make("option", {value}, text)))));
}

const easy = /^(naive-broadcast|maekawa-textbook)$/; // the algorithms of the first challenges

function offerAll() {
  const names = test => catalog.algorithms.filter(test).map(a => [a.name, a.name]);
  offer(byId("algorithm"), [["Mutual exclusion", names(a => a.kind === "mutual exclusion" && !a.flaw)],
    ["Election", names(a => a.kind === "election" && !a.flaw)], ["Known to be broken", names(a => a.flaw)]]);
  const asked = test => catalog.challenges.filter(test).map(c => [c.id, `${c.algorithm}: ${c.title}`]);
  const outside = c => c.title.includes(", outside ");
  offer(byId("challenges"), [["To begin with", asked(c => easy.test(c.algorithm))],
    ["Broken algorithms", asked(c => !outside(c) && !easy.test(c.algorithm))],
    ["Broken assumptions", asked(outside)]], "Challenges \u2026");
  const stories = groupsOf(catalog.stories.map(story =>
    ({...story, group: story.scene ? "For a lecture" : story.algorithm})));
  const titled = all => all.map(story => [story.path, story.title]);
  offer(byId("stories"), [...stories].map(([name, all]) => [name, titled(all)]), "Stories \u2026");
}

// offerOptions shows the options of the chosen algorithm.
function offerOptions() {
  const one = algorithmNamed(byId("algorithm").value);
  if (!one) return;
  byId("n").min = one.least || 1;
  if (Number(byId("n").value) < byId("n").min) byId("n").value = byId("n").min;
  byId("algorithm").title = one.summary || "";
  byId("option-list").replaceChildren(make("p", {}, one.summary, make("br"), make("small", {}, one.source)),
    ...one.options.map(option => make("label", {title: option.means}, option.name + " ", optionField(option),
      make("small", {}, " " + (option.means || "")))),
    make("label", {}, make("input", {type: "checkbox", "data-head": "reordering"}),
      " messages of a link may overtake each other"),
    make("label", {}, make("input", {type: "checkbox", "data-head": "fenced"}),
      " the resource demands fence numbers"));
}

function optionField(option) {
  if (!option.values) return make("input", {"data-option": option.name, value: option.default, size: 8});
  return make("select", {"data-option": option.name}, option.values.map(value =>
    make("option", {value, selected: value === option.default}, value)));
}

// headOf writes the first lines of a schedule, as chosen.
function headOf(name, n) {
  const fields = [...byId("option-list").querySelectorAll("[data-option]")];
  const one = algorithmNamed(name);
  const options = fields.filter(field => one.options.some(option => option.name === field.dataset.option &&
    option.default !== field.value)).map(field => `${field.dataset.option} ${field.value}`);
  const heads = [...byId("option-list").querySelectorAll("[data-head]:checked")].map(box => box.dataset.head);
  return ["turnstile schedule 1", "algorithm " + name, "n " + n, ...options, ...heads, "", ""].join("\n");
}

// chosenN reads the number of nodes.
function chosenN() {
  const n = Number(byId("n").value);
  if (!Number.isInteger(n) || n < 1) throw new Error("The number of nodes is a whole number from 1.");
  if (n > mostNodes) throw new Error(`${n} nodes are too many for this page: it shows at most ${mostNodes}.`);
  return n;
}

// anew begins again with the chosen algorithm.
async function anew() {
  noTrouble();
  const name = byId("algorithm").value, n = chosenN();
  challenge = null;
  await begin(sessions[0], headOf(name, n));
  if (sessions.length > 1) await begin(sessions[1], headOf(sessions[1].name, n));
}

// adopt shows in the form which algorithm is played, with its options.
function adopt(state, text) {
  byId("algorithm").value = state.algorithm;
  byId("n").value = state.nodes.filter(node => !node.server).length;
  offerOptions();
  const head = text.split("\n").map(line => line.trim().split(/\s+/));
  for (const field of byId("option-list").querySelectorAll("[data-option]")) {
    const line = head.find(words => words[0] === field.dataset.option && words.length === 2);
    if (line) field.value = line[1];
  }
  for (const box of byId("option-list").querySelectorAll("[data-head]")) {
    box.checked = head.some(words => words[0] === box.dataset.head);
  }
}

function simulate() {
  const fields = [...byId("option-list").querySelectorAll("[data-option]")];
  const options = Object.fromEntries(fields.map(field => [field.dataset.option, field.value]));
  return beginAlone("simulate", {algorithm: byId("algorithm").value, n: chosenN(), options,
    entries: Number(byId("entries").value), seed: Number(byId("seed").value), latency: byId("latency").value,
    fault: byId("fault").value});
}

// ---------------------------------------------------------------------------------------------- Side by side

// alone goes back to one session.
function alone() {
  if (sessions.length === 1) return;
  sessions = [sessions[0]];
  active = 0;
  byId("beside").setAttribute("aria-pressed", false);
  makeStages();
}

// beside puts a second algorithm beside the first. Both begin at the start, and get the same requests.
async function beside() {
  if (sessions.length > 1) {
    alone();
    draw(sessions[0]);
    return;
  }
  challenge = null;
  const {algorithm, kind} = sessions[0].state;
  const second = newSession(1);
  second.name = usualOther(algorithm, kind);
  if (!second.name) return complain("There is no other algorithm of this kind.");
  sessions.push(second);
  byId("beside").setAttribute("aria-pressed", true);
  makeStages();
  draw(sessions[0]);
  await changeSecond(second.name);
}

// usualOther returns an algorithm to compare with.
function usualOther(algorithm, kind) {
  const usual = ["lamport", "ricart-agrawala", "chang-roberts", "bully"];
  const like = catalog.algorithms.filter(a => a.kind === kind && a.name !== algorithm && !a.flaw);
  const others = like.map(a => a.name);
  return usual.find(name => others.includes(name)) || others[0];
}

// otherAlgorithms returns the choice of the second algorithm.
function otherAlgorithms(s) {
  const all = catalog.algorithms.filter(a => a.kind === s.state.kind);
  return make("select", {id: "second", "aria-label": "Second algorithm", "data-key": "second"}, all.map(a =>
    make("option", {value: a.name, selected: a.name === s.state.algorithm}, a.name)));
}

// changeSecond begins both again, the second with another algorithm.
async function changeSecond(name) {
  const n = sessions[0].state.nodes.filter(node => !node.server).length;
  await show(sessions[0], await call("back", {session: 0, to: 0}));
  await begin(sessions[1], headOf(name, n));
  sessions[1].name = name;
}

// ---------------------------------------------------------------------------------------------- Controls

// showTransport says where the session is, and which buttons apply.
function showTransport(s) {
  const {step, steps, film} = s.state;
  byId("where").textContent = `step ${step} of ${steps}`;
  byId("place").max = steps;
  byId("place").value = step;
  byId("to-start").disabled = byId("back").disabled = step === 0;
  byId("forward").disabled = byId("to-end").disabled = asking(s) || step >= steps;
  const over = ended(s) && step >= steps && sessions.length === 1;
  byId("step").disabled = byId("run").disabled = asking(s) || over;
  byId("all-ask").disabled = film || asking(s) || ended(s);
  byId("mode").disabled = Boolean(film);
  byId("heal").hidden = !s.state.cut.length || asking(s);
  showRunning();
}

// actions are what buttons do, by their id or by data-do.
const actions = {
  "to-start": () => sessions.forEach(s => go(s, 0)),
  "back": () => move(present(), -1),
  "forward": () => move(present(), 1),
  "to-end": () => go(present(), present().state.steps),
  "step": stepOnce,
  "run": run,
  "all-ask": () => inTurn(askAll),
  "beside": () => inTurn(beside),
  "open-schedule": openSchedule,
  "open-simulate": () => byId("simulate").showModal(),
  "open-help": () => byId("help").showModal(),
  "hall": toggleHall,
  "play-text": () => inTurn(async () => { byId("schedule").close(); await openText(byId("text").value); }),
  "copy-text": () => copy(byId("text"), "The schedule is copied."),
  "copy-link": () => copy(byId("link"), "The link is copied."),
  "save": save,
  "again": () => inTurn(() => challengeTo(challenge)),
  "reveal": () => inTurn(reveal),
  "leave": () => { challenge = null; draw(present()); },
  "wentOn": () => { present().wentOn = present().state.step; draw(present()); },
};

function toggleHall() {
  const root = document.documentElement;
  const on = root.classList.toggle("hall");
  byId("hall").setAttribute("aria-pressed", on);
  if (on && root.requestFullscreen) root.requestFullscreen().catch(() => {});
  else if (document.fullscreenElement) document.exitFullscreen();
  sessions.forEach(draw);
}

// chooseNode opens or closes the panel of a node.
function chooseNode(id) {
  chosen = chosen === id ? null : id;
  draw(present());
}

// activate gives the lists to the session of an element.
function activate(s) {
  if (s === present() || !s.state) return;
  active = sessions.indexOf(s);
  chosen = null;
  sessions.forEach(draw);
}

// press does what an element stands for.
function press(element) {
  const s = sessionOf(element);
  activate(s);
  const {step, node, number, go: to, answer: text, challenge: id} = element.dataset;
  const action = actions[element.dataset.do || element.id];
  if (element.classList.contains("message")) hit(s, Number(number));
  else if (to !== undefined) go(s, Number(to));
  else if (step !== undefined) choose(s, step);
  else if (node !== undefined) chooseNode(Number(node));
  else if (text !== undefined) answer(text);
  else if (id !== undefined) inTurn(() => challengeTo(catalog.challenges.find(c => c.id === id)));
  else if (element.dataset.unchoose !== undefined) chooseNode(chosen);
  else if (element.dataset.close !== undefined) element.closest("dialog").close();
  else if (action) action();
}

// Dragging from node to node cuts them from each other.
let drag = null;

function beginDrag(event) {
  const group = event.target.closest(".node");
  if (!group || event.button > 0 || sessionOf(group).state.film) return;
  const from = Number(group.dataset.node);
  drag = {s: sessionOf(group), from, x: event.clientX, y: event.clientY, line: null};
}

function keepDragging(event) {
  if (!drag || (!drag.line && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < 9)) return;
  const {svg, view} = drag.s;
  if (!drag.line || !drag.line.isConnected) {
    drag.line = shape("line", {class: "cutting"});
    svg.append(drag.line);
  }
  const box = svg.getBoundingClientRect();
  const a = view.at[drag.from];
  for (const [name, value] of Object.entries({x1: a.x, y1: a.y, x2: event.clientX - box.left,
    y2: event.clientY - box.top})) drag.line.setAttribute(name, value);
}

function endDrag(event) {
  const was = drag;
  drag = null;
  if (!was || !was.line) return;
  was.line.remove();
  swallow = true;
  setTimeout(() => { swallow = false; }, 0);
  const under = document.elementFromPoint(event.clientX, event.clientY);
  const group = under && under.closest(".node");
  if (!group || sessionOf(group) !== was.s) return;
  const to = Number(group.dataset.node);
  if (to !== was.from) choose(was.s, cutStep(sidesWith(was.s.state.cut, was.from, to)));
}

// sidesWith returns the sides of a cut that is between two nodes, too. If one of them is on one of two sides,
// the other joins the other side.
function sidesWith(cut, a, b) {
  for (const [joins, other] of [[a, b], [b, a]]) {
    const at = cut.findIndex(side => side.includes(other));
    if (cut.length === 2 && at >= 0 && !cut.flat().includes(joins)) {
      return cut.map((side, i) => i === at ? side : [...side, joins]);
    }
  }
  return [[a], [b]];
}

let swallow = false; // whether the click that ends a drag is to be ignored

// keys are the buttons that keys press anywhere but in a field.
const keys = {ArrowLeft: "back", ArrowRight: "forward", Home: "to-start", End: "to-end", s: "step", r: "run",
  a: "all-ask", h: "hall", "?": "open-help"};

function pressKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
  const target = event.target;
  if (event.key === "Escape" && chosen !== null) chooseNode(chosen);
  if (target.closest("input, select, textarea")) return;
  const id = keys[event.key] || keys[event.key.toLowerCase()];
  const role = target.closest("[role=button]");
  const item = byId("next-list").querySelector(`[data-digit="${CSS.escape(event.key)}"]`);
  if (item) press(item);
  else if (event.key === "Enter" || event.key === " ") {
    if (!role) return;
    press(role);
  } else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
    if (!roam(target, event.key === "ArrowDown" ? 1 : -1)) return;
  } else if (role && role.classList.contains("message") && ["Delete", "c"].includes(event.key)) {
    hit(sessionOf(role), Number(role.dataset.number), event.key === "c" ? "copy" : "drop");
  } else if (id) {
    const button = byId(id);
    if (!button.disabled) press(button);
  } else return;
  event.preventDefault();
}

// attend listens to clicks, keys, the pointer and files.
function attend() {
  document.addEventListener("click", event => {
    if (swallow || !event.target.closest) return;
    const element = event.target.closest("button, [role=button]");
    if (element && !element.disabled) press(element);
    else if (event.target.closest("[data-session]")) activate(sessionOf(event.target));
  });
  document.addEventListener("keydown", pressKey);
  document.addEventListener("pointerdown", beginDrag);
  document.addEventListener("pointermove", keepDragging);
  document.addEventListener("pointerup", endDrag);
  document.addEventListener("pointercancel", () => { drag = null; });
  for (const kind of ["pointerover", "focusin"]) {
    document.addEventListener(kind, ({target}) => {
      const about = target.closest && target.closest("[data-number]");
      light(about && about.dataset.number);
    });
  }
  on("place", "input", event => go(present(), Number(event.target.value)));
  document.addEventListener("change", event => {
    if (event.target.id === "second") inTurn(() => changeSecond(event.target.value));
  });
  attendForms();
  attendFiles();
  new ResizeObserver(() => sessions.forEach(s => s.state && draw(s))).observe(byId("stages"));
  addEventListener("hashchange", () => inTurn(openHash));
}

const on = (id, kind, work) => byId(id).addEventListener(kind, work);

// attendForms listens to the fields at the top and in dialogs.
function attendForms() {
  on("choose", "submit", event => {
    event.preventDefault();
    byId("options").open = false;
    inTurn(anew);
  });
  on("algorithm", "change", () => { offerOptions(); inTurn(anew); });
  on("n", "change", () => inTurn(anew));
  on("challenges", "change", event => {
    const one = catalog.challenges.find(c => c.id === event.target.value);
    event.target.value = "";
    if (one) inTurn(() => challengeTo(one));
  });
  on("stories", "change", event => {
    const path = event.target.value;
    event.target.value = "";
    if (path) inTurn(() => openNamed(path));
  });
  on("simulate-form", "submit", event => {
    if (event.submitter && event.submitter.value === "run") inTurn(simulate);
  });
}

// attendFiles listens to files that are opened or dropped.
function attendFiles() {
  const open = ([file]) => { if (file) inTurn(() => openFile(file)); };
  on("file", "change", event => { open(event.target.files); event.target.value = ""; });
  document.addEventListener("dragover", event => event.preventDefault());
  document.addEventListener("drop", event => { event.preventDefault(); open(event.dataTransfer.files); });
}

// ---------------------------------------------------------------------------------------------- Beginning

// openNamed opens a story, by its path or the end of it, or begins an algorithm.
async function openNamed(name) {
  const ends = path => path.replace(/.*testdata\/(.*)\.txt$/, "$1");
  const story = catalog.stories.find(({path}) => path === name || ends(path) === name);
  if (story) return openText(await call("story", {path: story.path}));
  if (!algorithmNamed(name)) throw new Error(`There is no algorithm or story ${name}: choose one above.`);
  byId("algorithm").value = name;
  offerOptions();
  await anew();
}

// openHash opens what the address of the page names. It reports whether it names something.
async function openHash() {
  const [, what, value] = location.hash.match(/^#(schedule|play)=(.+)$/) || [];
  if (what === "schedule") await openText(await scheduleOf(value));
  else if (what) await openNamed(decodeURIComponent(value));
  return Boolean(what);
}

// openFirst opens what the page was made for, or what its address names, or else an algorithm that breaks in
// six steps.
async function openFirst() {
  const text = byId("start").textContent.trim();
  const begun = text && !text.startsWith("{{") ? JSON.parse(text) : {};
  try {
    if (begun.schedule) return await openText(begun.schedule);
    if (begun.film) return await beginAlone("film", {film: JSON.stringify(begun.film)});
    if (await openHash()) return;
  } catch (problem) {
    complain(problem);
  }
  const said = byId("trouble").textContent, wasHidden = byId("trouble").hidden;
  await openNamed(algorithmNamed("naive-broadcast") ? "naive-broadcast" : catalog.algorithms[0].name);
  if (!wasHidden) complain(said);
}

async function main() {
  makeStages();
  attend();
  await startWorker();
  catalog = await call("catalog");
  await loadSources();
  offerAll();
  offerOptions();
  document.body.classList.remove("loading");
  await openFirst();
}

inTurn(main).then(() => document.body.classList.add("ready"));
