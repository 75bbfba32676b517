// Draws anchors: a marker each, and names where there is room for them.

import { agentColour, anchorColour, scene } from "./palette.js";

const MANY = 24;
const LINE_HEIGHT = 14;

/** Pixels from the middle of a marker to its edge. */
export function markerSize(numAnchors) {
  return numAnchors > MANY ? 6.5 : 9;
}

/** anchors: with their place in pixels as `spot`; visitors: which agent visits what, by name; width: the map's. */
export function drawAnchors(context, anchors, visitors, width) {
  const size = markerSize(anchors.length);
  for (const anchor of anchors) {
    context.save();
    context.translate(...anchor.spot);
    if (anchor.isChosen) ring(context, size + 6, scene().chosen);
    if (anchor.isOutside) ring(context, size + 4, scene().bad, [3, 3]);
    const rim = anchor.kind === "W" && visitors.has(anchor.name) ? agentColour(visitors.get(anchor.name)) : scene().rim;
    marker(context, anchor, size, rim);
    context.restore();
  }
  drawNames(context, anchors, size, width);
}

function marker(context, anchor, size, rim) {
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

function ring(context, radius, colour, dash = []) {
  context.beginPath();
  context.arc(0, 0, radius, 0, 7);
  context.setLineDash(dash);
  context.strokeStyle = colour;
  context.lineWidth = 2.5;
  context.stroke();
  context.setLineDash([]);
}

function drawNames(context, anchors, size, width) {
  context.save();
  context.font = `700 ${size > 8 ? 13 : 11}px system-ui, sans-serif`;
  context.textBaseline = "middle";
  context.lineWidth = 3.5;
  context.lineJoin = "round";
  context.strokeStyle = scene().halo;
  context.fillStyle = scene().ink;
  const widthOf = (name) => context.measureText(name).width;
  for (const { name, x, y } of placeNames(anchors, size, widthOf, width)) {
    context.strokeText(name, x, y);
    context.fillText(name, x, y);
  }
  context.restore();
}

/** Where names go: beside their marker, on the map, clear of other markers and names; a name without room is left
 * out, but never that of the chosen anchor. */
export function placeNames(anchors, size, widthOf, width) {
  const taken = anchors.map(({ spot: [x, y] }) => ({ left: x - size, right: x + size, top: y - size, bottom: y + size }));
  const placed = [];
  for (const anchor of [...anchors].sort((a, b) => Number(b.isChosen ?? 0) - Number(a.isChosen ?? 0))) {
    const boxes = boxesBeside(anchor.spot, size, widthOf(anchor.name)).filter(({ left, right }) => left >= 0 && right <= width);
    const free = boxes.find((box) => !taken.some((other) => areOverlapping(box, other)));
    const box = free ?? (anchor.isChosen ? boxes[0] : undefined);
    if (!box) continue;
    taken.push(box);
    placed.push({ name: anchor.name, x: box.left, y: (box.top + box.bottom) / 2 });
  }
  return placed;
}

function boxesBeside([x, y], size, width) {
  const gap = size + 2;
  const [right, left, middle] = [x + gap, x - gap - width, x - width / 2];
  const corners = [[right, y - gap], [right, y + gap], [left, y - gap], [left, y + gap],
    [right + 1, y], [left - 1, y], [middle, y - gap - LINE_HEIGHT / 2], [middle, y + gap + LINE_HEIGHT / 2]];
  return corners.map(([start, centre]) => (
    { left: start, right: start + width, top: centre - LINE_HEIGHT / 2, bottom: centre + LINE_HEIGHT / 2 }));
}

function areOverlapping(a, b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
