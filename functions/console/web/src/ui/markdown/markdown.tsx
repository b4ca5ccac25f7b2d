// Renders Markdown by top-level blocks, and only those that changed, so that a growing answer keeps
// its beginning and the user's selection. The length of the part that may still change limits how
// often it is rendered.

import { memo } from 'preact/compat';
import { useMemo } from 'preact/hooks';
import { CodeBlock } from './code';
import { GrowingMarkdown } from './growing';
import { usePaced } from './paced';
import type { MarkdownBlock } from './parse';

const SHORT = 2000; // characters that are parsed in each frame
const SPEED = 100; // characters a millisecond, for longer parts
const LONGEST = 2000; // milliseconds

export const Markdown = memo(({ text, growing = false }: { text: string; growing?: boolean }) => {
  const markdown = useMemo(() => new GrowingMarkdown(), []);
  const shown = usePaced(text, growing, () => paceOf(markdown.open));
  const blocks = useMemo(
    () => (growing ? markdown.grow(shown) : markdown.finish(shown)),
    [markdown, shown, growing],
  );
  return (
    <div class={`markdown ${growing ? 'growing' : ''}`}>
      {blocks.map((block, i) => (
        // Blocks are only added at the end
        <BlockView key={i} source={block.source} block={block} />
      ))}
    </div>
  );
});

const paceOf = (open: number): number => (open < SHORT ? 0 : Math.min(LONGEST, open / SPEED));

// Scrollable content must be reachable by keyboard.
const SCROLLABLE = { role: 'region', 'aria-label': 'Table', tabIndex: 0 } as const;

interface BlockProps {
  source: string;
  block: MarkdownBlock;
}

const BlockView = memo(
  ({ block }: BlockProps) => {
    if (block.code) return <CodeBlock {...block.code} />;
    // Only HTML sanitised by DOMPurify.
    const html = { __html: block.html() };
    const scrolls = block.kind === 'table' ? SCROLLABLE : {};
    return (
      <div class={`block ${block.kind}`} dir="auto" {...scrolls} dangerouslySetInnerHTML={html} />
    );
  },
  (before, after) => before.source === after.source,
);
