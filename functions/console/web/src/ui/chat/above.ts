// The space above the first row of a thread, which its list of rows must know: without it the list would
// scroll a row to beside the middle.

/** Pixels, for the line about earlier messages. */
export const ABOVE = 40;

/** The style of what is around the rows. */
export const above = { paddingTop: `${ABOVE}px` };
