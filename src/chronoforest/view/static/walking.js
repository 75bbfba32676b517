// Plays the agents along the plan or a real walk, and moves their clock.

import { $, app, warn } from "./app.js";
import { clockShare, showClock } from "./clock.js";
import { showState } from "./panel.js";
import { call, listen } from "./run.js";
import { scrub } from "./timeline.js";
import { Walk } from "./walk.js";

/** Forget the walk: nobody is on the maps any more. */
export function stopWalk() {
  app.walk?.pause();
  app.walk = null;
  for (const pane of app.panes) {
    pane.walkers = [];
    pane.redraw();
  }
  showClock();
}

/** Play the plan, or stop the clock, or let it go on. */
export function walkPlan() {
  if (app.walk?.isPlaying) return app.walk.pause();
  if (!app.walk && !preparePlan()) return;
  playWalk();
}

/** Bring everybody to where the slider of the clock is; along the plan where nobody walks yet. */
export function seek() {
  const share = clockShare();
  if (!app.walk && !preparePlan()) return;
  app.walk.pause();
  app.walk.seek(share * app.walk.duration);
}

/** Whether there is a plan to walk; its walk is ready then. */
function preparePlan() {
  if (!app.first?.plan || app.first.isStale) return false;
  prepare([planTracks(app.first), planTracks(app.second)], app.frame);
  return true;
}

/** Tracks in the plane; plans of earlier versions have no times, and then every point takes as long. */
function planTracks(run) {
  const routes = (run?.plan?.routes ?? []).filter(({ path }) => path.length);
  return routes.map(({ path, times }) => ({
    points: path.map((place) => run.frame.toLocal(place)).flat(),
    times: times?.length === path.length ? times : path.map((_, k) => k),
  }));
}

/** groups: for each pane a list of tracks, one per agent; clock: what its times are in. */
function prepare(groups, clock) {
  stopWalk();
  scrub(Infinity);
  const show = (walkers) => {
    for (const [k, pane] of app.panes.entries()) {
      pane.walkers = walkers[k] ?? [];
      pane.redraw();
    }
    showClock();
  };
  app.walk = new Walk(groups, show, showState);
  app.walk.clock = clock;
}

function playWalk() {
  app.walk.play(() => Number($("speed").value));
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
  const tracks = [];
  const lines = [];
  const end = (text) => {
    app.cancelWalk = null;
    $("walk-note").textContent = text;
    showState();
  };
  try {
    const { events, id } = await call("POST", `/api/plans/${app.first.id}/walk`);
    const stop = listen(events, {
      agent: (values) => {
        tracks[values.agent] = walkedTrack(values);
        lines.push(`Agent ${values.agent + 1} ${values.summary}.`);
      },
      done: () => { end(lines.join(" ")); prepare([tracks], { hasClock: false }); playWalk(); },
      failed: ({ error }) => { end(""); warn(error); },
      cancelled: () => end("cancelled"),
    });
    app.cancelWalk = () => {
      stop();
      end("cancelled");
      call("DELETE", `/api/plans/${id}`).catch(() => {});
    };
    $("walk-note").textContent = "walking in the simulator…";
    showState();
  } catch (error) {
    end("");
    warn(error.message);
  }
}
