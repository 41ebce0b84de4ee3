import { Button, Group, Input, SegmentedControl, SimpleGrid, Textarea } from '@mantine/core';
import { useState } from 'react';
import { useSession } from '../../client/session.tsx';
import { faultOfField } from '../../parts/feedback/fault-note.tsx';
import { ModelPicker } from '../../parts/form/model-picker.tsx';
import { SliderField } from '../../parts/form/slider-field.tsx';
import { VoicePicker } from '../../parts/form/voice-picker.tsx';
import { Icon } from '../../parts/icon.tsx';
import { saveFile } from '../../parts/save-file.ts';
import { countWords } from '../../parts/words.ts';
import { LoudnessView } from '../../sound/loudness-view.tsx';
import { charactersOf, type SpeechAsk } from '../../sound/speech-request.ts';
import { type Speech, useSpeech } from '../../sound/use-speech.ts';
import { Waveform } from '../../sound/waveform.tsx';
import { Charge } from './charge.tsx';
import { Exchange, SecondsFigure } from './exchange.tsx';

/** Default limit of the service; a lower limit set by the operator is reported by the API. */
const MAX_CHARACTERS = 5000;
const FORMATS = [
  { value: 'pcm', label: 'Streamed' },
  { value: 'wav', label: 'Complete file' },
];
/** Fields that show their own errors. */
const FIELDS = ['input', 'model', 'voice', 'speed'];

/** Synthesizes a text with `POST /v1/audio/speech`. */
export function SpeakTab() {
  const { client } = useSession();
  const [input, setInput] = useState(
    'Good morning. The train leaves at 7:45 from platform three, and a ticket costs $12.50.',
  );
  const [model, setModel] = useState<string>();
  const [voice, setVoice] = useState<string>();
  const [speed, setSpeed] = useState(1);
  const [format, setFormat] = useState<SpeechAsk['format']>('pcm');
  const { speech, track, start, stop } = useSpeech(client);
  const { phase, fault } = speech;
  const characters = charactersOf(input);
  const isTooLong = characters > MAX_CHARACTERS;
  return (
    <Exchange
      title="Text"
      action={{ name: 'Speak', icon: 'play' }}
      canStart={!isTooLong && input.trim() !== ''}
      isWaiting={phase === 'asked'}
      isRunning={phase === 'asked' || phase === 'coming' || phase === 'heard'}
      onStart={() => start({ model, input, voice, speed, format })}
      onStop={stop}
      answerTitle="Speech"
      state={phase === 'over' && speech.isStopped ? 'Stopped' : PHASES[phase]}
      fault={fault}
      toldByFields={FIELDS}
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
            description={`${countWords(characters)} of ${countWords(MAX_CHARACTERS)} characters`}
            error={isTooLong ? 'The text is too long.' : faultOfField(fault, 'input')}
          />
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
            <ModelPicker task="speech" value={model} onChange={setModel} fault={fault} />
            <VoicePicker value={voice} onChange={setVoice} error={faultOfField(fault, 'voice')} />
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
                onChange={(value) => setFormat(value as SpeechAsk['format'])}
              />
            </Input.Wrapper>
          </SimpleGrid>
        </>
      }
      answer={
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
              <Charge key={speech.requestId} requestId={speech.requestId} endpoint="/v1/audio/speech" />
            )}
          </Group>
        </>
      }
    />
  );
}

const PHASES: Readonly<Record<Speech['phase'], string>> = {
  idle: '',
  asked: 'Waiting for audio',
  coming: 'Playing',
  heard: 'Playing',
  over: '',
};
