import { Anchor, Center, Loader } from '@mantine/core';
import { type ComponentType, Suspense } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import { type PluginState, usePlugin } from '../client/plugin-states.tsx';
import { Empty } from '../components/feedback/empty.tsx';
import { Page } from '../components/page.tsx';
import { type ConsolePage, PAGES } from '../pages/pages.ts';
import { ErrorBoundary } from './error-boundary.tsx';

/** Renders the page of the current path. */
export function PageSwitch() {
  const [path] = useLocation();
  return (
    // Keyed by page: an error on one page must not affect the others.
    <ErrorBoundary key={path.split('/', 2).join('/')}>
      <Suspense fallback={<Loading />}>
        <Switch>
          <Route path="/">
            <Redirect to={PAGES[0].path} replace />
          </Route>
          {PAGES.map((page) => (
            <Route key={page.path} path={page.hasSubpaths ? `${page.path}/*?` : page.path}>
              <PluginPage page={page} />
            </Route>
          ))}
          <Route>
            <Page title="Page not found">
              <Empty text={`No page at ${path}.`}>
                <Anchor component={Link} href={PAGES[0].path}>
                  Go to the page “{PAGES[0].title}”
                </Anchor>
              </Empty>
            </Page>
          </Route>
        </Switch>
      </Suspense>
    </ErrorBoundary>
  );
}

function Loading() {
  return (
    <Center py="xl" role="status" aria-label="Loading">
      <Loader size="sm" />
    </Center>
  );
}

const WHY: Readonly<Record<Exclude<PluginState, 'on'>, string>> = {
  off: 'is disabled. This page is not available.',
  starting: 'is starting. This page loads when the plugin is ready.',
  stopping: 'is stopping: running requests finish, and new requests are rejected.',
  failed: 'failed to start. This page is not available.',
};

/** The page, or a notice that its plugin is not running. */
function PluginPage({ page }: { readonly page: ConsolePage }) {
  const plugin = usePlugin(page.plugin);
  const Shown: ComponentType = page.component;
  if (plugin === undefined || plugin.state === 'on') return <Shown />;
  return (
    <Page title={page.title}>
      <Empty text={`The plugin '${plugin.name}' ${WHY[plugin.state]} ${plugin.detail ?? ''}`}>
        <Anchor component={Link} href="/plugins">
          Plugins
        </Anchor>
      </Empty>
    </Page>
  );
}
