// Moves through the rounds.

import { app, firstRound, isBusy } from "./app.js";
import { showRun } from "./panel.js";

const REPLAY_MS = 450;

let replaying = 0;

function numRounds() {
  return Math.max(app.first?.rounds.length ?? 0, app.second?.rounds.length ?? 0);
}

/** Show a round; the last one keeps up with rounds that are still to come. */
export function scrub(round) {
  clearInterval(replaying);
  show(round);
}

export function replay() {
  scrub(firstRound());
  replaying = setInterval(() => {
    if (app.isLive || isBusy()) clearInterval(replaying);
    else show(app.round + 1);
  }, REPLAY_MS);
}

function show(round) {
  const count = numRounds();
  if (!count) return;
  app.round = Math.max(firstRound(), Math.min(count - 1, round));
  app.isLive = app.round === count - 1;
  showRun();
}
