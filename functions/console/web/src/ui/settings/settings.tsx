// The settings: a list of sections, and the one in the address.

import { useEffect, useRef } from 'preact/hooks';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter-preact';
import { Bar } from '../chat/header';
import '../../styles/settings.css';
import { Appearance } from './appearance';
import { Automation } from './automations/automation';
import { EditAutomation } from './automations/edit';
import { Automations } from './automations/list';
import { NewAutomation } from './automations/new';
import { DataSection } from './data/data';
import { Feedback } from './feedback/feedback';
import { NOTIFICATIONS } from './notifications/address';
import { NewNotification } from './notifications/new';
import { Notifications } from './notifications/notifications';
import { SECTIONS } from './sections';
import { Usage } from './usage';
import { Delivery } from './webhooks/delivery';
import { EditWebhook } from './webhooks/edit';
import { Webhooks } from './webhooks/list';
import { NewWebhook } from './webhooks/new';
import { Webhook } from './webhooks/webhook';

export function Settings() {
  return (
    <main class="settings">
      <Bar>
        <h1>Settings</h1>
      </Bar>
      <div class="settings-columns">
        <Sections />
        <div class="settings-page">
          <Switch>
            <Route path="/settings/appearance">
              <Appearance />
            </Route>
            <Route path="/settings/webhooks">
              <Webhooks />
            </Route>
            <Route path="/settings/webhooks/new">
              <NewWebhook />
            </Route>
            <Route path="/settings/webhooks/:id">{({ id }) => <Webhook key={id} id={id} />}</Route>
            <Route path="/settings/webhooks/:id/edit">{({ id }) => <EditWebhook id={id} />}</Route>
            <Route path="/settings/webhooks/:id/deliveries/:delivery">
              {({ id, delivery }) => <Delivery key={delivery} webhook={id} id={delivery} />}
            </Route>
            <Route path="/settings/automations">
              <Automations />
            </Route>
            <Route path="/settings/automations/new">
              <NewAutomation />
            </Route>
            <Route path="/settings/automations/:id">
              {({ id }) => <Automation key={id} id={id} />}
            </Route>
            <Route path="/settings/automations/:id/edit">
              {({ id }) => <EditAutomation id={id} />}
            </Route>
            <Route path="/settings/feedback">
              <Feedback />
            </Route>
            <Route path={NOTIFICATIONS}>
              {({ session }) => <Notifications session={decodeURIComponent(session)} />}
            </Route>
            <Route path={`${NOTIFICATIONS}/new`}>
              {({ session }) => <NewNotification session={decodeURIComponent(session)} />}
            </Route>
            <Route path="/settings/usage">
              <Usage />
            </Route>
            <Route path="/settings/data">
              <DataSection />
            </Route>
            <Route>
              <Redirect to="/settings/appearance" replace />
            </Route>
          </Switch>
        </div>
      </div>
    </main>
  );
}

function Sections() {
  const [path] = useLocation();
  const element = useRef<HTMLElement>(null);
  // On narrow screens the sections are in a line, which may be longer than the screen
  useEffect(() => {
    const here = element.current?.querySelector('[aria-current]');
    here?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [path]);
  return (
    <nav ref={element} class="settings-nav" aria-label="Settings">
      <ul>
        {SECTIONS.map(({ id, title, icon: Icon }) => {
          const href = `/settings/${id}`;
          const here = path === href || path.startsWith(`${href}/`);
          return (
            <li key={id}>
              <Link href={href} aria-current={here ? 'page' : undefined}>
                <Icon size={16} aria-hidden="true" />
                {title}
              </Link>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}
