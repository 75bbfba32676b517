// Draws ways: bands with arrows along them, dashed where a way is inferred, side by side where they share a street.

import { agentColour, scene } from "./palette.js";

const ARROW = new Path2D("M7 0L-5 5.5L-2 0L-5 -5.5Z");
const ARROW_SPACING = 110;
const SHORTEST_WITH_ARROW = 34;
const WIDTH = 4.5;

/** Pixels between ways that lie on each other. */
const APART = 6;

/** Add x, y, x, y, … to a shape. */
export function trace(shape, points) {
  shape.moveTo(points[0], points[1]);
  for (let k = 2; k < points.length; k += 2) shape.lineTo(points[k], points[k + 1]);
}

/** Legs with `lanes`: of each point of their path, how many widths it lies aside of it, to the right of the street.
 *  cell: how near each other ways share a street. */
export function sideBySide(legs, cell) {
  const visits = new Map();
  const keysOf = (path) => Array.from({ length: path.length / 2 }, (_, k) =>
    `${Math.round(path[2 * k] / cell)},${Math.round(path[2 * k + 1] / cell)}`);
  const ways = legs.map(({ path }) => (path ? keysOf(dense(path, cell / 2)) : []));
  for (const [leg, keys] of ways.entries()) {
    for (const key of new Set(keys)) {
      if (!visits.has(key)) visits.set(key, []);
      visits.get(key).push(leg);
    }
  }
  return legs.map((leg, number) => (leg.path ? { ...leg, lanes: smooth(keysOf(leg.path).map((key) => {
    const here = visits.get(key) ?? [number];
    return here.indexOf(number) - (here.length - 1) / 2;
  })) } : leg));
}

/** A path with points at most so far apart. */
function dense(path, step) {
  const points = [];
  for (let k = 0; k + 3 < path.length; k += 2) {
    const count = Math.max(1, Math.ceil(Math.hypot(path[k + 2] - path[k], path[k + 3] - path[k + 1]) / step));
    for (let j = 0; j < count; j += 1) {
      points.push(...[0, 1].map((axis) => path[k + axis] + (j / count) * (path[k + 2 + axis] - path[k + axis])));
    }
  }
  return [...points, ...path.slice(-2)];
}

function smooth(values, reach = 3) {
  return values.map((_, k) => {
    const around = values.slice(Math.max(0, k - reach), k + reach + 1);
    return around.reduce((sum, value) => sum + value, 0) / around.length;
  });
}

/** The points of a leg on the screen's side of its street; a street has the same right side in both directions. */
function moved({ path, lanes }, px) {
  if (!lanes?.some(Boolean)) return path;
  const points = [...path];
  const last = path.length / 2 - 1;
  for (let k = 0; k <= last; k += 1) {
    const [a, b] = [2 * Math.max(0, k - 2), 2 * Math.min(last, k + 2)];
    const [dx, dy] = [path[b] - path[a], path[b + 1] - path[a + 1]];
    const size = Math.hypot(dx, dy) || 1;
    const side = dx > 0 || (dx === 0 && dy > 0) ? 1 : -1;
    const off = (side * lanes[k] * px(APART)) / size;
    points[2 * k] += off * dy;
    points[2 * k + 1] -= off * dx;
  }
  return points;
}

/** px: pixels to units. */
export function drawLeg(context, px, leg) {
  const colour = agentColour(leg.agent);
  if (!leg.path) return drawUnmet(context, px, leg.ends, colour);
  const points = moved(leg, px);
  const shape = new Path2D();
  trace(shape, points);
  context.strokeStyle = scene().halo;
  context.lineWidth = px(WIDTH + 3);
  context.stroke(shape);
  context.save();
  context.strokeStyle = colour;
  context.lineWidth = px(WIDTH);
  if (leg.state === "inferred") {
    context.lineCap = "butt";
    context.setLineDash([px(9), px(6)]);
  }
  context.stroke(shape);
  context.restore();
  drawArrows(context, px, points, colour);
}

/** Another way than that of the plan; points: x, y, x, y, …. */
export function drawOther(context, px, { points, isChosen }) {
  const shape = new Path2D();
  trace(shape, points);
  for (const [colour, width] of [[scene().halo, 3], [isChosen ? scene().chosen : scene().other, 0]]) {
    context.strokeStyle = colour;
    context.lineWidth = px(WIDTH + width);
    context.stroke(shape);
  }
}

/** A leg without a way: dots from one stop to the other. */
function drawUnmet(context, px, [from, to], colour) {
  const shape = new Path2D();
  trace(shape, [...from, ...to]);
  context.save();
  context.setLineDash([px(1), px(7)]);
  context.strokeStyle = colour;
  context.lineWidth = px(2.6);
  context.stroke(shape);
  context.restore();
  const middle = from.map((value, axis) => (value + to[axis]) / 2);
  drawArrow(context, px, middle, Math.atan2(to[1] - from[1], to[0] - from[0]), colour);
}

/** Arrows along a way, as many as its length on the screen asks for. */
function drawArrows(context, px, points, colour) {
  const sums = [0];
  for (let k = 2; k < points.length; k += 2) {
    sums.push(sums.at(-1) + Math.hypot(points[k] - points[k - 2], points[k + 1] - points[k - 1]));
  }
  const whole = sums.at(-1);
  if (whole < px(SHORTEST_WITH_ARROW)) return;
  const count = Math.min(60, Math.max(1, Math.round(whole / px(ARROW_SPACING))));
  const at = (length) => placeAt(points, sums, length);
  for (let k = 0; k < count; k += 1) {
    const middle = ((k + 0.5) / count) * whole;
    const [from, to] = [at(middle - px(5)), at(middle + px(5))];
    drawArrow(context, px, at(middle), Math.atan2(to[1] - from[1], to[0] - from[0]), colour);
  }
}

function placeAt(points, sums, length) {
  let row = sums.findIndex((sum) => sum >= length);
  if (row < 0) row = sums.length - 1;
  if (row === 0) return points.slice(0, 2);
  const share = (Math.max(0, length) - sums[row - 1]) / Math.max(1e-12, sums[row] - sums[row - 1]);
  return [0, 1].map((axis) => points[2 * row - 2 + axis] + share * (points[2 * row + axis] - points[2 * row - 2 + axis]));
}

function drawArrow(context, px, place, angle, colour) {
  drawPointed(context, px, place, angle, ARROW, [[scene().halo, 2.5]], colour);
}

/** A shape in pixels that points along x, turned by an angle; rims: [colour, width] each, the outer first. */
export function drawPointed(context, px, place, angle, shape, rims, colour) {
  context.save();
  context.translate(...place);
  context.rotate(angle);
  context.scale(px(1), px(1));
  for (const [rim, width] of rims) {
    context.strokeStyle = rim;
    context.lineWidth = width;
    context.stroke(shape);
  }
  context.fillStyle = colour;
  context.fill(shape);
  context.restore();
}
