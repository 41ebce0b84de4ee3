import { useEffect, useState, useSyncExternalStore } from 'react';
import type { ServiceClient } from '../../client/service-client.ts';
import type { ConversationSettings } from './conversation-settings.ts';
import { RealtimeConnection } from './realtime-connection.ts';

export interface ConnectionControl {
  /** The current connection, or the last one, whose conversation and events stay visible. */
  readonly connection: RealtimeConnection | undefined;
  readonly isOpen: boolean;
  /** Why the connection could not be opened. */
  readonly error: string | undefined;
  connect(): void;
  disconnect(): void;
}

/** The connection of the page; closed when the page unmounts. */
export function useRealtimeConnection(
  client: ServiceClient,
  settings: ConversationSettings,
): ConnectionControl {
  const [connection, setConnection] = useState<RealtimeConnection>();
  const [error, setError] = useState<string>();
  useSyncExternalStore(connection?.subscribe ?? never, connection?.version ?? zero);
  useEffect(() => () => connection?.close(), [connection]);
  return {
    connection,
    isOpen: connection !== undefined && connection.phase !== 'ended',
    error,
    connect() {
      try {
        setError(undefined);
        setConnection(new RealtimeConnection(client, settings));
      } catch {
        setError('This key has characters that cannot be sent over a WebSocket. Sign in with another key.');
      }
    },
    disconnect: () => connection?.close(),
  };
}

const never = () => () => undefined;
const zero = () => 0;
