// A map on a canvas: the recordings' density, trees, meetings, routes, anchors and walkers.
// What does not change from frame to frame is kept in two layers: the ground, and the trees up to a round.

import { agentColour, anchorColour, scene, theme } from "./palette.js";
import { stateOf } from "./run.js";

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
    return this.zoom * Math.min((width - 24) / (right - left), (height - 24) / (top - bottom));
  }

  zoomBy(factor, [x, y] = this.centre) {
    const zoom = Math.min(12, Math.max(0.5, this.zoom * factor));
    const share = this.zoom / zoom;
    this.centre = [x + (this.centre[0] - x) * share, y + (this.centre[1] - y) * share];
    this.zoom = zoom;
  }
}

export class Pane {
  constructor(figure, world, view) {
    this.figure = figure;
    this.canvas = figure.querySelector("canvas");
    this.caption = figure.querySelector("figcaption");
    this.world = world;
    this.view = view;
    this.ground = document.createElement("canvas");
    this.forest = document.createElement("canvas");
    this.anchors = [];
    this.walkers = [];
    this.round = -1;
    this.run = null;
    this.frameTimes = [];
    new ResizeObserver(() => this.redraw()).observe(this.canvas);
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

  /** The anchor under a place of the canvas, the topmost first. */
  anchorAt(x, y) {
    return [...this.anchors].reverse().find(({ place }) => {
      const [left, top] = this.toScreen(place);
      return Math.hypot(left - x, top - y) <= this.markerSize + 4;
    });
  }

  get markerSize() {
    return this.anchors.length > 30 ? 6.5 : 9;
  }

  #draw() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !height) return;
    const ratio = window.devicePixelRatio || 1;
    this.#resize(width * ratio, height * ratio);
    this.scale = this.view.scale(width, height);
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
    this.#drawWalkers(context);
    this.#drawAnchors(context);
  }

  #resize(width, height) {
    for (const canvas of [this.canvas, this.ground, this.forest]) {
      if (canvas.width === Math.round(width) && canvas.height === Math.round(height)) continue;
      canvas.width = Math.round(width);
      canvas.height = Math.round(height);
      this.groundKey = this.forestKey = null;
    }
  }

  /** A width in CSS pixels, in world units. */
  px(pixels) {
    return pixels / this.scale;
  }

  #drawGround() {
    const key = [theme(), this.world.showsWalls, ...this.toPixels].join();
    if (key === this.groundKey) return;
    this.groundKey = key;
    const context = this.ground.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = `rgb(${scene().outside})`;
    context.fillRect(0, 0, this.ground.width, this.ground.height);
    context.setTransform(...this.toPixels);
    const [left, right, bottom, top] = this.world.extent;
    context.scale(1, -1);
    context.drawImage(this.world.picture(theme()), left, -top, right - left, top - bottom);
    context.scale(1, -1);
    if (!this.world.showsWalls) return;
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
    const places = this.run.places;
    for (const { agent, source, target, path, isProposed } of this.run.legs(round)) {
      if (path) {
        this.#band(context, path, agentColour(agent), 4);
        if (isProposed) this.#hollow(context, path);
        continue;
      }
      context.setLineDash([this.px(7), this.px(6)]);
      context.strokeStyle = agentColour(agent);
      context.lineWidth = this.px(2.2);
      const shape = new Path2D();
      trace(shape, [...places[source], ...places[target]]);
      context.stroke(shape);
      context.setLineDash([]);
      this.#arrow(context, places[source], places[target], agentColour(agent));
    }
  }

  #drawPlan(context) {
    for (const [agent, route] of this.run.plan.routes.entries()) {
      const path = route.path.map((place) => this.run.frame.toLocal(place));
      this.#band(context, path.flat(), agentColour(agent), 4.5);
      for (const [k, leg] of route.legs.entries()) {
        if (stateOf(leg) !== "proposed" || k + 1 >= route.stops.length) continue;
        this.#hollow(context, path.slice(route.stops[k], route.stops[k + 1] + 1).flat());
      }
      for (const leg of route.legs.filter(({ is_met }) => !is_met)) {
        const [from, to] = [leg.source, leg.target].map((name) => this.run.places[this.run.names.indexOf(name)]);
        context.setLineDash([this.px(3), this.px(7)]);
        this.#band(context, [...from, ...to], agentColour(agent), 2);
        context.setLineDash([]);
      }
    }
  }

  #band(context, points, colour, width) {
    const shape = new Path2D();
    trace(shape, points);
    context.strokeStyle = scene().halo;
    context.lineWidth = this.px(width + 3);
    context.stroke(shape);
    context.strokeStyle = colour;
    context.lineWidth = this.px(width);
    context.stroke(shape);
  }

  /** Dashes along a way that is only proposed. */
  #hollow(context, points) {
    const shape = new Path2D();
    trace(shape, points);
    context.setLineDash([this.px(5), this.px(6)]);
    context.strokeStyle = scene().halo;
    context.lineWidth = this.px(2);
    context.stroke(shape);
    context.setLineDash([]);
  }

  #arrow(context, [x0, y0], [x1, y1], colour) {
    const angle = Math.atan2(y1 - y0, x1 - x0);
    context.save();
    context.translate((x0 + x1) / 2, (y0 + y1) / 2);
    context.rotate(angle);
    context.scale(this.px(1), this.px(1));
    context.fillStyle = colour;
    context.fill(new Path2D("M7 0L-5 5.5L-2 0L-5 -5.5Z"));
    context.restore();
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

  #drawAnchors(context) {
    const visitors = this.#visitors();
    const size = this.markerSize;
    for (const anchor of this.anchors) {
      context.save();
      context.translate(...anchor.place);
      context.scale(this.px(1), -this.px(1));
      if (anchor.isChosen) this.#ring(context, size + 6, scene().chosen);
      if (anchor.isOutside) this.#ring(context, size + 4, "#d62839", [3, 3]);
      const rim = anchor.kind === "W" && visitors.has(anchor.name) ? agentColour(visitors.get(anchor.name)) : "#1f2a33";
      this.#marker(context, anchor, size, rim);
      context.font = `700 ${size > 8 ? 13 : 11}px system-ui, sans-serif`;
      context.lineWidth = 3.5;
      context.strokeStyle = scene().halo;
      context.fillStyle = scene().ink;
      context.strokeText(anchor.name, size + 2, -size);
      context.fillText(anchor.name, size + 2, -size);
      context.restore();
    }
  }

  /** Which agent visits what, by name. */
  #visitors() {
    if (!this.run?.roundAt(this.round) || this.run.isStale) return new Map();
    return new Map(this.run.routeAt(this.round).flatMap(({ order }, agent) => order.map((name) => [name, agent])));
  }

  #marker(context, anchor, size, rim) {
    context.fillStyle = anchorColour(anchor.name);
    context.strokeStyle = rim;
    context.lineWidth = anchor.kind === "W" ? 2.6 : 1.6;
    context.beginPath();
    if (anchor.kind === "S") context.arc(0, 0, size * 0.85, 0, 7);
    if (anchor.kind === "W") for (const [x, y] of [[0, -1], [1, 0], [0, 1], [-1, 0]]) context.lineTo(x * size, y * size);
    if (anchor.kind === "G") {
      for (let corner = 0; corner < 10; corner += 1) {
        const radius = (corner % 2 ? 0.5 : 1.2) * size;
        context.lineTo(radius * Math.sin(corner * Math.PI / 5), -radius * Math.cos(corner * Math.PI / 5));
      }
    }
    context.closePath();
    context.fill();
    context.stroke();
  }

  #ring(context, radius, colour, dash = []) {
    context.beginPath();
    context.arc(0, 0, radius, 0, 7);
    context.setLineDash(dash);
    context.strokeStyle = colour;
    context.lineWidth = 2.5;
    context.stroke();
    context.setLineDash([]);
  }

  #drawWalkers(context) {
    for (const { agent, trail, place } of this.walkers) {
      const colour = agentColour(agent);
      const shape = new Path2D();
      for (const piece of trail) trace(shape, piece);
      context.strokeStyle = scene().ink;
      context.lineWidth = this.px(2);
      context.stroke(shape);
      context.beginPath();
      context.arc(...place, Math.max(0.55, this.px(7)), 0, 7);
      context.fillStyle = colour;
      context.fill();
      context.strokeStyle = scene().halo;
      context.lineWidth = this.px(2.5);
      context.stroke();
    }
  }
}

/** Add x, y, x, y, … to a shape. */
function trace(shape, points) {
  shape.moveTo(points[0], points[1]);
  for (let k = 2; k < points.length; k += 2) shape.lineTo(points[k], points[k + 1]);
}
