/** The operations of a listening server on the connection of a request. */
export interface ConnectionServer {
  /** Sets the idle timeout of the connection in seconds; 0 disables it. */
  timeout(request: Request, seconds: number): void;
  /** The peer of the connection; null if the connection is closed. */
  requestIP(request: Request): { readonly address: string } | null;
  /** Upgrades the connection to a WebSocket; returns false if the request is not a valid handshake. */
  upgrade(
    request: Request,
    options: { readonly headers: Record<string, string>; readonly data: unknown },
  ): boolean;
}

/** Servers by request; a process can listen on several ports. */
const servers = new WeakMap<Request, ConnectionServer>();

/** Stores the server that received a request. Called by the server's fetch handler. */
export function setServerOf(server: ConnectionServer, request: Request): void {
  servers.set(request, server);
}

/** The server that received a request; undefined in tests, which call the app directly. */
export function serverOf(request: Request): ConnectionServer | undefined {
  return servers.get(request);
}
