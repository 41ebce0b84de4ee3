/** Close codes in words for the person. */
const CLOSED = {
  1001: 'The service is stopping.',
  1006: 'The connection was lost.',
  1008: 'The service ended the connection.',
  1009: 'A message was too large.',
  1011: 'The service had a fault.',
  1013: 'The service is busy; try again later.',
};

/** What may wait to be sent: half a minute of sound at 24 kHz. */
const MOST_WAITING_BYTES = 2_000_000;

/** One connection to `/v1/realtime`, whose every frame the log sees. */
export class RealtimeSocket {
  sent = 0;

  /**
   * Connects with the key in a subprotocol, since a page cannot set headers.
   * @param onFrame called with each frame, 'client' or 'server' first
   * @param onEvent called with each event of the service
   * @param onEnd called once, with a sentence for the person, or '' when this side ended it
   * @throws SyntaxError when the key cannot be part of a subprotocol
   */
  constructor(key, { onFrame, onEvent, onEnd }) {
    const url = new URL('v1/realtime', document.baseURI);
    url.protocol = url.protocol.replace('http', 'ws');
    this.onFrame = onFrame;
    this.socket = new WebSocket(url, ['realtime', `ext-insecure-api-key.${key}`]);
    this.socket.onmessage = ({ data }) => {
      const event = JSON.parse(data);
      onFrame('server', event);
      onEvent(event);
    };
    this.socket.onclose = ({ code, reason }) => {
      const words = CLOSED[code] ?? `The connection was closed (${code}).`;
      onEnd(this.closing ? '' : reason ? `${words} ${reason}` : words);
    };
  }

  get open() {
    return this.socket.readyState === WebSocket.OPEN;
  }

  /**
   * Sends an event with an id of its own, which errors repeat; once the connection has ended, nothing.
   * @returns that id
   */
  send(event) {
    if (!this.open) return undefined;
    this.sent += 1;
    const frame = { event_id: `page_${this.sent}`, ...event };
    this.onFrame('client', frame);
    this.socket.send(JSON.stringify(frame));
    return frame.event_id;
  }

  /** Whether the network takes what is sent too slowly to keep up. */
  get clogged() {
    return this.socket.bufferedAmount > MOST_WAITING_BYTES;
  }

  close() {
    this.closing = true;
    this.socket.close(1000);
  }
}
