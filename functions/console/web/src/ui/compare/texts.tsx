// Two texts, with the words in which they differ.

import { useMemo } from 'preact/hooks';
import { type Piece, wordsOf } from '../../store/compare/words';

interface Props {
  label: string;
  /** Null if there is none on that side. */
  left: string | null;
  right: string | null;
  code?: boolean;
}

export function Texts({ label, left, right, code = false }: Props) {
  const pieces = useMemo(
    () => (left !== null && right !== null ? wordsOf(left, right) : null),
    [left, right],
  );
  if (!left && !right) return null;
  return (
    <div class="compare-pair">
      <Text column="left" label={label} text={left} pieces={pieces} code={code} />
      <Text column="right" label={label} text={right} pieces={pieces} code={code} />
    </div>
  );
}

interface TextProps {
  column: 'left' | 'right';
  label: string;
  text: string | null;
  pieces: readonly Piece[] | null;
  code: boolean;
}

function Text({ column, label, text, pieces, code }: TextProps) {
  return (
    <section class="compare-text" data-column={column} data-code={code}>
      <h3>{label}</h3>
      <p dir="auto">
        {text === null && <i>No such turn</i>}
        {text === '' && <i>Empty</i>}
        {pieces ? pieces.map((piece, i) => <Words key={i} piece={piece} column={column} />) : text}
      </p>
    </section>
  );
}

function Words({ piece, column }: { piece: Piece; column: 'left' | 'right' }) {
  if (piece.in === 'both') return piece.text;
  if (piece.in !== column) return null;
  return column === 'left' ? <del>{piece.text}</del> : <ins>{piece.text}</ins>;
}
