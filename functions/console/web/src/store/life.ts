// How long a share lasts.

/** What can be chosen, with the seconds it stands for; null is without an end. */
export const LIVES = {
  never: null,
  hour: 3600,
  day: 86_400,
  week: 7 * 86_400,
  month: 30 * 86_400,
} as const;

export type Life = keyof typeof LIVES | 'date';

const LONGEST = 315_360_000; // seconds, the API's limit

/**
 * The seconds that a share lasts, null if it has no end.
 * @param date the last day, as 2026-11-25, if the choice is a date; the share ends with that day
 * @throws RangeError if that day is over, or too far away
 */
export function secondsOf(life: Life, date: string, now = Date.now()): number | null {
  if (life !== 'date') return LIVES[life];
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number);
  const end = new Date(year, month - 1, day + 1).getTime(); // in the time of this place
  const seconds = Math.floor((end - now) / 1000);
  if (!(seconds > 0)) throw new RangeError('Choose a day that is not over.');
  if (seconds > LONGEST) throw new RangeError('Choose a day within the next ten years.');
  return seconds;
}

/** The day of a time, as a date field has it. */
export function dayIn(time: number): string {
  const day = new Date(time);
  const two = (part: number) => String(part).padStart(2, '0');
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}
