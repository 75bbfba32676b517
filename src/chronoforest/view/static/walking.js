// Plays the agents along the plan, and asks for the real walk.

import { $, app, warn } from "./app.js";
import { showState } from "./panel.js";
import { call, listen } from "./run.js";
import { scrub } from "./timeline.js";
import { Walk } from "./walk.js";

export function stopWalk() {
  app.walk?.stop();
  app.walk = null;
  for (const pane of app.panes) {
    pane.walkers = [];
    pane.redraw();
  }
}

export function walkPlan() {
  if (app.walk) {
    stopWalk();
    return showState();
  }
  if (!app.first?.plan || app.first.isStale) return;
  const tracks = (run) => run?.plan?.routes.map(({ path }) => path.flat()) ?? [];
  play([tracks(app.first), tracks(app.second)]);
}

/** tracks: for each pane a list of tracks, one per agent. */
function play(tracks) {
  stopWalk();
  scrub(Infinity);
  const show = (walkers) => {
    for (const [k, pane] of app.panes.entries()) {
      pane.walkers = walkers[k] ?? [];
      pane.redraw();
    }
  };
  app.walk = new Walk(tracks, show, () => { app.walk = null; showState(); });
  app.walk.start(() => Number($("speed").value));
  showState();
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
      agent: ({ agent, xy, summary }) => { tracks[agent] = xy; lines.push(`Agent ${agent + 1} ${summary}.`); },
      done: () => { end(lines.join(" ")); play([tracks]); },
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
