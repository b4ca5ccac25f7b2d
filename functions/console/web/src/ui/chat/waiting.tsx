// Shown until the agent's first output.

export function Waiting() {
  return (
    <p class="waiting" data-testid="waiting">
      <span class="hidden">The agent is working</span>
      <i />
      <i />
      <i />
    </p>
  );
}
