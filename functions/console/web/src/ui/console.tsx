// The whole page: the sign-in, or the layout with the screen for the address.

import { useEffect, useMemo } from 'preact/hooks';
import { Redirect, Route, Router, Switch } from 'wouter-preact';
import { BASE } from '../config';
import type { App } from '../store/app';
import { JOIN } from '../store/link';
import { useAnsweredNotes } from './answered';
import { NewChat } from './chat/new';
import { ChatScreen } from './chat/screen';
import { COMPARE } from './compare/address';
import { Context, createView } from './context';
import { TURNS } from './developer/address';
import { JoinPage } from './join/lazy';
import { useGlobalKeys } from './keys/global';
import { lazy, preloadWhenIdle } from './kit/lazy';
import { OpenDialog } from './kit/modal';
import { Toaster } from './kit/toaster';
import { Layout } from './layout';
import { Palette } from './palette/open';
import { SEARCH } from './search/address';
import { SignIn } from './sign-in';

const SearchScreen = lazy(() => import('./search/screen').then((m) => m.SearchScreen));
const CompareScreen = lazy(() => import('./compare/screen').then((m) => m.CompareScreen));
const TurnsScreen = lazy(() => import('./developer/screen').then((m) => m.TurnsScreen));
const Settings = lazy(() => import('./settings/settings').then((module) => module.Settings));

export function Console({ app }: { app: App }) {
  const context = useMemo(() => ({ app, view: createView() }), [app]);
  return (
    <Context.Provider value={context}>
      <Router base={BASE}>
        {app.auth.user.value ? <Screens /> : <SignIn />}
        <OpenDialog />
      </Router>
      <Toaster />
    </Context.Provider>
  );
}

function Screens() {
  useGlobalKeys();
  useAnsweredNotes();
  useEffect(() => preloadWhenIdle(Palette), []);
  return (
    <Layout>
      <Switch>
        <Route path="/">
          <NewChat />
        </Route>
        <Route path={JOIN}>
          <JoinPage />
        </Route>
        <Route path="/s/:id">{({ id }) => <ChatScreen id={decodeURIComponent(id)} />}</Route>
        <Route path={TURNS}>
          {({ id }) => <TurnsScreen key={id} id={decodeURIComponent(id)} />}
        </Route>
        <Route path={COMPARE}>
          <CompareScreen />
        </Route>
        <Route path={SEARCH}>
          <SearchScreen />
        </Route>
        <Route path="/settings/*?">
          <Settings />
        </Route>
        <Route>
          <Redirect to="/" replace />
        </Route>
      </Switch>
    </Layout>
  );
}
