/** One page of all WebSockets, drawn of their AsyncAPI documents: who sends what, field by field, with examples. */

import { SOCKET_DOCUMENTS, type SocketDocument, textOf } from './guide-pages.ts';
import { codeBlock, type Heading, markdownPage, type PageText } from './markdown-page.ts';
import { type FieldRow, fieldRows, nameOf, type Schema } from './schema-fields.ts';

/** The part of AsyncAPI 3.0 that our documents use. */
interface AsyncApi {
  readonly info: { readonly description: string };
  readonly channels: Readonly<Record<string, Channel>>;
  readonly operations: Readonly<Record<string, Operation>>;
  readonly components: {
    readonly messages: Readonly<Record<string, Message>>;
    readonly schemas?: Readonly<Record<string, Schema>>;
    readonly securitySchemes: Readonly<Record<string, Security>>;
  };
}

interface Channel {
  readonly address: string;
  readonly summary: string;
  readonly bindings: { readonly ws: { readonly query?: Schema; readonly headers?: Schema } };
}

interface Operation {
  readonly action: 'receive' | 'send';
  readonly summary: string;
  readonly messages: readonly { readonly $ref: string }[];
}

interface Message {
  readonly name: string;
  readonly summary: string;
  /** Absent: JSON. */
  readonly contentType?: string;
  readonly payload: Schema;
  readonly examples?: readonly { readonly payload: unknown }[];
}

interface Security {
  readonly type: string;
  /** Of a header. */
  readonly name?: string;
  readonly description?: string;
}

/** The place on the page of a message or a shape. */
type IdOf = (name: string) => string;

const INTRODUCTION = `Two addresses become WebSockets. Both take the same keys as everything else, and refuse by HTTP, before the
upgrade: 401 for a key that is missing or not valid, 429 when the organization has too many connections, 426 for a request that
asks for no WebSocket. How to use them: [Realtime](realtime), [Partner platform](partner).`;

/** The page, with headings for its own table of contents. */
export function socketsPage(): PageText {
  const drawn = SOCKET_DOCUMENTS.map((socket) => drawnDocument(socket, JSON.parse(textOf(socket.file))));
  return {
    title: 'Sockets',
    headings: [
      { level: 1, text: 'Sockets', anchor: 'sockets' },
      ...SOCKET_DOCUMENTS.map(({ label, anchor }): Heading => ({ level: 2, text: label, anchor })),
    ],
    html: `<h1 id="sockets">Sockets</h1>\n${prose(INTRODUCTION)}${drawn.join('\n')}`,
  };
}

function drawnDocument({ anchor, label, address }: SocketDocument, document: AsyncApi): string {
  const { channels, operations, components, info } = document;
  const file = address.slice(address.lastIndexOf('/') + 1);
  const idOf: IdOf = (name) => `${anchor}-${name}`;
  const shown = new Set<string>();
  const parts = Object.values(channels).map(({ address: path, summary, bindings }) => {
    const { query, headers } = bindings.ws;
    return [
      `<h2 id="${anchor}"><a class="anchor" href="#${anchor}">${Bun.escapeHTML(label)}</a></h2>`,
      `<p><code>${path}</code> ${Bun.escapeHTML(summary)} <a href="sockets/${file}" download>${file}</a></p>`,
      prose(info.description),
      query === undefined ? '' : `<h3>Query</h3>${table(fieldRows(query), idOf)}`,
      headers === undefined ? '' : `<h3>Headers</h3>${table(fieldRows(headers), idOf)}`,
      `<h3>Keys</h3>${table(Object.values(components.securitySchemes).map(keyRow), idOf)}`,
    ];
  });
  for (const { action, summary, messages } of Object.values(operations)) {
    const names = messages.map(({ $ref }) => nameOf($ref));
    // What another operation has shown is named there.
    const [known, fresh] = [
      names.filter((name) => shown.has(name)),
      names.filter((name) => !shown.has(name)),
    ];
    for (const name of fresh) shown.add(name);
    const links = known.map((name) => `<a href="#${idOf(name)}"><code>${name}</code></a>`);
    parts.push([
      `<h3>${action === 'receive' ? 'From the client' : 'To the client'}</h3>`,
      prose(summary),
      ...fresh.map((name) => drawnMessage(name, components.messages[name], idOf)),
      links.length === 0 ? '' : `<p>And, as above: ${links.join(', ')}.</p>`,
    ]);
  }
  const schemas = Object.entries(components.schemas ?? {});
  if (schemas.length > 0) {
    parts.push([
      '<h3>Shapes that several events have</h3>',
      ...schemas.map(([name, schema]) => folded(idOf(name), name, '', table(fieldRows(schema), idOf))),
    ]);
  }
  return parts.flat().join('\n');
}

function drawnMessage(key: string, message: Message | undefined, idOf: IdOf): string {
  if (message === undefined)
    throw new Error(`the AsyncAPI document refers to ${key}, which it does not have`);
  const { name, summary, contentType, payload, examples = [] } = message;
  const rows = contentType === undefined ? table(fieldRows(payload), idOf) : prose(`As \`${contentType}\`.`);
  const shown = examples.map((example) => codeBlock(JSON.stringify(example.payload, null, 2), 'json'));
  return folded(idOf(key), name, summary, `${rows}${shown.join('')}`);
}

function folded(anchor: string, name: string, summary: string, inner: string): string {
  const about = summary === '' ? '' : ` <span>${inline(summary)}</span>`;
  return `<details class="message" id="${anchor}"><summary><code>${Bun.escapeHTML(name)}</code>${about}</summary>${inner}</details>`;
}

function table(rows: readonly FieldRow[], idOf: IdOf): string {
  if (rows.length === 0) return '<p>Any JSON object.</p>';
  const lines = rows.map(({ name, isRequired, type, about }) => {
    const types = type.map(({ text, shape }) => {
      const shown = `<code>${Bun.escapeHTML(text)}</code>`;
      return shape === undefined ? shown : `<a href="#${idOf(shape)}">${shown}</a>`;
    });
    const must = isRequired ? ' <em>required</em>' : '';
    return `<tr><td><code>${Bun.escapeHTML(name)}</code>${must}</td><td>${types.join(' or ')}</td><td>${inline(about)}</td></tr>`;
  });
  return `<div class="wide" tabindex="0"><table><thead><tr><th>Field</th><th>Type</th><th>Meaning</th></tr></thead><tbody>${lines.join('')}</tbody></table></div>`;
}

/** A way to send the key, as a row. */
function keyRow({ name = 'Authorization', description = '' }: Security): FieldRow {
  return { name, isRequired: false, type: [{ text: 'string' }], about: description };
}

function prose(markdown: string): string {
  return markdownPage(markdown, (href) => href).html;
}

/** One line of Markdown, without the paragraph around it. */
function inline(markdown: string): string {
  return prose(markdown).replace(/^<p>|<\/p>\n?$/g, '');
}
