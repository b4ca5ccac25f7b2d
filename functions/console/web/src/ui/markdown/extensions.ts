// Formulas and footnotes. Loaded with the first text that may have some.

import { blockMath, inlineMath } from './math';
import { noteDefinition, noteReference } from './notes';
import '../../styles/extensions.css';

export { followNote } from './notes';

export const extensions = [blockMath, inlineMath, noteDefinition, noteReference];
