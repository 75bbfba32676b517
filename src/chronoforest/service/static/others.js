// Other ways than the plan's, where it is a single leg: asked of the service's routes, shown on the map.

import { $, app, make } from "./app.js";
import { durationText, lengthText } from "./format.js";
import { call } from "./run.js";

const MOST = 3;

/** Ask for the ways that a finished plan of one leg did not take. */
export async function askOthers({ plan, request, frame, isStale }) {
  const { starts, goals, waypoints, exclude = [], preset } = request;
  if (!plan?.complete || isStale || starts.length > 1 || waypoints.length || !app.world.ways.length) return;
  const closed = exclude.length ? `&exclude=${encodeURIComponent(exclude.map((area) => `polygon(${encoded(area)})`).join())}` : "";
  const path = `/route/v1/${encodeURIComponent(preset)}/${starts[0]};${goals[0]}`;
  try {
    const answer = await call("GET", `${path}?alternatives=${MOST}&geometries=geojson&overview=full${closed}`);
    const { routes } = await answer.json();
    if (app.run.plan === plan && !app.run.isStale) showOthers(routes.slice(1), frame);
  } catch {
    showOthers([]); // the plan stands without them
  }
}

/** Draw ways, and list them as buttons that bring out one of them. */
export function showOthers(routes, frame) {
  app.map.others = routes.map(({ geometry }) => ({
    points: geometry.coordinates.flatMap((place) => frame.toLocal(place)), isChosen: false }));
  const buttons = routes.map(({ distance, duration }, k) => {
    const text = `${lengthText(distance, frame)}, ${durationText(duration, null, frame)}${frame.hasClock ? "" : " steps"}`;
    const button = make("button", { type: "button", textContent: text, ariaPressed: "false" });
    button.addEventListener("click", () => bringOut(buttons, k));
    return button;
  });
  $("others").replaceChildren(make("span", { textContent: "Other ways:" }), ...buttons);
  $("others").hidden = !routes.length;
  app.map.redraw();
}

function bringOut(buttons, chosen) {
  app.map.others.forEach((other, k) => {
    other.isChosen = k === chosen && !other.isChosen;
    buttons[k].ariaPressed = String(other.isChosen);
  });
  app.map.redraw();
}

/** Corners as Google's polyline; written without bit operators, which end at 32 bits: metres of a zone are larger. */
export function encoded(corners) {
  let [text, last] = ["", [0, 0]];
  for (const [x, y] of corners) {
    const now = [y, x].map((value) => Math.round(value * 1e5));
    for (const [axis, value] of now.entries()) {
      const step = value - last[axis];
      let rest = step < 0 ? -2 * step - 1 : 2 * step;
      do {
        const part = rest % 32;
        rest = Math.floor(rest / 32);
        text += String.fromCharCode(63 + part + (rest ? 32 : 0));
      } while (rest);
    }
    last = now;
  }
  return text;
}
