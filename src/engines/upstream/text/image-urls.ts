/** Images of callers that an upstream server fetches by URL (protection against SSRF). */

import { invalidRequest } from '../../../contract/core/error.ts';
import type { ChatMessage } from '../../../contract/engines/text.ts';
import { allowedAddresses, checkedUrl, hostOf, type UrlRules } from '../../../outbound/public-url.ts';

/** Each name is resolved once per request. */
const MAX_HOSTS = 20;

/**
 * Requires that each image is in the request (`data:`) or at a public host: the server would otherwise read its own files or
 * reach its internal network for the caller. The server resolves the names again, so its operator must still restrict its network.
 * @throws ServiceError `invalid_request`; the signal's reason after an abort.
 */
export async function requirePublicImages(
  messages: readonly ChatMessage[],
  rules: UrlRules,
  signal: AbortSignal,
): Promise<void> {
  const fail = (problem: string) =>
    invalidRequest(`'image_url' ${problem}, or a 'data:' URL.`, 'messages', 'invalid_value');
  const urls = new Map<string, URL>();
  for (const message of messages) {
    if (message.role !== 'user') continue;
    for (const part of message.parts) {
      if (part.kind !== 'image' || /^data:/i.test(part.url)) continue;
      const url = checkedUrl(part.url, rules, fail);
      urls.set(hostOf(url), url);
    }
  }
  if (urls.size > MAX_HOSTS) throw fail(`must be at one of at most ${MAX_HOSTS} hosts per request`);
  for (const url of urls.values()) await allowedAddresses(url, rules, fail, signal);
}
