"use strict";
// The program of the page. Python has decided what stands above and beside what (rows, lanes);
// here are the coordinates, which change when something is unfolded, and all that is drawn.
(() => {
const DATA = JSON.parse(document.getElementById("data").textContent);
const [GAP_X, GAP_Y, PADDING, HEADER, LANE] = DATA.gaps;
const $ = (id) => document.getElementById(id);
const canvas = $("canvas");
const pen = canvas.getContext("2d");

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// The name of the language of SVG, as the browser itself knows it: it is no address to go to.
const SVG = document.createRange().createContextualFragment("<svg></svg>").firstChild.namespaceURI;

const svg = (tag, attributes, ...children) => {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};

// Numbers as text

function brief(number) {
  if (typeof number !== "number") return String(number);
  if (number === 0) return "0";
  const size = Math.abs(number);
  return size >= 1e5 || size < 1e-3 ? number.toExponential(2) : String(Number(number.toPrecision(4)));
}

function bytes(number) {
  for (const unit of ["B", "kB", "MB", "GB"]) {
    if (number < 1000 || unit === "GB") return `${brief(number)} ${unit}`;
    number /= 1000;
  }
}

const seconds = (s) => s >= 1 ? `${brief(s)} s` : s >= 1e-3 ? `${brief(s * 1e3)} ms` : `${brief(s * 1e6)} µs`;

// A picture: boxes are 0 … n - 1, groups n, n + 1, …; the group n holds everything.

class View {
  constructor(raw) {
    this.raw = raw;
    this.boxes = raw.boxes;
    this.groups = raw.groups;
    this.edges = raw.edges;
    this.first = raw.boxes.length;
    const count = this.first + raw.groups.length;
    this.parent = new Int32Array(count).fill(-1);
    raw.groups.forEach((group, g) => group.children.forEach((c) => { this.parent[c] = this.first + g; }));
    this.depth = new Int32Array(count);
    const order = [this.first];
    for (const item of order) {
      if (item < this.first) continue;
      for (const child of this.groups[item - this.first].children) {
        this.depth[child] = this.depth[item] + 1;
        order.push(child);
      }
    }
    this.outward = order.reverse(); // each before the group that it is in
    this.open = new Uint8Array(count);
    raw.groups.forEach((group, g) => { this.open[this.first + g] = group.open; });
    this.open[this.first] = 1;
    for (const name of ["x", "y", "w", "h"]) this[name] = new Float64Array(count);
    this.visible = new Uint8Array(count);
    this.stands = new Int32Array(count); // the visible item that each box is drawn in
    this.selected = -1;
    this.selectedEdge = null;
    this.path = null;
    this.scale = 1;
    this.left = 0;
    this.top = 0;
    this.neighbours = null;
    this.measures = {};
    this.layout();
  }

  item(i) { return i < this.first ? this.boxes[i] : this.groups[i - this.first]; }
  isGroup(i) { return i >= this.first; }
  isOpen(i) { return i >= this.first && this.open[i] === 1; }

  // Coordinates: the same rules as `placed` in layered.py.

  layout() {
    const n = this.first;
    const inside = new Map();
    const measure = (i) => {
      if (i < n) { this.w[i] = this.boxes[i].width; this.h[i] = 40; return; }
      const group = this.groups[i - n];
      if (!this.open[i]) { this.w[i] = group.width; this.h[i] = 48; return; }
      group.children.forEach(measure);
      const [width, height, corners] = this.place(group);
      inside.set(i, corners);
      const least = Math.min(300, 7 * (group.title.length + group.about.length) + 60);
      this.w[i] = Math.max(width + 2 * PADDING, least);
      this.h[i] = height + 2 * PADDING + HEADER;
    };
    measure(n);
    this.visible.fill(0);
    this.lanes = new Map();
    const shown = [];
    const put = (i, x, y) => {
      this.x[i] = x; this.y[i] = y; this.visible[i] = 1;
      shown.push(i);
      const corners = inside.get(i);
      if (!corners) return;
      const group = this.groups[i - n];
      const points = [];
      for (const [child, cx, cy, tall] of corners) {
        const left = x + PADDING + cx, top = y + PADDING + HEADER + cy;
        if (child >= 0) put(child, left, top);
        else points[-child - 1] = [left + LANE / 2, top, top + tall];
      }
      points.forEach((point, k) => {
        const key = group.lanes[2 * k] * 4294967296 + group.lanes[2 * k + 1];
        if (!this.lanes.has(key)) this.lanes.set(key, []);
        this.lanes.get(key).push(point);
      });
    };
    put(n, 0, 0);
    this.shown = shown;
    this.connect();
  }

  place(group) {
    const width = (e) => e >= 0 ? this.w[e] : LANE;
    const centre = new Map(), rowOf = new Map();
    group.rows.forEach((row, r) => {
      let x = -(row.reduce((sum, e) => sum + width(e), 0) + GAP_X * (row.length - 1)) / 2;
      for (const e of row) {
        centre.set(e, x + width(e) / 2);
        rowOf.set(e, r);
        x += width(e) + GAP_X;
      }
    });
    const above = new Map(), below = new Map();
    const push = (map, key, value) => { const list = map.get(key); if (list) list.push(value); else map.set(key, [value]); };
    for (let k = 0; k < group.links.length; k += 2) {
      const a = group.links[k], b = group.links[k + 1];
      if (rowOf.get(a) < rowOf.get(b)) { push(below, a, b); push(above, b, a); }
    }
    for (let sweep = 0; sweep < 4; sweep++) {
      const near = sweep % 2 ? below : above;
      const rows = sweep % 2 ? group.rows.slice().reverse() : group.rows;
      for (const row of rows) {
        const wanted = row.map((e) => {
          const others = near.get(e);
          return others ? others.reduce((sum, o) => sum + centre.get(o), 0) / others.length : centre.get(e);
        });
        const right = wanted.slice(), left = wanted.slice();
        for (let i = 1; i < row.length; i++)
          right[i] = Math.max(right[i], right[i - 1] + (width(row[i - 1]) + width(row[i])) / 2 + GAP_X);
        for (let i = row.length - 2; i >= 0; i--)
          left[i] = Math.min(left[i], left[i + 1] - (width(row[i]) + width(row[i + 1])) / 2 - GAP_X);
        row.forEach((e, i) => centre.set(e, (right[i] + left[i]) / 2));
      }
    }
    let least = Infinity, most = -Infinity;
    for (const [e, c] of centre) {
      least = Math.min(least, c - width(e) / 2);
      most = Math.max(most, c + width(e) / 2);
    }
    if (least === Infinity) { least = 0; most = 0; }
    const corners = [];
    let y = 0;
    for (const row of group.rows) {
      const tallest = row.reduce((t, e) => Math.max(t, e >= 0 ? this.h[e] : 0), 0);
      for (const e of row) {
        const height = e >= 0 ? this.h[e] : tallest;
        corners.push([e, centre.get(e) - width(e) / 2 - least, y + (tallest - height) / 2, tallest]);
      }
      y += tallest + GAP_Y;
    }
    return [most - least, Math.max(0, y - GAP_Y), corners];
  }

  // What is drawn for the edges: those between the same two visible items are one.

  connect() {
    for (const i of this.outward.slice().reverse()) {
      const p = this.parent[i];
      this.stands[i] = p < 0 || (this.visible[i] && (p < 0 || this.stands[p] === p)) ? i : this.stands[p];
    }
    const merged = new Map();
    for (let k = 0; k < this.edges.length; k += 3) {
      const a = this.stands[this.edges[k]], b = this.stands[this.edges[k + 1]];
      if (a === b) continue;
      const key = a * 4294967296 + b;
      const known = merged.get(key);
      if (known) { known.count++; known.flows |= this.edges[k + 2]; known.all.push(k); }
      else merged.set(key, { a, b, flows: this.edges[k + 2], count: 1, all: [k] });
    }
    this.drawn = [...merged.values()];
    for (const edge of this.drawn) this.route(edge);
    this.neighbours = null;
    if (this.path) this.mark();
  }

  route(edge) {
    let a = edge.a, b = edge.b;
    while (this.depth[a] > this.depth[b]) a = this.parent[a];
    while (this.depth[b] > this.depth[a]) b = this.parent[b];
    while (this.parent[a] !== this.parent[b]) { a = this.parent[a]; b = this.parent[b]; }
    const ax = this.x[edge.a] + this.w[edge.a] / 2, ay = this.y[edge.a] + this.h[edge.a];
    const bx = this.x[edge.b] + this.w[edge.b] / 2, by = this.y[edge.b];
    edge.back = by < ay;
    const points = [ax, ay];
    if (edge.back) {
      const side = Math.max(this.x[a] + this.w[a], this.x[b] + this.w[b]) + 26;
      points.push(side, by);
    } else {
      for (const [x, top, bottom] of this.lanes.get(a * 4294967296 + b) || []) points.push(x, top, x, bottom);
    }
    points.push(bx, by);
    edge.points = points;
    let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
    for (let i = 0; i < points.length; i += 2) {
      x0 = Math.min(x0, points[i]); x1 = Math.max(x1, points[i]);
      y0 = Math.min(y0, points[i + 1]); y1 = Math.max(y1, points[i + 1]);
    }
    edge.box = edge.back ? [x0 - 30, y0 - 40, x1 + 40, y1 + 40] : [x0, y0, x1, y1];
  }

  near() {
    if (!this.neighbours) {
      this.neighbours = new Map();
      const of = (i) => { if (!this.neighbours.has(i)) this.neighbours.set(i, { to: [], from: [] }); return this.neighbours.get(i); };
      for (const edge of this.drawn) { of(edge.a).to.push(edge.b); of(edge.b).from.push(edge.a); }
    }
    return this.neighbours;
  }

  reveal(i) {
    let changed = false;
    for (let p = this.parent[i]; p >= 0; p = this.parent[p])
      if (!this.open[p]) { this.open[p] = 1; changed = true; }
    if (changed) this.layout();
  }

  // The path from a source to a target: along gradients if there is one, else along values.

  find(source, target, longest) {
    if (!this.after) {
      this.after = Array.from({ length: this.first }, () => []);
      for (let k = 0; k < this.edges.length; k += 3) this.after[this.edges[k]].push(k);
    }
    const search = (onlyFlowing) => {
      const cameBy = new Map([[source, -1]]);
      const queue = [source];
      for (let q = 0; q < queue.length; q++) {
        if (queue[q] === target) break;
        for (const k of this.after[queue[q]]) {
          const next = this.edges[k + 1];
          if ((this.edges[k + 2] || !onlyFlowing) && !cameBy.has(next)) { cameBy.set(next, k); queue.push(next); }
        }
      }
      if (!cameBy.has(target)) return { reached: queue, edges: null };
      const edges = [];
      for (let k = cameBy.get(target); k >= 0; k = cameBy.get(this.edges[k])) edges.unshift(k);
      return { reached: queue, edges };
    };
    const flowing = search(true);
    if (flowing.edges) {
      const edges = (longest && this.longest(source, target)) || flowing.edges;
      return { source, target, edges, cuts: [], connected: true, longest };
    }
    const valued = search(false);
    if (valued.edges) {
      const cuts = valued.edges.filter((k) => !this.edges[k + 2]);
      return { source, target, edges: valued.edges, cuts, connected: false };
    }
    const exits = valued.reached.filter((i) => this.boxes[i].kind === "exit");
    return { source, target, edges: null, cuts: [], exits, connected: false };
  }

  // Along gradients, through as many ops as there can be: all rounds of a loop, for instance.
  longest(source, target) {
    const waiting = new Int32Array(this.first), length = new Int32Array(this.first).fill(-1);
    const cameBy = new Int32Array(this.first);
    for (let k = 0; k < this.edges.length; k += 3) if (this.edges[k + 2]) waiting[this.edges[k + 1]]++;
    const ready = [];
    for (let i = 0; i < this.first; i++) if (!waiting[i]) ready.push(i);
    length[source] = 0;
    for (const i of ready) {
      for (const k of this.after[i]) {
        if (!this.edges[k + 2]) continue;
        const next = this.edges[k + 1];
        if (length[i] >= 0 && next !== source && length[i] + 1 > length[next]) { length[next] = length[i] + 1; cameBy[next] = k; }
        if (!--waiting[next]) ready.push(next);
      }
    }
    if (length[target] < 0) return null;
    const edges = [];
    for (let i = target; i !== source; i = this.edges[cameBy[i]]) edges.unshift(cameBy[i]);
    return edges;
  }

  mark() {
    const items = new Set(), pairs = new Set();
    const along = this.path.edges || [];
    for (const i of this.path.exits || []) items.add(this.stands[i]);
    for (const i of [this.path.source, this.path.target]) items.add(this.stands[i]);
    for (const k of along) {
      const a = this.stands[this.edges[k]], b = this.stands[this.edges[k + 1]];
      items.add(a); items.add(b);
      pairs.add(a * 4294967296 + b);
    }
    this.path.items = items;
    this.path.pairs = pairs;
  }

  // What colours stand for: of a group the sum of what is in it, of gradients the largest.

  measure(name) {
    if (this.measures[name]) return this.measures[name];
    const values = new Float64Array(this.first + this.groups.length).fill(NaN);
    const of = MEASURES[name].of;
    for (const i of this.outward) {
      if (i < this.first) { const v = of(this.boxes[i]); if (v !== undefined) values[i] = v; }
      const p = this.parent[i];
      if (p >= 0 && !Number.isNaN(values[i])) {
        const old = values[p];
        values[p] = Number.isNaN(old) ? values[i] : MEASURES[name].sum ? old + values[i] : Math.max(old, values[i]);
      }
    }
    let least = Infinity, most = -Infinity;
    for (const i of this.outward) {
      const v = values[i];
      if (v > 0 && i !== this.first) { least = Math.min(least, v); most = Math.max(most, v); }
    }
    return this.measures[name] = { values, least, most };
  }
}

const MEASURES = {
  "": { title: "by kind" },
  memory: { title: "memory", sum: true, text: bytes, of: (b) => b.kind === "op" ? b.size : undefined, about: "bytes of the results" },
  held: { title: "held by the tape", sum: true, text: bytes, of: (b) => b.held, about: "bytes that the tape holds because of an op" },
  time: { title: "time", sum: true, text: seconds, of: (b) => b.seconds, about: "since the op before, with the Python in between" },
  gradient: { title: "gradient", sum: false, text: brief, of: (b) => b.gradient ? Number(b.gradient.norm) || 0 : undefined, about: "norm of the target's gradient by the result; of a group the largest" },
};

// State of the page

const views = DATA.views.map((raw) => new View(raw));
let view = views[0];
let colour = "";
let matches = new Set();
const colours = {};
const stats = { frames: 0, drawn: 0, opened: 0 };

function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["back", "panel", "text", "muted", "edge", "rule", "accent", "cut", "mark", "box", "group",
    "deeper", "variable", "input", "constant", "exit", "heat0", "heat1", "heat-text", "shadow"])
    colours[name] = style.getPropertyValue(`--${name}`).trim();
}

// Drawing

let asked = false;
function redraw() {
  if (!asked) {
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(); });
  }
}

// While the picture moves and frames take too long, fewer edges are drawn; all when it rests.

const motion = { at: -1e9, frame: 0, slow: 0, rest: 0 };

function moving() {
  const now = performance.now();
  if (now - motion.at > 250) motion.slow = 0;
  motion.at = now;
  clearTimeout(motion.rest);
  motion.rest = setTimeout(() => { motion.slow = 0; redraw(); }, 260);
  redraw();
}

function pan(dx, dy) {
  view.left += dx;
  view.top += dy;
  moving();
}

function inAHurry(now) {
  const gap = now - motion.frame;
  motion.frame = now;
  if (now - motion.at > 250) return false;
  if (motion.slow < 3 && gap < 250) motion.slow = gap > 28 ? motion.slow + 1 : 0;
  return motion.slow >= 3;
}

function resize() {
  const ratio = window.devicePixelRatio || 1;
  const box = canvas.parentElement.getBoundingClientRect();
  canvas.width = Math.max(1, Math.round(box.width * ratio));
  canvas.height = Math.max(1, Math.round(box.height * ratio));
  redraw();
}

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

// Of a name with scopes the end is kept: variables of a layer differ there.
function cutText(text, width, size, keepsEnd = false) {
  const most = Math.floor(width / (size * 0.6));
  if (text.length <= most) return text;
  const kept = Math.max(1, most - 1);
  return keepsEnd ? `…${text.slice(-kept)}` : `${text.slice(0, kept)}…`;
}

function draw() {
  const started = performance.now();
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.width / ratio, height = canvas.height / ratio;
  const { scale, left, top } = view;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.fillStyle = colours.back;
  pen.fillRect(0, 0, width, height);
  pen.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * left, ratio * top);
  const seen = [-left / scale, -top / scale, (width - left) / scale, (height - top) / scale];
  const outside = (x, y, w, h) => x > seen[2] || y > seen[3] || x + w < seen[0] || y + h < seen[1];
  const tiny = 5 / scale; // of what is smaller, nothing inside is drawn
  const front = [], frames = [];

  const walk = (i) => {
    if (outside(view.x[i], view.y[i], view.w[i], view.h[i])) return;
    if (view.isOpen(i)) {
      if (i !== view.first) { drawFrame(i); frames.push(i); }
      if (view.h[i] < tiny || view.w[i] < tiny) return;
      for (const child of view.groups[i - view.first].children) walk(child);
    } else front.push(i);
  };
  walk(view.first);
  drawEdges(seen, scale, inAHurry(started), frames, front);
  if (scale >= 0.3) for (const i of frames) drawTitle(i);
  for (const i of front) drawItem(i, scale);
  stats.frames++;
  stats.drawn = front.length;
  stats.milliseconds = performance.now() - started;
}

const FADED = 0.5;

function faded(i) { return view.path && view.path.items && !view.path.items.has(i); }

function frameColour(i) { return view.depth[i] % 2 ? colours.group : colours.deeper; }

function behind(i) {
  const around = view.parent[i];
  return around < 0 || around === view.first ? colours.back : frameColour(around);
}

function drawFrame(i) {
  const x = view.x[i], y = view.y[i], w = view.w[i], h = view.h[i];
  pen.fillStyle = frameColour(i);
  pen.strokeStyle = i === view.selected ? colours.accent : colours.rule;
  pen.lineWidth = i === view.selected ? 3 : 1;
  rounded(x, y, w, h, 10);
  pen.fill();
  pen.stroke();
}

const ABOUT_FONT = `11px ${FONT}`, TITLE_FONT = `600 13px ${FONT}`;

// What a frame says at its top, and how far that goes to the right.
function titleOf(i) {
  const group = view.item(i), w = view.w[i];
  pen.font = TITLE_FONT;
  const title = cutText(group.title, w - 34, 13);
  const taken = 30 + pen.measureText(title).width;
  if (w - taken <= 60) return { title, about: "", taken, end: taken };
  pen.font = ABOUT_FONT;
  const about = cutText(group.about, w - taken - 8, 11);
  return { title, about, taken, end: taken + 8 + pen.measureText(about).width };
}

// Over the edges that go into the frame, which do not strike it through.
function drawTitle(i) {
  const { title, about, taken, end } = titleOf(i), x = view.x[i], y = view.y[i];
  pen.fillStyle = frameColour(i);
  pen.fillRect(x + 5, y + 5, end - 5, 20);
  pen.fillStyle = colours.muted;
  triangle(x + 13, y + 15, true);
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  pen.font = TITLE_FONT;
  pen.fillStyle = colours.text;
  pen.fillText(title, x + 24, y + 15);
  pen.font = ABOUT_FONT;
  pen.fillStyle = colours.muted;
  pen.fillText(about, x + taken + 4, y + 15);
}

function triangle(x, y, down) {
  pen.beginPath();
  if (down) { pen.moveTo(x - 5, y - 3); pen.lineTo(x + 5, y - 3); pen.lineTo(x, y + 5); }
  else { pen.moveTo(x - 3, y - 5); pen.lineTo(x + 5, y); pen.lineTo(x - 3, y + 5); }
  pen.fill();
}

function rounded(x, y, w, h, r) {
  pen.beginPath();
  if (pen.roundRect) pen.roundRect(x, y, w, h, Math.min(r, h / 2, w / 2));
  else pen.rect(x, y, w, h);
}

// The shape says what it is: an op has corners, a variable round ends, an input slanted ones, what
// leaves is an arrow, a constant is flat.
function outline(kind, x, y, w, h) {
  if (kind === "variable") return rounded(x, y, w, h, h / 2);
  if (kind === "input") {
    pen.beginPath();
    pen.moveTo(x + 12, y); pen.lineTo(x + w, y); pen.lineTo(x + w - 12, y + h); pen.lineTo(x, y + h);
    return pen.closePath();
  }
  if (kind === "exit") {
    pen.beginPath();
    pen.moveTo(x, y); pen.lineTo(x + w - 14, y); pen.lineTo(x + w, y + h / 2); pen.lineTo(x + w - 14, y + h); pen.lineTo(x, y + h);
    return pen.closePath();
  }
  if (kind === "constant") return rounded(x, y, w, h, 1);
  return rounded(x, y, w, h, 6);
}

function mix(from, to, part) {
  const a = parseInt(from.slice(1), 16), b = parseInt(to.slice(1), 16);
  const channel = (shift) => Math.round(((a >> shift) & 255) * (1 - part) + ((b >> shift) & 255) * part);
  return `rgb(${channel(16)},${channel(8)},${channel(0)})`;
}

function heat(i) {
  const { values, least, most } = view.measure(colour);
  const value = values[i];
  if (Number.isNaN(value)) return null;
  const part = !(value > 0) ? 0 : most > least ? (Math.log(value) - Math.log(least)) / (Math.log(most) - Math.log(least)) : 1;
  return { value, part: Math.min(1, Math.max(0, part)) };
}

function drawItem(i, scale) {
  const x = view.x[i], y = view.y[i], w = view.w[i], h = view.h[i];
  const group = view.isGroup(i), item = view.item(i);
  const kind = group ? "group" : item.kind;
  const hot = colour ? heat(i) : null;
  pen.globalAlpha = faded(i) ? FADED : 1;
  pen.fillStyle = hot ? mix(colours.heat0, colours.heat1, hot.part) : group ? colours.box
    : kind === "op" ? colours.box : colours[kind];
  if (h * scale < 5) { pen.fillRect(x, y, w, h); pen.globalAlpha = 1; return; }
  const selected = i === view.selected;
  const cut = !group && item.cut;
  const strong = selected || (view.path && view.path.items && view.path.items.has(i));
  pen.strokeStyle = cut ? colours.cut : strong ? colours.accent : matches.has(i) ? colours.accent : colours.edge;
  pen.lineWidth = selected ? 3 : strong ? 2 : 1;
  pen.setLineDash(!group && (cut || item.unrecorded) ? [6, 4] : []);
  if (group && scale > 0.2) { // a pile
    const fill = pen.fillStyle;
    pen.fillStyle = colours.deeper;
    for (const step of item.runs > 1 || item.style === "part" ? [6, 3] : [3]) {
      rounded(x + step, y + step, w, h, 6);
      pen.fill();
      pen.stroke();
    }
    pen.fillStyle = fill;
  }
  outline(kind, x, y, w, h);
  if (faded(i)) { // what lies behind it does not shine through
    const fill = pen.fillStyle;
    pen.globalAlpha = 1;
    pen.fillStyle = behind(i);
    pen.fill();
    pen.fillStyle = fill;
    pen.globalAlpha = FADED;
  }
  pen.fill();
  pen.stroke();
  if (matches.has(i)) { pen.lineWidth = 3; pen.stroke(); }
  pen.setLineDash([]);
  if (h * scale >= 13) label(i, item, group, kind, hot, x, y, w, h);
  if (cut && scale > 0.25) cross(x + w - 6, y + 2);
  pen.globalAlpha = 1;
}

function label(i, item, group, kind, hot, x, y, w, h) {
  const inset = kind === "input" || kind === "variable" ? 14 : kind === "exit" ? 8 : 10;
  const room = w - 2 * inset + (kind === "exit" ? -8 : 0);
  let at = x + inset;
  pen.textAlign = "left";
  pen.textBaseline = "middle";
  if (group) { pen.fillStyle = colours.muted; triangle(x + 12, y + h / 2 - 8, false); at = x + 24; }
  const code = group && item.style === "line";
  pen.font = code ? `12px ui-monospace, "DejaVu Sans Mono", monospace` : `600 12px ${FONT}`;
  pen.fillStyle = hot && hot.part > 0.55 ? colours["heat-text"] : colours.text;
  pen.fillText(cutText(item.title, group ? w - 34 : room, code ? 13.2 : 12, kind === "variable"), at, y + h / 2 - 8);
  pen.font = `11px ${FONT}`;
  const about = hot ? MEASURES[colour].text(hot.value) : item.about || (kind === "op" ? "" : kind);
  pen.fillStyle = hot && hot.part > 0.55 ? colours["heat-text"] : colours.muted;
  pen.fillText(cutText(about, group ? w - 34 : room, 11), at, y + h / 2 + 9);
  if (hot) { // for those who cannot tell the colours: its length says the same
    pen.fillStyle = colours.text;
    pen.fillRect(x + 8, y + h - 5, Math.max(1, (w - 16) * hot.part), 3);
  }
}

function cross(x, y) {
  pen.strokeStyle = colours.cut;
  pen.lineWidth = 2.5;
  pen.beginPath();
  pen.moveTo(x - 5, y - 5); pen.lineTo(x + 5, y + 5); pen.moveTo(x + 5, y - 5); pen.lineTo(x - 5, y + 5);
  pen.stroke();
}

function trace(edge, straight) {
  const p = edge.points;
  pen.moveTo(p[0], p[1]);
  if (straight) { pen.lineTo(p[p.length - 2], p[p.length - 1]); return; }
  if (edge.back) {
    const side = p[2];
    pen.bezierCurveTo(p[0], p[1] + 34, side, p[1] + 30, side, (p[1] + p[5]) / 2);
    pen.bezierCurveTo(side, p[5] - 30, p[4], p[5] - 34, p[4], p[5]);
    return;
  }
  for (let i = 2; i < p.length; i += 2) {
    const dy = (p[i + 1] - p[i - 1]) / 2;
    if (p[i] === p[i - 2]) pen.lineTo(p[i], p[i + 1]);
    else pen.bezierCurveTo(p[i - 2], p[i - 1] + dy, p[i], p[i + 1] - dy, p[i], p[i + 1]);
  }
}

// In pieces: one path of thousands of lines takes far longer than as many short ones.
function stroke(edges, straight, dash) {
  pen.setLineDash(dash);
  for (let start = 0; start < edges.length; start += 100) {
    pen.beginPath();
    for (const edge of edges.slice(start, start + 100)) trace(edge, straight);
    pen.stroke();
  }
}

function drawEdges(seen, scale, hurry, frames, front) {
  const small = (view.drawn.length > 4000 ? 6 : 2) / scale;
  const plain = [], broken = [], special = [], passing = [], specialPassing = [];
  const ends = (i) => view.x[i] <= seen[2] && view.y[i] <= seen[3] && view.x[i] + view.w[i] >= seen[0] && view.y[i] + view.h[i] >= seen[1];
  // Thousands of dashes, most of them far outside, take a tenth of a second for a single edge.
  const dashed = (edge) => !edge.flows && edge.box[2] - edge.box[0] + edge.box[3] - edge.box[1] < 3000;
  for (const edge of view.drawn) {
    const [x0, y0, x1, y1] = edge.box;
    if (x0 > seen[2] || y0 > seen[3] || x1 < seen[0] || y1 < seen[1]) continue;
    if (x1 - x0 < small && y1 - y0 < small) continue;
    const chosen = edge === view.selectedEdge || edge.a === view.selected || edge.b === view.selected
      || (view.path && view.path.pairs && view.path.pairs.has(edge.a * 4294967296 + edge.b));
    const passes = !ends(edge.a) && !ends(edge.b);
    if (chosen) (passes ? specialPassing : special).push(edge);
    else (passes ? passing : dashed(edge) ? broken : plain).push(edge);
  }
  // Of an edge that only passes nobody sees where it comes from: a few are shown, thousands not.
  if (passing.length < 200) for (const edge of passing) (dashed(edge) ? broken : plain).push(edge);
  if (specialPassing.length < 200) special.push(...specialPassing);
  if (hurry) { // every third, and so on, until there are few
    const thin = (edges) => edges.length > 400 ? edges.filter((_, k) => k % Math.ceil(edges.length / 400) === 0) : edges;
    plain.splice(0, Infinity, ...thin(plain));
    broken.splice(0, Infinity, ...thin(broken));
    special.splice(0, Infinity, ...thin(special));
  }
  const many = plain.length + broken.length > 1500;
  pen.globalAlpha = view.path ? 0.35 : 0.9;
  pen.strokeStyle = colours.edge;
  pen.lineWidth = Math.max(1.2, 0.7 / scale);
  for (const [edges, dash] of [[plain, []], [broken, [5, 5]]]) stroke(edges, many, many ? [] : dash);
  pen.globalAlpha = 1;
  const cuts = new Set(view.path ? view.path.cuts : []);
  const isCut = (edge) => cuts.size > 0 && edge.all.some((k) => cuts.has(k));
  pen.strokeStyle = colours.accent;
  pen.lineWidth = Math.max(2.6, 1.4 / scale);
  const crowd = special.length > 400;
  stroke(special.filter((edge) => !dashed(edge) && !isCut(edge)), crowd, []);
  stroke(special.filter((edge) => dashed(edge) && !isCut(edge)), crowd, [7, 5]);
  pen.strokeStyle = colours.cut;
  pen.lineWidth = Math.max(3.5, 1.4 / scale);
  stroke(special.filter((edge) => isCut(edge)), crowd, crowd ? [] : [7, 5]);
  pen.setLineDash([]);
  if (scale < 0.35 || many) return;
  for (const edge of [...plain, ...broken, ...special]) arrow(edge);
  if (scale < 0.6) return;
  const taken = frames.map((i) => [view.x[i], view.y[i] + 4, view.x[i] + titleOf(i).end, view.y[i] + 26]);
  for (const i of front) taken.push([view.x[i], view.y[i], view.x[i] + view.w[i], view.y[i] + view.h[i]]);
  pen.font = `10.5px ${FONT}`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  for (const edge of [...special, ...plain, ...broken]) edgeLabel(edge, taken);
}

function arrow(edge) {
  const p = edge.points, x = p[p.length - 2], y = p[p.length - 1];
  pen.fillStyle = view.path && view.path.pairs && view.path.pairs.has(edge.a * 4294967296 + edge.b) ? colours.accent : colours.edge;
  pen.beginPath();
  pen.moveTo(x, y); pen.lineTo(x - 4.5, y - 8); pen.lineTo(x + 4.5, y - 8);
  pen.fill();
}

const shortNames = { float16: "f16", bfloat16: "bf16", float32: "f32", float64: "f64", int32: "i32", int64: "i64",
  uint8: "u8", int8: "i8", complex64: "c64", complex128: "c128" };

function edgeText(edge) {
  const texts = new Set(edge.all.slice(0, 50).map((k) => view.boxes[view.edges[k]].about || ""));
  const about = texts.size === 1 ? [...texts][0].replace(/^[a-z]+\d*/, (dtype) => shortNames[dtype] || dtype) : "";
  return edge.count > 1 ? (about ? `${edge.count} × ${about}` : `${edge.count} tensors`) : about;
}

// Where a label may stand on its edge: in the middle of its last piece, or above or below that.
function placesOf(edge) {
  const p = edge.points, n = p.length;
  if (edge.back) return [[p[2] - 12, (p[1] + p[5]) / 2]];
  const [x0, y0, x1, y1] = p.slice(n - 4);
  return [0.5, 0.3, 0.7].map((t) => {
    const x = x0 + (x1 - x0) * t * t * (3 - 2 * t);
    return [x, y0 + (y1 - y0) * (1.5 * t * (1 - t) + t * t * t)];
  });
}

function edgeLabel(edge, taken) {
  const text = edgeText(edge);
  if (!text) return;
  const p = edge.points;
  if (p[p.length - 1] - p[p.length - 3] < 18 && !edge.back) return;
  const w = text.length * 5.9 + 6;
  for (const [x, y] of placesOf(edge)) {
    const box = [x - w / 2, y - 7, x + w / 2, y + 7];
    if (taken.some((t) => t[0] < box[2] && t[2] > box[0] && t[1] < box[3] && t[3] > box[1])) continue;
    taken.push(box);
    pen.fillStyle = colours.back;
    pen.fillRect(box[0], box[1], w, 14);
    pen.fillStyle = colours.muted;
    pen.fillText(text, x, y);
    return;
  }
}

// Moving

function fit() {
  const box = canvas.getBoundingClientRect(), n = view.first;
  const roomy = box.height - 46; // the legend stands below
  const across = (box.width - 20) / view.w[n];
  const scale = Math.min(across, roomy / view.h[n]);
  view.scale = Math.min(1.25, Math.max(0.01, scale));
  view.left = (box.width - view.w[n] * view.scale) / 2;
  view.top = Math.max(6, (roomy - view.h[n] * view.scale) / 2);
  const isTall = view.h[n] / view.w[n] > 2 || across > 0.5;
  if (view.scale < 0.45 && isTall && view.selected < 0) { // begin at its top, to be read
    view.scale = Math.min(1, Math.max(0.45, across));
    view.left = (box.width - view.w[n] * view.scale) / 2;
    view.top = 6;
  }
  redraw();
}

function fitAll() {
  const box = canvas.getBoundingClientRect(), n = view.first;
  view.scale = Math.min(1.25, (box.width - 20) / view.w[n], (box.height - 46) / view.h[n]);
  view.left = (box.width - view.w[n] * view.scale) / 2;
  view.top = Math.max(6, (box.height - 46 - view.h[n] * view.scale) / 2);
  redraw();
}

function zoom(factor, cx, cy) {
  const box = canvas.getBoundingClientRect();
  cx = cx === undefined ? box.width / 2 : cx;
  cy = cy === undefined ? box.height / 2 : cy;
  const scale = Math.min(4, Math.max(0.004, view.scale * factor));
  view.left = cx - (cx - view.left) * scale / view.scale;
  view.top = cy - (cy - view.top) * scale / view.scale;
  view.scale = scale;
  moving();
}

function centre(i) {
  const box = canvas.getBoundingClientRect();
  if (view.scale < 0.5) view.scale = 0.85;
  view.left = box.width / 2 - (view.x[i] + view.w[i] / 2) * view.scale;
  view.top = box.height / 2 - (view.y[i] + view.h[i] / 2) * view.scale;
  redraw();
}

function keepInSight(i) {
  const box = canvas.getBoundingClientRect();
  const x = view.left + view.x[i] * view.scale, y = view.top + view.y[i] * view.scale;
  if (x < 0 || y < 0 || x + view.w[i] * view.scale > box.width || y + view.h[i] * view.scale > box.height) centre(i);
}

function itemAt(px, py) {
  const x = (px - view.left) / view.scale, y = (py - view.top) / view.scale;
  const within = (i) => x >= view.x[i] && y >= view.y[i] && x <= view.x[i] + view.w[i] && y <= view.y[i] + view.h[i];
  let found = -1;
  const walk = (i) => {
    if (!within(i)) return;
    if (i !== view.first) found = i;
    if (view.isOpen(i)) view.groups[i - view.first].children.forEach(walk);
  };
  walk(view.first);
  return found;
}

function edgeAt(px, py) {
  if (view.drawn.length > 20000) return null;
  const x = (px - view.left) / view.scale, y = (py - view.top) / view.scale, near = 6 / view.scale;
  const ratio = window.devicePixelRatio || 1;
  pen.save();
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.lineWidth = 2 * near;
  let found = null;
  for (const edge of view.drawn) {
    const [x0, y0, x1, y1] = edge.box;
    if (x < x0 - near || x > x1 + near || y < y0 - near || y > y1 + near) continue;
    pen.beginPath();
    trace(edge, false);
    if (pen.isPointInStroke(x, y)) { found = edge; break; }
  }
  pen.restore();
  return found;
}

function toggle(i) {
  if (!view.isGroup(i)) return;
  const before = [view.x[i] * view.scale + view.left, view.y[i] * view.scale + view.top];
  view.open[i] = view.open[i] ? 0 : 1;
  view.layout();
  view.left += before[0] - (view.x[i] * view.scale + view.left);
  view.top += before[1] - (view.y[i] * view.scale + view.top);
  say(`${view.item(i).title}: ${view.open[i] ? "unfolded" : "folded"}`);
  redraw();
}

function foldAll() {
  view.open.fill(0);
  view.open[view.first] = 1;
  view.layout();
  if (view.selected >= 0) view.selected = view.stands[view.selected];
  fit();
}

function unfoldMore() {
  const folded = view.shown.filter((i) => view.isGroup(i) && !view.open[i]);
  const least = Math.min(...folded.map((i) => view.depth[i]));
  for (const i of folded) if (view.depth[i] === least) view.open[i] = 1;
  view.layout();
  fit();
}

// What is selected

function say(text) { $("live").textContent = text; }

function select(i, { move = true, source = true } = {}) {
  view.selected = i;
  view.selectedEdge = null;
  if (i >= 0) {
    view.reveal(i);
    if (move) keepInSight(i);
    const item = view.item(i);
    say(`${item.title} ${item.about || ""}, ${view.isGroup(i) ? "group" : item.kind}${item.line ? `, line ${item.line}` : ""}`);
    if (source && item.line && item.file >= 0) showLine(item.file, item.line);
  }
  showDetails();
  redraw();
}

function go(i) { select(i, { move: false }); centre(i); }

function lineLink(item) {
  if (!(item.line && item.file >= 0)) return null;
  const button = element("a", { href: "#", onclick: (event) => { event.preventDefault(); showLine(item.file, item.line); } });
  button.textContent = `${DATA.files[item.file].name}:${item.line}`;
  return button;
}

function histogram(numbers, title) {
  if (!numbers) return null;
  const bins = numbers.bins;
  const rows = [];
  for (const [name, text] of [["norm", "norm"], ["mean", "mean"], ["min", "least"], ["max", "most"], ["zeros", "zeros"], ["nan", "NaN"], ["inf", "infinite"]])
    if (numbers[name] !== undefined && !(name === "zeros" && !numbers.zeros)) rows.push(`${text} ${brief(numbers[name])}`);
  const figure = element("figure", {}, element("figcaption", {}, title));
  if (bins) {
    const most = Math.max(...bins);
    const label = `${title}: from ${brief(numbers.min)} to ${brief(numbers.max)}`;
    const image = svg("svg", { width: 130, height: 46, role: "img", "aria-label": label });
    bins.forEach((count, k) => {
      const tall = count ? Math.max(1.5, 40 * count / most) : 0;
      image.append(svg("rect", { x: k * 8 + 1, y: 42 - tall, width: 7, height: tall, fill: "currentColor", opacity: 0.65 }));
    });
    image.append(svg("line", { x1: 0, x2: 130, y1: 42.5, y2: 42.5, stroke: "currentColor", opacity: 0.4 }));
    if (numbers.min < 0 && numbers.max > 0) {
      const zero = 1 + 128 * -numbers.min / (numbers.max - numbers.min);
      image.append(svg("line", { x1: zero, x2: zero, y1: 0, y2: 46, stroke: "currentColor", "stroke-dasharray": "2 2" }));
    }
    figure.append(image);
  }
  figure.append(element("pre", {}, rows.join("\n")));
  if (numbers.nan || numbers.inf) figure.classList.add("why");
  return figure;
}

function why(cause, ...texts) {
  const box = element("div", { class: "why" }, element("b", {}, cause));
  box.append(texts.filter(Boolean).map((text) => `\n${text}`).join(""));
  return box;
}

function explained(item) {
  const [cause, ...rest] = item.explained.split(": ");
  return why(cause, rest.join(": "));
}

function showDetails() {
  const box = $("details");
  box.replaceChildren();
  const i = view.selected;
  if (view.selectedEdge) return showEdge(box, view.selectedEdge);
  if (i < 0) {
    const ops = view.boxes.filter((b) => b.kind === "op").length;
    box.append(element("h2", {}, element("b", {}, `${ops} ops`)), element("p", {}, "Select a box to see what is in it: click, or use the arrow keys."));
    if (view.raw.note) box.append(element("p", {}, view.raw.note));
    return;
  }
  const item = view.item(i);
  box.append(element("h2", {}, element("b", {}, item.title), ` ${view.isGroup(i) ? { scope: "scope", call: "call", line: "line", run: "run of a line", part: "part" }[item.style] : item.kind}`));
  const list = element("dl", {});
  const row = (name, value) => { if (value !== undefined && value !== null && value !== "") list.append(element("dt", {}, name), element("dd", {}, value)); };
  if (!view.isGroup(i)) {
    if (item.title !== item.label) row("op", item.label);
    row("result", item.about);
    row("line", lineLink(item));
    row("bytes", item.size === undefined ? "" : bytes(item.size));
    row("held", item.held ? `${bytes(item.held)} by the tape` : "");
    row("time", item.seconds === undefined ? "" : `${seconds(item.seconds)} since the op before`);
    row("recorded", item.unrecorded ? "no" : "");
    row("", item.detail);
    box.append(list);
    if (item.cut) box.append(why(item.cut[0], item.cut[1], item.cut[2]));
    if (item.explained) { box.append(explained(item)); }
    const figures = element("div", { class: "stats" });
    for (const figure of [histogram(item.value, "values"), histogram(item.gradient, "gradient")]) if (figure) figures.append(figure);
    box.append(figures);
    const ends = element("div", { class: "links" });
    ends.append(element("button", { onclick: () => setEnd("source", i) }, "path from here"), element("button", { onclick: () => setEnd("target", i) }, "path to here"));
    box.append(ends);
    neighboursOf(box, i);
  } else {
    row("holds", item.about);
    row("line", lineLink(item));
    for (const name of ["memory", "held", "time", "gradient"]) {
      const value = view.measure(name).values[i];
      if (!Number.isNaN(value) && value) row(MEASURES[name].title, MEASURES[name].text(value));
    }
    box.append(list);
    box.append(element("div", { class: "links" }, element("button", { onclick: () => toggle(i) }, view.open[i] ? "fold" : "unfold")));
  }
}

function neighboursOf(box, i) {
  const sides = [["from", []], ["to", []]];
  for (let k = 0; k < view.edges.length; k += 3) {
    if (view.edges[k + 1] === i && sides[0][1].length < 12) sides[0][1].push(view.edges[k]);
    if (view.edges[k] === i && sides[1][1].length < 12) sides[1][1].push(view.edges[k + 1]);
  }
  for (const [name, items] of sides) {
    if (!items.length) continue;
    const line = element("div", { class: "links" }, `${name} `);
    for (const other of items) line.append(element("button", { onclick: () => go(other) }, view.item(other).title));
    box.append(line);
  }
}

function showEdge(box, edge) {
  box.append(element("h2", {}, element("b", {}, edge.count > 1 ? `${edge.count} tensors` : "a tensor"), ` ${view.item(edge.a).title} → ${view.item(edge.b).title}`));
  for (const k of edge.all.slice(0, 12)) {
    const from = view.boxes[view.edges[k]];
    const list = element("dl", {});
    list.append(element("dt", {}, from.title), element("dd", {}, `${from.about || ""}${from.size === undefined ? "" : `  ${bytes(from.size)}`}`));
    if (!view.edges[k + 2]) list.append(element("dt", {}, ""), element("dd", {}, "no gradient comes back along it"));
    if (from.gradient) list.append(element("dt", {}, "gradient"), element("dd", {}, `norm ${brief(from.gradient.norm)}`));
    box.append(list);
    if (edge.count === 1) box.append(element("div", { class: "stats" }, histogram(from.value, "values") || "", histogram(from.gradient, "gradient") || ""));
  }
}

// Paths

function setEnd(which, i) {
  const choice = $(which);
  if (i >= 0 && ![...choice.options].some((o) => Number(o.value) === i)) choice.append(option(i));
  choice.value = String(i);
  findPath();
}

function option(i) {
  const box = view.boxes[i];
  const made = element("option", { value: i }, `${box.title}${box.line ? `  (line ${box.line})` : ""}`);
  return made;
}

function fillEnds() {
  const ends = { source: [], target: [] };
  view.boxes.forEach((box, i) => {
    if (box.kind === "variable" || box.kind === "input") ends.source.push(i);
    if (box.kind === "op" && box.name) ends.target.push(i);
  });
  if (view.raw.target !== null && !ends.target.includes(view.raw.target)) ends.target.push(view.raw.target);
  if (view.raw.source !== null && !ends.source.includes(view.raw.source)) ends.source.push(view.raw.source);
  for (const which of ["source", "target"]) {
    const items = ends[which].length > 300 ? ends[which].slice(-300) : ends[which];
    $(which).replaceChildren(element("option", { value: -1 }, "–"), ...items.map(option));
    const known = view.path ? view.path[which] : which === "target" || view.raw.source !== null ? view.raw[which] : null;
    if (known !== null && known !== undefined) {
      if (!items.includes(known)) $(which).append(option(known));
      $(which).value = String(known);
    }
  }
}

function findPath(longest) {
  const source = Number($("source").value), target = Number($("target").value);
  view.path = null;
  if (source >= 0 && target >= 0 && source !== target) {
    view.path = view.find(source, target, longest === true);
    for (const i of [source, target, ...view.path.cuts.map((k) => view.edges[k + 1])]) view.reveal(i);
    view.layout();
    view.mark();
    say(view.path.connected ? `A path of ${view.path.edges.length} edges.` : "No gradient: see the panel.");
  }
  showPath();
  redraw();
}

function clearPath() {
  $("source").value = "-1";
  view.path = null;
  showPath();
  redraw();
}

function showPath() {
  const box = $("path");
  box.replaceChildren();
  box.hidden = !view.path;
  if (!view.path) return;
  const { source, target, edges, cuts, exits } = view.path;
  const from = view.boxes[source], to = view.boxes[target];
  box.append(element("h2", {}, element("b", {}, `${from.name || from.title} → ${to.name || to.title}`),
    view.path.connected ? ` ${edges.length} steps; norm of the gradient` : " no gradient comes back"));
  if (!view.path.connected) {
    if (from.explained) { box.append(explained(from)); }
    else if (cuts.length) {
      const at = [...cuts].reverse().map((k) => view.boxes[view.edges[k + 1]]).find((b) => b.cut);
      if (at) box.append(why(at.cut[0], at.cut[1], at.cut[2]));
      else box.append(why("CUT", "The tape does not follow the value from here on: it was not watched when it was used."));
    } else if (exits && exits.length) {
      const at = view.boxes[exits[exits.length - 1]];
      box.append(why(at.cut[0], `${at.cut[1]}${at.line ? ` (line ${at.line})` : ""}`, at.cut[2]));
    } else box.append(why("UNUSED", "Nothing that is computed from it leads to the target."));
  }
  if (!edges) return;
  const steps = [source, ...edges.map((k) => view.edges[k + 1])];
  const cutAt = new Set(cuts.map((k) => view.edges[k + 1]));
  const norms = steps.map((i) => view.boxes[i].gradient ? Number(view.boxes[i].gradient.norm) : NaN);
  const logs = norms.map((n) => n > 0 ? Math.log10(n) : NaN).filter((n) => !Number.isNaN(n));
  const least = Math.min(...logs) - 0.3, most = Math.max(...logs);
  const list = element("ol", {});
  const shownSteps = steps.length > 400 ? [...steps.slice(0, 200), -1, ...steps.slice(-200)] : steps;
  for (const i of shownSteps) {
    if (i < 0) { list.append(element("li", {}, element("span", {}, `… ${steps.length - 400} more …`), element("span", {}), element("span", {}))); continue; }
    const item = view.boxes[i], norm = item.gradient ? Number(item.gradient.norm) : NaN;
    const bar = element("span", { class: "bar" });
    bar.style.width = norm > 0 ? `${Math.max(2, 74 * (Math.log10(norm) - least) / (most - least || 1))}px` : "0";
    const cut = cutAt.has(i);
    list.append(element("li", { tabindex: 0, onclick: () => go(i), onkeydown: (event) => { if (event.key === "Enter") go(i); } },
      element("span", cut ? { class: "cut" } : {}, `${cut ? "✕ " : ""}${item.title}${item.line ? `  :${item.line}` : ""}`),
      element("span", {}, Number.isNaN(norm) ? "–" : brief(norm)), bar));
  }
  box.append(list);
  box.append(element("div", { class: "links" }, view.path.connected
    ? element("button", { onclick: () => findPath(!view.path.longest) }, view.path.longest ? "the shortest path" : "the longest path") : "",
  element("button", { onclick: clearPath }, "clear")));
}

// Source code

let usedBy = null; // file → line → boxes of the present view
let shownFile = -1;

function fillFiles() {
  usedBy = DATA.files.map(() => new Map());
  view.boxes.forEach((box, i) => {
    if (box.file >= 0 && box.line) {
      const lines = usedBy[box.file];
      if (lines.has(box.line)) lines.get(box.line).push(i); else lines.set(box.line, [i]);
    }
  });
  $("file").replaceChildren(...DATA.files.map((file, i) => element("option", { value: i, title: file.path }, file.name)));
  shownFile = -1;
  $("code").hidden = !DATA.files.length;
  if (DATA.files.length) {
    const counts = usedBy.map((lines) => lines.size);
    showFile(counts.indexOf(Math.max(...counts)));
  }
}

function showFile(number) {
  if (number === shownFile) return;
  shownFile = number;
  $("file").value = String(number);
  const file = DATA.files[number], used = usedBy[number];
  const rows = file.lines.map((text, k) => {
    const line = file.first + k, boxes = used.get(line);
    const row = element("div", boxes ? { class: "used", role: "listitem", title: `${boxes.length} ops: show them` } : { role: "listitem" },
      element("span", {}, String(line)), element("span", {}, boxes ? String(boxes.length) : ""), element("span", {}, text));
    if (boxes) row.addEventListener("click", () => selectLine(number, line));
    row.dataset.line = line;
    return row;
  });
  if (!rows.length) rows.push(element("p", {}, `${file.path}: the text of this file is not known.`));
  const box = $("lines");
  box.replaceChildren(...rows);
  const first = rows[Math.min(...used.keys()) - file.first]; // what was run, from the top
  if (first) box.scrollTop = Math.max(0, first.offsetTop - box.offsetTop - 40);
}

function showLine(file, line) {
  showFile(file);
  for (const old of $("lines").querySelectorAll(".here")) old.classList.remove("here");
  const row = $("lines").children[line - DATA.files[file].first];
  if (!row || !row.classList) return;
  row.classList.add("here");
  const box = $("lines");
  box.scrollTop = row.offsetTop - box.offsetTop - box.clientHeight / 2;
}

function selectLine(file, line) {
  const boxes = usedBy[file].get(line) || [];
  matches = new Set();
  const group = view.groups.findIndex((g) => g.style === "line" && g.file === file && g.line === line);
  const found = group >= 0 ? view.first + group : boxes[0];
  if (found === undefined) return;
  for (const i of boxes) { matches.add(view.stands[i]); }
  select(found, { source: false });
  centre(found);
  showLine(file, line);
}

// Search

let results = [];
let chosen = 0;

function search(text) {
  text = text.trim().toLowerCase();
  results = [];
  matches = new Set();
  if (text) {
    const words = text.split(/\s+/);
    const test = (item) => {
      const hay = `${item.title} ${item.label || ""} ${item.name || ""} ${item.about || ""} ${item.file >= 0 && item.line ? `${DATA.files[item.file].name}:${item.line}` : ""} ${item.cut ? item.cut[0] : ""}`.toLowerCase();
      return words.every((word) => hay.includes(word));
    };
    for (let g = 1; g < view.groups.length; g++) if (test(view.groups[g]) && results.length < 400) results.push(view.first + g);
    for (let i = 0; i < view.first; i++) if (test(view.boxes[i])) { if (results.length < 400) results.push(i); matches.add(view.stands[i]); }
    for (const i of results) if (view.visible[i]) matches.add(i);
  }
  chosen = 0;
  showResults(text);
  redraw();
}

function showResults(text) {
  const list = $("results");
  const rows = results.slice(0, 60).map((i, k) => {
    const item = view.item(i);
    const place = item.line && item.file >= 0 ? `${DATA.files[item.file].name}:${item.line}` : "";
    return element("li", { role: "option", id: `result${k}`, "aria-selected": k === chosen, onmousedown: (event) => { event.preventDefault(); take(k); } },
      item.title, element("small", {}, `${view.isGroup(i) ? item.style : item.kind} ${item.about || ""} ${place}`));
  });
  if (text && !rows.length) rows.push(element("li", {}, "nothing found"));
  list.replaceChildren(...rows);
  list.hidden = !text;
  $("search").setAttribute("aria-expanded", String(Boolean(text)));
  if (rows.length && results.length) $("search").setAttribute("aria-activedescendant", `result${chosen}`);
  else $("search").removeAttribute("aria-activedescendant");
  if (text) say(`${results.length} found`);
}

function take(k) {
  if (results[k] === undefined) return;
  go(results[k]);
  matches = new Set([results[k]]);
  $("results").hidden = true;
  $("search").setAttribute("aria-expanded", "false");
  canvas.focus();
}

// Legend

function legend() {
  const box = $("legend");
  box.replaceChildren();
  if (colour) {
    const { least, most } = view.measure(colour);
    const about = MEASURES[colour];
    const bar = element("span", { style: `display:inline-block;width:90px;height:10px;border:1px solid var(--rule);background:linear-gradient(90deg,var(--heat0),var(--heat1))` });
    box.append(element("b", {}, about.title), most >= least ? about.text(least) : "unknown", bar, most >= least ? about.text(most) : "", element("span", {}, about.about));
    return;
  }
  const sign = (shape, text) => {
    const image = svg("svg", { width: 26, height: 15, "aria-hidden": "true" });
    image.append(shape);
    image.firstChild.setAttribute("stroke", "currentColor");
    if (!image.firstChild.getAttribute("fill")) image.firstChild.setAttribute("fill", "none");
    box.append(element("span", {}, image, text));
  };
  const kinds = new Set(view.boxes.map((b) => b.kind));
  sign(svg("rect", { x: 1, y: 1, width: 24, height: 12, rx: 3 }), "op");
  if (kinds.has("variable")) sign(svg("rect", { x: 1, y: 1, width: 24, height: 12, rx: 6 }), "variable");
  if (kinds.has("input")) sign(svg("path", { d: "M6 1H25L20 13H1Z" }), "input");
  if (kinds.has("constant")) sign(svg("rect", { x: 1, y: 1, width: 24, height: 12 }), "constant");
  if (kinds.has("exit")) sign(svg("path", { d: "M1 1H18L25 7L18 13H1Z" }), "leaves the tape");
  sign(svg("path", { d: "M4 4H25V14H4ZM1 1H22V4M1 1V11H4" }), "folded");
  if (view.boxes.some((b) => b.cut || b.unrecorded)) sign(svg("rect", { x: 1, y: 1, width: 24, height: 12, rx: 3, "stroke-dasharray": "4 3" }), "no gradient, or not recorded");
}

// Keys and mouse

function moveTo(key) {
  if (view.selected < 0 || !view.visible[view.selected]) {
    const start = view.groups[0].rows.flat().find((i) => i >= 0);
    if (start !== undefined) select(start);
    return;
  }
  const i = view.selected, near = view.near().get(i) || { to: [], from: [] };
  let options;
  if (key === "ArrowDown") options = near.to;
  else if (key === "ArrowUp") options = near.from;
  else options = [];
  if (!options.length && (key === "ArrowDown" || key === "ArrowUp") && view.isOpen(i)) {
    const inner = view.groups[i - view.first].rows.flat().filter((c) => c >= 0);
    options = inner.length ? [key === "ArrowDown" ? inner[0] : inner[inner.length - 1]] : [];
  }
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const row = view.groups[view.parent[i] - view.first].rows.flat().filter((c) => c >= 0);
    const next = row[row.indexOf(i) + (key === "ArrowRight" ? 1 : -1)];
    options = next === undefined ? [] : [next];
  }
  if (options.length) {
    const x = view.x[i] + view.w[i] / 2;
    select(options.reduce((a, b) => Math.abs(view.x[b] + view.w[b] / 2 - x) < Math.abs(view.x[a] + view.w[a] / 2 - x) ? b : a));
  } else say("nothing there");
}

canvas.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const step = 60;
  if (event.key.startsWith("Arrow") && event.shiftKey) {
    pan({ ArrowLeft: step, ArrowRight: -step }[event.key] || 0, { ArrowUp: step, ArrowDown: -step }[event.key] || 0);
  } else if (event.key.startsWith("Arrow")) moveTo(event.key);
  else if (event.key === "Enter" || event.key === " ") { if (view.selected >= 0) { toggle(view.selected); showDetails(); } }
  else if (event.key === "Backspace") {
    const p = view.selected >= 0 ? view.parent[view.selected] : -1;
    if (p > view.first) { if (view.open[p]) toggle(p); select(p); }
  } else if (event.key === "+" || event.key === "=") zoom(1.25);
  else if (event.key === "-") zoom(0.8);
  else if (event.key === "0") fitAll();
  else if (event.key === "s" && view.selected >= 0 && !view.isGroup(view.selected)) setEnd("source", view.selected);
  else if (event.key === "t" && view.selected >= 0 && !view.isGroup(view.selected)) setEnd("target", view.selected);
  else if (event.key === "c") nextColour();
  else return;
  event.preventDefault();
});

document.addEventListener("keydown", (event) => {
  const typing = /INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName);
  if (event.key === "/" && !typing) { event.preventDefault(); $("search").focus(); $("search").select(); }
  else if (event.key === "?" && !typing) $("help").showModal();
  else if (event.key === "Escape" && !$("help").open) {
    $("results").hidden = true;
    matches = new Set();
    if (view.path) clearPath();
    select(-1);
    canvas.focus();
  }
});

function nextColour() {
  const values = [...$("colour").options].map((o) => o.value);
  setColour(values[(values.indexOf(colour) + 1) % values.length]);
}

function setColour(name) {
  colour = name;
  $("colour").value = name;
  legend();
  say(`Coloured ${MEASURES[name].title}`);
  redraw();
}

const pointers = new Map();
let drag = null;
const where = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };

canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, where(event));
  drag = { start: where(event), moved: false };
  $("tip").hidden = true;
});
canvas.addEventListener("pointermove", (event) => {
  const here = where(event);
  const before = pointers.get(event.pointerId);
  if (!before) return hover(here);
  if (pointers.size === 2) {
    const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, p]) => p);
    const size = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
    zoom(size(here) / size(before), (here[0] + other[0]) / 2, (here[1] + other[1]) / 2);
    drag.moved = true;
  } else if (drag.moved || Math.hypot(here[0] - drag.start[0], here[1] - drag.start[1]) > 4) {
    drag.moved = true;
    canvas.classList.add("dragging");
    pan(here[0] - before[0], here[1] - before[1]);
  }
  pointers.set(event.pointerId, here);
});
function release(event) {
  pointers.delete(event.pointerId);
  canvas.classList.remove("dragging");
  if (event.type === "pointerup" && drag && !drag.moved) {
    const [x, y] = where(event);
    const i = itemAt(x, y);
    if (i < 0 || view.isOpen(i)) {
      const edge = edgeAt(x, y);
      if (edge) { select(-1); view.selectedEdge = edge; showDetails(); redraw(); return; }
    }
    select(i, { move: false });
  }
}
canvas.addEventListener("pointerup", release);
canvas.addEventListener("pointercancel", release);
canvas.addEventListener("pointerleave", () => { $("tip").hidden = true; });
canvas.addEventListener("dblclick", (event) => {
  const i = itemAt(...where(event));
  if (i >= 0 && view.isGroup(i)) { toggle(i); showDetails(); }
});
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const [x, y] = where(event);
  const lines = event.deltaMode === 1 ? 16 : 1;
  zoom(Math.exp(-event.deltaY * lines * 0.0016), x, y);
}, { passive: false });

function hover([x, y]) {
  const i = itemAt(x, y), tip = $("tip");
  let text = "";
  if (i >= 0 && !view.isOpen(i)) {
    const item = view.item(i);
    text = [`${item.title}`, item.about, item.line && item.file >= 0 ? `${DATA.files[item.file].name}:${item.line}` : "", item.cut ? `${item.cut[0]}: ${item.cut[1]}` : ""].filter(Boolean).join("\n");
  } else {
    const edge = view.drawn.length < 4000 ? edgeAt(x, y) : null;
    if (edge) text = `${view.item(edge.a).title} → ${view.item(edge.b).title}\n${edgeText(edge)}${edge.flows ? "" : "\nno gradient comes back along it"}`;
  }
  tip.hidden = !text;
  if (text) {
    tip.textContent = text;
    const box = canvas.getBoundingClientRect();
    tip.style.left = `${Math.min(x + 14, Math.max(0, box.width - tip.offsetWidth - 8))}px`;
    tip.style.top = `${Math.min(y + 16, Math.max(0, box.height - tip.offsetHeight - 8))}px`;
  }
}

// The beginning

function show(number) {
  view = views[number];
  [...$("tabs").children].forEach((tab, k) => tab.setAttribute("aria-selected", String(k === number)));
  const known = Object.keys(MEASURES).filter((name) => !name || view.measure(name).most > -Infinity);
  $("colour").replaceChildren(...known.map((name) => element("option", { value: name }, MEASURES[name].title)));
  colour = known.includes(colour) ? colour : "";
  $("colour").value = colour;
  matches = new Set();
  fillEnds();
  fillFiles();
  legend();
  showDetails();
  if (!view.placed) { view.placed = true; if (view.raw.source !== null) findPath(); fit(); }
  showPath();
  redraw();
}

readColours();
$("title").textContent = DATA.title;
if (views.length > 1)
  $("tabs").append(...views.map((v, k) => element("button", { role: "tab", onclick: () => show(k) }, v.raw.name)));
$("search").addEventListener("input", (event) => search(event.target.value));
$("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter") { event.preventDefault(); take(chosen); }
  else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    chosen = Math.max(0, Math.min(Math.min(results.length, 60) - 1, chosen + (event.key === "ArrowDown" ? 1 : -1)));
    showResults(event.target.value);
    const row = $(`result${chosen}`);
    if (row) row.scrollIntoView({ block: "nearest" });
  }
});
$("search").addEventListener("blur", () => { $("results").hidden = true; });
$("colour").addEventListener("change", (event) => setColour(event.target.value));
$("source").addEventListener("change", findPath);
$("target").addEventListener("change", findPath);
$("file").addEventListener("change", (event) => showFile(Number(event.target.value)));
$("fit").addEventListener("click", fitAll);
$("fold").addEventListener("click", foldAll);
$("unfold").addEventListener("click", unfoldMore);
$("helper").addEventListener("click", () => $("help").showModal());
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); redraw(); });
new ResizeObserver(resize).observe(canvas.parentElement);
resize();
show(0);
draw();
stats.opened = performance.now();
// For tests, and for the curious.
window.viewer = { views, stats, get view() { return view; }, select, go, search, setEnd, setColour, draw, redraw, pan, fitAll, unfoldMore, show, toggle };
})();
