import { expect, test } from 'vitest';
import { correctedTemplate } from './chat-template.ts';

/** A line of the published template of Qwen2.5 Coder. */
const example = (call: string) =>
  String.raw`{{- "\n<tool_call>\n${call}\n</tool_call><|im_end|>\n" }}{{- tool_call.name }}`;
const CALL = String.raw`{\"name\": <function-name>, \"arguments\": <args-json-object>}`;

test('the example of a call in doubled braces is corrected, and nothing else', () => {
  expect(correctedTemplate(example(`{${CALL}}`))).toBe(example(CALL));
  expect(correctedTemplate(example(CALL))).toBe(example(CALL));
});
