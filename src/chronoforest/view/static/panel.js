// Shows a round of the runs: maps, timeline, numbers, routes, matrix, and what may be pressed.

import { $, app, firstRound, isBusy, make, say } from "./app.js";
import { showClock } from "./clock.js";
import { lengthText, number } from "./format.js";
import { agentColour } from "./palette.js";
import { stateOf } from "./run.js";

export function showRun() {
  const { first, second } = app;
  const count = Math.max(first?.rounds.length ?? 0, second?.rounds.length ?? 0);
  if (app.isLive) app.round = count - 1;
  for (const [pane, run] of [[app.panes[0], first], [app.panes[1], second]]) {
    pane.run = run;
    pane.round = shownRound(run);
    showCaption(pane, run);
    pane.redraw();
  }
  showTimeline(count);
  showNumbers(second && !second.isOver ? second : first);
  showState();
  showComparison();
}

/** Which of its rounds a run shows. */
function shownRound(run) {
  return run ? Math.max(run.firstRound, Math.min(app.round, run.rounds.length - 1)) : -1;
}

/** One line about a run. */
export function summary(run) {
  if (run.state === "failed" || run.state === "cancelled") return run.state;
  if (!run.plan) return `${run.rounds.length} rounds`;
  const { complete, length, num_expanded: numExpanded, seconds } = run.plan;
  return `${complete ? "" : "incomplete, "}${lengthText(length, run.frame)} · ${numExpanded} expanded · ${seconds.toFixed(1)} s`;
}

function showCaption(pane, run) {
  const isShown = run && (app.second || run.plan);
  pane.caption.replaceChildren(...(isShown ? [make("b", {}, run.request.variant), summary(run)] : []));
}

function showTimeline(count) {
  const least = firstRound();
  const label = count ? roundText(count) : "no rounds yet";
  $("slider").min = least;
  $("slider").max = Math.max(0, count - 1);
  $("slider").value = Math.max(least, app.round);
  $("slider").disabled = count - least < 2;
  $("slider").setAttribute("aria-valuetext", label);
  $("replay").disabled = count - least < 2 || isBusy();
  $("round-label").textContent = label;
  const flips = new Set([app.first, app.second].flatMap((run) => run?.flips ?? []));
  $("flips").replaceChildren(...[...flips].map((round) => {
    const mark = make("i", { title: `the order flips in round ${round + 1}` });
    mark.style.left = `${(100 * (round - least)) / Math.max(1, count - 1 - least)}%`;
    return mark;
  }));
}

function roundText(count) {
  return app.round < 0 ? "first guess" : `round ${app.round + 1} of ${count}`;
}

function showNumbers(run) {
  const index = shownRound(run);
  const round = run?.roundAt(index);
  const route = round ? run.routeAt(index) : [];
  const states = route.flatMap((part) => part.states);
  const values = round && {
    "n-legs": `${states.filter((state) => state !== "unmet").length}/${states.length}`,
    "n-nodes": round.nodes,
    "n-seconds": round.seconds.toFixed(2),
    "n-flips": run.flips.filter((flip) => flip <= index).length,
    "n-expanded": round.expanded,
    "n-cost": round.cost === null ? "∞" : Math.round(round.cost),
  };
  for (const id of ["n-legs", "n-nodes", "n-seconds", "n-flips", "n-expanded", "n-cost"]) $(id).textContent = values?.[id] ?? "–";
  $("routes").replaceChildren(...route.map((part, agent) => routeLine(part, agent, round.isFlip)));
  showOutcome(run, round);
  app.matrix.show(run, round);
}

function routeLine({ order, states }, agent, isFlip) {
  const line = make("div", { className: `route${isFlip ? " flipped" : ""}` });
  line.style.setProperty("--agent", agentColour(agent));
  for (const [k, name] of order.entries()) {
    if (k) {
      const state = states[k - 1];
      line.append(make("span", { className: `leg ${state}`, title: `${order[k - 1]} to ${name}: ${state}` }));
    }
    line.append(make("span", { className: "stop", textContent: name }));
  }
  return line;
}

function showOutcome(run, round) {
  const [text, kind] = outcome(run, round);
  const isEarlier = run?.plan && round !== run.rounds.at(-1) && round !== run.outset;
  $("outcome").textContent = isEarlier && text ? `In the end: ${text[0].toLowerCase()}${text.slice(1)}` : text;
  $("outcome").className = `hint ${kind}`;
}

function outcome(run, round) {
  if (!run) return ["", ""];
  if (run.isStale) return ["The problem has changed since this plan.", ""];
  if (round && round === run.outset) return ["The order by the learned distance alone.", ""];
  if (!run.plan) return [round?.isFlip ? flipText(run, round) : "", ""];
  const length = lengthText(run.plan.length, run.frame);
  const flips = run.flips.length ? `; the order flipped ${run.flips.length === 1 ? "once" : `${run.flips.length} times`}` : "";
  if (run.plan.complete) return [`Complete, ${length} in all${unverified(run.plan)}${flips}.`, "good"];
  return [[`Incomplete, ${missing(run.plan)}`, ...run.plan.shortfalls].join(". ") + ".", "bad"];
}

/** Unmet legs and waypoints that nobody visits, by name. */
function missing({ unmet, left_out: leftOut }) {
  const parts = unmet.length ? [`unmet: ${unmet.map((pair) => pair.join(" → ")).join(", ")}`] : [];
  return (leftOut.length ? [...parts, `left out: ${leftOut.join(", ")}`] : parts).join("; ");
}

function flipText(run, round) {
  return round === run.rounds[0] ? "The order flipped: the distance alone would take another." : "The order flipped in this round.";
}

function unverified({ routes }) {
  const count = routes.flatMap(({ legs }) => legs).filter((leg) => stateOf(leg) === "proposed").length;
  return count ? `; ${count} ${count > 1 ? "legs" : "leg"} proposed and not verified` : "";
}

/** What may be pressed, and the state in words. */
export function showState() {
  const run = app.second ?? app.first;
  const isActive = isBusy();
  const isPlanned = Boolean(app.first?.plan) && !app.first.isStale && !isActive;
  $("plan").disabled = $("compare").disabled = isActive;
  $("cancel").disabled = !isActive && !app.cancelWalk && !app.walk;
  $("walk").disabled = !isPlanned && !app.walk;
  $("walk").textContent = app.walk?.isPlaying ? "❚❚ Pause" : "▶ Walk";
  $("real").disabled = !isPlanned || Boolean(app.world.why_no_walk) || Boolean(app.cancelWalk);
  for (const id of ["save-plan", "save-geojson", "save-csv"]) $(id).disabled = !app.first?.plan;
  $("save-gpx").disabled = !app.first?.plan || !app.frame.isDegrees;
  showClock();
  if (!run) return;
  const running = `planning, round ${run.rounds.length + 1}`;
  const words = { waiting: "waiting for the planner…", running, done: "planned", failed: "failed", cancelled: "cancelled" };
  say(run.isStale ? "ready" : words[run.state], isActive);
}

function showComparison() {
  const [first, second] = [app.first?.plan, app.second?.plan];
  $("compare-note").textContent = first && second ? verdict(first, second) : "";
}

function verdict(first, second) {
  const more = (100 * (second.length - first.length)) / first.length;
  const words = Math.abs(more) < 0.05 ? "equally long" : `${number(Math.abs(more), 2)} % ${more > 0 ? "longer" : "shorter"}`;
  const lengths = [first, second].map(({ variant, length }) => `${variant} ${lengthText(length, app.frame)}`);
  const [one, other] = [first, second].map(({ routes }) => JSON.stringify(routes.map(({ order }) => order)));
  return `${lengths.join(", ")}: ${words}, ${one === other ? "in the same order" : "in another order"}.`;
}
