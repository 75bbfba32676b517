// Saves what is on the page.

import { $, app, currentRequest, make, say, warn } from "./app.js";
import { toFragment } from "./problem.js";
import { call } from "./run.js";

const KEEP_MS = 10000;

function save(name, blob) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEEP_MS);
}

/** The plan in a format of maps or tables, as the planner writes it. */
export async function saveAs(answer) {
  try {
    save(`plan.${answer}`, await (await call("POST", "/plan", { ...app.run.request, answer })).blob());
  } catch (error) {
    warn(error.message);
  }
}

export function savePng() {
  app.map.canvas.toBlob((blob) => save("plan.png", blob), "image/png");
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
