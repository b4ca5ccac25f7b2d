// A value of the state; large values are folded.

const SHORT = 60; // characters shown in one line
const OPEN = 600; // characters; longer values are folded

export function StateValue({ value }: { value: unknown }) {
  const line = typeof value === 'string' ? value : JSON.stringify(value);
  if (line.length <= SHORT && !line.includes('\n')) return <code class={typeof value}>{line}</code>;
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return (
    <details class="fold" open={text.length <= OPEN}>
      <summary>
        <span>{kindOf(value)}</span>
        <code class="preview">{line.slice(0, 2 * SHORT)}</code>
      </summary>
      <pre>{text}</pre>
    </details>
  );
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return value.length === 1 ? '1 entry' : `${value.length} entries`;
  if (typeof value === 'object' && value !== null) {
    const keys = Object.keys(value).length;
    return keys === 1 ? '1 key' : `${keys} keys`;
  }
  return typeof value === 'string' ? `${value.length} characters` : typeof value;
}
