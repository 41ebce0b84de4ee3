import { useEffect, useState, useSyncExternalStore } from 'react';
import type { ServiceClient } from '../../client/service-client.ts';
import { Talk } from './talk.ts';
import type { TalkSettings } from './talk-settings.ts';

export interface TalkControl {
  /** The current connection, or the last one, whose conversation and events stay visible. */
  readonly talk: Talk | undefined;
  readonly isOpen: boolean;
  /** Why the connection could not be opened. */
  readonly fault: string | undefined;
  connect(): void;
  disconnect(): void;
}

/** The connection of the page; closed when the page unmounts. */
export function useTalk(client: ServiceClient, settings: TalkSettings): TalkControl {
  const [talk, setTalk] = useState<Talk>();
  const [fault, setFault] = useState<string>();
  useSyncExternalStore(talk?.subscribe ?? never, talk?.version ?? zero);
  useEffect(() => () => talk?.close(), [talk]);
  return {
    talk,
    isOpen: talk !== undefined && talk.phase !== 'ended',
    fault,
    connect() {
      try {
        setFault(undefined);
        setTalk(new Talk(client, settings));
      } catch {
        setFault('This key has characters that cannot be sent over a WebSocket. Sign in with another key.');
      }
    },
    disconnect: () => talk?.close(),
  };
}

const never = () => () => undefined;
const zero = () => 0;
