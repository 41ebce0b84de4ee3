import { useEffect, useState, useSyncExternalStore } from 'react';
import type { ChangeNotifier } from './change-notifier.ts';

/** A connection that a page opens and closes. */
export interface PageConnection {
  readonly changes: ChangeNotifier;
  readonly isEnded: boolean;
  close(): void;
}

export interface ConnectionControl<Connection> {
  /** The current connection, or the last one, whose content stays visible. */
  readonly connection: Connection | undefined;
  readonly isOpen: boolean;
  /** Why the connection could not be opened. */
  readonly error: string | undefined;
  connect(): void;
  disconnect(): void;
}

/**
 * The connection of a page; closed when the page unmounts. The component renders when the connection changes.
 * @param open opens a connection; it throws a SyntaxError if the key has characters that a subprotocol must not contain.
 */
export function useConnection<Connection extends PageConnection>(
  open: () => Connection,
): ConnectionControl<Connection> {
  const [connection, setConnection] = useState<Connection>();
  const [error, setError] = useState<string>();
  useSyncExternalStore(connection?.changes.subscribe ?? never, connection?.changes.version ?? zero);
  useEffect(() => () => connection?.close(), [connection]);
  return {
    connection,
    isOpen: connection !== undefined && !connection.isEnded,
    error,
    connect() {
      try {
        setError(undefined);
        setConnection(open());
      } catch {
        setError('This key has characters that cannot be sent over a WebSocket. Sign in with another key.');
      }
    },
    disconnect: () => connection?.close(),
  };
}

const never = () => () => undefined;
const zero = () => 0;
