import { Select, SimpleGrid } from '@mantine/core';
import { memo } from 'react';
import { LanguageField } from '../../components/form/language-field.tsx';
import { ModelPicker } from '../../components/form/model-picker.tsx';
import { SliderField } from '../../components/form/slider-field.tsx';
import { VoicePicker } from '../../components/form/voice-picker.tsx';
import type { ConversationSettings } from './conversation-settings.ts';

const TASKS = [
  { value: 'transcription', label: 'Transcribe' },
  { value: 'translation', label: 'Translate to English' },
];
const TURNS = [
  { value: 'pause', label: 'Automatic' },
  { value: 'hold', label: 'Push to talk' },
];
const RESPONSE_MODES = [
  { value: 'nothing', label: 'None' },
  { value: 'echo', label: 'Repeat transcript' },
  { value: 'model', label: 'Language model reply' },
];

interface SessionFieldsProps {
  readonly settings: ConversationSettings;
  readonly onChange: (part: Partial<ConversationSettings>) => void;
}

/** Session settings, which can be changed before and during a connection. */
export const SessionFields = memo(({ settings, onChange: change }: SessionFieldsProps) => {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="md">
      <Select
        label="Task"
        data={TASKS}
        value={settings.task}
        allowDeselect={false}
        onChange={(task) => change({ task: task as ConversationSettings['task'] })}
      />
      <ModelPicker
        task="transcription"
        label="Transcription model"
        value={settings.transcriptionModel}
        onChange={(transcriptionModel) => change({ transcriptionModel })}
      />
      <LanguageField value={settings.language} onChange={(language) => change({ language })} />
      <Select
        label="Turn detection"
        data={TURNS}
        value={settings.turns}
        allowDeselect={false}
        onChange={(turns) => change({ turns: turns as ConversationSettings['turns'] })}
      />
      {settings.turns === 'pause' && (
        <>
          <SliderField
            label="Speech threshold"
            min={0.1}
            max={0.9}
            step={0.05}
            value={settings.threshold}
            shown={(value) => value.toFixed(2)}
            onChange={(threshold) => change({ threshold })}
          />
          <SliderField
            label="Silence duration"
            min={100}
            max={2000}
            step={50}
            value={settings.silenceMs}
            shown={(value) => `${value} ms`}
            onChange={(silenceMs) => change({ silenceMs })}
          />
        </>
      )}
      <ModelPicker
        task="speech"
        label="Speech model"
        value={settings.speechModel}
        onChange={(speechModel) => change({ speechModel })}
      />
      <VoicePicker value={settings.voice} onChange={(voice) => change({ voice })} />
      <Select
        label="Response mode"
        data={RESPONSE_MODES}
        value={settings.responseMode}
        allowDeselect={false}
        onChange={(responseMode) =>
          change({ responseMode: responseMode as ConversationSettings['responseMode'] })
        }
      />
      {settings.responseMode === 'model' && (
        <ModelPicker
          task="chat"
          label="Language model"
          value={settings.languageModel}
          onChange={(languageModel) => change({ languageModel })}
        />
      )}
    </SimpleGrid>
  );
});
