/** Child processes of the benchmark that answer each JSON line with one JSON line. */

import { createInterface } from 'node:readline';

/** A process that stays, so that others can take turns with it. */
export interface LineProcess {
  /** Sends one line and waits for the line that answers it; one at a time. @throws Error when it ended. */
  ask<Answer>(request: object): Promise<Answer>;
  /** Ends its input, and waits for its end. */
  close(): Promise<void>;
}

/** Starts a command. Lines of its output that are not JSON are passed over. */
export function openLineProcess(command: readonly string[]): LineProcess {
  const child = Bun.spawn([...command], { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' });
  const errors = new Response(child.stderr).text();
  const answers = lines(child.stdout);
  return {
    async ask<Answer>(request: object) {
      child.stdin.write(`${JSON.stringify(request)}\n`);
      await child.stdin.flush();
      const { value, done } = await answers.next();
      if (done)
        throw new Error(`${command.join(' ')} ended with code ${await child.exited}:\n${await errors}`);
      return JSON.parse(value) as Answer;
    },
    async close() {
      await child.stdin.end();
      await child.exited;
    },
  };
}

/** The other side, for scripts of ours: answers every line until the input ends. */
export async function answerLines<Request>(answer: (request: Request) => Promise<object>): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(await answer(JSON.parse(line))));
  }
}

async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of stream) {
    const parts = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    yield* parts.filter((line) => line.startsWith('{'));
  }
}
