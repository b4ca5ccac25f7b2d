// Finds what is wrong with what can be seen of an element. It runs in the page, so it imports nothing.

/** Returns a line for each fault. */
export function findFaults(root: Element): string[] {
  const scrolls = (value: string) => value === 'auto' || value === 'scroll';
  const nameOf = (element: Element) =>
    `<${element.tagName.toLowerCase()} class="${element.getAttribute('class') ?? ''}"> ${(element.textContent ?? '').trim().slice(0, 60)}`;
  const shown = (element: Element) => element.checkVisibility({ visibilityProperty: true });
  const upFrom = (element: Element): Element[] => {
    const all: Element[] = [];
    for (let at = element.parentElement; at; at = at.parentElement) all.push(at);
    return all;
  };

  // Beyond an edge of the screen, unless it can be scrolled into view
  const outside = (element: Element): boolean => {
    const { left, right, width } = element.getBoundingClientRect();
    if (width === 0 || (left >= -1 && right <= innerWidth + 1)) return false;
    return !upFrom(element).some((one) => getComputedStyle(one).overflowX !== 'visible');
  };

  // Text that is cut, unless its whole is said in another place: in a title, or behind a link or a button
  const cut = (element: Element): boolean => {
    if (![...element.childNodes].some((n) => n.nodeType === 3 && n.textContent?.trim()))
      return false;
    const clip = [element, ...upFrom(element)].find((one) => {
      const { overflowX, overflowY, display } = getComputedStyle(one);
      return display !== 'inline' && (overflowX !== 'visible' || overflowY !== 'visible');
    });
    if (!clip || !root.contains(clip) || element.closest('.hidden, math')) return false;
    const { overflowX, overflowY, clipPath } = getComputedStyle(clip);
    if (clipPath !== 'none') return false;
    const wide = !scrolls(overflowX) && clip.scrollWidth > clip.clientWidth + 1;
    const high = !scrolls(overflowY) && clip.scrollHeight > clip.clientHeight + 3;
    return (wide || high) && !element.closest('[title], a, button, option, summary');
  };

  // A control whose middle something else receives the clicks of
  const covered = (element: Element): boolean => {
    const { left, top, width, height } = element.getBoundingClientRect();
    const [x, y] = [left + width / 2, top + height / 2];
    if (width < 2 || height < 2 || x < 0 || y < 0 || x > innerWidth || y > innerHeight)
      return false;
    const inView = upFrom(element).every((one) => {
      const { overflowX, overflowY } = getComputedStyle(one);
      const box = one.getBoundingClientRect();
      const inX = overflowX === 'visible' || (x >= box.left && x <= box.right);
      return inX && (overflowY === 'visible' || (y >= box.top && y <= box.bottom));
    });
    if (!inView || getComputedStyle(element).pointerEvents === 'none') return false;
    const hit = document.elementFromPoint(x, y);
    const label = element.closest('label');
    return !(hit && (element.contains(hit) || hit.contains(element) || label?.contains(hit)));
  };

  const CONTROLS = 'a[href], button:not(:disabled), input, select, textarea, summary, [role=tab]';
  const faults: string[] = [];
  for (const element of [root, ...root.querySelectorAll('*')]) {
    if (!shown(element)) continue;
    if (outside(element)) faults.push(`outside: ${nameOf(element)}`);
    if (cut(element)) faults.push(`cut: ${nameOf(element)}`);
    if (element.matches(CONTROLS) && covered(element)) faults.push(`covered: ${nameOf(element)}`);
  }
  return faults;
}
