// Commands that show what the demo agent of a local system can do.

import {
  Brain,
  CircleHelp,
  Database,
  type LucideIcon,
  TextQuote,
  TriangleAlert,
  Wrench,
} from 'lucide-preact';

export const suggestions: readonly { icon: LucideIcon; title: string; text: string }[] = [
  { icon: CircleHelp, title: 'See what the demo agent knows', text: '/help' },
  { icon: TextQuote, title: 'Watch a long answer arrive', text: '/long 300' },
  { icon: Brain, title: 'Let it think first', text: '/think the thread of Ariadne' },
  { icon: Wrench, title: 'Let it call a tool', text: '/tool weather in Lisbon' },
  {
    icon: Database,
    title: 'Let it remember something',
    text: '/state city=Lisbon user:language=en',
  },
  { icon: TriangleAlert, title: 'See what a failure looks like', text: '/fail' },
];
