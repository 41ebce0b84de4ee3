/** Compares an item that was added with the item of the client. */

import { type Fields, fieldsOf, shown } from '../rules/trace.ts';
import { partKind, partText } from './state.ts';

/** Returns the differences. The server assigns missing ids, and the default type is `message`. Audio is not returned. */
export function mirrorErrors(sent: Fields, item: Fields): readonly string[] {
  const type = sent.type ?? 'message';
  const { id, role, name, call_id, output } = sent;
  const args = sent.arguments === '' ? '{}' : sent.arguments;
  const expected: Fields =
    type === 'message' ? { id, type, role } : { id, type, name, call_id, output, arguments: args };
  const errors = Object.entries(expected)
    .filter(([field, value]) => value !== undefined && value !== null && value !== item[field])
    .map(
      ([field, value]) => `item.${field} was sent as ${shown(value)} and came back as ${shown(item[field])}`,
    );
  const isServerId = typeof id === 'string' || (typeof item.id === 'string' && item.id.startsWith('item_'));
  if (!isServerId) errors.push(`the id of an item begins with item_; ${shown(item.id)} does not`);
  const isSame = type !== 'message' || wordsOf(sent.content) === wordsOf(item.content);
  return isSame ? errors : [...errors, 'item.content is not what was sent'];
}

/** The texts of all parts. Spoken words of the assistant become text; an image without a URL is left out. */
function wordsOf(content: unknown): string {
  const parts = Array.isArray(content) ? content : [];
  return JSON.stringify(
    parts
      .filter((part) => partKind(part) !== 'input_image' || fieldsOf(part).image_url != null)
      .map((part) => partText(part) ?? fieldsOf(part).image_url ?? ''),
  );
}
