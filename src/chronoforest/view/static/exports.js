// Saves what is on the page.

import { $, app, currentRequest, make, say, warn } from "./app.js";
import { summary } from "./panel.js";
import { toFragment } from "./problem.js";
import { callText } from "./run.js";

const KEEP_MS = 10000;
const TITLE_HEIGHT = 34;

function save(name, blob) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEEP_MS);
}

export function savePlan() {
  save("plan.json", new Blob([JSON.stringify(app.first.plan)], { type: "application/json" }));
}

/** The plan in a format of maps or tables, as the planner writes it. */
export async function saveAs(ending) {
  try {
    const text = await callText(`/api/plans/${app.first.id}/plan.${ending}`);
    save(`plan.${ending}`, new Blob([text]));
  } catch (error) {
    warn(error.message);
  }
}

/** The maps side by side, each under its title. */
export function savePng() {
  const panes = app.panes.filter(({ figure }) => !figure.hidden);
  const head = TITLE_HEIGHT * (window.devicePixelRatio || 1);
  const canvas = make("canvas", {
    width: panes.reduce((sum, pane) => sum + pane.canvas.width, 0),
    height: panes[0].canvas.height + head,
  });
  const context = canvas.getContext("2d");
  const { backgroundColor, color } = getComputedStyle(document.body);
  context.fillStyle = backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = color;
  context.font = `600 ${head * 0.42}px system-ui, sans-serif`;
  context.textBaseline = "middle";
  let left = 0;
  for (const pane of panes) {
    const title = pane.run ? `${pane.run.request.variant}   ${summary(pane.run)}` : app.world.preset;
    context.fillText(title, left + head * 0.4, head / 2);
    context.drawImage(pane.canvas, left, head);
    left += pane.canvas.width;
  }
  canvas.toBlob((blob) => save("plan.png", blob), "image/png");
}

/** Show the link that reopens the problem, and copy it where the browser lets us. */
export async function copyLink() {
  $("link-box").hidden = false;
  $("link").value = `${location.origin}/${toFragment(currentRequest())}`;
  $("link").select();
  try {
    await navigator.clipboard.writeText($("link").value);
    say("link copied");
  } catch {
    say("the link is below");
  }
}
