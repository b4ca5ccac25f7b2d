// The graph of the tree. The list beside it has the same information as text.

import type { TreeLayout, TreeLine, TreeRow } from '../../store/tree-layout';
import type { TreeModel } from '../../store/tree-model';
import { pathOf, ROW, widthOf, x, y } from './tree-lines';

interface Props {
  layout: TreeLayout;
  model: TreeModel;
}

export function TreeGraph({ layout, model }: Props) {
  const { rows, lines, columns } = layout;
  return (
    <svg
      class="tree-graph"
      width={widthOf(columns)}
      height={rows.length * ROW}
      aria-hidden="true"
      data-testid="tree-graph"
    >
      {lines.toSorted(ownLast).map((line) => (
        <path key={keyOf(line)} class="line" d={pathOf(line)} {...marks(line)} />
      ))}
      {rows.map((row, i) => (
        <Dot key={i} row={row} i={i} model={model} />
      ))}
    </svg>
  );
}

function Dot({
  row: { node, column, kind },
  i,
  model,
}: {
  row: TreeRow;
  i: number;
  model: TreeModel;
}) {
  const at = { cx: x(column), cy: y(i) };
  const data = {
    'data-kind': node.kind,
    'data-shown': node.shown,
    'data-path': kind !== 'more' && model.path.has(node),
  };
  if (kind !== 'node') {
    return (
      <g class="dot-fold" {...data}>
        <rect x={at.cx - 4} y={at.cy - 11} width="8" height="22" />
        {[-7, 0, 7].map((dy) => (
          <circle key={dy} cx={at.cx} cy={at.cy + dy} r="2" />
        ))}
      </g>
    );
  }
  if (node.kind === 'session') {
    return (
      <rect class="tree-dot" {...data} x={at.cx - 5} y={at.cy - 5} width="10" height="10" rx="3" />
    );
  }
  return (
    <>
      {node === model.current && <circle class="tree-here" {...at} r="8.5" />}
      <circle class="tree-dot" {...data} {...at} r={node.kind === 'turn' ? 4.5 : 3.5} />
    </>
  );
}

const marks = ({ kind, shown, path }: TreeLine) => ({
  'data-kind': kind,
  'data-shown': shown,
  'data-path': path,
});

// Lines of the open session are drawn on top.
const ownLast = (a: TreeLine, b: TreeLine): number => Number(a.path) - Number(b.path);

const keyOf = ({ kind, from, to }: TreeLine): string =>
  `${kind} ${from.row} ${from.column} ${to.row} ${to.column}`;
