// Text in Markdown. It is cut into its top-level blocks, and only those that changed are drawn
// anew: an answer that grows keeps its beginning, and what is selected in it. It is drawn as often
// as the length of what may still change allows.

import { memo } from 'preact/compat';
import { useMemo } from 'preact/hooks';
import { CodeBlock } from './code';
import { GrowingMarkdown } from './growing';
import { usePaced } from './paced';
import type { MarkdownBlock } from './parse';

const SHORT = 2000; // characters that are parsed in each frame
const SPEED = 100; // characters a millisecond that others may take
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
        // Blocks only ever follow
        <BlockView key={i} source={block.source} block={block} />
      ))}
    </div>
  );
});

const paceOf = (open: number): number => (open < SHORT ? 0 : Math.min(LONGEST, open / SPEED));

interface BlockProps {
  source: string;
  block: MarkdownBlock;
}

const BlockView = memo(
  ({ block }: BlockProps) => {
    if (block.code) return <CodeBlock {...block.code} />;
    // What DOMPurify has cleaned, and nothing else.
    return <div class={`block ${block.kind}`} dangerouslySetInnerHTML={{ __html: block.html() }} />;
  },
  (before, after) => before.source === after.source,
);
