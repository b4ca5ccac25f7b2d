// The rows of the tree beside its graph.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Chat } from '../../store/chat';
import type { Tree } from '../../store/tree';
import { moreKey, type TreeRow } from '../../store/tree-layout';
import { newestTurns } from '../../store/tree-model';
import { useView } from '../context';
import { useShow } from '../history/address';
import { useCramped } from '../kit/hooks';
import { TreeGraph } from './tree-graph';
import { ROW, widthOf } from './tree-lines';
import { TreeRowView } from './tree-row';

interface Props {
  chat: Chat;
  tree: Tree;
  layout: NonNullable<Tree['layout']['value']>;
  model: NonNullable<Tree['model']['value']>;
  /** Called before another place is opened, in the wide view. */
  leave?: () => void;
}

export function TreeList({ chat, tree, layout, model, leave }: Props) {
  const list = useRef<HTMLOListElement>(null);
  const open = useOpen(chat, tree, model.path);
  const isCurrent = ({ node, kind }: TreeRow) => kind === 'node' && node === model.current;
  const current = layout.rows.findIndex(isCurrent);
  const [picked, setPicked] = useState('');
  const tab = layout.rows.some((row) => keyOf(row) === picked)
    ? picked
    : keyOf(layout.rows[Math.max(0, current)]);
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [current]);
  const newest = leave && newestTurns(model);
  return (
    <div class="tree-body">
      <TreeGraph layout={layout} model={model} />
      <ol
        ref={list}
        class="tree-rows"
        aria-label="Forks and rewinds, oldest first"
        onKeyDown={move}
      >
        {layout.rows.map((row) => {
          const { node, kind, column } = row;
          const key = keyOf(row);
          const session = kind === 'node' && node.kind === 'session';
          return (
            <TreeRowView
              key={key}
              row={row}
              height={ROW}
              indent={widthOf(column + 1)}
              current={isCurrent(row)}
              path={kind !== 'more' && model.path.has(node)}
              newest={(session && newest?.get(node.session)?.label) || ''}
              tab={key === tab}
              onFocus={() => setPicked(key)}
              onOpen={() => {
                if (kind === 'node' && !node.deleted) leave?.();
                open(row);
              }}
              onToggle={() => tree.toggle(node.key)}
            />
          );
        })}
      </ol>
    </div>
  );
}

const keyOf = (row: TreeRow | undefined): string => {
  if (!row) return '';
  return row.kind === 'more' ? moreKey(row.node) : row.node.key;
};

// Scrolls to a turn that the open session shows; opens any other in its session or in the history.
function useOpen(chat: Chat, tree: Tree, path: ReadonlySet<unknown>) {
  const { panel } = useView();
  const show = useShow();
  const cramped = useCramped();
  return (row: TreeRow) => {
    const { node, kind: folds } = row;
    if (folds !== 'node') {
      tree.toggle(keyOf(row));
      return;
    }
    if (node.deleted) return;
    if (cramped) panel.value = '';
    const { kind, session, invocation: at, shown } = node;
    if (kind === 'session') show(session);
    else if (path.has(node)) show(chat.id, { at });
    else show(session, { at, history: !shown });
  };
}

// Arrow keys move; to the right and to the left they unfold and fold a branch.
function move(event: KeyboardEvent): void {
  const list = event.currentTarget as HTMLElement;
  const rows = [...list.querySelectorAll<HTMLElement>('.tree-row')];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const unfolded = { ArrowRight: 'false', ArrowLeft: 'true' }[event.key];
  if (unfolded !== undefined) {
    const toggle = rows[at]?.nextElementSibling as HTMLElement | null | undefined;
    if (toggle?.ariaExpanded === unfolded) toggle.click();
    return;
  }
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  rows[Math.min(Math.max(0, to), rows.length - 1)]?.focus();
}
