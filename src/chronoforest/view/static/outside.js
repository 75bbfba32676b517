// Anchors where nothing was recorded: says which, and moves them to the nearest place where something was.

import { $, app, currentRequest, notify, warn } from "./app.js";
import { edit } from "./editor.js";
import { call } from "./run.js";

export function showOutside(anchors) {
  const names = anchors.filter(({ isOutside }) => isOutside).map(({ name }) => name);
  $("outside").hidden = !names.length;
  const verb = names.length > 1 ? "lie" : "lies";
  $("outside-text").textContent = `${names.join(", ")} ${verb} where nothing was recorded. The nearest recorded place:`;
  $("snap").textContent = names.length > 1 ? "Move them there" : "Move it there";
}

/** Ask the planner for the nearest supported places, and go there. */
export async function moveThere() {
  let moved;
  try {
    moved = await call("POST", "/api/snap", currentRequest());
  } catch (error) {
    return warn(error.message);
  }
  const { starts, goals, waypoints } = app.frame.changed(moved, app.frame.toLocal);
  edit((problem) => problem.replace({ starts, goals, waypoints }));
  notify(moved.notices.length ? `${moved.notices.join("; ")}.` : "All anchors lie where something was recorded.");
}

/** Whether a refusal is about an anchor that can be moved. */
export function isAboutPlaces(reason) {
  return reason.includes("outside the data's support");
}
