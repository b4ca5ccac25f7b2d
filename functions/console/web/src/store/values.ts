// Values of unknown shape.

export const isText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '';

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value itself if it is an object, otherwise one without members. */
export const objectOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});
