/**
 * `bun bench/flood.ts FLOOD`: sends requests of one key concurrently until it is killed, or once each. `FLOOD` is a file with JSON of type
 * {@link Flood}. A process of its own, so that its work and its limits of connections do not delay the measured requests.
 */

export interface Flood {
  readonly url: string;
  readonly key: string;
  /** Requests at the same time. */
  readonly count: number;
  /** A JSON body. {@link NUMBER} becomes the number of the request. */
  readonly json?: string;
  /** Fields of a form, and a file in its field `file`. */
  readonly form?: Readonly<Record<string, string>>;
  readonly file?: { readonly path: string; readonly name: string };
  /** Whether each request is sent again when its response has ended. */
  readonly repeat?: boolean;
  /** Whether the responses are left unread after their first bytes. */
  readonly unread?: boolean;
}

/** Makes every request different, so that no cache answers it. */
export const NUMBER = '{number}';

if (import.meta.main) await sendFlood((await Bun.file(process.argv[2] ?? '').json()) as Flood);

async function sendFlood({ url, key, count, json, form, file, repeat, unread }: Flood): Promise<void> {
  let sent = 0;
  const send = async () => {
    sent += 1;
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'x-api-key': key, ...(json !== undefined && { 'content-type': 'application/json' }) },
      body: json?.replace(NUMBER, String(sent)) ?? formOf(form, file),
    });
    if (!unread) return void (await response.bytes());
    const reader = response.body?.getReader();
    await reader?.read();
    await new Promise(() => undefined);
  };
  const loop = async () => {
    do await send().catch(() => undefined);
    while (repeat);
  };
  await Promise.all(Array.from({ length: count }, loop));
}

function formOf(fields: Flood['form'] = {}, file: Flood['file']): FormData {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  if (file !== undefined) body.append('file', Bun.file(file.path), file.name);
  return body;
}
