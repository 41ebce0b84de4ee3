/** Renders the AsyncAPI documents as one page: the messages of all WebSockets with their fields and examples. */

import { SOCKET_DOCUMENTS, type SocketDocument, textOf } from './guide-pages.ts';
import { codeBlock, type Heading, markdownPage, type PageText } from './markdown-page.ts';
import { type FieldRow, fieldRows, nameOf, type Schema } from './schema-fields.ts';

/** The used part of AsyncAPI 3.0. */
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
  /** JSON if absent. */
  readonly contentType?: string;
  readonly payload: Schema;
  readonly examples?: readonly { readonly payload: unknown }[];
}

interface Security {
  readonly type: string;
  /** Name of the header. */
  readonly name?: string;
  readonly description?: string;
}

/** The anchor of a message or a shared schema. */
type IdOf = (name: string) => string;

const INTRODUCTION = `The service has two WebSocket endpoints. They accept the same API keys as all other endpoints. Errors before
the upgrade are HTTP responses: 401 for a missing or invalid API key, 429 if the organization has too many connections, 426 for
a request that is not a WebSocket handshake. Guides: [Realtime](realtime), [Partner platform](partner).`;

/** Renders the page, with headings for its table of contents. */
export function socketsPage(): PageText {
  const sections = SOCKET_DOCUMENTS.map((socket) => renderDocument(socket, JSON.parse(textOf(socket.file))));
  return {
    title: 'Sockets',
    headings: [
      { level: 1, text: 'Sockets', anchor: 'sockets' },
      ...SOCKET_DOCUMENTS.map(({ label, anchor }): Heading => ({ level: 2, text: label, anchor })),
    ],
    html: `<h1 id="sockets">Sockets</h1>\n${prose(INTRODUCTION)}${sections.join('\n')}`,
  };
}

function renderDocument({ anchor, label, address }: SocketDocument, document: AsyncApi): string {
  const { channels, operations, components, info } = document;
  const file = address.slice(address.lastIndexOf('/') + 1);
  const idOf: IdOf = (name) => `${anchor}-${name}`;
  const renderedNames = new Set<string>();
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
    // Messages of several operations are rendered once; later operations link to them.
    const [knownNames, newNames] = [
      names.filter((name) => renderedNames.has(name)),
      names.filter((name) => !renderedNames.has(name)),
    ];
    for (const name of newNames) renderedNames.add(name);
    const links = knownNames.map((name) => `<a href="#${idOf(name)}"><code>${name}</code></a>`);
    parts.push([
      `<h3>${action === 'receive' ? 'Client messages' : 'Server messages'}</h3>`,
      prose(summary),
      ...newNames.map((name) => renderMessage(name, components.messages[name], idOf)),
      links.length === 0 ? '' : `<p>See above: ${links.join(', ')}.</p>`,
    ]);
  }
  const schemas = Object.entries(components.schemas ?? {});
  if (schemas.length > 0) {
    parts.push([
      '<h3>Shared schemas</h3>',
      ...schemas.map(([name, schema]) => collapsible(idOf(name), name, '', table(fieldRows(schema), idOf))),
    ]);
  }
  return parts.flat().join('\n');
}

function renderMessage(key: string, message: Message | undefined, idOf: IdOf): string {
  if (message === undefined) throw new Error(`the AsyncAPI document refers to the unknown message ${key}`);
  const { name, summary, contentType, payload, examples = [] } = message;
  const rows =
    contentType === undefined ? table(fieldRows(payload), idOf) : prose(`Content type \`${contentType}\`.`);
  const exampleBlocks = examples.map((example) =>
    codeBlock(JSON.stringify(example.payload, null, 2), 'json'),
  );
  return collapsible(idOf(key), name, summary, `${rows}${exampleBlocks.join('')}`);
}

function collapsible(anchor: string, name: string, summary: string, inner: string): string {
  const about = summary === '' ? '' : ` <span>${inline(summary)}</span>`;
  return `<details class="message" id="${anchor}"><summary><code>${Bun.escapeHTML(name)}</code>${about}</summary>${inner}</details>`;
}

function table(rows: readonly FieldRow[], idOf: IdOf): string {
  if (rows.length === 0) return '<p>Any JSON object.</p>';
  const lines = rows.map(({ name, isRequired, type, about }) => {
    const types = type.map(({ text, shape }) => {
      const typeName = `<code>${Bun.escapeHTML(text)}</code>`;
      return shape === undefined ? typeName : `<a href="#${idOf(shape)}">${typeName}</a>`;
    });
    const requiredMark = isRequired ? ' <em>required</em>' : '';
    return `<tr><td><code>${Bun.escapeHTML(name)}</code>${requiredMark}</td><td>${types.join(' or ')}</td><td>${inline(about)}</td></tr>`;
  });
  return `<div class="wide" tabindex="0"><table><thead><tr><th>Field</th><th>Type</th><th>Description</th></tr></thead><tbody>${lines.join('')}</tbody></table></div>`;
}

/** A security scheme as a row. */
function keyRow({ name = 'Authorization', description = '' }: Security): FieldRow {
  return { name, isRequired: false, type: [{ text: 'string' }], about: description };
}

function prose(markdown: string): string {
  return markdownPage(markdown, (href) => href).html;
}

/** Renders one line of Markdown without the enclosing paragraph. */
function inline(markdown: string): string {
  return prose(markdown).replace(/^<p>|<\/p>\n?$/g, '');
}
