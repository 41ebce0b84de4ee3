/** Serializes lines of result files (spec 2.2; openai-wire 3.3). */

import { type Id, newId } from '../../../src/contract/core/id.ts';
import { asRecordLine } from '../../../src/kit/text/record-line.ts';

/** The error of a failed line. */
export interface LineFailure {
  readonly code: string;
  readonly message: string;
}

/**
 * @param body JSON text. Line breaks between its values are replaced by spaces; strings cannot contain unescaped ones.
 */
export function outputLine(customId: string, requestId: Id<'req_'>, body: string): string {
  const inOneLine = /[\n\r]/.test(body) ? body.replaceAll(/[\n\r]+/g, ' ') : body;
  return asRecordLine(
    `{"id":"${newId('batch_req_')}","custom_id":${JSON.stringify(customId)},"response":{"status_code":200,"request_id":"${requestId}","body":${inOneLine}},"error":null}\n`,
  );
}

export function errorLine(customId: string, { code, message }: LineFailure): string {
  const error = JSON.stringify({ code, message });
  return asRecordLine(
    `{"id":"${newId('batch_req_')}","custom_id":${JSON.stringify(customId)},"response":null,"error":${error}}\n`,
  );
}
