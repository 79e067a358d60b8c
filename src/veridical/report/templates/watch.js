"use strict";
// Follow a running study: ask for the page again, and replace what has changed.
(() => {
  const every = 1000 * document.querySelector("main").dataset.every;
  const status = document.querySelector(".vd-live-status");
  const button = document.querySelector(".vd-live-pause");
  let paused = false;
  button.hidden = false;
  button.addEventListener("click", () => {
    paused = !paused;
    button.textContent = paused ? "Follow again" : "Pause";
    status.textContent = paused ? "Paused." : "";
  });

  const busy = (part) => part.contains(document.activeElement);
  const renew = (page) => {
    document.title = page.title;
    for (const part of document.querySelectorAll("[data-live]")) {
      const fresh = page.querySelector(`[data-live="${part.dataset.live}"]`);
      if (!fresh || fresh.outerHTML === part.was || busy(part)) continue;
      const was = fresh.outerHTML;
      part.replaceChildren(...document.adoptNode(fresh).childNodes);
      part.was = was;
      part.dispatchEvent(new Event("veridical:new", { bubbles: true }));
    }
    return page.querySelector("main").dataset.every !== undefined;
  };

  const look = async () => {
    let again = true;
    if (!paused) {
      try {
        const answer = await fetch(location.href, { cache: "no-store" });
        const text = await answer.text();
        again = renew(new DOMParser().parseFromString(text, "text/html"));
        status.textContent = again ? "" : "The study is complete.";
      } catch (error) {
        status.textContent =
          "Nobody answers: veridical study watch was closed. The page shows what it saw last.";
      }
    }
    if (again) setTimeout(look, every);
    else button.hidden = true;
  };
  setTimeout(look, every);
})();
