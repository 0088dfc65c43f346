// SPDX-License-Identifier: Apache-2.0
// Pages come whole from the server and work without this; here they change in place, and keys lead through them.

const main = document.getElementById("main");
const announced = document.getElementById("announced");
let asked = null, filling = null, events = null, again = null, spoken = "";

const say = (words) => { announced.textContent = words; };
const points = () => [...document.querySelectorAll("a.point")];
const isOurs = (link) => link.origin === location.origin && !link.closest("[data-whole]") && !("whole" in link.dataset);

/** Put the page at an address in the place of this one; `focus`: the element to go to, by its id. */
async function show(address, { push = true, focus = null } = {}) {
  asked?.abort();
  asked = new AbortController();
  const before = focus ?? document.activeElement?.id;
  main.classList.add("waits");
  try {
    const answer = await fetch(address, { signal: asked.signal, credentials: "same-origin" });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const reached = new URL(answer.url);
    reached.hash = new URL(address, location.href).hash;
    reached.searchParams.delete("anew");
    if (push) history.pushState(null, "", reached); else history.replaceState(null, "", reached);
    document.title = page.title;
    document.querySelector("header").replaceWith(document.adoptNode(page.querySelector("header")));
    const drawn = new Map([...document.querySelectorAll("[data-full]")].map((part) => [nameOf(part), part]));
    main.replaceChildren(...document.adoptNode(page.getElementById("main")).childNodes);
    main.classList.remove("waits");
    begin(drawn);
    (document.getElementById(before) ?? main).focus({ preventScroll: before !== "samples-title" && before !== "main" });
    say(document.getElementById("count")?.textContent ?? document.title);
  } catch (error) {
    if (error.name === "AbortError") return;
    main.classList.remove("waits");
    say("The server does not answer; tare serve may have ended.");
    showLost();
  }
}

function showLost() {
  if (document.getElementById("lost")) return;
  const words = document.createElement("p");
  words.id = "lost";
  words.className = "warning";
  words.textContent = "The server does not answer: tare serve may have ended.";
  main.prepend(words);
}

/** One point alone is reached by Tab, the others from it by the arrow keys. */
function rove() {
  const every = points();
  const own = every.find((point) => point.classList.contains("chosen")) ?? every[0];
  for (const point of every) point.tabIndex = point === own ? 0 : -1;
}

function follow() {
  events?.close();
  events = null;
  const live = document.getElementById("live");
  if (!live || live.dataset.state === "ended") return;
  events = new EventSource(live.dataset.events);
  events.addEventListener("progress", (event) => progress(live, JSON.parse(event.data)));
}

function progress(live, now) {
  live.hidden = false;
  live.dataset.state = now.state;
  const bar = document.getElementById("live-bar");
  bar.max = Math.max(now.planned, 1);
  bar.value = now.measured;
  document.getElementById("live-said").textContent = now.said;
  document.getElementById("live-last").textContent = now.last ? `last: ${now.last}` : "";
  document.getElementById("newer").hidden = now.newer === 0;
  document.getElementById("newer-count").textContent = `${now.newer} new trial${now.newer === 1 ? "" : "s"}`;
  const step = `${now.state} ${now.planned ? Math.floor(10 * now.measured / now.planned) : 0}`;
  if (step !== spoken) say(now.said);  // every tenth, and every change of state: more would be chatter
  spoken = step;
  if (now.state === "ended") events?.close();
}

const nameOf = (part) => `${part.dataset.load} ${part.dataset.version}`;

/** Put each open part in its place, one after the other: the server draws it at its own address; `drawn`: what is here. */
async function fill(drawn) {
  filling?.abort();
  filling = new AbortController();
  const { signal } = filling;
  for (const part of document.querySelectorAll("[data-load]")) if (drawn.has(nameOf(part))) part.replaceWith(drawn.get(nameOf(part)));
  try {
    for (const part of document.querySelectorAll("[data-load]:not([data-full])")) await fillOne(part, signal);
  } catch (error) {
    if (error.name !== "AbortError") showLost();
  }
}

async function fillOne(part, signal) {
  let page = null;
  do {
    if (page) await new Promise((then) => { setTimeout(then, 1500); });
    const answer = await fetch(part.dataset.load, { signal, credentials: "same-origin" });
    page = new DOMParser().parseFromString(await answer.text(), "text/html");
  } while (page.querySelector("[data-wait]"));
  const drawn = page.getElementById("drawn");
  if (!drawn) {
    part.querySelector("[data-said]").textContent = page.querySelector("[role=alert]")?.textContent ?? "It cannot be drawn.";
    return;
  }
  part.replaceChildren(...document.adoptNode(drawn).childNodes);
  part.dataset.full = "";
  say(`${part.dataset.name}: drawn.`);
}

function begin(drawn = new Map()) {
  rove();
  follow();
  fill(drawn);
  clearTimeout(again);
  if (document.querySelector("[data-wait]")) again = setTimeout(() => show(location.href, { push: false }), 1500);
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || !isOurs(link) || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  if (link.classList.contains("skip")) return;
  event.preventDefault();
  const back = link.dataset.back;
  const isPoint = link.classList.contains("point");
  const isWithin = link.pathname === location.pathname;
  show(link.href, { focus: back ?? (isPoint ? "samples-title" : isWithin ? link.id : "main") });
});

document.addEventListener("submit", (event) => {
  if (event.target.id !== "filters") return;
  event.preventDefault();
  apply(event.target);
});

document.addEventListener("change", (event) => {
  const form = event.target.closest?.("#filters");
  if (form) apply(form);
});

function apply(form) {
  const chosen = [...new FormData(form)].filter(([, value]) => value !== "");
  show(`${location.pathname}?${new URLSearchParams(chosen)}`);
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    const close = document.getElementById("samples-close") ?? document.getElementById("trial-back") ?? document.getElementById("part-back");
    if (close) { event.preventDefault(); close.click(); }
    return;
  }
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const every = points();
  const place = every.indexOf(document.activeElement);
  if (place < 0) return;
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  const next = step ? place + step : { Home: 0, End: every.length - 1 }[event.key];
  if (next === undefined || !every[next]) return;
  event.preventDefault();
  for (const point of every) point.tabIndex = -1;
  every[next].tabIndex = 0;
  every[next].focus();
});

window.addEventListener("popstate", () => show(location.href, { push: false }));
window.addEventListener("pagehide", () => events?.close());
begin();
