// Colours that the canvases need; everything else is in style.css.

const AGENTS = {
  light: ["#d1495b", "#00798c", "#c98a1b", "#66418d", "#30638e", "#3f7d20", "#c06014", "#8a4f7d"],
  dark: ["#ff7b8a", "#3cc3d6", "#f2b84b", "#b490e0", "#78aee0", "#8bd05f", "#f59b52", "#d493c4"],
};

const SCENES = {
  light: { outside: [226, 223, 214], thin: [247, 250, 249], dense: [140, 197, 191], ink: "#1f2a33", halo: "#ffffff",
    rim: "#1f2a33", bad: "#d62839", wall: "rgba(70, 60, 50, .30)", way: "#f0b429", number: "#ffffff", road: "#ffffff", kerb: "#9fb8b4", chosen: "#b35c00", other: "#7c8a94" },
  dark: { outside: [15, 21, 26], thin: [30, 44, 51], dense: [50, 118, 124], ink: "#e7edf0", halo: "#0f151a",
    rim: "#06090c", bad: "#ff7b72", wall: "rgba(235, 225, 205, .22)", way: "#ffd166", number: "#06090c", road: "#3a5058", kerb: "#16222a", chosen: "#ffc56b", other: "#8b9aa5" },
};

export function theme() {
  return document.documentElement.dataset.theme === "dark" ? "dark" : "light";
}

export function scene() {
  return SCENES[theme()];
}

export function agentColour(agent) {
  const colours = AGENTS[theme()];
  return colours[agent % colours.length];
}

/** The colour of an anchor such as "S1" or "W3". */
export function anchorColour(name) {
  return name[0] === "W" ? scene().way : agentColour(Number(name.slice(1)) - 1);
}

export function mix([a, b], share) {
  return a.map((value, k) => Math.round(value + share * (b[k] - value)));
}
