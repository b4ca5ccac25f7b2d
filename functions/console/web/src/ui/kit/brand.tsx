// The logo.

export function Mark({ size = 22 }: { size?: number }) {
  return (
    <svg class="mark" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="currentColor" />
      <path
        d="M8 22c6 0 4-12 10-12 4 0 6 3 6 6s-2 6-5 6-5-2-5-5 2-9 10-9"
        fill="none"
        stroke="var(--paper)"
        stroke-width="2.6"
        stroke-linecap="round"
      />
    </svg>
  );
}
