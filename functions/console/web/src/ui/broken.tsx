// What is shown where the page cannot even begin.

export function Broken({ reason }: { reason: string }) {
  return (
    <main class="centred">
      <h1>This does not work right now</h1>
      <p>{reason}</p>
      <button type="button" class="button primary" onClick={() => location.reload()}>
        Try again
      </button>
    </main>
  );
}
