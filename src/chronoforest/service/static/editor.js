// Changes the problem: places, names, counts and undo; every change is planned.

import { $, app, currentRequest, make, say, warn } from "./app.js";
import { coordinateStep, placeText } from "./format.js";
import { markerSize } from "./marks.js";
import { anchorColour } from "./palette.js";
import { showRun } from "./panel.js";
import { cancel, planSoon } from "./planning.js";
import { Problem, digitsFor, toFragment } from "./problem.js";

const MAX_UNDO = 100;
const REMEMBER_MS = 150;
const NUDGES_ACROSS = 200;
const FAR_NUDGE = 6;
const MAX_AREAS = 200;

/** Of the map's smaller side: the edge of an area that is closed without drawing it. */
const AREA_SHARE = 0.12;

let remembering = 0;

/** Change the problem, remember it for undo, and plan for it. */
export function edit(change, wait = 0) {
  const before = JSON.stringify(app.problem);
  change(app.problem);
  if (JSON.stringify(app.problem) === before) return;
  pushUndo(before);
  problemChanged();
  planSoon(wait);
}

export function pushUndo(before) {
  app.undo.push(before);
  if (app.undo.length > MAX_UNDO) app.undo.shift();
}

export function undo() {
  if (!app.undo.length) return;
  app.problem = new Problem(JSON.parse(app.undo.pop()), digitsFor(worldWidth()));
  app.chosen = null;
  problemChanged();
  planSoon();
}

/** What was planned, or is being planned, no longer fits. */
export function problemChanged() {
  cancel();
  if (app.run) app.run.isStale = true;
  showProblem();
  showRun();
}

/** A stop was let go: a start or goal near another takes its place, as in a depot. */
export function dropped(anchor) {
  if (anchor.kind === "S" || anchor.kind === "G") {
    const [x, y] = app.map.toScreen(app.problem.at(anchor).place);
    const depot = app.problem.anchors.find((other) => other.kind !== "W" && !isSame(anchor, other)
      && Math.hypot(...app.map.toScreen(other.place).map((value, axis) => value - [x, y][axis])) < markerSize(1));
    if (depot) app.problem.move(anchor, depot.place);
  }
  showProblem();
  planSoon();
}

/** Stops that the planner has moved to where something was recorded. */
export function takePlaces({ starts, waypoints, goals }) {
  for (const [kind, places] of [["S", starts], ["W", waypoints], ["G", goals]]) {
    places.forEach((place, index) => app.problem.move({ kind, index }, app.frame.toLocal(place)));
  }
  showProblem();
}

export function showProblem() {
  const { problem, map } = app;
  map.anchors = problem.anchors.map((anchor) => ({
    ...anchor, isChosen: isSame(anchor, app.chosen), isOutside: !app.ground.isSupported(anchor.place),
  }));
  map.areas = problem.closed.map((area) => ({ ...area, isChosen: isSame(area, app.chosen) }));
  map.redraw();
  $("undo").disabled = !app.undo.length;
  $("close-area").setAttribute("aria-pressed", String(app.isClosing));
  listPlaces([...map.anchors, ...map.areas]);
  remember();
}

export function worldWidth() {
  const [left, right] = app.world.extent;
  return right - left;
}

function isSame(anchor, other) {
  return anchor.kind === other?.kind && anchor.index === other.index;
}

/** Keep the address up to date, so that a reload or a bookmark shows the same problem. */
export function remember() {
  clearTimeout(remembering);
  remembering = setTimeout(() => history.replaceState(null, "", toFragment(currentRequest())), REMEMBER_MS);
}

/** The stops as a list; while somebody types in it, it is left alone. */
function listPlaces(anchors) {
  const list = $("anchor-list");
  if (!$("places").open || (list.contains(document.activeElement) && list.childElementCount === anchors.length)) return;
  list.replaceChildren(...anchors.map(placeRow));
}

function placeRow(anchor) {
  const { name } = anchor;
  const mark = make("span", { className: "stop", textContent: anchor.kind === "X" ? `X${anchor.index + 1}` : name });
  if (anchor.kind !== "X") mark.style.borderColor = anchorColour(name);
  const remove = make("button", { type: "button", className: "quiet", textContent: "×", ariaLabel: `delete ${name}` });
  remove.addEventListener("click", () => removeAnchor(anchor));
  const fields = anchor.kind === "X" ? [make("span", { textContent: "closed" })] : [labelField(anchor)];
  const row = make("div", { className: "place" }, mark, ...fields, coordinate(anchor, 0), coordinate(anchor, 1),
    anchor.kind === "W" ? fixField(anchor) : make("span"), remove);
  row.classList.toggle("chosen", anchor.isChosen);
  return row;
}

function labelField(anchor) {
  const { name } = anchor;
  const label = make("input", { value: anchor.label === name ? "" : anchor.label, placeholder: "name", ariaLabel: `name of ${name}`, maxLength: 60 });
  label.addEventListener("change", () => edit((problem) => { problem.at(anchor).label = label.value.trim(); }));
  return label;
}

/** Which agent must visit a waypoint, and whether first or last. */
function fixField(anchor) {
  const agents = ["", ...app.problem.stops.S.map((_, k) => `agent ${k + 1}`)];
  const words = agents.slice(agents.length > 2 ? 0 : 1).flatMap((agent) => ["", "first", "last"].map((place) => (
    (agents.length > 2 ? `${agent} ${place}` : place).trim())));
  const { fix } = app.problem.at(anchor);
  const options = [...new Set([...words, fix])].map((word) => new Option(word || "any time", word, false, word === fix));
  const field = make("select", { ariaLabel: `when ${anchor.name} is visited` }, ...options);
  field.addEventListener("change", () => edit((problem) => { problem.at(anchor).fix = field.value; }));
  return field;
}

function coordinate(anchor, axis) {
  const { frame } = app;
  const ariaLabel = `${anchor.name} ${frame.axes[axis]}`;
  const step = coordinateStep(worldWidth(), frame);
  const input = make("input", { type: "number", step, value: frame.toUser(anchor.place)[axis], ariaLabel });
  input.addEventListener("input", () => {
    if (!Number.isFinite(input.valueAsNumber)) return;
    edit((problem) => {
      const place = frame.toUser(problem.at(anchor).place);
      place[axis] = input.valueAsNumber;
      problem.move(anchor, frame.toLocal(place));
    }, 400);
  });
  return input;
}

export function choose(anchor) {
  app.chosen = anchor && { kind: anchor.kind, index: anchor.index };
  showProblem();
  if (anchor) say(`${anchor.label} at ${placeText(app.problem.at(anchor).place, app.frame, 1 / app.map.scale)}`);
}

export function chooseNext(step) {
  const anchors = [...app.problem.anchors, ...app.problem.closed];
  const now = anchors.findIndex((anchor) => isSame(anchor, app.chosen));
  const next = now < 0 && step < 0 ? anchors.length - 1 : now + step;
  choose(anchors[(next + anchors.length) % anchors.length]);
}

function places() {
  return app.problem.anchors.map(({ place }) => place);
}

function hasRoom(numAnchors) {
  const { limits } = app.world;
  if (app.problem.anchors.length + numAnchors <= limits.anchors) return true;
  warn(`At most ${limits.anchors} stops can be planned for.`);
  return false;
}

export function addStop(place = app.ground.freePlace(places())) {
  if (hasRoom(1)) edit((problem) => { app.chosen = problem.add("W", place); });
}

/** Close an area: with its corners, or a square in the middle of the map. */
export function closeArea(corners = squareInSight()) {
  app.isClosing = false;
  if (app.problem.areas.length >= MAX_AREAS) return warn(`At most ${MAX_AREAS} areas can be closed.`);
  edit((problem) => { app.chosen = problem.close(corners); });
}

function squareInSight() {
  const { canvas, view, scale } = app.map;
  const half = 0.5 * AREA_SHARE * Math.min(canvas.clientWidth, canvas.clientHeight) / scale;
  return [[-1, -1], [1, -1], [1, 1], [-1, 1]].map((side) => side.map((value, axis) => view.centre[axis] + half * value));
}

/** Whether the next drag on the map draws a closed area. */
export function setClosing(isClosing) {
  app.isClosing = isClosing;
  showProblem();
  if (isClosing) say("draw around the area");
}

/** Another agent from the first one's start, and back to it where that one returns, too. */
export function addAgent() {
  const { limits } = app.world;
  if (app.problem.numAgents >= limits.agents) return warn(`At most ${limits.agents} agents can be planned for.`);
  if (!hasRoom(2)) return;
  const [start, goal] = ["S", "G"].map((kind) => app.problem.at({ kind, index: 0 }).place);
  const isRound = start.every((value, axis) => value === goal[axis]);
  edit((problem) => { app.chosen = problem.addAgent(start, isRound ? start : app.ground.freePlace(places())); });
}

export function removeAnchor(anchor) {
  if (!anchor) return;
  app.chosen = null;
  edit((problem) => {
    if (!problem.remove(anchor)) warn("The last agent stays: a plan needs a start and a goal.");
  });
}

/** Arrow keys move the chosen stop by a small share of the world's width. */
export function nudge([dx, dy], isFar) {
  const step = (worldWidth() / NUDGES_ACROSS) * (isFar ? FAR_NUDGE : 1);
  edit((problem) => {
    const [x, y] = problem.at(app.chosen).place;
    problem.move(app.chosen, [x + step * dx, y + step * dy]);
  }, 400);
}

export function zoom(factor, place) {
  app.map.view.zoomBy(factor, place);
  app.map.redraw();
}

export function fit() {
  app.map.view.reset();
  app.map.redraw();
}
