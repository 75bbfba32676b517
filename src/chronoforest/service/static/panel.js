// Shows the plan: its timetable, its rounds on the map, and what may be pressed.

import { $, app, currentPlan, isBusy, make, say } from "./app.js";
import { durationText, lengthText, timeText } from "./format.js";
import { agentColour } from "./palette.js";
import { showClock } from "./walking.js";

/** Show the newest run as soon as it has something to show. */
export function showRun() {
  const { run } = app;
  if (run && (run.rounds.length || run.plan || run.isOver)) app.shown = run;
  const { shown } = app;
  const count = shown?.rounds.length ?? 0;
  if (app.isLive) app.round = count - 1;
  app.round = Math.max(Math.min(app.round, count - 1), count ? 0 : -1);
  app.map.showRun(shown?.plan || count ? shown : null, app.round);
  showOutcome(run);
  showTimetable(shown);
  showRounds(shown, count);
  showState(run);
}

function showOutcome(run) {
  const [text, kind] = outcome(run);
  $("outcome").textContent = text;
  $("outcome").className = `hint ${kind}`;
}

function outcome(run) {
  if (!run || run.isStale) return ["The stops have changed since this plan.", ""];
  if (run.state === "failed") return [`No plan: ${run.error}.`, "bad"];
  if (!run.plan) return [run.isOver ? "Cancelled." : "Planning…", ""];
  const { complete, length, shortfalls, routes } = run.plan;
  if (!complete) return [["The plan is incomplete", ...shortfalls].join(". ") + ".", "bad"];
  const agents = routes.length > 1 ? `, ${routes.length} agents` : "";
  const last = Math.max(...routes.map(({ duration }) => duration));
  return [`Complete: ${lengthText(length, run.frame)} in all${agents}, done after ${timeText(last, run.frame)}.`, "good"];
}

/** A table per agent: each stop with its arrival, and the leg that leads there. */
function showTimetable(run) {
  const box = $("timetable");
  box.classList.toggle("stale", Boolean(run?.isStale) || run !== app.run);
  if (!run?.plan) return run?.isOver ? box.replaceChildren() : undefined;
  const tables = run.plan.routes.map((route, agent) => agentTable(run, route, agent));
  box.replaceChildren(...tables);
}

function agentTable(run, route, agent) {
  const stops = run.plan.timetable.filter((stop) => stop.agent === agent + 1);
  const caption = make("caption", {}, make("span", { className: "swatch" }), make("b", { textContent: `Agent ${agent + 1}` }),
    ` ${lengthText(route.length, run.frame)}, ${timeText(route.duration, run.frame)}`);
  caption.firstChild.style.background = agentColour(agent);
  const takes = `Takes, ${run.frame.hasClock ? "min:s" : "steps"} (5–95 %)`;
  const heads = ["", "Stop", "Arrives", "Leg", takes, "Evidence"].map((text, k) => (
    make(k ? "th" : "td", k ? { scope: "col", textContent: text } : {})));
  const rows = stops.map((stop, number) => stopRow(run.frame, stop, number, number === stops.length - 1));
  return make("table", {}, caption, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows));
}

function stopRow(frame, stop, number, isLast) {
  const duration = stop.duration === null ? "" : durationText(stop.duration, stop.band, frame);
  const cells = [stop.clock, stop.length === null ? "" : lengthText(stop.length, frame), duration, stop.evidence];
  const mark = number === 0 ? "●" : isLast ? "★" : String(number);
  const kind = stop.evidence === "inferred" || stop.evidence === "none" ? "doubtful" : "";
  return make("tr", { className: kind }, make("td", { textContent: mark }), make("th", { scope: "row", textContent: stop.label }),
    ...cells.map((textContent) => make("td", { textContent })));
}

function showRounds(run, count) {
  const label = count ? `round ${app.round + 1} of ${count}` : "no rounds yet";
  $("slider").max = Math.max(0, count - 1);
  $("slider").value = Math.max(0, app.round);
  $("slider").disabled = count < 2;
  $("slider").setAttribute("aria-valuetext", label);
  $("replay").disabled = count < 2 || isBusy();
  $("round-label").textContent = label;
  const round = run?.rounds[app.round];
  $("numbers").textContent = round ? [`${round.met.size} legs met`, `${round.nodes} nodes`, `${round.expanded} expansions`,
    `${round.seconds.toFixed(2)} s`, ...(round.isFlip ? ["the order changed"] : [])].join(", ") : "";
}

/** What may be pressed, and the state in words. */
export function showState(run = app.run) {
  const isPlanned = Boolean(currentPlan());
  $("walk").disabled = !isPlanned && !app.walk;
  $("walk").textContent = app.walk?.isPlaying ? "❚❚ Pause" : "▶ Walk";
  $("real").disabled = !isPlanned || Boolean(app.world.why_no_walk) || Boolean(app.cancelWalk);
  for (const ending of ["json", "geojson", "csv"]) $(`save-${ending}`).disabled = !isPlanned;
  $("save-gpx").disabled = !isPlanned || !app.frame.isDegrees;
  showClock();
  if (!run) return;
  const words = { running: "planning…", done: run.plan?.complete ? "planned" : "incomplete", failed: "no plan", cancelled: "cancelled" };
  say(run.isStale ? "changed" : words[run.state], isBusy());
}
