// The keys of the list of sessions.

import type { Unfolded } from '../../store/unfolded';

/** Arrow keys move between the rows; those to the sides fold and unfold forks. */
export function moveInList(event: KeyboardEvent, unfolded: Unfolded): void {
  const nav = event.currentTarget as HTMLElement;
  const here = (event.target as HTMLElement).closest<HTMLElement>('a[data-session]');
  if (!here || event.altKey || event.ctrlKey || event.metaKey) return;
  const rows = [...nav.querySelectorAll<HTMLElement>('a[data-session]')];
  const at = rows.indexOf(here);
  const id = here.dataset.session ?? '';
  const forks = here.parentElement?.querySelector('[data-forks]');
  const open = forks?.getAttribute('aria-expanded') === 'true';
  const level = (row: HTMLElement | undefined) =>
    Number(row?.parentElement?.getAttribute('aria-level') ?? 0);
  const go = (to: number) => rows[Math.max(0, Math.min(to, rows.length - 1))]?.focus();
  const keys: Record<string, () => unknown> = {
    ArrowDown: () => go(at + 1),
    ArrowUp: () => go(at - 1),
    Home: () => go(0),
    End: () => go(rows.length - 1),
    ArrowRight: () => forks && (open ? go(at + 1) : unfolded.set(id, true)),
    ArrowLeft: () => {
      if (open) unfolded.set(id, false);
      else go(rows.findLastIndex((row, i) => i < at && level(row) < level(here)));
    },
  };
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}
