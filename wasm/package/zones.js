// Times with the name of a zone: the module knows no zones, but whoever runs it does.

const DAY = 86_400_000;
const NAMED = /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?([Zz]|[+-]\d\d(?::?\d\d)?)?\[!?([A-Za-z][^\]=]*)\](?:\[[a-z-]+=[^\]]*\])*$/;

/** A time with the name of a zone as one with its offset there. Other texts, and times that the zone does not have, stay as they are. */
export function withOffset(text) {
  const [, date, time = "00:00", offset, zone] = NAMED.exec(text) ?? [];
  const local = Date.parse(`${date}T${time}Z`);
  if (Number.isNaN(local) || !new Date(local).toISOString().startsWith(date)) return text;
  try {
    const instant = offset === undefined ? instantOf(local, zone) : local - milliseconds(offset);
    const there = offsetAt(instant, zone);
    const isMeant = offset === undefined || /z/i.test(offset) || milliseconds(there) === milliseconds(offset);
    return isMeant ? new Date(instant + milliseconds(there)).toISOString().slice(0, -1) + there : text;
  } catch (error) {
    // Nobody knows the zone.
    if (error instanceof RangeError) return text;
    throw error;
  }
}

/** The instant of a time that clocks show in a zone: the first, if they show it twice; if they leave it out, what they would show without that. */
function instantOf(local, zone) {
  const [before, after] = [-DAY, DAY].map((near) => local - milliseconds(offsetAt(local + near, zone)));
  const shows = (instant) => instant + milliseconds(offsetAt(instant, zone)) === local;
  return !shows(before) && shows(after) ? after : before;
}

/** The offset of a zone at an instant, such as `+01:00`. */
function offsetAt(instant, zone) {
  const format = new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "longOffset" });
  const { value } = format.formatToParts(instant).find(({ type }) => type === "timeZoneName");
  return value.slice("GMT".length) || "+00:00";
}

/** An offset in milliseconds. */
function milliseconds(offset) {
  const [hours = 0, minutes = 0, seconds = 0] = offset.match(/\d\d/g)?.map(Number) ?? [];
  return (offset.startsWith("-") ? -1 : 1) * ((hours * 60 + minutes) * 60 + seconds) * 1_000;
}
