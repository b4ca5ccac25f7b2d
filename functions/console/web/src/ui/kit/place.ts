// Positions a popover below the element that opened it, or above if there is no room.

const GAP = 4;
const EDGE = 8;

export function place(popover: HTMLElement, anchor: HTMLElement): void {
  const at = anchor.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = popover;
  const below = at.bottom + GAP;
  const fits = below + height <= innerHeight - EDGE;
  const top = fits ? below : at.top - GAP - height;
  const left = at.left + width <= innerWidth - EDGE ? at.left : at.right - width;
  popover.style.top = `${Math.max(EDGE, top)}px`;
  popover.style.left = `${Math.min(Math.max(EDGE, left), innerWidth - width - EDGE)}px`;
}
