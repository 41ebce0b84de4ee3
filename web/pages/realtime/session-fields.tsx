import { Select, SimpleGrid } from '@mantine/core';
import { memo } from 'react';
import { LanguageField } from '../../parts/form/language-field.tsx';
import { ModelPicker } from '../../parts/form/model-picker.tsx';
import { SliderField } from '../../parts/form/slider-field.tsx';
import { VoicePicker } from '../../parts/form/voice-picker.tsx';
import type { TalkSettings } from './talk-settings.ts';

const TASKS = [
  { value: 'transcription', label: 'Write down' },
  { value: 'translation', label: 'Write down in English' },
];
const TURNS = [
  { value: 'pause', label: 'At a pause' },
  { value: 'hold', label: 'When I let go' },
];
const ANSWERS = [
  { value: 'nothing', label: 'Nothing' },
  { value: 'echo', label: 'The same words' },
  { value: 'model', label: 'What a language model answers' },
];

interface SessionFieldsProps {
  readonly settings: TalkSettings;
  readonly onChange: (part: Partial<TalkSettings>) => void;
}

/** Everything that can be chosen of a conversation, before it and while it lasts. */
export const SessionFields = memo(({ settings, onChange: change }: SessionFieldsProps) => {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="md">
      <Select
        label="What you say"
        data={TASKS}
        value={settings.task}
        allowDeselect={false}
        onChange={(task) => change({ task: task as TalkSettings['task'] })}
      />
      <ModelPicker
        task="transcription"
        label="Model that hears"
        value={settings.hearingModel}
        onChange={(hearingModel) => change({ hearingModel })}
      />
      <LanguageField value={settings.language} onChange={(language) => change({ language })} />
      <Select
        label="A turn ends"
        data={TURNS}
        value={settings.turns}
        allowDeselect={false}
        onChange={(turns) => change({ turns: turns as TalkSettings['turns'] })}
      />
      {settings.turns === 'pause' && (
        <>
          <SliderField
            label="Threshold of speech"
            min={0.1}
            max={0.9}
            step={0.05}
            value={settings.threshold}
            shown={(value) => value.toFixed(2)}
            onChange={(threshold) => change({ threshold })}
          />
          <SliderField
            label="Length of a pause"
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
        label="Model that speaks"
        value={settings.speakingModel}
        onChange={(speakingModel) => change({ speakingModel })}
      />
      <VoicePicker value={settings.voice} onChange={(voice) => change({ voice })} />
      <Select
        label="Spoken after each turn"
        data={ANSWERS}
        value={settings.answers}
        allowDeselect={false}
        onChange={(answers) => change({ answers: answers as TalkSettings['answers'] })}
      />
      {settings.answers === 'model' && (
        <ModelPicker
          task="chat"
          label="Language model"
          value={settings.answeringModel}
          onChange={(answeringModel) => change({ answeringModel })}
        />
      )}
    </SimpleGrid>
  );
});
