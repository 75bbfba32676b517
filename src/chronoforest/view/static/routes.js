// Draws ways: bands with arrows along them, dashed where a way is only proposed.

import { scene } from "./palette.js";

const ARROW = new Path2D("M7 0L-5 5.5L-2 0L-5 -5.5Z");
const ARROW_SPACING = 110;
const SHORTEST_WITH_ARROW = 34;

/** Add x, y, x, y, … to a shape. */
export function trace(shape, points) {
  shape.moveTo(points[0], points[1]);
  for (let k = 2; k < points.length; k += 2) shape.lineTo(points[k], points[k + 1]);
}

export function shapeOf(points) {
  const shape = new Path2D();
  trace(shape, points);
  return shape;
}

/** A way that somebody has gone; px: pixels to units. */
export function drawBand(context, px, points, colour, width) {
  const shape = shapeOf(points);
  strokeHalo(context, px, shape, width);
  context.strokeStyle = colour;
  context.lineWidth = px(width);
  context.stroke(shape);
}

/** A way that nobody has verified. */
export function drawProposed(context, px, points, colour, width) {
  const shape = shapeOf(points);
  strokeHalo(context, px, shape, width);
  context.save();
  context.lineCap = "butt";
  context.setLineDash([px(9), px(6)]);
  context.strokeStyle = colour;
  context.lineWidth = px(width);
  context.stroke(shape);
  context.restore();
}

/** A leg without a way: dots from one anchor to the other. */
export function drawUnmet(context, px, from, to, colour) {
  context.save();
  context.setLineDash([px(1), px(7)]);
  context.strokeStyle = colour;
  context.lineWidth = px(2.6);
  context.stroke(shapeOf([...from, ...to]));
  context.restore();
  const middle = from.map((value, axis) => (value + to[axis]) / 2);
  drawArrow(context, px, middle, Math.atan2(to[1] - from[1], to[0] - from[0]), colour);
}

/** Arrows along a way, as many as its length on the screen asks for. */
export function drawArrows(context, px, points, colour) {
  const sums = [0];
  for (let k = 2; k < points.length; k += 2) {
    sums.push(sums.at(-1) + Math.hypot(points[k] - points[k - 2], points[k + 1] - points[k - 1]));
  }
  const whole = sums.at(-1);
  if (whole < px(SHORTEST_WITH_ARROW)) return;
  const count = Math.max(1, Math.round(whole / px(ARROW_SPACING)));
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

function strokeHalo(context, px, shape, width) {
  context.strokeStyle = scene().halo;
  context.lineWidth = px(width + 3);
  context.stroke(shape);
}
