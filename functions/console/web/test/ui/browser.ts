// What the page uses of a browser and jsdom lacks: modal dialogs, popovers, and observers of a layout
// that is not there. Tests of layout, scrolling and focus belong into infra/test/browser.

import { vi } from 'vitest';

/** Adds it to the document's classes, and until the stubs are removed to the globals. */
export function equip({ narrow = false } = {}): void {
  Object.assign(HTMLDialogElement.prototype, { showModal, close });
  Object.assign(HTMLElement.prototype, { showPopover, hidePopover });
  Object.assign(Element.prototype, {
    scrollTo: () => {},
    scrollBy: () => {},
    scrollIntoView: () => {},
    checkVisibility: () => true,
    matches: matchesShown,
  });
  Object.defineProperty(Document.prototype, 'querySelector', { value: findShown, writable: true });
  vi.stubGlobal('matchMedia', (query: string) => {
    const matches = query.includes('reduced-motion') || narrow;
    return Object.assign(new EventTarget(), { matches });
  });
  vi.stubGlobal('requestIdleCallback', () => 0); // nothing is loaded ahead
  vi.stubGlobal('IntersectionObserver', Blind);
  for (const window of [globalThis, document.defaultView]) {
    Object.assign(window ?? {}, { ResizeObserver: Measured });
  }
  Object.defineProperty(HTMLElement.prototype, 'offsetParent', {
    get: () => document.body,
    configurable: true,
  });
  document.addEventListener('keydown', closeOnEscape);
}

// Says once that an element has a size: rows of a list are hidden until they are measured.
class Measured {
  readonly #tell: ResizeObserverCallback;

  constructor(tell: ResizeObserverCallback) {
    this.#tell = tell;
  }

  observe(target: Element) {
    const contentRect = { width: 800, height: 40 } as DOMRectReadOnly;
    const entry = { target, contentRect } as ResizeObserverEntry;
    queueMicrotask(() => this.#tell([entry], this as unknown as ResizeObserver));
  }
  unobserve() {}
  disconnect() {}
}

class Blind {
  observe() {}
  unobserve() {}
  disconnect() {}
}

const before = new WeakMap<Element, Element | null>();
const FOCUSABLE = '[autofocus], button, input, select, textarea, a[href]';

function showModal(this: HTMLDialogElement): void {
  before.set(this, document.activeElement);
  this.open = true;
  this.dataset.modal = '';
  (this.querySelector<HTMLElement>(FOCUSABLE) ?? this).focus();
}

function close(this: HTMLDialogElement): void {
  if (!this.open) return;
  this.open = false;
  delete this.dataset.modal;
  const opener = before.get(this);
  if (opener instanceof HTMLElement) opener.focus();
  queueMicrotask(() => this.dispatchEvent(new Event('close')));
}

function showPopover(this: HTMLElement): void {
  this.dataset.popoverOpen = '';
}

function hidePopover(this: HTMLElement): void {
  delete this.dataset.popoverOpen;
}

function closeOnEscape(event: KeyboardEvent): void {
  if (event.key !== 'Escape' || event.defaultPrevented) return;
  [...document.querySelectorAll<HTMLDialogElement>('dialog[data-modal]')].at(-1)?.close();
}

// The states that selectors of jsdom lack
const known = (selector: string): string =>
  selector.replaceAll(':popover-open', '[data-popover-open]').replaceAll(':modal', '[data-modal]');

const { matches } = Element.prototype;
function matchesShown(this: Element, selector: string): boolean {
  return matches.call(this, known(selector));
}

const { querySelector } = Document.prototype;
function findShown(this: Document, selector: string): Element | null {
  return querySelector.call(this, known(selector));
}
