// Shown if the page cannot start.

export function Broken({ reason }: { reason: string }) {
  return (
    <main class="centred">
      <h1>Something went wrong</h1>
      <p>{reason}</p>
      <button type="button" class="button primary" onClick={() => location.reload()}>
        Try again
      </button>
    </main>
  );
}
