// In place of rows that are being loaded, for longer than a moment.

export function Skeleton({ class: name, rows }: { class: string; rows: number }) {
  return (
    <div class={`skeleton ${name}`} aria-hidden="true" data-testid="skeleton">
      {Array.from({ length: rows }, (_, i) => (
        <i key={i} />
      ))}
    </div>
  );
}
