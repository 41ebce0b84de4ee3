/** Identifiers of the API: a prefix, which says what they name, and a random part. A plugin names its prefixes itself. */

/** An identifier with a prefix, e.g. `Id<'req_'>`. */
export type Id<Prefix extends string> = `${Prefix}${string}`;

/** Creates an identifier, e.g. `req_5f0c…`, with 122 random bits. */
export function newId<Prefix extends string>(prefix: Prefix): Id<Prefix> {
  return `${prefix}${crypto.randomUUID().replaceAll('-', '')}`;
}

/**
 * Creates an identifier that increases with time (UUID version 7, RFC 9562; 74 random bits), for rows that are inserted by the
 * hundred: random ids would touch a different index page for each row.
 */
export function newGrowingId<Prefix extends string>(prefix: Prefix): Id<Prefix> {
  return `${prefix}${Bun.randomUUIDv7().replaceAll('-', '')}`;
}

/** Whether a text has the prefix. The id can still be unknown to the store. */
export function mayBeId<Prefix extends string>(prefix: Prefix, text: string): text is Id<Prefix> {
  return text.startsWith(prefix);
}
