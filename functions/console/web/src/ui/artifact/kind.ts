// How a version can be shown. Content is never executed: HTML is shown as source, and SVG only as an
// image, which runs no scripts.

export type Kind = 'picture' | 'markdown' | 'json' | 'text' | 'other';

const PICTURES = /^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml)$/;
const TEXTS = /^(text\/.*|application\/([\w.-]+\+)?(xml|yaml|toml|sql|javascript|x-sh|x-ndjson))$/;

/** Whether a file is a picture, by the ending of its name. */
export const isPictureName = (name: string): boolean =>
  /\.(png|jpe?g|gif|webp|avif|bmp|svg)$/i.test(name);

export function kindOf(mime: string, name: string): Kind {
  const type = (mime.split(';')[0] ?? '').trim().toLowerCase();
  if (PICTURES.test(type)) return 'picture';
  if (type === 'text/markdown' || (type === 'text/plain' && /\.(md|markdown)$/i.test(name))) {
    return 'markdown';
  }
  if (/^application\/([\w.-]+\+)?json$/.test(type)) return 'json';
  return TEXTS.test(type) ? 'text' : 'other';
}

/** A size as text. */
export function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 100) / 10} kB`;
  if (bytes < 1_000_000_000) return `${Math.round(bytes / 100_000) / 10} MB`;
  return `${Math.round(bytes / 100_000_000) / 10} GB`;
}
