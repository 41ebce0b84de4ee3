/** Settings that `session.update` and `response.create` share. */

import type { FunctionTool, ToolChoice } from '../../../src/contract/engines/text.ts';
import type { OutputModality, ResponseSettings } from '../../../src/conversation/settings.ts';
import { isRecord } from '../../../src/kit/validation/is-record.ts';
import { MAX_INSTRUCTIONS_CHARACTERS, MAX_TOOLS, OUTPUT_TOKENS, TEMPERATURE } from '../limits.ts';
import { type FieldErrors, type Members, numberOf, type SentField, textOf } from '../session/fields.ts';
import { mergeField } from './merge-field.ts';

/** The fields that are merged here. Those of the audio are merged by their own modules. */
type MergedSettings = Pick<
  ResponseSettings,
  | 'modality'
  | 'instructions'
  | 'tools'
  | 'toolChoice'
  | 'parallelToolCalls'
  | 'maxOutputTokens'
  | 'temperature'
  | 'reasoningEffort'
>;

/** Settings, with the tools in the form in which the client sent them. */
export interface SentSettings {
  readonly settings: MergedSettings;
  readonly wireTools: readonly WireTool[];
  readonly wireToolChoice: WireToolChoice;
}

/** With further fields of the client. */
type WireTool = { readonly type: 'function'; readonly name: string };
/** Some clients accept an object only if they sent an object. */
export type WireToolChoice = string | { readonly type: 'function'; readonly name: string };

export const RESPONSE_FIELDS = [
  'output_modalities',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'reasoning',
] as const;
/** Names of the beta protocol. */
export const BETA_RESPONSE_FIELDS = ['modalities', 'max_response_output_tokens', 'temperature'] as const;

/**
 * Merges the fields of an object. Omitted and rejected fields keep their values.
 * @param initial values of fields that are null.
 */
export function mergeResponseSettings(
  prior: SentSettings,
  initial: MergedSettings,
  members: Members,
  errors: FieldErrors,
): SentSettings {
  const { settings } = prior;
  const { tools, wireTools } = mergeTools(prior, members.get('tools'), errors);
  const { toolChoice, wireToolChoice } = mergeToolChoice(prior, members.get('tool_choice'), tools, errors);
  return {
    settings: {
      modality: mergeModality(settings.modality, initial.modality, members, errors),
      instructions: mergeField(
        members.get('instructions'),
        settings.instructions,
        initial.instructions,
        (sent) => textOf(sent, settings.instructions, MAX_INSTRUCTIONS_CHARACTERS, errors) ?? '',
      ),
      tools,
      toolChoice,
      parallelToolCalls: mergeField(
        members.get('parallel_tool_calls'),
        settings.parallelToolCalls,
        initial.parallelToolCalls,
        ({ path, value }) => {
          if (typeof value === 'boolean') return value;
          errors.invalid(path, 'must be true or false');
          return settings.parallelToolCalls;
        },
      ),
      maxOutputTokens: mergeField(
        members.get('max_output_tokens') ?? members.get('max_response_output_tokens'),
        settings.maxOutputTokens,
        initial.maxOutputTokens,
        (sent) =>
          sent.value === 'inf' ? undefined : numberOf(sent, settings.maxOutputTokens, OUTPUT_TOKENS, errors),
      ),
      temperature: mergeField(
        members.get('temperature'),
        settings.temperature,
        initial.temperature,
        ({ path, value }) => {
          if (typeof value !== 'number') errors.invalid(path, 'must be a number');
          else if (value >= TEMPERATURE.from && value <= TEMPERATURE.to) return value;
          return settings.temperature;
        },
      ),
      reasoningEffort: mergeField(
        members.get('reasoning'),
        settings.reasoningEffort,
        initial.reasoningEffort,
        ({ path, value }) => {
          if (isRecord(value) && (value.effort == null || typeof value.effort === 'string'))
            return value.effort ?? initial.reasoningEffort;
          errors.invalid(path, 'must be {effort}');
          return settings.reasoningEffort;
        },
      ),
    },
    wireTools,
    wireToolChoice,
  };
}

/** The current protocol has one modality. In the beta protocol, text and audio together mean audio. */
function mergeModality(
  prior: OutputModality,
  initial: OutputModality,
  members: Members,
  errors: FieldErrors,
): OutputModality {
  const current = members.get('output_modalities');
  return mergeField(current ?? members.get('modalities'), prior, initial, ({ path, value }) => {
    const maxModalities = current === undefined ? 2 : 1;
    const isKnown =
      Array.isArray(value) &&
      value.length > 0 &&
      value.length <= maxModalities &&
      value.every((each) => each === 'audio' || each === 'text');
    if (isKnown) return value.includes('audio') ? 'audio' : 'text';
    errors.invalid(path, "must be ['audio'] or ['text']");
    return prior;
  });
}

/** Replaces the functions. Other tools are rejected one by one. */
function mergeTools(prior: SentSettings, sent: SentField | undefined, errors: FieldErrors) {
  const unchanged = { tools: prior.settings.tools, wireTools: prior.wireTools };
  return mergeField(sent, unchanged, { tools: [], wireTools: [] }, ({ path, value }) => {
    if (!Array.isArray(value) || value.length > MAX_TOOLS) {
      errors.invalid(path, `must be a list of at most ${MAX_TOOLS} tools`);
      return unchanged;
    }
    const functions = new Map<string, { readonly tool: FunctionTool; readonly wire: WireTool }>();
    for (const [index, wire] of value.entries()) {
      const tool = toolOf({ path: `${path}.${index}`, value: wire }, errors);
      if (tool === undefined) continue;
      const { name } = tool;
      functions.set(name, { tool, wire: { ...(wire as object), type: 'function', name } });
    }
    return {
      tools: [...functions.values()].map(({ tool }) => tool),
      wireTools: [...functions.values()].map(({ wire }) => wire),
    };
  });
}

function toolOf({ path, value }: SentField, errors: FieldErrors): FunctionTool | undefined {
  if (!isRecord(value)) errors.invalid(path, 'must be an object');
  else if (value.type !== 'function') errors.unsupported(`${path}.type`, "is not supported; use 'function'");
  else if (typeof value.name !== 'string' || !/^[A-Za-z0-9_.-]{1,64}$/.test(value.name)) {
    errors.invalid(`${path}.name`, 'must be 1 to 64 of A-Z a-z 0-9 _ . -');
  } else if (value.parameters != null && !isRecord(value.parameters)) {
    errors.invalid(`${path}.parameters`, 'must be a JSON Schema');
  } else {
    const { name, description, parameters } = value;
    return {
      name,
      ...(typeof description === 'string' && { description }),
      ...(isRecord(parameters) && { parameters }),
      strict: true,
    };
  }
  return undefined;
}

const AUTO = { toolChoice: 'auto', wireToolChoice: 'auto' } as const;

/** The choice of a function that is not a tool any more becomes `auto`. */
function mergeToolChoice(
  { settings, wireToolChoice }: SentSettings,
  sent: SentField | undefined,
  tools: readonly FunctionTool[],
  errors: FieldErrors,
): { readonly toolChoice: ToolChoice; readonly wireToolChoice: WireToolChoice } {
  const isTool = (name: unknown) => tools.some((tool) => tool.name === name);
  const { toolChoice: prior } = settings;
  const isGone = typeof prior === 'object' && !isTool(prior.name);
  const kept = isGone ? AUTO : { toolChoice: prior, wireToolChoice };
  return mergeField<typeof kept>(sent, kept, AUTO, ({ path, value }) => {
    if (value === 'auto' || value === 'none' || value === 'required') {
      return { toolChoice: value, wireToolChoice: value };
    }
    // LiveKit sends the name of a function.
    const name = isRecord(value) ? value.name : value;
    if (typeof name === 'string' && isTool(name)) {
      return {
        toolChoice: { name },
        wireToolChoice: isRecord(value) ? { type: 'function', name } : name,
      };
    }
    errors.invalid(
      path,
      "must be 'auto', 'none', 'required', or {type: 'function', name} with the name of a tool",
    );
    return kept;
  });
}
