// The tab "Tree": forks and rewinds as a graph beside a list of names, also in a wide view of its own.

import { Columns2, Maximize2, X } from 'lucide-preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Chat } from '../../store/chat';
import { Tree } from '../../store/tree';
import type { TreeModel } from '../../store/tree-model';
import { comparePath } from '../compare/address';
import { useApp } from '../context';
import { IconButton } from '../kit/icon-button';
import { TreeList } from './tree-list';

export function TreePanel({ chat }: { chat: Chat }) {
  const { api, sessions } = useApp();
  const [tree, setTree] = useState<Tree | null>(null);
  const [wide, setWide] = useState(false);
  useEffect(() => {
    const opened = new Tree(chat, api, sessions.peek());
    setTree(opened);
    return opened.start();
  }, [chat, api, sessions]);
  const layout = tree?.layout.value;
  const model = tree?.model.value;
  const failed = tree?.failed.value;
  return (
    <div class="tree" data-testid="tree" aria-busy={!layout}>
      {failed && (
        <p class="notice" role="alert">
          {failed}
        </p>
      )}
      {tree && !layout && !failed && <Loading tree={tree} />}
      {layout && model && (
        <>
          <div class="tree-head">
            <Compare open={chat.id} model={model} />
            <button type="button" class="button small quiet wide" onClick={() => setWide(true)}>
              <Maximize2 size={14} aria-hidden="true" />
              Wide view
            </button>
          </div>
          <TreeList chat={chat} tree={tree} layout={layout} model={model} />
        </>
      )}
      {wide && tree && <Wide chat={chat} tree={tree} close={() => setWide(false)} />}
    </div>
  );
}

// The open chat beside the newest of its other branches; others can be chosen there.
function Compare({ open, model }: { open: string; model: TreeModel }) {
  const others = model.nodes.filter(
    ({ kind, session, deleted }) =>
      kind === 'rewind' || (kind === 'session' && session !== open && !deleted),
  );
  const newest = others.toSorted((a, b) => a.time - b.time).at(-1);
  if (!newest) return null;
  const { session, invocation: before } = newest;
  return (
    <Link
      href={comparePath({ session: open, before: '' }, { session, before })}
      class="button small quiet"
    >
      <Columns2 size={14} aria-hidden="true" />
      Compare branches
    </Link>
  );
}

function Loading({ tree }: { tree: Tree }) {
  const { read, all } = tree.progress.value;
  return (
    <p class="hint" role="status">
      Loading the tree…{all > 1 && ` ${read} of ${all} chats`}
    </p>
  );
}

function Wide({ chat, tree, close }: { chat: Chat; tree: Tree; close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [open, setOpen] = useState(false); // the rows scroll to the current one once they are visible
  useEffect(() => {
    dialog.current?.showModal();
    setOpen(true);
  }, []);
  const layout = tree.layout.value;
  const model = tree.model.value;
  return (
    <dialog
      ref={dialog}
      class="tree-wide"
      aria-labelledby="tree-title"
      onClose={close}
      closedby="any"
    >
      <header class="bar">
        <h2 id="tree-title" dir="auto" title={model?.nodes[0]?.label}>
          {model?.nodes[0]?.label || 'Tree'}
        </h2>
        <IconButton icon={X} label="Close the tree" onClick={() => dialog.current?.close()} />
      </header>
      <div class="tree-scroll">
        {open && layout && model && (
          <TreeList
            chat={chat}
            tree={tree}
            layout={layout}
            model={model}
            leave={() => dialog.current?.close()}
          />
        )}
      </div>
    </dialog>
  );
}
