// The map on a canvas: the ground, trees, routes, stops and walkers.
// What does not change from frame to frame is kept in two layers: the ground, and the trees up to a round.

import { drawAnchors, drawAreas, markerSize } from "./marks.js";
import { anchorColour, scene, theme } from "./palette.js";
import { drawLeg, drawOther, sideBySide, trace } from "./routes.js";
import { drawScaleBar } from "./scalebar.js";
import { drawWalker } from "./walkers.js";

/** Pixels that are left beside and above the world, in which names and buttons fit. */
const MARGIN = [116, 44];

const FARTHEST_ZOOM = 0.5;
const NEAREST_ZOOM = 1000;

/** Where the map looks. */
export class View {
  constructor([left, right, bottom, top]) {
    this.extent = [left, right, bottom, top];
    this.reset();
  }

  reset() {
    const [left, right, bottom, top] = this.extent;
    this.centre = [(left + right) / 2, (bottom + top) / 2];
    this.zoom = 1;
  }

  scale(width, height) {
    const [left, right, bottom, top] = this.extent;
    return this.zoom * Math.min((width - MARGIN[0]) / (right - left), (height - MARGIN[1]) / (top - bottom));
  }

  zoomBy(factor, [x, y] = this.centre) {
    const zoom = Math.min(NEAREST_ZOOM, Math.max(FARTHEST_ZOOM, this.zoom * factor));
    const share = this.zoom / zoom;
    this.centre = [x + (this.centre[0] - x) * share, y + (this.centre[1] - y) * share];
    this.zoom = zoom;
  }
}

export class Pane {
  constructor(canvas) {
    this.canvas = canvas;
    this.ground = document.createElement("canvas");
    this.forest = document.createElement("canvas");
    this.anchors = [];
    this.areas = [];
    this.others = [];
    this.walkers = [];
    this.scale = 1;
    this.frameTimes = [];
    new ResizeObserver(() => this.redraw()).observe(canvas);
  }

  /** Show a world. */
  show(world, frame) {
    this.world = world;
    this.frame = frame;
    this.view = new View(world.extent);
    this.groundKey = this.forestKey = null;
    this.showRun(null, -1);
  }

  /** Show a round of a run. */
  showRun(run, round) {
    this.run = run;
    this.round = round;
    this.redraw();
  }

  /** Draw in the next frame, once. */
  redraw() {
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(() => {
      this.isWaiting = false;
      const began = performance.now();
      this.#draw();
      this.frameTimes.push(performance.now() - began);
      if (this.frameTimes.length > 600) this.frameTimes.shift();
    });
  }

  toWorld(x, y) {
    const { width, height } = this.canvas.getBoundingClientRect();
    const scale = this.view.scale(width, height);
    return [this.view.centre[0] + (x - width / 2) / scale, this.view.centre[1] - (y - height / 2) / scale];
  }

  toScreen([x, y]) {
    const { width, height } = this.canvas.getBoundingClientRect();
    const scale = this.view.scale(width, height);
    return [width / 2 + (x - this.view.centre[0]) * scale, height / 2 - (y - this.view.centre[1]) * scale];
  }

  /** The anchor under a place of the canvas, the topmost first; `reach` is how near a pointer has to come. */
  anchorAt(x, y, reach = 4) {
    return [...this.anchors].reverse().find(({ place }) => {
      const [left, top] = this.toScreen(place);
      return Math.hypot(left - x, top - y) <= markerSize(this.anchors.length) + reach;
    });
  }

  /** The closed area under a place of the canvas, the topmost first. */
  areaAt(x, y) {
    const place = this.toWorld(x, y);
    return [...this.areas].reverse().find(({ corners }) => isWithin(place, corners));
  }

  #draw() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !height || !this.view) return;
    const ratio = window.devicePixelRatio || 1;
    this.#resize(width * ratio, height * ratio);
    this.scale = this.view.scale(width, height);
    this.px = (pixels) => pixels / this.scale;
    this.toPixels = [ratio * this.scale, 0, 0, -ratio * this.scale,
      ratio * (width / 2 - this.view.centre[0] * this.scale), ratio * (height / 2 + this.view.centre[1] * this.scale)];
    this.#drawGround();
    const context = this.canvas.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.ground, 0, 0);
    context.setTransform(...this.toPixels);
    context.lineCap = context.lineJoin = "round";
    drawAreas(context, this.px, this.areas);
    for (const other of this.others) drawOther(context, this.px, other);
    if (this.run) this.#drawRound(context, this.run.rounds[this.round]);
    for (const other of this.others.filter(({ isChosen }) => isChosen)) drawOther(context, this.px, other);
    for (const walker of this.walkers) drawWalker(context, this.px, walker);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const spotted = this.anchors.map((anchor) => ({ ...anchor, spot: this.toScreen(anchor.place) }));
    drawAnchors(context, spotted, this.#visits(), width);
    this.scaleBar = drawScaleBar(context, width, height, this.scale, this.frame);
  }

  #resize(width, height) {
    for (const canvas of [this.canvas, this.ground, this.forest]) {
      if (canvas.width === Math.round(width) && canvas.height === Math.round(height)) continue;
      canvas.width = Math.round(width);
      canvas.height = Math.round(height);
      this.groundKey = this.forestKey = null;
    }
  }

  #drawGround() {
    const { showsWalls, roads } = this.world;
    const key = [theme(), showsWalls, ...this.toPixels].join();
    if (key === this.groundKey) return;
    this.groundKey = key;
    const context = this.ground.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = `rgb(${scene().outside})`;
    context.fillRect(0, 0, this.ground.width, this.ground.height);
    context.setTransform(...this.toPixels);
    const [left, right, bottom, top] = this.world.grid.extent;
    context.scale(1, -1);
    context.globalAlpha = roads ? 0.45 : 1;
    context.drawImage(this.world.picture(theme()), left, -top, right - left, top - bottom);
    context.globalAlpha = 1;
    context.scale(1, -1);
    if (roads) this.#drawRoads(context, roads);
    if (showsWalls) this.#drawWalls(context);
  }

  #drawRoads(context, roads) {
    context.lineCap = context.lineJoin = "round";
    const width = Math.min(5, Math.max(1.2, 2.4 * Math.sqrt(this.view.zoom)));
    for (const [colour, wider] of [[scene().kerb, 1.6], [scene().road, 0]]) {
      context.strokeStyle = colour;
      context.lineWidth = this.px(width + wider);
      context.stroke(roads);
    }
  }

  #drawWalls(context) {
    const { centres, size } = this.world.walls;
    context.fillStyle = scene().wall;
    for (const [x, y] of centres) context.fillRect(x - size / 2, y - size / 2, size, size);
  }

  #drawRound(context, round) {
    const isFinal = this.run.isFinal(this.round);
    const fade = this.run.isStale ? 0.35 : 1;
    this.#growForest();
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.globalAlpha = fade * (isFinal ? 0.6 : 1);
    context.drawImage(this.forest, 0, 0);
    context.restore();
    context.globalAlpha = fade;
    if (!isFinal && round) this.#strokeTrees(context, round, 0.9, 1.7);
    for (const leg of this.#legs(isFinal, round)) drawLeg(context, this.px, leg);
    if (round) this.#drawMeetings(context, round);
    context.globalAlpha = 1;
  }

  /** The legs of the plan or of the tentative route, those that share a street side by side. */
  #legs(isFinal, round) {
    const shown = isFinal ? this.run.plan : round;
    if (!shown) return [];
    const [left, right] = this.world.extent;
    shown.legsAside ??= sideBySide(isFinal ? this.run.planLegs() : this.run.legs(round), (right - left) / 300);
    return shown.legsAside;
  }

  /** Bring the layer of trees to the current round; forward, only the new rounds are drawn. */
  #growForest() {
    const key = [theme(), ...this.toPixels].join();
    const context = this.forest.getContext("2d");
    if (key !== this.forestKey || this.run !== this.grownRun || this.round < this.grown) {
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.clearRect(0, 0, this.forest.width, this.forest.height);
      this.forestKey = key;
      this.grownRun = this.run;
      this.grown = -1;
    }
    context.setTransform(...this.toPixels);
    context.lineCap = context.lineJoin = "round";
    while (this.grown < this.round) {
      this.grown += 1;
      if (this.run.rounds[this.grown]) this.#strokeTrees(context, this.run.rounds[this.grown], 0.5, 1.1);
    }
  }

  #strokeTrees(context, round, alpha, width) {
    round.shapes ??= this.#treeShapes(round);
    context.save();
    context.globalAlpha *= alpha;
    context.lineWidth = this.px(width);
    for (const [name, shape] of round.shapes) {
      context.strokeStyle = anchorColour(name);
      context.stroke(shape);
    }
    context.restore();
  }

  #treeShapes(round) {
    const shapes = new Map();
    for (const [anchor, points] of round.trees) {
      const name = this.run.names[anchor];
      const group = name[0] === "W" ? "W1" : name;
      if (!shapes.has(group)) shapes.set(group, new Path2D());
      trace(shapes.get(group), points);
    }
    return shapes;
  }

  #drawMeetings(context, round) {
    context.fillStyle = "#ffffff";
    context.strokeStyle = "#1f2a33";
    context.lineWidth = this.px(1.4);
    const radius = this.px(this.run.places.length > 30 ? 2.2 : 3.6);
    for (const [x, y] of round.meetings.values()) {
      context.beginPath();
      context.arc(x, y, radius, 0, 7);
      context.fill();
      context.stroke();
    }
  }

  /** Which agent visits what, and as which of its stops, by name. */
  #visits() {
    if (!this.run) return new Map();
    return new Map(this.run.ordersAt(this.round).flatMap((order, agent) => (
      order.map((name, number) => [name, { agent, number }]))));
  }
}

/** Whether a place lies within corners: a ray from it crosses their sides an odd number of times. */
function isWithin([x, y], corners) {
  return corners.reduce((isIn, [x1, y1], k) => {
    const [x0, y0] = corners.at(k - 1);
    return y0 > y !== y1 > y && x < x0 + ((y - y0) / (y1 - y0)) * (x1 - x0) ? !isIn : isIn;
  }, false);
}
