/** Compares a created item with the item of the request (spec 6.2: `conversation.item.created` mirrors the item). */

import { type Fields, fieldsOf, same, shown } from './trace.ts';

/** Returns the differences. The server may assign a missing id, the default type is `message`, and audio is not returned. */
export function mirrorErrors(sent: Fields, item: Fields): readonly string[] {
  const type = sent.type ?? 'message';
  const expected =
    type === 'message'
      ? { id: sent.id, type, role: sent.role }
      : { id: sent.id, type, name: sent.name, arguments: sent.arguments, output: sent.output };
  const errors = Object.entries(expected)
    .filter(([name, value]) => value !== undefined && value !== null && value !== item[name])
    .map(([name, value]) => `item.${name} was sent as ${shown(value)} and came back as ${shown(item[name])}`);
  const isSame = type !== 'message' || same(parts(sent.content), parts(item.content));
  return isSame ? errors : [...errors, 'item.content is not what was sent'];
}

/** The fields of the parts that both dialects return: their text. */
function parts(content: unknown): readonly unknown[] {
  return (Array.isArray(content) ? content : []).map((part) => {
    const { type, text, transcript } = fieldsOf(part);
    const kind = typeof type === 'string' ? type.replace(/^output_/, '') : type;
    return { kind, words: (kind === 'audio' || kind === 'input_audio' ? transcript : text) ?? '' };
  });
}

/** The expected `previous_item_id` of the created item. */
export function previousOf(request: Fields, lastItemId: string | null): unknown {
  const previous = request.previous_item_id ?? undefined;
  if (previous === undefined) return lastItemId;
  return previous === 'root' ? null : previous;
}
