// Texts of unknown direction within others.

/**
 * A text in quotes, for plain text; isolated, so that its direction does not change the order of
 * what surrounds it. Elements use <bdi>.
 */
export const quote = (text: string): string => `“\u2068${text}\u2069”`;
