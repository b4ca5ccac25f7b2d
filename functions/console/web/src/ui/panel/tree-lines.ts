// The geometry of the tree's graph, in pixels.

import type { TreeLine } from '../../store/tree-layout';

/** The height of a row. */
export const ROW = 36;

const STEP = 16; // between columns
const MARGIN = 14; // before the first column, and after the last
const BEND = ROW * 0.8; // vertical distance in which a line changes columns

export const widthOf = (columns: number): number => 2 * MARGIN + Math.max(0, columns - 1) * STEP;

export const x = (column: number): number => MARGIN + column * STEP;
export const y = (row: number): number => (row + 0.5) * ROW;

/** Changes columns first, then goes straight down. */
export function pathOf({ from, to }: TreeLine): string {
  const [x1, y1, x2, y2] = [x(from.column), y(from.row), x(to.column), y(to.row)];
  if (x1 === x2) return `M${x1} ${y1}V${y2}`;
  const bend = Math.min(BEND, y2 - y1);
  const middle = y1 + bend / 2;
  return `M${x1} ${y1}C${x1} ${middle} ${x2} ${middle} ${x2} ${y1 + bend}V${y2}`;
}
