/** Child processes that respond to each JSON line with one JSON line. */

import { createInterface } from 'node:readline';

/** A long-running process, so that measurements can alternate between processes. */
export interface LineProcess {
  /** Sends one line and waits for its response; one at a time. @throws Error if the process has exited. */
  sendRequest<Result>(request: object): Promise<Result>;
  /** Closes the standard input and waits for the exit. */
  close(): Promise<void>;
}

/** Starts a command. Output lines that are not JSON are skipped. */
export function openLineProcess(command: readonly string[]): LineProcess {
  const child = Bun.spawn([...command], { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' });
  const errors = new Response(child.stderr).text();
  const responses = lines(child.stdout);
  return {
    async sendRequest<Result>(request: object) {
      child.stdin.write(`${JSON.stringify(request)}\n`);
      await child.stdin.flush();
      const { value, done } = await responses.next();
      if (done)
        throw new Error(`${command.join(' ')} exited with code ${await child.exited}:\n${await errors}`);
      return JSON.parse(value) as Result;
    },
    async close() {
      await child.stdin.end();
      await child.exited;
    },
  };
}

/** The child side: responds to every line until the input ends. */
export async function serveLines<Request>(respond: (request: Request) => Promise<object>): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(await respond(JSON.parse(line))));
  }
}

async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let remainder = '';
  for await (const bytes of stream) {
    const parts = (remainder + decoder.decode(bytes, { stream: true })).split('\n');
    remainder = parts.pop() ?? '';
    yield* parts.filter((line) => line.startsWith('{'));
  }
}
