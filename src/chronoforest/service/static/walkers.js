// Draws who walks: an ant with its legs where its body is known, an arrow that shows the heading otherwise.

import { agentColour, scene } from "./palette.js";
import { drawPointed, trace } from "./routes.js";

const VEHICLE = new Path2D("M13 0L-9 8L-5 0L-9 -8Z");
const TRAIL_WIDTH = 2;

/** Pixels from the middle of an ant to its feet, at least; true to scale where that is more. */
const LEAST_REACH = 15;

export function drawWalker(context, px, walker) {
  drawTrail(context, px, walker.trail);
  if (walker.limbs) drawAnt(context, px, walker);
  else drawVehicle(context, px, walker);
}

function drawTrail(context, px, trail) {
  const shape = new Path2D();
  for (const piece of trail) trace(shape, piece);
  context.strokeStyle = scene().ink;
  context.lineWidth = px(TRAIL_WIDTH);
  context.stroke(shape);
}

function drawVehicle(context, px, { agent, place, heading }) {
  const rims = [[scene().halo, 5], [scene().ink, 2]];
  drawPointed(context, px, place, heading, VEHICLE, rims, agentColour(agent));
}

/** Capsules from above, legs first; ends are relative to the body. */
function drawAnt(context, px, { agent, place, limbs: { radii, ends } }) {
  const reach = Math.max(...ends.map(Math.abs));
  const grown = Math.max(1, px(LEAST_REACH) / reach);
  const parts = radii.map((radius, k) => ({ radius, ends: ends.slice(4 * k, 4 * k + 4) }));
  parts.sort((a, b) => a.radius - b.radius);
  context.save();
  context.translate(...place);
  context.scale(grown, grown);
  const rim = px(1.6) / grown;
  for (const [colour, extra] of [[scene().halo, 2.4 * rim], [scene().ink, rim], [agentColour(agent), 0]]) {
    context.strokeStyle = colour;
    for (const part of parts) {
      const [x0, y0, x1, y1] = part.ends;
      context.lineWidth = 2 * (part.radius + extra);
      context.beginPath();
      context.moveTo(x0, y0);
      context.lineTo(x1 + 1e-6, y1);
      context.stroke();
    }
  }
  context.restore();
}
