// Asks for plans and follows them.

import { $, app, currentRequest, isBusy, session, warn } from "./app.js";
import { isAboutPlaces } from "./outside.js";
import { showRun } from "./panel.js";
import { Run } from "./run.js";
import { stopWalk } from "./walking.js";

export async function plan() {
  if (isBusy()) return;
  closeComparison();
  app.first = new Run({ ...currentRequest(), session }, app.frame);
  await follow(app.first);
}

/** Plan the same problem with a second variant; with the first one too where it is missing. */
export async function compare() {
  if (isBusy()) return;
  if (!app.first?.plan || app.first.isStale) await plan();
  if (!app.first.plan || app.first.isStale) return;
  app.second = new Run({ ...app.first.request, variant: $("second-variant").value }, app.frame);
  $("pane-second").hidden = $("compare-close").hidden = false;
  await follow(app.second);
}

async function follow(run) {
  stopWalk();
  warn("");
  app.isLive = true;
  const pressed = performance.now();
  showRun();
  await run.start(() => {
    showRun();
    if (run.rounds.length === 1) afterPaint(() => { run.firstRoundMs ??= performance.now() - pressed; });
  });
  if (run.state === "failed") warn(run.error, isAboutPlaces(run.error));
}

function afterPaint(action) {
  requestAnimationFrame(() => requestAnimationFrame(action));
}

/** End whatever goes on: plans, walks and their playback. */
export function cancel() {
  for (const run of [app.first, app.second]) run?.cancel();
  app.cancelWalk?.();
  stopWalk();
  showRun();
}

export function closeComparison() {
  app.second?.cancel();
  app.second = null;
  $("pane-second").hidden = $("compare-close").hidden = true;
  $("compare-note").textContent = "";
  showRun();
}
