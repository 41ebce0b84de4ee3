import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react';
import type { Organization } from './organization.ts';
import { ServiceClient } from './service-client.ts';
import { type ServiceFault, toFault } from './service-fault.ts';

/** Who is signed in; see {@link useSession}. */
export interface Session {
  readonly client: ServiceClient;
  readonly organization: Organization;
  signOut(): void;
}

/** What the sign-in page needs. */
export interface Entrance {
  /** Whether a key is being tried. */
  readonly isTrying: boolean;
  /** Why the last key was not taken, or why this one was given up. */
  readonly fault: ServiceFault | string | undefined;
  signIn(key: string): void;
  /** Tries the last key again, which may be good: the service could not say. */
  readonly retry: (() => void) | undefined;
}

/** In this tab only, and gone with it: a key is never written where it outlives the tab. */
const KEY_NAME = 'console.key';

/** What a header takes: visible characters of ASCII. */
const CAN_BE_KEY = /^[\x21-\x7e]+$/;

type State =
  | { readonly phase: 'out'; readonly fault?: ServiceFault | string; readonly unjudged?: string }
  | { readonly phase: 'trying'; readonly key: string }
  | { readonly phase: 'in'; readonly client: ServiceClient; readonly organization: Organization };

const SessionContext = createContext<Session | undefined>(undefined);

/**
 * Holds the key of this tab. Without one that the service takes it shows `entrance`, else its children.
 */
export function SessionProvider(props: {
  readonly entrance: (entrance: Entrance) => ReactNode;
  readonly children: ReactNode;
}) {
  const [state, setState] = useState<State>(() => {
    const key = sessionStorage.getItem(KEY_NAME);
    return key === null ? { phase: 'out' } : { phase: 'trying', key };
  });

  const leave = useCallback((fault?: ServiceFault | string) => {
    sessionStorage.removeItem(KEY_NAME);
    setState(fault === undefined ? { phase: 'out' } : { phase: 'out', fault });
  }, []);

  const tried = state.phase === 'trying' ? state.key : undefined;
  useEffect(() => {
    if (tried === undefined) return;
    const abort = new AbortController();
    const refused = () => leave('The service does not take this key any more. Sign in with another one.');
    const probe = new ServiceClient(tried, document.baseURI);
    probe.get<Organization>('v1/organization', { signal: abort.signal }).then(
      (organization) => {
        sessionStorage.setItem(KEY_NAME, tried);
        const client = new ServiceClient(tried, document.baseURI, refused);
        setState({ phase: 'in', client, organization });
      },
      (error: unknown) => {
        if (abort.signal.aborted) return;
        const fault = toFault(error);
        if (fault.status === 401) leave('The service does not know this key.');
        else setState({ phase: 'out', fault, unjudged: tried });
      },
    );
    return () => abort.abort();
  }, [tried, leave]);

  const session = useMemo<Session | undefined>(() => {
    if (state.phase !== 'in') return undefined;
    return { client: state.client, organization: state.organization, signOut: () => leave() };
  }, [state, leave]);

  if (session === undefined) {
    const { fault, unjudged } = state.phase === 'out' ? state : {};
    const signIn = (key: string) => {
      if (CAN_BE_KEY.test(key)) setState({ phase: 'trying', key });
      else leave('A key has only letters, digits and signs of ASCII; this one has something else.');
    };
    return props.entrance({
      ...{ isTrying: state.phase === 'trying', fault, signIn },
      retry: unjudged === undefined ? undefined : () => signIn(unjudged),
    });
  }
  return <SessionContext value={session}>{props.children}</SessionContext>;
}

/** The session of the page: `client` asks the service, `organization` says whose key it is. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error('useSession() outside of the session');
  return session;
}
