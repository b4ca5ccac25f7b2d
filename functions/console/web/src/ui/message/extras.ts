// What stands below a message's text, and at the end of a turn. A feature adds its component here;
// each decides from the message and its turn whether it has something to show.

import type { ComponentType } from 'preact';
import { ArtifactChips } from '../artifact/chips';
import { Feedback } from '../feedback/feedback';
import { Changes } from './changes';
import type { MessageProps } from './message';

/** Below the text of each message. */
export const extras: readonly ComponentType<MessageProps>[] = [Changes, ArtifactChips];

/** Before the buttons of a turn's last message, once the turn is over. */
export const footers: readonly ComponentType<MessageProps>[] = [Feedback];
