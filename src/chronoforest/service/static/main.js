// The page: loads the world, fills the controls, connects them, and plans.

import { $, app, say, warn } from "./app.js";
import { addAgent, addStop, chooseNext, closeArea, fit, nudge, remember, removeAnchor, setClosing, showProblem, undo,
  worldWidth, zoom } from "./editor.js";
import { copyLink, saveAs, savePng } from "./exports.js";
import { Frame } from "./frame.js";
import { Ground } from "./ground.js";
import { listenToMap } from "./map.js";
import { theme } from "./palette.js";
import { Pane } from "./pane.js";
import { showRun } from "./panel.js";
import { cancel, plan, planSoon } from "./planning.js";
import { Problem, digitsFor, fromFragment } from "./problem.js";
import { call } from "./run.js";
import { replay, scrub } from "./timeline.js";
import { seek, walkForReal, walkPlan } from "./walking.js";

const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

const KEYS = {
  n: () => chooseNext(1), b: () => chooseNext(-1), w: () => addStop(), a: addAgent, c: () => closeArea(),
  Delete: () => removeAnchor(app.chosen), Backspace: () => removeAnchor(app.chosen),
  p: plan, Escape: () => { cancel(); showRun(); }, ",": () => scrub(app.round - 1), ".": () => scrub(app.round + 1),
  "+": () => zoom(1.25), "-": () => zoom(0.8), 0: fit, t: switchTheme, "?": () => $("keys").showModal(),
};

async function begin() {
  setTheme(localStorage.getItem("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
  app.map = new Pane(document.querySelector("#map canvas"));
  const [{ opened, worlds }, wanted] = [await ask("/worlds"), linkedWorld()];
  $("preset").replaceChildren(...worlds.map(({ name, title, about }) => new Option(title, name, false, false)).map(
    (option, k) => Object.assign(option, { title: worlds[k].about })));
  await openWorld(worlds.some(({ name }) => name === wanted) ? wanted : opened);
  connect();
  openLink();
  window.viewer = app;
}

async function ask(path) {
  return (await call("GET", path)).json();
}

/** Fetch a world and show it, without a problem. */
async function openWorld(name) {
  app.world = await ask(`/world?preset=${encodeURIComponent(name)}`);
  app.frame = new Frame(app.world.frame);
  app.ground = new Ground(app.world);
  app.map.show(app.ground, app.frame);
  [app.run, app.shown, app.undo] = [null, null, []];
  $("preset").value = name;
  $("about").textContent = app.world.about;
  document.title = `ChronoForest · ${app.world.title}`;
  fillControls(app.world);
}

/** Leave this world with its plan for another one, and show its example. */
async function switchWorld() {
  cancel();
  const name = $("preset").value;
  say(`loading ${name}…`, true);
  try {
    await openWorld(name);
  } catch (error) {
    $("preset").value = app.world.preset;
    say("ready");
    return warn(error.message);
  }
  openProblem(app.world.example);
}

function fillControls({ variants, limits, walls, why_no_walk: why }) {
  $("variant").replaceChildren(...variants.map(({ name }) => new Option(name, name)));
  $("seed").max = limits.seed;
  $("walls-item").hidden = walls.centres.length === 0;
  $("walls").checked = false;
  $("walk-note").textContent = why ? `No walk in a simulator: ${why}.` : "";
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
  select("budget-unit", request.budget?.unit ?? "");
  $("seed").value = Number.isInteger(request.seed) ? request.seed : 0;
  if (Number.isInteger(request.budget?.amount)) $("budget-amount").value = request.budget.amount;
  showSettings();
  showProblem();
  plan();
}

function linkedRequest() {
  if (location.hash.length < 2) return null;
  try {
    const request = fromFragment(location.hash, app.world.limits.anchors);
    if (request.preset && request.preset !== app.world.preset) {
      warn(`The link was made for ${request.preset}; this is ${app.world.preset}.`);
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
  const isOnMap = event.target === app.map.canvas || event.target === document.body;
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
  on("fit", "click", fit);
  on("add-stop", "click", () => addStop());
  on("add-agent", "click", addAgent);
  on("close-area", "click", ({ detail }) => (detail ? setClosing(!app.isClosing) : closeArea()));
  on("undo", "click", undo);
  on("controls", "submit", (event) => act(event, plan));
  on("walk", "click", walkPlan);
  on("real", "click", walkForReal);
  on("clock", "input", seek);
  on("slider", "input", () => scrub($("slider").valueAsNumber));
  on("replay", "click", replay);
  for (const id of ["variant", "seed", "budget-unit", "budget-amount"]) {
    on(id, "change", () => { showSettings(); remember(); planSoon(); });
  }
  on("places", "toggle", showProblem);
  on("walls", "change", () => { app.ground.showsWalls = $("walls").checked; app.map.redraw(); });
  for (const ending of ["json", "geojson", "gpx", "csv"]) on(`save-${ending}`, "click", () => saveAs(ending));
  on("save-png", "click", savePng);
  on("copy-link", "click", copyLink);
  on("theme", "click", switchTheme);
  on("help", "click", () => $("keys").showModal());
  on("alert-close", "click", () => warn(""));
  listenToMap(app.map);
  document.addEventListener("keydown", onKey);
  addEventListener("hashchange", openLink);
}

begin().catch((error) => {
  say("not connected");
  warn(error.message);
});
