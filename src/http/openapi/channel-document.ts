/** An AsyncAPI 3.0 document of one WebSocket path. */

/** Messages by their names in the document. */
export type Messages = Readonly<Record<string, object>>;

interface Operation {
  /** `receive`: clients send the messages; `send`: the service does. */
  readonly action: 'receive' | 'send';
  readonly summary: string;
  readonly messages: Messages;
}

export interface ChannelDocs {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  /** Name of the channel in the document. */
  readonly name: string;
  readonly address: string;
  readonly summary: string;
  /** Schemas of the query and the headers of the upgrade request. */
  readonly handshake: { readonly query: object; readonly headers?: object };
  /** By their names. Operations may have messages in common, which are listed once. */
  readonly operations: Readonly<Record<string, Operation>>;
  readonly securitySchemes: Readonly<Record<string, object>>;
  /** Schemas that several messages refer to. */
  readonly schemas?: Readonly<Record<string, unknown>>;
}

/** Returns the document as a JSON object. */
export function channelDocument(docs: ChannelDocs) {
  const { info, name, address, summary, handshake, operations, securitySchemes, schemas } = docs;
  const messages: Messages = Object.assign({}, ...Object.values(operations).map((each) => each.messages));
  const security = referencesTo('components/securitySchemes', securitySchemes);
  return {
    asyncapi: '3.0.0',
    info,
    defaultContentType: 'application/json',
    servers: {
      plain: { host: '127.0.0.1:8080', protocol: 'ws', security },
      tls: { host: 'voice.example', protocol: 'wss', security },
    },
    channels: {
      [name]: {
        address,
        summary,
        messages: Object.fromEntries(
          Object.keys(messages).map((key) => [key, { $ref: `#/components/messages/${key}` }]),
        ),
        bindings: { ws: { bindingVersion: '0.1.0', method: 'GET', ...handshake } },
      },
    },
    operations: Object.fromEntries(
      Object.entries(operations).map(([key, operation]) => [
        key,
        {
          action: operation.action,
          summary: operation.summary,
          channel: { $ref: `#/channels/${name}` },
          messages: referencesTo(`channels/${name}/messages`, operation.messages),
        },
      ]),
    ),
    components: { messages, ...(schemas && { schemas }), securitySchemes },
  };
}

function referencesTo(place: string, named: object) {
  return Object.keys(named).map((name) => ({ $ref: `#/${place}/${name}` }));
}
