// Draws a scale bar: a length that is easy to read, at the lower left of a map.

import { lengthText, roundLength } from "./format.js";
import { scene } from "./palette.js";

const LONGEST = 150;
const MARGIN = 14;

/** In pixels; scale: pixels per unit of the plane. Returns the length of the bar in units. */
export function drawScaleBar(context, width, height, scale, frame) {
  const length = roundLength(Math.min(LONGEST, 0.3 * width) / scale);
  const [left, right, bottom] = [MARGIN, MARGIN + length * scale, height - MARGIN];
  context.save();
  context.lineCap = "butt";
  context.lineJoin = "miter";
  const bar = new Path2D(`M${left} ${bottom - 6}V${bottom}H${right}V${bottom - 6}`);
  for (const [colour, thickness] of [[scene().halo, 5], [scene().ink, 2]]) {
    context.strokeStyle = colour;
    context.lineWidth = thickness;
    context.stroke(bar);
  }
  context.font = "600 12px system-ui, sans-serif";
  context.textBaseline = "bottom";
  context.lineWidth = 3.5;
  context.strokeStyle = scene().halo;
  context.fillStyle = scene().ink;
  context.strokeText(lengthText(length, frame), left + 5, bottom - 4);
  context.fillText(lengthText(length, frame), left + 5, bottom - 4);
  context.restore();
  return length;
}
