import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { Router } from 'wouter';
import { useHashLocation } from 'wouter/use-hash-location';
import { PluginStates } from '../client/plugin-states.tsx';
import { SessionProvider } from '../client/session.tsx';
import { styleNonce } from '../client/style-nonce.ts';
import { ErrorBoundary } from './error-boundary.tsx';
import { Frame } from './frame.tsx';
import { PageSwitch } from './page-switch.tsx';
import { SignIn } from './sign-in.tsx';
import { cssVariables, theme } from './theme.ts';

const colorScheme = localStorageColorSchemeManager({ key: 'console.color-scheme' });

/** Root component of the console. */
export function ConsoleApp() {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      colorSchemeManager={colorScheme}
      defaultColorScheme="auto"
      getStyleNonce={styleNonce}
    >
      <ErrorBoundary>
        <SessionProvider renderSignIn={(props) => <SignIn {...props} />}>
          <Router hook={useHashLocation}>
            <PluginStates>
              <Frame>
                <PageSwitch />
              </Frame>
            </PluginStates>
          </Router>
        </SessionProvider>
      </ErrorBoundary>
    </MantineProvider>
  );
}
