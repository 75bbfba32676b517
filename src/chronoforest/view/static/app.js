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

export function say(text, isActive = false) {
  $("status").textContent = text;
  $("status").classList.toggle("busy", isActive);
}

export function warn(text) {
  $("alert-text").textContent = text;
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
