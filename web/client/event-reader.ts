/** One server-sent event. */
export interface ServerEvent {
  /** Value of the `event:` line; `message` if absent. */
  readonly event: string;
  /** The `data:` lines, joined by line feeds. */
  readonly data: string;
}

/** Incremental parser for server-sent events (WHATWG HTML, section 9.2). Comments are dropped. */
export class ServerEventParser {
  #rest = '';
  #event = '';
  #data: string[] = [];

  /** Returns the events that this chunk completes. */
  read(piece: string): ServerEvent[] {
    const events: ServerEvent[] = [];
    const lines = (this.#rest + piece).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line !== '') this.#field(line);
      else if (this.#data.length > 0) events.push(this.#take());
      else this.#event = '';
    }
    return events;
  }

  #field(line: string): void {
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'event') this.#event = value;
    else if (name === 'data') this.#data.push(value);
  }

  #take(): ServerEvent {
    const taken = { event: this.#event || 'message', data: this.#data.join('\n') };
    this.#event = '';
    this.#data = [];
    return taken;
  }
}

/** Yields the events of a response as they arrive. Cancels the response when the consumer stops early. */
export async function* readEvents(response: Response): AsyncGenerator<ServerEvent, void, undefined> {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const parser = new ServerEventParser();
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* parser.read(value);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
