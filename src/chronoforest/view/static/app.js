// What the whole page shares.

export const app = {
  world: null, frame: null, ground: null, view: null, panes: [], matrix: null,
  problem: null, chosen: null, undo: [],
  first: null, second: null, round: -1, isLive: true,
  walk: null, cancelWalk: null,
};

export const session = crypto.randomUUID();

export const $ = (id) => document.getElementById(id);

export function isBusy() {
  return [app.first, app.second].some((run) => run && !run.isOver);
}

/** The first round of all runs, -1 where one began with a guess. */
export function firstRound() {
  return Math.min(0, ...[app.first, app.second].filter(Boolean).map((run) => run.firstRound));
}

export function say(text, isActive = false) {
  $("status").textContent = text;
  $("status").classList.toggle("busy", isActive);
}

/** Say what went wrong; with `canMove` a button offers to move anchors to where something was recorded. */
export function warn(text, canMove = false) {
  showMessage(text, "bad");
  $("alert-snap").hidden = !canMove;
}

/** Say what was done. */
export function notify(text) {
  showMessage(text, "good");
  $("alert-snap").hidden = true;
}

function showMessage(text, kind) {
  $("alert-text").textContent = text;
  $("alert").className = kind;
  $("alert").hidden = !text;
}

export function redraw() {
  for (const pane of app.panes) pane.redraw();
}

export function make(tag, values, ...children) {
  const element = Object.assign(document.createElement(tag), values);
  element.append(...children);
  return element;
}

/** What is asked of the planner, as the controls say. */
export function currentRequest() {
  const unit = $("budget-unit").value;
  return {
    ...app.frame.changed(app.problem.toJSON(), app.frame.toUser),
    variant: $("variant").value,
    mode: $("mode").value,
    seed: Number($("seed").value),
    budget: unit ? { unit, amount: Number($("budget-amount").value) } : null,
    preset: app.world.preset,
  };
}
