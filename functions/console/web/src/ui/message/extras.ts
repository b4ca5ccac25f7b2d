// Components below a message's text. A feature adds its component here, which decides from the message
// and its turn whether to show anything.

import type { ComponentType } from 'preact';
import { ArtifactChips } from '../artifact/chips';
import { Questions } from '../questions/questions';
import { Changes } from './changes';
import type { MessageProps } from './props';

/** Below the text of each message. */
export const extras: readonly ComponentType<MessageProps>[] = [Questions, Changes, ArtifactChips];
