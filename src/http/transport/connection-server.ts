/** The part of a listening server that answers may ask for something about their own connection. */
export interface ConnectionServer {
  /** Seconds without a byte after which the connection is closed; 0 is never. */
  timeout(request: Request, seconds: number): void;
  /** The other end of the connection; null when it has gone. */
  requestIP(request: Request): { readonly address: string } | null;
  /** Makes the connection a WebSocket; false when the request does not ask for one. */
  upgrade(
    request: Request,
    options: { readonly headers: Record<string, string>; readonly data: unknown },
  ): boolean;
}

/** The server that each request came to: a process listens on more than one port. */
const servers = new WeakMap<Request, ConnectionServer>();

/** Notes which server a request came to. Called where the server hands it over. */
export function cameTo(server: ConnectionServer, request: Request): void {
  servers.set(request, server);
}

/** The server that a request came to; undefined in tests, which call the app without one. */
export function serverOf(request: Request): ConnectionServer | undefined {
  return servers.get(request);
}
