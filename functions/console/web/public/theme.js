// Runs before the first paint, so that a chosen theme does not flash in the other one's colours.
try {
  const theme = localStorage.getItem('rethread.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be forbidden; then the system's theme it is.
}
