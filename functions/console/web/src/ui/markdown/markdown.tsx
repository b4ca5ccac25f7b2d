// Renders Markdown by top-level blocks, and only those that changed, so that a growing answer keeps
// its beginning and the user's selection. The length of the part that may still change limits how
// often it is rendered.

import { memo } from 'preact/compat';
import { useEffect, useMemo } from 'preact/hooks';
import { CodeBlock } from './code';
import { GrowingMarkdown } from './growing';
import { usePaced } from './paced';
import { extended, extendFor, type MarkdownBlock } from './parse';
import { unfinished } from './unfinished';

const SHORT = 2000; // characters that are parsed in each frame
const SPEED = 100; // characters a millisecond, for longer parts
const LONGEST = 2000; // milliseconds

export const Markdown = memo(({ text, growing = false }: { text: string; growing?: boolean }) => {
  const all = extended.value; // what was parsed before is parsed again
  const markdown = useMemo(() => new GrowingMarkdown(), [all]);
  const shown = usePaced(text, growing, () => paceOf(markdown.open));
  useEffect(() => void extendFor(shown), [shown]);
  const blocks = useMemo(
    () => (growing ? markdown.grow(shown, unfinished) : markdown.finish(shown)),
    [markdown, shown, growing],
  );
  const open = growing ? blocks.length - 1 : -1;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the buttons of footnotes are in its HTML
    // biome-ignore lint/a11y/useKeyWithClickEvents: a key on these buttons is a click
    <div class={`markdown ${growing ? 'growing' : ''}`} onClick={followNote}>
      {blocks.map((block, i) => (
        // Blocks are only added at the end
        <BlockView key={i} block={block} growing={i === open} known={`${!growing} ${all}`} />
      ))}
    </div>
  );
});

/** Goes to a footnote whose button was clicked, and back. */
export async function followNote({ target }: MouseEvent): Promise<void> {
  const button =
    target instanceof Element && target.closest<HTMLElement>('[data-note], [data-note-of]');
  if (button) (await import('./extensions')).followNote(button);
}

const paceOf = (open: number): number => (open < SHORT ? 0 : Math.min(LONGEST, open / SPEED));

// Scrollable content must be reachable by keyboard.
const SCROLLABLE = { role: 'region', tabIndex: 0 } as const;
const LABELS: Record<string, string> = { table: 'Table', formula: 'Formula' };

interface BlockProps {
  block: MarkdownBlock;
  /** Whether the text ends with it, so far. */
  growing: boolean;
  /** Changes what the same source means: links and notes may be defined after their use. */
  known: string;
}

const BlockView = memo(
  ({ block, growing }: BlockProps) => {
    if (block.code) return <CodeBlock {...block.code} growing={growing} />;
    // Only HTML sanitised by DOMPurify.
    const html = { __html: block.html() };
    const label = LABELS[block.kind];
    const scrolls = label ? { ...SCROLLABLE, 'aria-label': label } : {};
    return (
      <div class={`block ${block.kind}`} dir="auto" {...scrolls} dangerouslySetInnerHTML={html} />
    );
  },
  (before, after) =>
    before.block.source === after.block.source &&
    before.growing === after.growing &&
    before.known === after.known,
);
