import { Button, Group, Input, SegmentedControl, SimpleGrid, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { useSession } from '../../client/session.tsx';
import { FaultNote, faultOfField } from '../../parts/fault-note.tsx';
import { Figure } from '../../parts/figure.tsx';
import { Icon } from '../../parts/icon.tsx';
import { ModelPicker } from '../../parts/model-picker.tsx';
import { Panel } from '../../parts/panel.tsx';
import { saveFile } from '../../parts/save-file.ts';
import { SliderField } from '../../parts/slider-field.tsx';
import { VoicePicker } from '../../parts/voice-picker.tsx';
import { countWords, secondsWords } from '../../parts/words.ts';
import { LoudnessView } from '../../sound/loudness-view.tsx';
import { charactersOf, type SpeechAsk } from '../../sound/speech-request.ts';
import { type Speech, useSpeech } from '../../sound/use-speech.ts';
import { Waveform } from '../../sound/waveform.tsx';
import { Charge } from './charge.tsx';

/** The service's own limit, unless its operator set a lower one, which it then tells. */
const MOST_CHARACTERS = 5000;
const FORMATS = [
  { value: 'pcm', label: 'As it is made' },
  { value: 'wav', label: 'At the end' },
];
/** Fields that have a place for what the service says of them. */
const FIELDS = ['input', 'model', 'voice', 'speed'];

/** A text, spoken by `POST /v1/audio/speech`. */
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
  const isTooLong = characters > MOST_CHARACTERS;
  const isRunning = phase === 'asked' || phase === 'coming' || phase === 'heard';
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
      <Panel title="Text">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            start({ model, input, voice, speed, format });
          }}
        >
          <Stack gap="md">
            <Textarea
              label="Text to speak"
              value={input}
              onChange={({ currentTarget }) => setInput(currentTarget.value)}
              autosize
              minRows={4}
              maxRows={14}
              required
              withAsterisk={false}
              inputWrapperOrder={['label', 'input', 'description', 'error']}
              description={`${countWords(characters)} of ${countWords(MOST_CHARACTERS)} characters`}
              error={isTooLong ? 'This is too long.' : faultOfField(fault, 'input')}
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
              <Input.Wrapper label="The audio comes" labelElement="div" labelProps={{ id: 'speech-format' }}>
                <SegmentedControl
                  fullWidth
                  aria-labelledby="speech-format"
                  data={FORMATS}
                  value={format}
                  onChange={(value) => setFormat(value as SpeechAsk['format'])}
                />
              </Input.Wrapper>
            </SimpleGrid>
            <Group gap="xs">
              <Button
                type="submit"
                loading={phase === 'asked'}
                disabled={isTooLong || input.trim() === ''}
                leftSection={<Icon name="play" size={16} />}
              >
                Speak
              </Button>
              <Button
                variant="default"
                disabled={!isRunning}
                onClick={stop}
                leftSection={<Icon name="stop" size={16} />}
              >
                Stop
              </Button>
            </Group>
          </Stack>
        </form>
      </Panel>
      <Panel title="Speech" actions={<State speech={speech} />}>
        {(fault?.param == null || !FIELDS.includes(fault.param)) && <FaultNote fault={fault} />}
        {speech.file === undefined ? (
          <LoudnessView track={track} label="Loudness of the speech as it comes" heightPx={126} />
        ) : (
          <Waveform sound={speech.file} label="The speech" />
        )}
        <SimpleGrid cols={3}>
          <Figure name="First audio after">{seconds(speech.firstS)}</Figure>
          <Figure name="All audio after">{seconds(speech.totalS)}</Figure>
          <Figure name="Audio">{seconds(speech.lengthS || undefined)}</Figure>
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
      </Panel>
    </SimpleGrid>
  );
}

function seconds(value: number | undefined): string {
  return value === undefined ? '–' : secondsWords(value);
}

const PHASES: Readonly<Record<Speech['phase'], string>> = {
  idle: '',
  asked: 'Waiting for the first sound',
  coming: 'Speaking',
  heard: 'Speaking',
  over: '',
};

function State({ speech: { phase, isStopped } }: { readonly speech: Speech }) {
  return (
    <Text size="sm" c="dimmed" role="status">
      {phase === 'over' && isStopped ? 'Stopped' : PHASES[phase]}
    </Text>
  );
}
