// A map on a canvas: the recordings' density, trees, meetings, routes, anchors and walkers.
// What does not change from frame to frame is kept in two layers: the ground, and the trees up to a round.

import { drawAnchors, markerSize } from "./marks.js";
import { agentColour, anchorColour, scene, theme } from "./palette.js";
import { drawArrows, drawBand, drawProposed, drawUnmet, trace } from "./routes.js";
import { stateOf } from "./run.js";
import { drawScaleBar } from "./scalebar.js";
import { drawWalker } from "./walkers.js";

/** Pixels that are left around the world, in which names still fit. */
const MARGIN = 36;

const FARTHEST_ZOOM = 0.5;
const NEAREST_ZOOM = 1000;

/** Where the maps look; shared by all panes. */
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
    return this.zoom * Math.min((width - MARGIN) / (right - left), (height - MARGIN) / (top - bottom));
  }

  zoomBy(factor, [x, y] = this.centre) {
    const zoom = Math.min(NEAREST_ZOOM, Math.max(FARTHEST_ZOOM, this.zoom * factor));
    const share = this.zoom / zoom;
    this.centre = [x + (this.centre[0] - x) * share, y + (this.centre[1] - y) * share];
    this.zoom = zoom;
  }
}

export class Pane {
  constructor(figure, world, view, frame) {
    this.figure = figure;
    this.canvas = figure.querySelector("canvas");
    this.caption = figure.querySelector("figcaption");
    this.show(world, view, frame);
    this.ground = document.createElement("canvas");
    this.forest = document.createElement("canvas");
    this.anchors = [];
    this.walkers = [];
    this.round = -1;
    this.scale = 1;
    this.run = null;
    this.frameTimes = [];
    new ResizeObserver(() => this.redraw()).observe(this.canvas);
  }

  /** Show a world. */
  show(world, view, frame) {
    this.world = world;
    this.view = view;
    this.frame = frame;
    this.groundKey = this.forestKey = null;
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

  #draw() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !height) return;
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
    const round = this.run?.roundAt(this.round);
    if (round) this.#drawRound(context, round);
    for (const walker of this.walkers) drawWalker(context, this.px, walker);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const spotted = this.anchors.map((anchor) => ({ ...anchor, spot: this.toScreen(anchor.place) }));
    drawAnchors(context, spotted, this.#visitors(), width);
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
    const { showsWalls, showsOverlay } = this.world;
    const key = [theme(), showsWalls, showsOverlay, ...this.toPixels].join();
    if (key === this.groundKey) return;
    this.groundKey = key;
    const context = this.ground.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = `rgb(${scene().outside})`;
    context.fillRect(0, 0, this.ground.width, this.ground.height);
    context.setTransform(...this.toPixels);
    const [left, right, bottom, top] = this.world.grid.extent;
    context.scale(1, -1);
    context.drawImage(this.world.picture(theme()), left, -top, right - left, top - bottom);
    context.scale(1, -1);
    if (showsWalls) this.#drawWalls(context);
    if (showsOverlay) this.world.overlay?.draw(context, this.px);
  }

  #drawWalls(context) {
    const { centres, size } = this.world.walls;
    context.fillStyle = scene().wall;
    for (const [x, y] of centres) context.fillRect(x - size / 2, y - size / 2, size, size);
  }

  #drawRound(context, round) {
    const isFinal = this.run.isFinal(this.round);
    const fade = this.run.isStale ? 0.3 : 1;
    this.#growForest();
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.globalAlpha = fade * (isFinal ? 0.6 : 1);
    context.drawImage(this.forest, 0, 0);
    context.restore();
    context.globalAlpha = fade;
    if (!isFinal) this.#strokeTrees(context, round, 0.9, 1.7);
    if (isFinal) this.#drawPlan(context);
    else this.#drawTentative(context, round);
    this.#drawMeetings(context, round);
    context.globalAlpha = 1;
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
      this.#strokeTrees(context, this.run.rounds[this.grown], 0.5, 1.1);
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
    for (const [, anchor, points] of round.trees) {
      const name = this.run.names[anchor];
      const group = name[0] === "W" ? "W1" : name;
      if (!shapes.has(group)) shapes.set(group, new Path2D());
      trace(shapes.get(group), points);
    }
    return shapes;
  }

  #drawTentative(context, round) {
    const { places } = this.run;
    for (const { agent, source, target, path, isProposed } of this.run.legs(round)) {
      const colour = agentColour(agent);
      if (path) this.#drawLeg(context, path, colour, isProposed, 4);
      else drawUnmet(context, this.px, places[source], places[target], colour);
    }
  }

  #drawPlan(context) {
    for (const [agent, route] of this.run.plan.routes.entries()) {
      const path = route.path.map((place) => this.run.frame.toLocal(place));
      const colour = agentColour(agent);
      for (const [k, leg] of route.legs.entries()) {
        if (stateOf(leg) === "unmet") this.#drawAttempt(context, leg, colour);
        if (k >= route.stops.length) continue;
        const part = path.slice(route.stops[k], (route.stops[k + 1] ?? path.length) + 1).flat();
        if (part.length > 2) this.#drawLeg(context, part, colour, stateOf(leg) === "proposed", 4.5);
      }
    }
  }

  #drawAttempt(context, leg, colour) {
    const [from, to] = [leg.source, leg.target].map((name) => this.run.places[this.run.names.indexOf(name)]);
    drawUnmet(context, this.px, from, to, colour);
  }

  #drawLeg(context, points, colour, isProposed, width) {
    (isProposed ? drawProposed : drawBand)(context, this.px, points, colour, width);
    drawArrows(context, this.px, points, colour);
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

  /** Which agent visits what, by name. */
  #visitors() {
    if (!this.run?.roundAt(this.round) || this.run.isStale) return new Map();
    return new Map(this.run.routeAt(this.round).flatMap(({ order }, agent) => order.map((name) => [name, agent])));
  }
}
