// Tells what a page is made of, whatever it says. It runs in the page, so it imports nothing.

/**
 * Returns a hash for each kind of visible element at each place within others, and one for the
 * sequence of headings and landmarks. A list of three rows has the same as one of four.
 */
export function structureOf(root: Element): number[] {
  const WORDS =
    /^(aria-(label|labelledby|describedby|controls|activedescendant|valuetext)|value.*|title|alt|placeholder|href|src|id|for|name|style)$/;
  const OUTLINE = 'main, nav, aside, header, footer, dialog, [role], h1, h2, h3, h4, h5, h6';
  const hash = (text: string, from: number): number => {
    let at = from;
    for (let i = 0; i < text.length; i++) at = Math.imul(at ^ text.charCodeAt(i), 16777619);
    return at;
  };
  // Its tag, its attributes without words and numbers, and whether it has a text of its own
  const kindOf = (element: Element): string => {
    const attributes = [...element.attributes].map(({ name, value }) =>
      WORDS.test(name) || /\d/.test(value)
        ? `${name}${value === '' ? '' : '='}`
        : `${name}=${value}`,
    );
    const said = [...element.childNodes].some(
      (node) => node.nodeType === 3 && node.nodeValue?.trim(),
    );
    return `${element.tagName} ${attributes.sort().join(' ')} ${said}`;
  };
  const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
  // A theme that was chosen stands at the root
  const parts = new Set<number>();
  const outline: string[] = [`${new Set(ids).size === ids.length} ${document.title !== ''}`];
  const visit = (element: Element, place: number) => {
    if (!element.checkVisibility({ visibilityProperty: true })) return;
    const here = hash(kindOf(element), place);
    parts.add(here);
    if (element.matches(OUTLINE) && outline.at(-1) !== element.tagName)
      outline.push(element.tagName);
    for (const child of element.children) visit(child, here);
  };
  const above: Element[] = [];
  for (let at = root.parentElement; at; at = at.parentElement) above.unshift(at);
  visit(
    root,
    above.reduce((place, element) => hash(kindOf(element), place), 2166136261),
  );
  return [...parts, hash(outline.join(), 0)];
}
