/* Shows how long ago a time was: <time datetime="2026-03-02T06:05:00Z">2026-03-02 06:05 UTC</time>. The time itself
   becomes the title. Without this script, and if the clock of this machine is behind, the time stays as it is. */
const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60]];
const words = new Intl.RelativeTimeFormat("en");
const times = [...document.querySelectorAll("main time[datetime]")];

function show() {
  for (const time of times) {
    const seconds = (Date.now() - Date.parse(time.dateTime)) / 1000;
    if (!(seconds >= 0)) continue;
    const [unit, length] = UNITS.find(([, length]) => seconds >= length) ?? [];
    time.title ||= time.textContent;
    time.textContent = unit ? words.format(-Math.floor(seconds / length), unit) : "less than a minute ago";
  }
}

show();
setInterval(show, 30_000);
