"""A headless Chromium that lays out a page at a given width and tells what it saw."""

import json
import os
import re
import shutil
import subprocess
from html import escape, unescape

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

MEASURE = """<script>
addEventListener("load", () => {
  for (const each of document.querySelectorAll("details")) each.open = true;
  const boxes = [...document.querySelectorAll("svg, table")].map(e => e.getBoundingClientRect());
  const links = [...document.querySelectorAll("a[href]")].map(e => e.getAttribute("href"));
  const seen = {
    width: innerWidth, wide: document.documentElement.scrollWidth,
    plots: document.querySelectorAll("svg.plot").length,
    sizes: boxes.map(b => [b.width, b.height]),
    links: links.length, dead: links.filter(l => !l.startsWith("#") || !document.getElementById(l.slice(1))),
    background: getComputedStyle(document.body).backgroundColor,
  };
  parent.document.getElementById("seen").textContent = JSON.stringify(seen);
});
</script>"""


def looked_at(page: str, folder, width: int = 1280, dark: bool = False) -> tuple[dict, str]:
    """What the browser saw of a page in a frame of this width, and what it wrote to the console."""
    framed = escape(page.replace("</body>", MEASURE + "</body>"), quote=True)
    frame = f'<iframe style="width: {width}px; height: 900px; border: 0" srcdoc="{framed}"></iframe>'
    path = folder / "framed.html"
    path.write_text(f'<!DOCTYPE html><html lang="en"><body><pre id="seen"></pre>{frame}</body></html>', "utf-8")
    command = [
        CHROMIUM, "--headless=new", "--no-sandbox", "--window-size=1400,1000", "--enable-logging=stderr",
        f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=5000", "--dump-dom", path.as_uri(),
    ]  # fmt: skip
    if dark:
        command.insert(1, "--blink-settings=preferredColorScheme=0")
    alone = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # the libraries of sanitizers
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=alone)
    seen = re.search(r'<pre id="seen">(.+?)</pre>', done.stdout)
    assert seen, done.stderr
    console = "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)
    return json.loads(unescape(seen[1])), console
