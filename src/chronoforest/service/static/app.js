// What the whole page shares.

export const app = {
  world: null, frame: null, ground: null, map: null,
  problem: null, chosen: null, undo: [], isClosing: false,
  run: null, shown: null, round: -1, isLive: true,
  walk: null, cancelWalk: null,
};

export const $ = (id) => document.getElementById(id);

export function isBusy() {
  return Boolean(app.run) && !app.run.isOver;
}

/** The plan of the problem as it is, null while there is none. */
export function currentPlan() {
  return app.run?.isStale ? null : app.run?.plan ?? null;
}

export function say(text, isActive = false) {
  $("status").textContent = text;
  $("status").classList.toggle("busy", isActive);
}

/** Say what went wrong, or with the kind "good" what was done. */
export function warn(text, kind = "bad") {
  $("alert-text").textContent = text;
  $("alert").className = kind;
  $("alert").hidden = !text;
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
    snap: true,
    variant: $("variant").value,
    seed: Number($("seed").value),
    budget: unit ? { unit, amount: Number($("budget-amount").value) } : null,
    preset: app.world.preset,
  };
}
