// Changes the problem: places, counts and undo.

import { $, app, currentRequest, make, redraw, say, warn } from "./app.js";
import { coordinateStep, placeText } from "./format.js";
import { showOutside } from "./outside.js";
import { anchorColour } from "./palette.js";
import { showRun } from "./panel.js";
import { Problem, digitsFor, toFragment } from "./problem.js";
import { stopWalk } from "./walking.js";

const MAX_UNDO = 100;
const REMEMBER_MS = 150;
const NUDGES_ACROSS = 200;
const FAR_NUDGE = 6;

let remembering = 0;

/** Change the problem and remember it for undo. */
export function edit(change) {
  const before = JSON.stringify(app.problem);
  change(app.problem);
  if (JSON.stringify(app.problem) === before) return;
  pushUndo(before);
  problemChanged();
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
}

/** What was planned, or is being planned, no longer fits. */
export function problemChanged() {
  for (const run of [app.first, app.second]) {
    run?.cancel();
    if (run) run.isStale = true;
  }
  stopWalk();
  $("example-note").textContent = "";
  showProblem();
  showRun();
}

export function showProblem() {
  const { problem } = app;
  const anchors = problem.anchors.map((anchor) => ({
    ...anchor, isChosen: isSame(anchor, app.chosen), isOutside: !app.ground.isSupported(anchor.place),
  }));
  for (const pane of app.panes) pane.anchors = anchors;
  redraw();
  $("agents").value = problem.starts.length;
  $("waypoints").value = problem.waypoints.length;
  showOutside(anchors);
  listPlaces(anchors);
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

/** The anchors as a list; a row in which somebody types is left alone. */
function listPlaces(anchors) {
  const list = $("anchor-list");
  if (!$("places").open || (list.contains(document.activeElement) && list.childElementCount === anchors.length)) return;
  list.replaceChildren(...anchors.map(placeRow));
}

function placeRow(anchor) {
  const name = make("span", { className: "stop", textContent: anchor.name });
  name.style.borderColor = anchorColour(anchor.name);
  const remove = make("button", { type: "button", className: "quiet", textContent: "×", ariaLabel: `delete ${anchor.name}` });
  remove.addEventListener("click", () => removeAnchor(anchor));
  const row = make("div", { className: "place" }, name, coordinate(anchor, 0), coordinate(anchor, 1), remove);
  row.classList.toggle("chosen", anchor.isChosen);
  return row;
}

function coordinate(anchor, axis) {
  const { frame } = app;
  const label = `${anchor.name} ${frame.axes[axis]}`;
  const step = coordinateStep(worldWidth(), frame);
  const input = make("input", { type: "number", step, value: frame.toUser(anchor.place)[axis], ariaLabel: label });
  input.addEventListener("input", () => {
    if (!Number.isFinite(input.valueAsNumber)) return;
    edit((problem) => {
      const place = frame.toUser(problem.list(anchor.kind)[anchor.index]);
      place[axis] = input.valueAsNumber;
      problem.move(anchor, frame.toLocal(place));
    });
  });
  return input;
}

export function choose(anchor) {
  app.chosen = anchor && { kind: anchor.kind, index: anchor.index };
  showProblem();
  if (!anchor) return;
  const place = app.problem.list(anchor.kind)[anchor.index];
  say(`${anchor.kind}${anchor.index + 1} at ${placeText(place, app.frame, 1 / app.panes[0].scale)}`);
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
  warn(`At most ${limits.anchors} anchors can be planned for.`);
  return false;
}

export function addWaypoint(place = app.ground.freePlace(places())) {
  if (hasRoom(1)) edit((problem) => { app.chosen = problem.addWaypoint(place); });
}

export function addAgent() {
  const { limits } = app.world;
  if (app.problem.starts.length >= limits.agents) return warn(`At most ${limits.agents} agents can be planned for.`);
  if (!hasRoom(2)) return;
  const start = app.ground.freePlace(places());
  const goal = app.ground.freePlace([...places(), start]);
  edit((problem) => { app.chosen = problem.addAgent(start, goal); });
}

export function removeAnchor(anchor) {
  if (!anchor) return;
  app.chosen = null;
  edit((problem) => {
    if (!problem.remove(anchor)) warn("The last agent stays: a plan needs a start and a goal.");
  });
}

/** Add or remove agents ("S") or waypoints ("W") until there are so many, or as many as are allowed. */
export function setCount(kind, wanted) {
  const list = app.problem.list(kind);
  const least = kind === "S" ? 1 : 0;
  if (Number.isInteger(wanted) && wanted >= least) {
    for (let before = -1; list.length < wanted && list.length > before;) {
      before = list.length;
      if (kind === "S") addAgent();
      else addWaypoint();
    }
    while (list.length > wanted) removeAnchor({ kind, index: list.length - 1 });
  }
  showProblem();
}

/** Arrow keys move the chosen anchor by a small share of the world's width. */
export function nudge([dx, dy], isFar) {
  const step = (worldWidth() / NUDGES_ACROSS) * (isFar ? FAR_NUDGE : 1);
  edit((problem) => {
    const [x, y] = problem.list(app.chosen.kind)[app.chosen.index];
    problem.move(app.chosen, [x + step * dx, y + step * dy]);
  });
  choose(app.chosen);
}

export function zoom(factor, place) {
  app.view.zoomBy(factor, place);
  redraw();
}

export function fit() {
  app.view.reset();
  redraw();
}
