// The frame of a page of the settings: its heading, the way back, and its actions.

import { ChevronLeft } from 'lucide-preact';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { useTitle } from '../kit/hooks';

interface Props {
  title: string;
  /** The page above this one. */
  back?: { href: string; label: string };
  actions?: ComponentChildren;
  children: ComponentChildren;
}

export function Section({ title, back, actions, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useTitle(`${title} · Settings`);
  useEffect(() => {
    // The link that led here has gone: readers of screens go on at the heading
    if (document.activeElement === document.body) heading.current?.focus();
  }, []);
  return (
    <section class="settings-section">
      {back && (
        <Link href={back.href} class="back">
          <ChevronLeft size={16} aria-hidden="true" />
          {back.label}
        </Link>
      )}
      <div class="settings-head">
        <h2 ref={heading} tabIndex={-1} dir="auto">
          {title}
        </h2>
        {actions}
      </div>
      {children}
    </section>
  );
}
