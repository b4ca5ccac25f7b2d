// The tab "Tree": forks and rewinds over time, as a graph beside a list of its nodes.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Chat } from '../../store/chat';
import { Tree } from '../../store/tree';
import type { TreeRow } from '../../store/tree-layout';
import { useApp, useView } from '../context';
import { useShow } from '../history/address';
import { useCramped } from '../kit/hooks';
import { TreeGraph } from './tree-graph';
import { ROW, widthOf } from './tree-lines';
import { TreeRowView } from './tree-row';

export function TreePanel({ chat }: { chat: Chat }) {
  const { api, sessions } = useApp();
  const [tree, setTree] = useState<Tree | null>(null);
  useEffect(() => {
    const opened = new Tree(chat, api, sessions.peek());
    setTree(opened);
    return opened.start();
  }, [chat, api, sessions]);
  const layout = tree?.layout.value;
  const model = tree?.model.value;
  return (
    <div class="tree" data-testid="tree" aria-busy={!layout}>
      {tree?.failed.value && (
        <p class="notice" role="alert">
          {tree.failed.value}
        </p>
      )}
      {layout && model && <Shown chat={chat} tree={tree} layout={layout} model={model} />}
    </div>
  );
}

interface ShownProps {
  chat: Chat;
  tree: Tree;
  layout: NonNullable<Tree['layout']['value']>;
  model: NonNullable<Tree['model']['value']>;
}

function Shown({ chat, tree, layout, model }: ShownProps) {
  const list = useRef<HTMLOListElement>(null);
  const open = useOpen(chat, tree, model.path);
  const current = layout.rows.findIndex(({ node }) => node === model.current);
  const [picked, setPicked] = useState('');
  const tab = layout.rows.some(({ node }) => node.key === picked)
    ? picked
    : layout.rows[Math.max(0, current)]?.node.key;
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [current]);
  return (
    <div class="tree-body">
      <TreeGraph layout={layout} model={model} />
      <ol
        ref={list}
        class="tree-rows"
        aria-label="Forks and rewinds, oldest first"
        style={{ paddingInlineStart: `${widthOf(layout.columns)}px` }}
        onKeyDown={move}
      >
        {layout.rows.map((row) => (
          <TreeRowView
            key={row.node.key}
            row={row}
            height={ROW}
            current={row.node === model.current}
            path={model.path.has(row.node)}
            tab={row.node.key === tab}
            onFocus={() => setPicked(row.node.key)}
            onOpen={() => open(row)}
          />
        ))}
      </ol>
    </div>
  );
}

// Scrolls to a turn that the open session shows; opens any other in its session or in the history.
function useOpen(chat: Chat, tree: Tree, path: ReadonlySet<unknown>) {
  const { panel } = useView();
  const show = useShow();
  const cramped = useCramped();
  return ({ node, folded }: TreeRow) => {
    if (folded > 0) {
      tree.unfold(node.key);
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

function move(event: KeyboardEvent): void {
  const list = event.currentTarget as HTMLElement;
  const rows = [...list.querySelectorAll<HTMLElement>('button')];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  rows[Math.min(Math.max(0, to), rows.length - 1)]?.focus();
}
