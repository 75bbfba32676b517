// The clock of a walk, or of the plan that could be walked: its slider and its label.

import { $, app } from "./app.js";
import { timeText } from "./format.js";

const STEPS = 1000;

export function showClock() {
  const { walk } = app;
  const label = walk ? `${timeText(walk.now, walk.clock)} of ${timeText(walk.duration, walk.clock)}` : planned();
  $("clock").disabled = !walk && !label;
  $("clock").max = STEPS;
  $("clock").value = walk ? Math.round((STEPS * walk.now) / walk.duration) : 0;
  $("clock").setAttribute("aria-valuetext", label);
  $("clock-label").textContent = label || "no plan yet";
}

/** Where on the walk the slider is, from 0 to 1. */
export function clockShare() {
  return $("clock").valueAsNumber / STEPS;
}

/** How long the plan takes; empty where there is none. */
function planned() {
  if (!app.first?.plan || app.first.isStale) return "";
  const ends = app.first.plan.routes.map(({ times }) => times?.at(-1) ?? 0);
  return timeText(Math.max(0, ...ends), app.frame);
}
