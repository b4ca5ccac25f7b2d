// The tabs of the side panel. A feature adds its own here; without tabs there is no panel.

import { Database, Files, GitBranch, type LucideIcon } from 'lucide-preact';
import type { ComponentType } from 'preact';
import type { Chat } from '../../store/chat';
import { ArtifactsPanel } from './artifacts';
import { StatePanel } from './state';
import { TreePanel } from './tree';

export interface PanelTab {
  id: string;
  label: string;
  icon: LucideIcon;
  view: ComponentType<{ chat: Chat }>;
}

export const panelTabs: readonly PanelTab[] = [
  { id: 'state', label: 'State', icon: Database, view: StatePanel },
  { id: 'artifacts', label: 'Artifacts', icon: Files, view: ArtifactsPanel },
  { id: 'tree', label: 'Tree', icon: GitBranch, view: TreePanel },
];
