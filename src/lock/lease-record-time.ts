const DAY_MS = 86_400_000;
/** Days of 400 years, after which the calendar repeats. */
const ERA_DAYS = 146_097;
/** Days from 1 March of year 0 to 1 January 1970. */
const EPOCH_DAYS = 719_468;

/**
 * A wall time, in ms since 1970, as Kubernetes writes times with microseconds. Only for people, so the last three digits are 0.
 *
 * Years are counted from March here: then the day that comes only every four years is a year's last.
 */
export function formatMicroTime(epochMs: number): string {
  const ms = Math.floor(epochMs);
  const days = Math.floor(ms / DAY_MS) + EPOCH_DAYS;
  const era = Math.floor(days / ERA_DAYS);
  const dayOfEra = days - era * ERA_DAYS;
  const leapless =
    dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor(leapless / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  // Months from March on have 153 days in five.
  const shifted = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1;
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const ofDay = ms - Math.floor(ms / DAY_MS) * DAY_MS;
  const time = [ofDay / 3_600_000, (ofDay / 60_000) % 60, (ofDay / 1000) % 60].map((part) => digits(part, 2)).join(':');
  return `${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)}T${time}.${digits(ofDay % 1000, 3)}000Z`;
}

function digits(value: number, width: number): string {
  return String(Math.floor(value)).padStart(width, '0');
}
