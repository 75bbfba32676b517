// Moves through the rounds of the search.

import { app, isBusy } from "./app.js";
import { showRun } from "./panel.js";

const REPLAY_MS = 450;

let replaying = 0;

/** Show a round; the last one keeps up with rounds that are still to come. */
export function scrub(round) {
  clearInterval(replaying);
  show(round);
}

export function replay() {
  scrub(0);
  replaying = setInterval(() => {
    if (app.isLive || isBusy()) clearInterval(replaying);
    else show(app.round + 1);
  }, REPLAY_MS);
}

function show(round) {
  const count = app.shown?.rounds.length ?? 0;
  if (!count) return;
  app.round = Math.max(0, Math.min(count - 1, round));
  app.isLive = app.round === count - 1;
  showRun();
}
