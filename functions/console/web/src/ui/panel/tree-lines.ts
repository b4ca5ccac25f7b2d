// The geometry of the tree's graph, in pixels.

import type { TreeLine } from '../../store/tree-layout';

/** The height of a row. */
export const ROW = 36;

const STEP = 14; // between columns
const MARGIN = 12; // before the first column, and after the last
const DEEPEST = 8; // columns; deeper ones share the last, so that names keep their room
const BEND = 10; // radius of a line's corner

export const widthOf = (columns: number): number =>
  2 * MARGIN + Math.min(Math.max(0, columns - 1), DEEPEST) * STEP;

export const x = (column: number): number => MARGIN + Math.min(column, DEEPEST) * STEP;
export const y = (row: number): number => (row + 0.5) * ROW;

/** Goes straight down, then changes columns. */
export function pathOf({ from, to }: TreeLine): string {
  const [x1, y1, x2, y2] = [x(from.column), y(from.row), x(to.column), y(to.row)];
  if (x1 === x2) return `M${x1} ${y1}V${y2}`;
  return `M${x1} ${y1}V${y2 - BEND}Q${x1} ${y2} ${x2} ${y2}`;
}
