// Types of events in words.

interface Family {
  /** The pattern for all types. */
  family: string;
  title: string;
  types: readonly string[];
}

const WORDS: Readonly<Record<string, string>> = {
  'session.created': 'A chat was created or imported',
  'session.rewound': 'A chat was rewound',
  'session.forked': 'A chat was forked from another',
  'session.deleted': 'A chat was deleted',
  'run.started': 'An answer began',
  'run.completed': 'An answer is complete',
  'run.failed': 'An answer failed',
  'run.cancelled': 'An answer was stopped',
  'task.saved': 'A task was saved',
  'feedback.created': 'Feedback was given',
  'artifact.saved': 'A version of a file was stored',
  'webhook.test': 'A test',
};

const TITLES: Readonly<Record<string, string>> = {
  'session.*': 'All about chats',
  'run.*': 'All about answers',
  'task.*': 'All about tasks',
  'feedback.*': 'All about feedback',
  'artifact.*': 'All about files',
};

/** The types that can be chosen. A family of one type is only offered as the family. */
export const FAMILIES: readonly Family[] = Object.entries(TITLES).map(([family, title]) => ({
  family,
  title,
  types: Object.keys(WORDS).filter((type) => type.startsWith(family.slice(0, -1))),
}));

/** A type or a family in words; types of a newer server as they are. */
export const eventWords = (type: string): string => WORDS[type] ?? TITLES[type] ?? type;
