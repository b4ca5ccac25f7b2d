// The tabs of the side panel. A feature adds its own here; without tabs there is no panel.

import { Activity, Database, Files, GitBranch, ListTree, type LucideIcon } from 'lucide-preact';
import type { Chat } from '../../store/chat';
import { type Lazy, lazy } from '../kit/lazy';

export interface PanelTab {
  id: string;
  label: string;
  icon: LucideIcon;
  view: Lazy<{ chat: Chat }>;
}

const State = lazy(() => import('./state').then((m) => m.StatePanel));
const Artifacts = lazy(() => import('./artifacts').then((m) => m.ArtifactsPanel));
const Outline = lazy(() => import('./outline').then((m) => m.OutlinePanel));
const Tree = lazy(() => import('./tree').then((m) => m.TreePanel));
const Turns = lazy(() => import('../developer/panel').then((m) => m.TurnsPanel));

export const panelTabs: readonly PanelTab[] = [
  { id: 'state', label: 'State', icon: Database, view: State },
  { id: 'artifacts', label: 'Artifacts', icon: Files, view: Artifacts },
  { id: 'tree', label: 'Tree', icon: GitBranch, view: Tree },
  { id: 'outline', label: 'Outline', icon: ListTree, view: Outline },
  { id: 'turns', label: 'Turns', icon: Activity, view: Turns },
];
