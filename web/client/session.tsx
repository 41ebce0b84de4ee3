import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react';
import type { Organization } from './organization.ts';
import { ServiceClient } from './service-client.ts';
import { type ServiceError, toServiceError } from './service-error.ts';

/** The signed-in session; see {@link useSession}. */
export interface Session {
  readonly client: ServiceClient;
  readonly organization: Organization;
  signOut(): void;
}

/** Props of the sign-in page. */
export interface SignInProps {
  /** Whether a key is being verified. */
  readonly isTrying: boolean;
  /** Why the last key was rejected, or why the session ended. */
  readonly error: ServiceError | string | undefined;
  signIn(key: string): void;
  /**
   * Verifies the last key again. Set if the service could not verify it, for example while it was
   * unreachable.
   */
  readonly retry: (() => void) | undefined;
}

/** In sessionStorage: the key must not outlive the tab. */
const KEY_NAME = 'console.key';

/** Characters allowed in the header: visible ASCII. */
const CAN_BE_KEY = /^[\x21-\x7e]+$/;

type State =
  | { readonly phase: 'out'; readonly error?: ServiceError | string; readonly unverifiedKey?: string }
  | { readonly phase: 'trying'; readonly key: string }
  | { readonly phase: 'in'; readonly client: ServiceClient; readonly organization: Organization };

const SessionContext = createContext<Session | undefined>(undefined);

/** Stores the API key of this tab. Renders `renderSignIn` until a key is accepted, then its children. */
export function SessionProvider(props: {
  readonly renderSignIn: (props: SignInProps) => ReactNode;
  readonly children: ReactNode;
}) {
  const [state, setState] = useState<State>(() => {
    const key = sessionStorage.getItem(KEY_NAME);
    return key === null ? { phase: 'out' } : { phase: 'trying', key };
  });

  const leave = useCallback((error?: ServiceError | string) => {
    sessionStorage.removeItem(KEY_NAME);
    setState(error === undefined ? { phase: 'out' } : { phase: 'out', error });
  }, []);

  const candidateKey = state.phase === 'trying' ? state.key : undefined;
  useEffect(() => {
    if (candidateKey === undefined) return;
    const abort = new AbortController();
    const onRejected = () => leave('This key is no longer valid. Sign in with another key.');
    const probe = new ServiceClient(candidateKey, document.baseURI);
    probe.get<Organization>('v1/organization', { signal: abort.signal }).then(
      (organization) => {
        sessionStorage.setItem(KEY_NAME, candidateKey);
        const client = new ServiceClient(candidateKey, document.baseURI, onRejected);
        setState({ phase: 'in', client, organization });
      },
      (thrown: unknown) => {
        if (abort.signal.aborted) return;
        const error = toServiceError(thrown);
        if (error.status === 401) leave('Invalid API key.');
        else setState({ phase: 'out', error, unverifiedKey: candidateKey });
      },
    );
    return () => abort.abort();
  }, [candidateKey, leave]);

  const session = useMemo<Session | undefined>(() => {
    if (state.phase !== 'in') return undefined;
    return { client: state.client, organization: state.organization, signOut: () => leave() };
  }, [state, leave]);

  if (session === undefined) {
    const { error, unverifiedKey } = state.phase === 'out' ? state : {};
    const signIn = (key: string) => {
      if (CAN_BE_KEY.test(key)) setState({ phase: 'trying', key });
      else
        leave('The key contains invalid characters: only letters, digits and ASCII punctuation are allowed.');
    };
    return props.renderSignIn({
      isTrying: state.phase === 'trying',
      error,
      signIn,
      retry: unverifiedKey === undefined ? undefined : () => signIn(unverifiedKey),
    });
  }
  return <SessionContext value={session}>{props.children}</SessionContext>;
}

/** The current session: the client for requests, and the organization of the key. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error('useSession() outside of SessionProvider');
  return session;
}
