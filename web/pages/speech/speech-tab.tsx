import { Button, Group, Input, SegmentedControl, SimpleGrid, Textarea } from '@mantine/core';
import { useState } from 'react';
import { LoudnessView } from '../../audio/display/loudness-view.tsx';
import { Waveform } from '../../audio/display/waveform.tsx';
import { charactersOf, type SpeechParams } from '../../audio/playback/speech-request.ts';
import { type Speech, useSpeech } from '../../audio/playback/use-speech.ts';
import { useSession } from '../../client/session.tsx';
import { fieldErrorMessage } from '../../components/feedback/error-alert.tsx';
import { ModelPicker } from '../../components/form/model-picker.tsx';
import { SliderField } from '../../components/form/slider-field.tsx';
import { VoicePicker } from '../../components/form/voice-picker.tsx';
import { formatCount } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { saveFile } from '../../components/save-file.ts';
import { RequestCost } from './request-cost.tsx';
import { RequestPanel, SecondsFigure } from './request-panel.tsx';

/** Default limit of the service; a lower limit set by the operator is reported by the API. */
const MAX_CHARACTERS = 5000;
const FORMATS = [
  { value: 'pcm', label: 'Streamed' },
  { value: 'wav', label: 'Complete file' },
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
  const [format, setFormat] = useState<SpeechParams['format']>('pcm');
  const { speech, track, start, stop } = useSpeech(client);
  const { phase, error } = speech;
  const characters = charactersOf(input);
  const isTooLong = characters > MAX_CHARACTERS;
  return (
    <RequestPanel
      title="Text"
      action={{ name: 'Speak', icon: 'play' }}
      canStart={!isTooLong && input.trim() !== ''}
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
            <ModelPicker task="speech" value={model} onChange={setModel} error={error} />
            <VoicePicker value={voice} onChange={setVoice} error={fieldErrorMessage(error, 'voice')} />
            <SliderField
              label="Speed"
              min={0.25}
              max={4}
              step={0.05}
              value={speed}
              shown={(value) => `${value.toFixed(2)} ×`}
              onChange={setSpeed}
            />
            <Input.Wrapper label="Delivery" labelElement="div" labelProps={{ id: 'speech-format' }}>
              <SegmentedControl
                fullWidth
                aria-labelledby="speech-format"
                data={FORMATS}
                value={format}
                onChange={(value) => setFormat(value as SpeechParams['format'])}
              />
            </Input.Wrapper>
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
              disabled={speech.file === undefined}
              leftSection={<Icon name="download" size={16} />}
              onClick={() => speech.file && saveFile(speech.file, 'speech.wav')}
            >
              Download WAV
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
