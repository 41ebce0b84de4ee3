import { Button, Group, NumberInput, Select, Stack, Switch, Text, Textarea, TextInput } from '@mantine/core';
import { ModelPicker } from '../../components/form/model-picker.tsx';
import { Panel } from '../../components/panel.tsx';
import {
  EXAMPLE_FUNCTIONS,
  EXAMPLE_SCHEMA,
  type FormErrors,
  functionNames,
  type ResponseForm,
} from './response-form.ts';

interface SettingsProps {
  readonly form: ResponseForm;
  readonly onChange: (changes: Partial<ResponseForm>) => void;
  readonly fieldErrors: FormErrors;
}

/** Settings of the request: model, tools and response format. */
export function SettingsPanel(props: SettingsProps) {
  const { form, onChange, fieldErrors } = props;
  return (
    <Stack gap="md">
      <Panel title="Settings">
        <ModelPicker task="chat" value={form.model || undefined} onChange={(model) => onChange({ model })} />
        {fieldErrors.model !== undefined && (
          <Text size="sm" c="error" role="alert">
            {fieldErrors.model}
          </Text>
        )}
        <Textarea
          label="Instructions"
          placeholder="Be brief."
          value={form.instructions}
          onChange={({ currentTarget }) => onChange({ instructions: currentTarget.value })}
          error={fieldErrors.instructions}
          autosize
          minRows={2}
          maxRows={10}
        />
        <Group grow align="flex-start">
          <NumberInput
            label="Temperature"
            placeholder="1"
            min={0}
            max={2}
            step={0.1}
            value={form.temperature}
            onChange={(value) => onChange({ temperature: numberOf(value) })}
            error={fieldErrors.temperature}
          />
          <NumberInput
            label="Max output tokens"
            placeholder="no limit"
            min={1}
            allowDecimal={false}
            value={form.maxOutputTokens}
            onChange={(value) => onChange({ maxOutputTokens: numberOf(value) })}
            error={fieldErrors.maxOutputTokens}
          />
        </Group>
        <Group gap="lg">
          <Switch
            label="Stream"
            checked={form.stream}
            onChange={({ currentTarget }) => onChange({ stream: currentTarget.checked })}
          />
          <Switch
            label="Store"
            checked={form.store}
            onChange={({ currentTarget }) => onChange({ store: currentTarget.checked })}
          />
        </Group>
      </Panel>
      <Tools {...props} />
      <Format {...props} />
    </Stack>
  );
}

function Tools({ form, onChange, fieldErrors }: SettingsProps) {
  const choices = [
    { value: 'auto', label: 'auto' },
    { value: 'required', label: 'required' },
    { value: 'none', label: 'none' },
    ...functionNames(form.functions).map((name) => ({ value: `function:${name}`, label: name })),
    ...(form.webSearch ? [{ value: 'web_search', label: 'web search' }] : []),
    ...(form.codeInterpreter ? [{ value: 'code_interpreter', label: 'code interpreter' }] : []),
  ];
  const isBuiltIn = form.webSearch || form.codeInterpreter;
  const hasTools = isBuiltIn || form.functions.trim() !== '';
  return (
    <Panel
      title="Tools"
      actions={
        <Button
          variant="default"
          size="compact-sm"
          onClick={() => onChange({ functions: EXAMPLE_FUNCTIONS })}
          disabled={form.functions !== ''}
        >
          Example
        </Button>
      }
    >
      <JsonArea
        label="Functions"
        description="JSON list of functions that the model may call. You provide the results."
        value={form.functions}
        onChange={(functions) => onChange({ functions })}
        error={fieldErrors.functions}
      />
      <Switch
        label="Web search"
        description="Requires a search server in the service configuration."
        checked={form.webSearch}
        error={fieldErrors.webSearch}
        onChange={({ currentTarget }) => onChange({ webSearch: currentTarget.checked })}
      />
      <Switch
        label="Code interpreter"
        description="Runs Python on the service, without network access."
        checked={form.codeInterpreter}
        error={fieldErrors.codeInterpreter}
        onChange={({ currentTarget }) => onChange({ codeInterpreter: currentTarget.checked })}
      />
      {hasTools && (
        <Group grow align="flex-start">
          <Select
            label="Tool choice"
            data={choices}
            value={choices.some(({ value }) => value === form.toolChoice) ? form.toolChoice : 'auto'}
            onChange={(toolChoice) => toolChoice !== null && onChange({ toolChoice })}
            allowDeselect={false}
            error={fieldErrors.toolChoice}
          />
          {isBuiltIn && (
            <NumberInput
              label="Max tool calls"
              placeholder="8"
              min={1}
              max={100}
              allowDecimal={false}
              value={form.maxToolCalls}
              onChange={(value) => onChange({ maxToolCalls: numberOf(value) })}
              error={fieldErrors.maxToolCalls}
            />
          )}
        </Group>
      )}
    </Panel>
  );
}

function Format({ form, onChange, fieldErrors }: SettingsProps) {
  return (
    <Panel
      title="Response format"
      actions={
        form.format === 'json_schema' && (
          <Button
            variant="default"
            size="compact-sm"
            onClick={() => onChange({ schema: EXAMPLE_SCHEMA })}
            disabled={form.schema !== ''}
          >
            Example
          </Button>
        )
      }
    >
      <Select
        label="Format"
        data={[
          { value: 'text', label: 'Text' },
          { value: 'json_object', label: 'JSON object' },
          { value: 'json_schema', label: 'JSON schema' },
        ]}
        value={form.format}
        onChange={(format) => format !== null && onChange({ format: format as ResponseForm['format'] })}
        allowDeselect={false}
        error={fieldErrors.format}
      />
      {form.format === 'json_schema' && (
        <>
          <TextInput
            label="Schema name"
            value={form.schemaName}
            onChange={({ currentTarget }) => onChange({ schemaName: currentTarget.value })}
            error={fieldErrors.schemaName}
          />
          <JsonArea
            label="Schema"
            value={form.schema}
            onChange={(schema) => onChange({ schema })}
            error={fieldErrors.schema}
          />
        </>
      )}
    </Panel>
  );
}

function JsonArea(props: {
  readonly label: string;
  readonly description?: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly error: string | undefined;
}) {
  const { label, description, value, onChange, error } = props;
  return (
    <Textarea
      label={label}
      description={description}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      error={error}
      styles={{ input: { fontFamily: 'var(--console-mono)', fontSize: 13 } }}
      spellCheck={false}
      autosize
      minRows={3}
      maxRows={24}
    />
  );
}

function numberOf(value: number | string): number | '' {
  return typeof value === 'number' ? value : '';
}
