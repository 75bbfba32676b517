// Draws stops: a marker each, waypoints with the number of their visit, and names where there is room for them.

import { agentColour, anchorColour, scene } from "./palette.js";

const MANY = 24;
const LINE_HEIGHT = 14;

/** Pixels from the middle of a marker to its edge. */
export function markerSize(numAnchors) {
  return numAnchors > MANY ? 8 : 10;
}

/** anchors: with their place in pixels as `spot`; visits: {agent, number} of each, by name; width: the map's. */
export function drawAnchors(context, anchors, visits, width) {
  const size = markerSize(anchors.length);
  for (const anchor of anchors) {
    context.save();
    context.translate(...anchor.spot);
    if (anchor.isChosen) ring(context, size + 6, scene().chosen);
    if (anchor.isOutside) ring(context, size + 4, scene().bad, [3, 3]);
    marker(context, anchor, size, visits.get(anchor.name));
    context.restore();
  }
  drawNames(context, anchors.filter(({ kind, label, name }) => kind !== "W" || label !== name || !visits.has(name)), anchors, size, width);
}

function marker(context, anchor, size, visit) {
  const isVisited = anchor.kind === "W" && visit;
  context.fillStyle = isVisited ? agentColour(visit.agent) : anchorColour(anchor.name);
  context.strokeStyle = scene().rim;
  context.lineWidth = 1.6;
  context.beginPath();
  if (anchor.kind === "S") context.arc(0, 0, size * 0.8, 0, 7);
  if (anchor.kind === "W") context.arc(0, 0, size, 0, 7);
  if (anchor.kind === "G") {
    for (let corner = 0; corner < 10; corner += 1) {
      const radius = (corner % 2 ? 0.5 : 1.2) * size;
      context.lineTo(radius * Math.sin(corner * Math.PI / 5), -radius * Math.cos(corner * Math.PI / 5));
    }
  }
  context.closePath();
  context.fill();
  context.stroke();
  if (!isVisited) return;
  context.font = `700 ${size > 8 ? 12 : 10}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillStyle = scene().number;
  context.fillText(String(visit.number), 0, 0.5);
}

/** Areas that are closed; px: pixels to units. */
export function drawAreas(context, px, areas) {
  context.save();
  context.strokeStyle = scene().bad;
  context.fillStyle = scene().bad;
  for (const { corners, isChosen } of areas) {
    const shape = new Path2D();
    corners.forEach(([x, y]) => shape.lineTo(x, y));
    shape.closePath();
    context.globalAlpha = 0.22;
    context.fill(shape);
    context.globalAlpha = 1;
    context.lineWidth = px(isChosen ? 4 : 2);
    context.stroke(shape);
  }
  context.restore();
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

/** named: those of the anchors whose names are drawn. */
function drawNames(context, named, anchors, size, width) {
  context.save();
  context.font = `700 ${size > 8 ? 13 : 11}px system-ui, sans-serif`;
  context.textBaseline = "middle";
  context.lineWidth = 3.5;
  context.lineJoin = "round";
  context.strokeStyle = scene().halo;
  context.fillStyle = scene().ink;
  const widthOf = (name) => context.measureText(name).width;
  for (const { name, x, y } of placeNames(named, anchors, size, widthOf, width)) {
    context.strokeText(name, x, y);
    context.fillText(name, x, y);
  }
  context.restore();
}

/** Where names go: beside their marker, on the map, clear of other markers and names; a name without room is left
 * out, but never that of the chosen anchor. */
export function placeNames(named, anchors, size, widthOf, width) {
  const taken = anchors.map(({ spot: [x, y] }) => ({ left: x - size, right: x + size, top: y - size, bottom: y + size }));
  const placed = [];
  for (const anchor of [...named].sort((a, b) => Number(b.isChosen ?? 0) - Number(a.isChosen ?? 0))) {
    const boxes = boxesBeside(anchor.spot, size, widthOf(anchor.label)).filter(({ left, right }) => left >= 0 && right <= width);
    const free = boxes.find((box) => !taken.some((other) => areOverlapping(box, other)));
    const box = free ?? (anchor.isChosen ? boxes[0] : undefined);
    if (!box) continue;
    taken.push(box);
    placed.push({ name: anchor.label, x: box.left, y: (box.top + box.bottom) / 2 });
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
