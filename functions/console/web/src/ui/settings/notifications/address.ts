// The addresses of the pages about A2A notifications.

export const NOTIFICATIONS = '/settings/notifications/:session';

export function notificationsPath(session: string, agent = ''): string {
  const path = `/settings/notifications/${encodeURIComponent(session)}`;
  return agent ? `${path}?${new URLSearchParams({ agent })}` : path;
}

export function newNotificationPath(session: string, agent: string, task: string): string {
  const query = new URLSearchParams({ agent, task });
  return `${notificationsPath(session)}/new?${query}`;
}
