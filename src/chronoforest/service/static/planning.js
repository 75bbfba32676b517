// Asks for plans: at once, and again after every change.

import { app, currentRequest, isBusy, warn } from "./app.js";
import { takePlaces } from "./editor.js";
import { askOthers, showOthers } from "./others.js";
import { showRun } from "./panel.js";
import { Run } from "./run.js";
import { stopWalk } from "./walking.js";

let waiting = 0;

/** Plan when nothing has changed for so many milliseconds. */
export function planSoon(wait = 0) {
  clearTimeout(waiting);
  waiting = setTimeout(plan, wait);
}

/** Plan for the problem as it is; what was planned before stays in sight until there is something new. */
export async function plan() {
  cancel();
  warn("");
  const run = new Run(currentRequest(), app.frame);
  app.run = run;
  app.isLive = true;
  const askedAt = performance.now();
  showRun();
  showOthers([]);
  await run.start(() => { if (app.run === run) showRun(); });
  if (app.run !== run) return;
  requestAnimationFrame(() => Object.assign(run, { askedAt, shownAt: performance.now() })); // in the frame that draws it
  if (run.state === "failed") warn(run.error);
  if (run.plan && !run.isStale && run.plan.notices.length) {
    warn(run.plan.notices.join(" "), "good");
    takePlaces(run.plan.problem);
  }
  askOthers(run);
}

/** End whatever goes on: a plan, a walk and its playback. */
export function cancel() {
  clearTimeout(waiting);
  if (isBusy()) app.run.cancel();
  app.cancelWalk?.();
  stopWalk();
}
