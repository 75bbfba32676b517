// The page: loads the world, fills the controls and connects them.

import { $, app, redraw, say, warn } from "./app.js";
import { addAgent, addWaypoint, chooseNext, fit, nudge, problemChanged, remember, removeAnchor, setCount, showProblem,
  undo, worldWidth, zoom } from "./editor.js";
import { copyLink, saveAs, savePlan, savePng } from "./exports.js";
import { Frame } from "./frame.js";
import { Ground } from "./ground.js";
import { listenToMap } from "./map.js";
import { Matrix } from "./matrix.js";
import { moveThere } from "./outside.js";
import { Overlay } from "./overlay.js";
import { theme } from "./palette.js";
import { Pane, View } from "./pane.js";
import { showRun } from "./panel.js";
import { cancel, closeComparison, compare, plan } from "./planning.js";
import { Problem, digitsFor, fromFragment } from "./problem.js";
import { call } from "./run.js";
import { replay, scrub } from "./timeline.js";
import { seek, walkForReal, walkPlan } from "./walking.js";

const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

const KEYS = {
  n: () => chooseNext(1), b: () => chooseNext(-1), w: () => addWaypoint(), a: addAgent,
  Delete: () => removeAnchor(app.chosen), Backspace: () => removeAnchor(app.chosen),
  p: plan, Escape: cancel, ",": () => scrub(app.round - 1), ".": () => scrub(app.round + 1),
  "+": () => zoom(1.25), "-": () => zoom(0.8), 0: fit, t: switchTheme, "?": () => $("keys").showModal(),
};

async function begin() {
  setTheme(localStorage.getItem("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
  const [{ opened, worlds }, wanted] = [await call("GET", "/api/worlds"), linkedWorld()];
  $("preset").replaceChildren(...worlds.map((name) => new Option(name, name)));
  await openWorld(worlds.includes(wanted) ? wanted : opened);
  openLink();
  connect();
  for (const id of ["plan", "compare", "copy-link", "save-png"]) $(id).disabled = false;
  window.viewer = app;
  say("ready");
}

/** Fetch a world and show it, without a problem. */
async function openWorld(name) {
  app.world = await call("GET", `/api/world?preset=${encodeURIComponent(name)}`);
  app.frame = new Frame(app.world.frame);
  app.ground = new Ground(app.world);
  app.view = new View(app.world.extent);
  if (app.panes.length) for (const pane of app.panes) pane.show(app.ground, app.view, app.frame);
  else app.panes = ["pane-first", "pane-second"].map((id) => new Pane($(id), app.ground, app.view, app.frame));
  app.matrix ??= new Matrix($("matrix"), $("matrix-note"));
  $("preset").value = name;
  document.title = `ChronoForest · ${name}`;
  fillControls(app.world);
  if (app.world.has_overlay) await openOverlay();
}

async function openOverlay() {
  app.ground.overlay = new Overlay(await call("GET", "/api/overlay"));
  app.ground.showsOverlay = $("overlay").checked;
}

/** Leave this world with all its plans for another one, and show its example. */
async function switchWorld() {
  cancel();
  closeComparison();
  say(`loading ${$("preset").value}…`, true);
  try {
    await openWorld($("preset").value);
  } catch (error) {
    $("preset").value = app.world.preset;
    say("ready");
    return warn(error.message);
  }
  [app.first, app.second, app.undo] = [null, null, []];
  warn("");
  openProblem(app.world.example);
  showRun();
  say("ready");
}

function fillControls({ variants, modes, limits, walls, why_no_walk: why, has_overlay: hasOverlay }) {
  for (const select of [$("variant"), $("second-variant")]) {
    select.replaceChildren(...variants.map(({ name }) => new Option(name, name)));
  }
  select("second-variant", "temporal-fixed");
  $("mode").replaceChildren(...modes.map((mode) => new Option(mode, mode)));
  $("agents").max = limits.agents;
  $("waypoints").max = limits.anchors - 2;
  $("seed").max = limits.seed;
  $("walls-item").hidden = walls.centres.length === 0;
  $("walls").checked = false;
  $("overlay-item").hidden = !hasOverlay;
  $("walk-note").textContent = why ? `No real walk: ${why}.` : "";
}

/** Choose an option, if it exists. */
function select(id, value) {
  if ([...$(id).options].some((option) => option.value === value)) $(id).value = value;
}

function openLink() {
  openProblem(linkedRequest() ?? app.world.example);
}

function openProblem(request) {
  app.problem = new Problem(app.frame.changed(request, app.frame.toLocal), digitsFor(worldWidth()));
  app.chosen = null;
  select("variant", request.variant ?? app.world.default_variant);
  select("mode", request.mode ?? "default");
  select("budget-unit", request.budget?.unit ?? "");
  $("seed").value = Number.isInteger(request.seed) ? request.seed : 0;
  if (Number.isInteger(request.budget?.amount)) $("budget-amount").value = request.budget.amount;
  $("example-note").textContent = request.note ?? "";
  showSettings();
  showProblem();
}

function linkedRequest() {
  if (location.hash.length < 2) return null;
  try {
    const request = fromFragment(location.hash, app.world.limits.anchors);
    if (request.preset && request.preset !== app.world.preset) {
      warn(`The link was made for ${request.preset}; this viewer shows ${app.world.preset}.`);
    }
    return request;
  } catch (error) {
    warn(error.message);
    return null;
  }
}

/** The world that a link names, if it is a link. */
function linkedWorld() {
  try {
    return fromFragment(location.hash, Infinity).preset;
  } catch {
    return null;
  }
}

function showSettings() {
  $("budget-amount").disabled = !$("budget-unit").value;
  const variant = app.world.variants.find(({ name }) => name === $("variant").value);
  $("variant-note").textContent = variant?.summary ?? "";
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  $("theme").textContent = name === "dark" ? "Light" : "Dark";
}

function switchTheme() {
  setTheme(theme() === "dark" ? "light" : "dark");
  localStorage.setItem("theme", theme());
  showProblem();
  showRun();
}

function onKey(event) {
  if ($("keys").open) return;
  const isField = event.target.matches("input:not([type=checkbox]), select");
  const isCommand = event.ctrlKey || event.metaKey;
  if (isCommand && event.key.toLowerCase() === "z" && !isField) return act(event, undo);
  if (isCommand || event.altKey || (isField && event.key !== "Escape")) return;
  const isOnMap = event.target === app.panes[0].canvas || event.target === document.body;
  if (MOVES[event.key] && isOnMap && app.chosen) return act(event, () => nudge(MOVES[event.key], event.shiftKey));
  if (event.key === " " && isOnMap) return act(event, walkPlan);
  const known = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (known) act(event, known);
}

function act(event, action) {
  event.preventDefault();
  action();
}

function connect() {
  const on = (id, kind, handle) => $(id).addEventListener(kind, handle);
  on("preset", "change", switchWorld);
  on("zoom-in", "click", () => zoom(1.6));
  on("zoom-out", "click", () => zoom(1 / 1.6));
  on("controls", "submit", (event) => act(event, plan));
  on("cancel", "click", cancel);
  on("compare", "click", compare);
  on("compare-close", "click", closeComparison);
  on("walk", "click", walkPlan);
  on("real", "click", walkForReal);
  on("clock", "input", seek);
  on("snap", "click", moveThere);
  on("alert-snap", "click", moveThere);
  on("slider", "input", () => scrub($("slider").valueAsNumber));
  on("replay", "click", replay);
  on("agents", "change", () => setCount("S", $("agents").valueAsNumber));
  on("waypoints", "change", () => setCount("W", $("waypoints").valueAsNumber));
  for (const id of ["variant", "mode", "seed", "budget-unit", "budget-amount"]) {
    on(id, "change", () => { showSettings(); remember(); });
  }
  on("places", "toggle", showProblem);
  on("walls", "change", () => { app.ground.showsWalls = $("walls").checked; redraw(); });
  on("overlay", "change", () => { app.ground.showsOverlay = $("overlay").checked; redraw(); });
  on("fit", "click", fit);
  on("save-plan", "click", savePlan);
  for (const ending of ["geojson", "gpx", "csv"]) on(`save-${ending}`, "click", () => saveAs(ending));
  on("save-png", "click", savePng);
  on("copy-link", "click", copyLink);
  on("theme", "click", switchTheme);
  on("help", "click", () => $("keys").showModal());
  on("alert-close", "click", () => warn(""));
  listenToMap(app.panes[0]);
  listenToMap(app.panes[1], { isReadOnly: true });
  document.addEventListener("keydown", onKey);
  addEventListener("hashchange", () => { openLink(); problemChanged(); });
  addEventListener("resize", showRun);
}

begin().catch((error) => {
  say("not connected");
  warn(error.message);
});
