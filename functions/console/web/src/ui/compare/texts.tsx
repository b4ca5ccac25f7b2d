// Two texts, with the words in which they differ.

import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { type Piece, wordsOf } from '../../store/compare/words';
import { extended, extendFor } from '../markdown/parse';
import { mark, rendered } from './rendered';

type Column = 'left' | 'right';

interface Props {
  label: string;
  /** Null if there is none on that side. */
  left: string | null;
  right: string | null;
}

export function Texts({ label, left, right, code = false }: Props & { code?: boolean }) {
  const pieces = useMemo(
    () => (left !== null && right !== null ? wordsOf(left, right) : null),
    [left, right],
  );
  const shown = (column: Column, text: string) =>
    pieces ? pieces.map((piece, i) => <Words key={i} piece={piece} column={column} />) : text;
  return (
    <Pair
      {...{ label, left, right, code }}
      show={(...side) => <p dir="auto">{shown(...side)}</p>}
    />
  );
}

/** Two texts in Markdown, rendered as in the chat. */
export function MarkdownTexts({ label, left, right }: Props) {
  const all = extended.value; // what was parsed before is parsed again
  useEffect(() => void extendFor(`${left}\n${right}`), [left, right]);
  const elements = useMemo(() => {
    const both = { left: rendered(left ?? ''), right: rendered(right ?? '') };
    if (left === null || right === null) return both;
    const pieces = wordsOf(both.left.textContent ?? '', both.right.textContent ?? '');
    for (const column of ['left', 'right'] as const) mark(both[column], pieces, column);
    return both;
  }, [left, right, all]);
  return (
    <Pair {...{ label, left, right }} show={(column) => <Element element={elements[column]} />} />
  );
}

function Element({ element }: { element: HTMLElement }) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => place.current?.replaceChildren(element), [element]);
  return <div ref={place} />;
}

interface PairProps extends Props {
  code?: boolean;
  show: (column: Column, text: string) => ComponentChildren;
}

function Pair({ label, left, right, code = false, show }: PairProps) {
  if (!left && !right) return null;
  return (
    <div class="compare-pair">
      {(
        [
          ['left', left],
          ['right', right],
        ] as const
      ).map(([column, text]) => (
        <section key={column} class="compare-text" data-column={column} data-code={code}>
          <h3>{label}</h3>
          {text === null && <i>{code ? 'No such call' : 'No such turn'}</i>}
          {text === '' && <i>Empty</i>}
          {text && show(column, text)}
        </section>
      ))}
    </div>
  );
}

function Words({ piece, column }: { piece: Piece; column: Column }) {
  if (piece.in === 'both') return piece.text;
  if (piece.in !== column) return null;
  return column === 'left' ? (
    <del class="differs">{piece.text}</del>
  ) : (
    <ins class="differs">{piece.text}</ins>
  );
}
