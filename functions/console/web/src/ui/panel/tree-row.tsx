// A row of the tree, as text: first the name, then what there is to know about it.

import { ChevronDown, ChevronRight, GitFork } from 'lucide-preact';
import type { TreeRow } from '../../store/tree-layout';
import type { TreeNode } from '../../store/tree-model';
import { exact } from '../kit/time';

interface Props {
  row: TreeRow;
  height: number;
  /** Room for the graph before the text, in pixels. */
  indent: number;
  current: boolean;
  /** Whether the open session shows it. */
  path: boolean;
  /** The newest question of its session, in the wide view; '' for none. */
  newest: string;
  /** Whether the Tab key focuses it; arrow keys focus the others. */
  tab: boolean;
  onFocus: () => void;
  onOpen: () => void;
  onToggle: () => void;
}

export function TreeRowView(props: Props) {
  const { row, height, indent, current, path, newest, tab, onFocus, onOpen, onToggle } = props;
  const { node, kind, open, folded } = row;
  const single = kind === 'node';
  const text = textOf(row);
  const faded = single && node.kind === 'turn' && !node.shown;
  const forks = single && node.kind === 'session' && node.parent;
  return (
    <li style={{ height: `${height}px`, paddingInlineStart: `${indent}px` }}>
      <button
        type="button"
        class="tree-row"
        data-kind={single ? node.kind : 'fold'}
        data-shown={!faded}
        data-path={path}
        aria-current={current ? 'location' : undefined}
        aria-disabled={(single && node.deleted) || undefined}
        tabIndex={tab ? 0 : -1}
        title={text}
        onFocus={onFocus}
        onClick={onOpen}
      >
        {forks && <GitFork size={14} aria-label="Fork:" />}
        <span class="tree-text" dir="auto">
          {text}
        </span>
        {faded && <span class="hidden">(rewound)</span>}
        {current && <span class="badge">you are here</span>}
        {newest && (
          <span class="tree-newest" dir="auto">
            {newest}
          </span>
        )}
        {single && <time dateTime={new Date(node.time).toISOString()}>{exact(node.time)}</time>}
      </button>
      {open !== null && (
        <button
          type="button"
          class="tree-toggle"
          aria-expanded={open}
          aria-label={open ? `Fold ${text}` : `Unfold ${text}: ${turns(folded)}`}
          title={open ? 'Fold' : turns(folded)}
          tabIndex={tab ? 0 : -1}
          onClick={onToggle}
        >
          {open ? <ChevronDown size={15} aria-hidden="true" /> : folded}
          {!open && <ChevronRight size={15} aria-hidden="true" />}
        </button>
      )}
    </li>
  );
}

const turns = (count: number): string => (count === 1 ? '1 turn' : `${count} turns`);

function textOf({ kind, folded, node }: TreeRow): string {
  if (kind === 'run') return `${folded} more`;
  if (kind === 'more') return `${folded} older branches`;
  return nameOf(node);
}

function nameOf({ kind, label, deleted, undoes, returns, invocation }: TreeNode): string {
  switch (kind) {
    case 'session':
      return deleted ? 'Deleted chat' : label || 'Untitled';
    case 'turn':
      return label || 'No text';
    case 'rewind':
      if (undoes) return 'Rewind undone';
      if (invocation.startsWith('discard-')) return 'Asked again';
      return `${returns ? 'Returned' : 'Rewound'}${label && ` to before “${label}”`}`;
  }
}
