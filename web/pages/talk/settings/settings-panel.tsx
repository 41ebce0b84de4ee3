import { Select, SimpleGrid, Stack, Switch, Text } from '@mantine/core';
import { LanguageField } from '../../../components/form/language-field.tsx';
import { ModelPicker } from '../../../components/form/model-picker.tsx';
import { VoicePicker } from '../../../components/form/voice-picker.tsx';
import { Panel } from '../../../components/panel.tsx';
import { EXAMPLE_TOOLS } from '../tools/example-tools.ts';
import { CommittedTextarea } from './committed-textarea.tsx';
import type { TalkSettings } from './talk-settings.ts';
import { ToolsField } from './tools-field.tsx';

const DETECTIONS = [
  { value: 'default', label: 'Default of the model' },
  { value: 'semantic_vad', label: 'Semantic: intonation and pauses' },
  { value: 'server_vad', label: 'Server: pauses only' },
];
const EAGERNESS = [
  { value: 'auto', label: 'Automatic' },
  { value: 'low', label: 'Low: lets you think' },
  { value: 'medium', label: 'Medium' },
  { value: 'high', label: 'High: answers soon' },
];

interface SettingsPanelProps {
  readonly settings: TalkSettings;
  readonly onChange: (changes: Partial<TalkSettings>) => void;
  /** Whether a conversation is running: the model is then fixed. */
  readonly isOpen: boolean;
  /** Whether the assistant has spoken in the running conversation: the voice is then fixed. */
  readonly isVoiceFixed: boolean;
  /** Whether there are several conversation models. */
  readonly hasModels: boolean;
}

/** Settings of the conversation. Most also apply during a conversation. */
export function SettingsPanel(props: SettingsPanelProps) {
  const { settings, onChange, isOpen, isVoiceFixed, hasModels } = props;
  return (
    <Panel title="Settings">
      <CommittedTextarea
        label="Instructions"
        placeholder="Who the assistant is and how it answers. Default: the instructions of the model."
        value={settings.instructions}
        onChange={(instructions) => onChange({ instructions })}
        minRows={2}
      />
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="md">
        {hasModels && (
          <ModelPicker
            task="conversation"
            value={settings.model}
            onChange={(model) => onChange({ model })}
            disabled={isOpen}
          />
        )}
        <VoicePicker
          value={settings.voice}
          onChange={(voice) => onChange({ voice })}
          disabled={isVoiceFixed}
        />
        <LanguageField value={settings.language} onChange={(language) => onChange({ language })} />
        <Select
          label="Turn detection"
          data={DETECTIONS}
          value={settings.detection}
          allowDeselect={false}
          disabled={settings.mode === 'push_to_talk'}
          onChange={(detection) => onChange({ detection: detection as TalkSettings['detection'] })}
        />
        <Select
          label="Eagerness"
          data={EAGERNESS}
          value={settings.eagerness}
          allowDeselect={false}
          disabled={settings.mode === 'push_to_talk' || settings.detection !== 'semantic_vad'}
          onChange={(eagerness) => onChange({ eagerness: eagerness as TalkSettings['eagerness'] })}
        />
      </SimpleGrid>
      {isVoiceFixed && (
        <Text size="xs" c="dimmed">
          The voice can be changed for the next conversation.
        </Text>
      )}
      <ExampleTools settings={settings} onChange={onChange} />
      <ToolsField onChange={(customTools) => onChange({ customTools })} />
    </Panel>
  );
}

function ExampleTools({ settings, onChange }: Pick<SettingsPanelProps, 'settings' | 'onChange'>) {
  return (
    <Switch.Group
      label="Example functions"
      description="The assistant can call them; this browser runs them."
      value={[...settings.exampleTools]}
      onChange={(exampleTools) => onChange({ exampleTools })}
    >
      <Stack gap="xs" mt="xs">
        {EXAMPLE_TOOLS.map(({ definition: { name }, title, hint }) => (
          <Switch key={name} value={name} label={title} description={`Try: “${hint}”`} />
        ))}
      </Stack>
    </Switch.Group>
  );
}
