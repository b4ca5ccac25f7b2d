// Times as text.

const DAY = 86_400_000;

type Form = Intl.DateTimeFormatOptions;

const MONTH: Form = { month: 'long', year: 'numeric' };
const TIME: Form = { hour: '2-digit', minute: '2-digit' };
const DATE: Form = { ...TIME, day: 'numeric', month: 'short' };
const YEAR: Form = { ...DATE, year: 'numeric' };

// Making a formatter takes the browser some milliseconds, and a screen shows many times.
const formatters = new Map<Form, Intl.DateTimeFormat>();

function format(time: number, form: Form): string {
  const known = formatters.get(form) ?? new Intl.DateTimeFormat(undefined, form);
  formatters.set(form, known);
  return known.format(time);
}

/** The heading for a time in a list: Today, Yesterday, … */
export function dayOf(time: number, now = Date.now()): string {
  const days = Math.round((midnight(now) - midnight(time)) / DAY);
  if (days <= 0) return 'Today';
  if (days === 1) return 'Yesterday';
  if (days < 7) return 'This week';
  if (days < 31) return 'This month';
  return format(time, MONTH);
}

/** A time of day, with the date unless it is today, and the year unless it is this one. */
export function exact(time: number, now = Date.now()): string {
  if (midnight(time) === midnight(now)) return format(time, TIME);
  return format(time, yearOf(time) === yearOf(now) ? DATE : YEAR);
}

/** A duration in milliseconds as text: 340 ms, 4.2 s, 2 min 5 s. */
export function duration(time: number): string {
  if (time < 1000) return `${Math.round(time)} ms`;
  if (time < 59_950) return `${(time / 1000).toFixed(1)} s`;
  const seconds = Math.round(time / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

const midnight = (time: number): number => new Date(time).setHours(0, 0, 0, 0);
const yearOf = (time: number): number => new Date(time).getFullYear();
