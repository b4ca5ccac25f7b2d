// A row of the tree, as text.

import type { TreeRow } from '../../store/tree-layout';
import type { TreeNode } from '../../store/tree-model';
import { exact } from '../kit/time';

interface Props {
  row: TreeRow;
  height: number;
  current: boolean;
  /** Whether the open session shows it. */
  path: boolean;
  /** Whether the Tab key focuses it; arrow keys focus the others. */
  tab: boolean;
  onFocus: () => void;
  onOpen: () => void;
}

export function TreeRowView({ row, height, current, path, tab, onFocus, onOpen }: Props) {
  const { node, folded } = row;
  const { kind, shown, time } = node;
  const text = folded > 0 ? `${folded} more` : textOf(node);
  const faded = kind === 'turn' && !shown;
  return (
    <li style={{ height: `${height}px` }}>
      <button
        type="button"
        class="tree-row"
        data-kind={folded > 0 ? 'fold' : kind}
        data-shown={!faded}
        data-path={path}
        aria-current={current ? 'location' : undefined}
        aria-disabled={node.deleted || undefined}
        tabIndex={tab ? 0 : -1}
        title={text}
        onFocus={onFocus}
        onClick={onOpen}
      >
        <span class="tree-text">{text}</span>
        {faded && <span class="hidden">(rewound)</span>}
        {current && <span class="badge">you are here</span>}
        {folded === 0 && <time dateTime={new Date(time).toISOString()}>{exact(time)}</time>}
      </button>
    </li>
  );
}

function textOf({ kind, label, deleted, undoes, returns, parent, invocation }: TreeNode): string {
  switch (kind) {
    case 'session':
      if (deleted) return 'Deleted session';
      return `${parent ? 'Fork: ' : ''}${label || 'Untitled'}`;
    case 'turn':
      return label || 'No text';
    case 'rewind':
      if (undoes) return 'Rewind undone';
      if (invocation.startsWith('discard-')) return 'Asked again';
      return `${returns ? 'Returned' : 'Rewound'}${label && ` to before “${label}”`}`;
  }
}
