/** Whether an item came back as it was sent (spec 6.2: `conversation.item.created` mirrors the item). */

import { type Fields, fieldsOf, same, shown } from './trace.ts';

/** What differs. An id is kept if there was one, the type is `message` if there was none, audio does not come back. */
export function mirrorFaults(sent: Fields, item: Fields): readonly string[] {
  const type = sent.type ?? 'message';
  const wanted =
    type === 'message'
      ? { id: sent.id, type, role: sent.role }
      : { id: sent.id, type, name: sent.name, arguments: sent.arguments, output: sent.output };
  const faults = Object.entries(wanted)
    .filter(([name, value]) => value !== undefined && value !== null && value !== item[name])
    .map(([name, value]) => `item.${name} was sent as ${shown(value)} and came back as ${shown(item[name])}`);
  const isSame = type !== 'message' || same(parts(sent.content), parts(item.content));
  return isSame ? faults : [...faults, 'item.content is not what was sent'];
}

/** What of the parts comes back in both dialects: the words. */
function parts(content: unknown): readonly unknown[] {
  return (Array.isArray(content) ? content : []).map((part) => {
    const { type, text, transcript } = fieldsOf(part);
    const kind = typeof type === 'string' ? type.replace(/^output_/, '') : type;
    return { kind, words: (kind === 'audio' || kind === 'input_audio' ? transcript : text) ?? '' };
  });
}

/** The `previous_item_id` that an item must come back with. */
export function previousOf(asked: Fields, lastItemId: string | null): unknown {
  const wanted = asked.previous_item_id ?? undefined;
  if (wanted === undefined) return lastItemId;
  return wanted === 'root' ? null : wanted;
}
