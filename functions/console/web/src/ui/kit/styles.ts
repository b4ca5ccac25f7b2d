// Style sheets of parts that are loaded later. The bundler's loader requests each of them once, so
// after a failure the part would come without its styles.

// They are taken out of the document until they are requested again.
const failed = new Set<HTMLLinkElement>();

// Such events do not bubble.
addEventListener(
  'error',
  ({ target }) => {
    if (!(target instanceof HTMLLinkElement) || target.rel !== 'stylesheet') return;
    failed.add(target);
    target.remove();
  },
  { capture: true },
);

/** Requests the style sheets that could not be loaded once more; rejects if one fails again. */
export async function reloadStyles(): Promise<void> {
  await Promise.all([...failed].map(reload));
}

function reload(link: HTMLLinkElement): Promise<void> {
  failed.delete(link);
  const again = link.cloneNode() as HTMLLinkElement;
  return new Promise((resolve, reject) => {
    again.addEventListener('load', () => resolve());
    again.addEventListener('error', () => reject(new Error(`${link.href} could not be loaded`)));
    document.head.append(again);
  });
}
