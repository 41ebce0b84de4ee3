import { useEffect, useState, useSyncExternalStore } from 'react';
import type { ServiceClient } from '../../client/service-client.ts';
import { Talk } from './talk.ts';
import type { TalkSettings } from './talk-settings.ts';

export interface TalkControl {
  /** The connection, or the last one, whose conversation and events are still there. */
  readonly talk: Talk | undefined;
  readonly isOpen: boolean;
  /** Why no connection could be tried. */
  readonly fault: string | undefined;
  connect(): void;
  disconnect(): void;
}

/** The connection of the page, which ends with it. */
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
        setFault(
          'This key has characters that a browser cannot send over a WebSocket. Sign in with another one.',
        );
      }
    },
    disconnect: () => talk?.close(),
  };
}

const never = () => () => undefined;
const zero = () => 0;
