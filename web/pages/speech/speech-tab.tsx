import { Button, Group, Select, SimpleGrid, Textarea } from '@mantine/core';
import { useState } from 'react';
import { LoudnessView } from '../../audio/display/loudness-view.tsx';
import { Waveform } from '../../audio/display/waveform.tsx';
import { charactersOf, type SpeechFormat } from '../../audio/playback/speech-request.ts';
import { type Speech, useSpeech } from '../../audio/playback/use-speech.ts';
import { useSession } from '../../client/session.tsx';
import { useModels } from '../../client/use-models.ts';
import { fieldErrorMessage } from '../../components/feedback/error-alert.tsx';
import { LoadedModelPicker } from '../../components/form/model-picker.tsx';
import { SliderField } from '../../components/form/slider-field.tsx';
import { VoicePicker } from '../../components/form/voice-picker.tsx';
import { formatCount } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { saveFile } from '../../components/save-file.ts';
import { RequestCost } from './request-cost.tsx';
import { RequestPanel, SecondsFigure } from './request-panel.tsx';

/** Default limit of the service; a lower limit set by the operator is reported by the API. */
const MAX_CHARACTERS = 5000;
const FORMATS: readonly { readonly value: SpeechFormat; readonly label: string }[] = [
  { value: 'pcm', label: 'Streamed' },
  { value: 'wav', label: 'WAV file' },
];
/** Of models that follow OpenAI's API. */
const OPENAI_FORMATS: typeof FORMATS = [
  ...FORMATS,
  { value: 'mp3', label: 'MP3 file' },
  { value: 'opus', label: 'Opus file' },
  { value: 'aac', label: 'AAC file' },
  { value: 'flac', label: 'FLAC file' },
];
/** Fields that show their own errors. */
const FIELDS = ['input', 'model', 'voice', 'speed'];

/** Synthesizes a text with `POST /v1/audio/speech`. */
export function SpeechTab() {
  const { client } = useSession();
  const [input, setInput] = useState(
    'Good morning. The train leaves at 7:45 from platform three, and a ticket costs $12.50.',
  );
  const [model, setModel] = useState<string>();
  const [voice, setVoice] = useState<string>();
  const [speed, setSpeed] = useState(1);
  const [chosenFormat, setFormat] = useState<SpeechFormat>('pcm');
  const models = useModels('speech', model, setModel);
  const engine = models.value?.find(({ id }) => id === model)?.engine;
  const formats = engine?.compatibility === 'openai' ? OPENAI_FORMATS : FORMATS;
  const format = formats.some(({ value }) => value === chosenFormat) ? chosenFormat : 'pcm';
  const { speech, track, start, stop } = useSpeech(client);
  const { phase, error } = speech;
  const characters = charactersOf(input);
  const isTooLong = characters > MAX_CHARACTERS;
  const selectModel = (id: string) => {
    setModel(id);
    // Another model may not have the voice.
    setVoice(undefined);
  };
  return (
    <RequestPanel
      title="Text"
      action={{ name: 'Speak', icon: 'play' }}
      canStart={model !== undefined && !isTooLong && input.trim() !== ''}
      isWaiting={phase === 'requested'}
      isRunning={phase === 'requested' || phase === 'receiving' || phase === 'playing'}
      onStart={() => start({ model, input, voice, speed, format })}
      onStop={stop}
      resultTitle="Speech"
      state={phase === 'finished' && speech.isStopped ? 'Stopped' : PHASES[phase]}
      error={error}
      fieldsWithErrors={FIELDS}
      fields={
        <>
          <Textarea
            label="Input text"
            value={input}
            onChange={({ currentTarget }) => setInput(currentTarget.value)}
            dir="auto"
            autosize
            minRows={4}
            maxRows={14}
            required
            withAsterisk={false}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            description={`${formatCount(characters)} of ${formatCount(MAX_CHARACTERS)} characters`}
            error={isTooLong ? 'The text is too long.' : fieldErrorMessage(error, 'input')}
          />
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
            <LoadedModelPicker models={models} value={model} onChange={selectModel} error={error} />
            <VoicePicker
              model={model}
              value={voice}
              onChange={setVoice}
              error={fieldErrorMessage(error, 'voice')}
            />
            <SliderField
              label="Speed"
              min={0.25}
              max={4}
              step={0.05}
              value={speed}
              shown={(value) => `${value.toFixed(2)} ×`}
              onChange={setSpeed}
            />
            <Select
              label="Format"
              data={formats}
              value={format}
              allowDeselect={false}
              onChange={(value) => setFormat(value as SpeechFormat)}
            />
          </SimpleGrid>
        </>
      }
      result={
        <>
          {speech.file === undefined ? (
            <LoudnessView track={track} label="Loudness of the received audio" heightPx={126} />
          ) : (
            <Waveform sound={speech.file} label="Synthesized speech" />
          )}
          <SimpleGrid cols={3}>
            <SecondsFigure name="Time to first audio" seconds={speech.firstS} />
            <SecondsFigure name="Total time" seconds={speech.totalS} />
            <SecondsFigure name="Audio duration" seconds={speech.lengthS || undefined} />
          </SimpleGrid>
          <Group justify="space-between" gap="sm">
            <Button
              variant="default"
              disabled={speech.download === undefined}
              leftSection={<Icon name="download" size={16} />}
              onClick={() =>
                speech.download && saveFile(speech.download.file, `speech.${speech.download.extension}`)
              }
            >
              Download {(speech.download?.extension ?? 'wav').toUpperCase()}
            </Button>
            {speech.file !== undefined && speech.requestId !== null && (
              <RequestCost key={speech.requestId} requestId={speech.requestId} endpoint="/v1/audio/speech" />
            )}
          </Group>
        </>
      }
    />
  );
}

const PHASES: Readonly<Record<Speech['phase'], string>> = {
  idle: '',
  requested: 'Waiting for audio',
  receiving: 'Playing',
  playing: 'Playing',
  finished: '',
};
