// Plays the agents along the plan or a real walk, and moves their clock.

import { $, app, currentPlan, warn } from "./app.js";
import { timeText } from "./format.js";
import { showState } from "./panel.js";
import { follow } from "./run.js";
import { scrub } from "./timeline.js";
import { Walk } from "./walk.js";

const CLOCK_STEPS = 1000;

/** Forget the walk: nobody is on the map any more. */
export function stopWalk() {
  app.walk?.pause();
  app.walk = null;
  showWalkers([]);
}

function showWalkers(walkers) {
  app.map.walkers = walkers;
  app.map.redraw();
  showClock();
}

/** The clock of a walk, or of the plan that could be walked: its slider and its label. */
export function showClock() {
  const { walk } = app;
  const ends = currentPlan()?.routes.map(({ duration }) => duration) ?? [];
  const planned = ends.length ? timeText(Math.max(...ends), app.frame) : "";
  const label = walk ? `${timeText(walk.now, walk.clock)} of ${timeText(walk.duration, walk.clock)}` : planned;
  $("clock").disabled = !walk && !label;
  $("clock").value = walk ? Math.round((CLOCK_STEPS * walk.now) / walk.duration) : 0;
  $("clock").setAttribute("aria-valuetext", label);
  $("clock-label").textContent = label;
}

/** Play the plan, or stop the clock, or let it go on. */
export function walkPlan() {
  if (app.walk?.isPlaying) return app.walk.pause();
  if (app.walk || preparePlan()) play();
}

/** Bring everybody to where the slider of the clock is; along the plan where nobody walks yet. */
export function seek() {
  const share = $("clock").valueAsNumber / CLOCK_STEPS;
  if (!app.walk && !preparePlan()) return;
  app.walk.pause();
  app.walk.seek(share * app.walk.duration);
}

/** Whether there is a plan to walk; its walk is ready then. */
function preparePlan() {
  const routes = (currentPlan()?.routes ?? []).filter(({ path }) => path.length);
  if (routes.length) prepare(routes.map(({ path, times }) => ({ points: path, times })), app.frame);
  return routes.length > 0;
}

/** tracks: one per agent; clock: what their times are in. */
function prepare(tracks, clock) {
  stopWalk();
  scrub(Infinity);
  app.walk = new Walk(tracks, showWalkers, showState);
  app.walk.clock = clock;
}

function play() {
  app.walk.play();
  showState();
}

/** A track of the simulator as the clock wants it: a time for every step, limbs for every second one. */
function walkedTrack({ xy, limbs }) {
  const times = Array.from({ length: xy.length / 2 }, (_, step) => step);
  if (!limbs) return { points: xy, times };
  const { stride, radii, ends } = limbs;
  return { points: xy, times, limbs: (step) => ({ radii, ends: ends[Math.floor(step / stride)] }) };
}

export async function walkForReal() {
  const [tracks, lines, aborter] = [[], [], new AbortController()];
  const end = (text) => {
    app.cancelWalk = null;
    $("walk-note").textContent = text;
    showState();
  };
  app.cancelWalk = () => { aborter.abort(); end("cancelled"); };
  $("walk-note").textContent = "walking in the simulator…";
  showState();
  try {
    await follow("/walk", app.run.request, ({ kind, error, ...agent }) => {
      if (kind === "failed") throw new Error(error);
      if (kind !== "agent") return;
      tracks.push(walkedTrack(agent));
      lines.push(`Agent ${tracks.length} ${agent.summary}.`);
    }, aborter.signal);
    end(lines.join(" "));
    prepare(tracks, { hasClock: false });
    play();
  } catch (error) {
    if (aborter.signal.aborted) return;
    end("");
    warn(error.message);
  }
}
