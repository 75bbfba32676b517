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
  if (anchor.kind !== "W") {
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
  map.redraw();
  $("undo").disabled = !app.undo.length;
  listPlaces(map.anchors);
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
  const mark = make("span", { className: "stop", textContent: name });
  mark.style.borderColor = anchorColour(name);
  const label = make("input", { value: anchor.label === name ? "" : anchor.label, placeholder: "name", ariaLabel: `name of ${name}`, maxLength: 60 });
  label.addEventListener("change", () => edit((problem) => { problem.at(anchor).label = label.value.trim(); }));
  const remove = make("button", { type: "button", className: "quiet", textContent: "×", ariaLabel: `delete ${name}` });
  remove.addEventListener("click", () => removeAnchor(anchor));
  const row = make("div", { className: "place" }, mark, label, coordinate(anchor, 0), coordinate(anchor, 1), remove);
  row.classList.toggle("chosen", anchor.isChosen);
  return row;
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
  const anchors = app.problem.anchors;
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
