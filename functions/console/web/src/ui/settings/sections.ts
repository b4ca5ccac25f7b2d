// The sections of the settings, in the order in which they are listed.

import { Activity, Database, Palette, ThumbsUp, Webhook, Workflow } from 'lucide-preact';

export const SECTIONS = [
  { id: 'appearance', title: 'Appearance', icon: Palette },
  { id: 'webhooks', title: 'Webhooks', icon: Webhook },
  { id: 'automations', title: 'Automations', icon: Workflow },
  { id: 'feedback', title: 'Feedback', icon: ThumbsUp },
  { id: 'usage', title: 'Usage', icon: Activity },
  { id: 'data', title: 'Data', icon: Database },
] as const;
