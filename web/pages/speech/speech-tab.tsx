import { Button, Group, Select, SimpleGrid, Switch, Textarea } from '@mantine/core';
import { useCallback, useRef, useState } from 'react';
import { LoudnessView } from '../../audio/display/loudness-view.tsx';
import { Waveform } from '../../audio/display/waveform.tsx';
import { charactersOf, type SpeechFormat } from '../../audio/playback/speech-request.ts';
import { type Speech, useSpeech } from '../../audio/playback/use-speech.ts';
import { useSession } from '../../client/session.tsx';
import { useModels } from '../../client/use-models.ts';
import { useVoices } from '../../client/use-voices.ts';
import { fieldErrorMessage } from '../../components/feedback/error-alert.tsx';
import { LoadedModelPicker } from '../../components/form/model-picker.tsx';
import { SliderField } from '../../components/form/slider-field.tsx';
import { LoadedVoicePicker } from '../../components/form/voice-picker.tsx';
import { formatCount } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { languageName } from '../../components/language-name.ts';
import { saveFile } from '../../components/save-file.ts';
import { ReadingPreview } from './reading-preview.tsx';
import { RequestCost } from './request-cost.tsx';
import { RequestPanel, SecondsFigure } from './request-panel.tsx';
import { SpokenText } from './spoken-text.tsx';
import { CAPTION_TYPES, type CaptionFormat, captionsOf } from './word-captions.ts';

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
const FIELDS = ['input', 'model', 'voice', 'language', 'speed'];
const CAPTIONS: readonly CaptionFormat[] = ['srt', 'vtt'];

/** Synthesizes a text with `POST /v1/audio/speech`. */
export function SpeechTab() {
  const { client } = useSession();
  const [input, setInput] = useState(
    'Good morning. The train leaves at 7:45 from platform three, and a ticket costs $12.50.',
  );
  const [model, setModel] = useState<string>();
  const [voice, setVoice] = useState<string>();
  const [language, setLanguage] = useState<string>();
  const [isSsml, setSsml] = useState(false);
  const [speed, setSpeed] = useState(1);
  const [chosenFormat, setFormat] = useState<SpeechFormat>('pcm');
  const models = useModels('speech', model, setModel);
  const voices = useVoices(model);
  const { engine, languages = [] } = models.value?.find(({ id }) => id === model) ?? {};
  const formats = engine?.compatibility === 'openai' ? OPENAI_FORMATS : FORMATS;
  const format = formats.some(({ value }) => value === chosenFormat) ? chosenFormat : 'pcm';
  const { speech, track, start, stop, playedS } = useSpeech(client);
  // Position of the player of the finished speech.
  const fileS = useRef<number>(undefined);
  const setFileS = useCallback((seconds: number) => {
    fileS.current = seconds;
  }, []);
  const position = useCallback(() => playedS() ?? fileS.current, [playedS]);
  const { phase, error } = speech;
  const characters = charactersOf(input);
  // The markup of SSML does not count; the service checks its text.
  const isTooLong = !isSsml && characters > MAX_CHARACTERS;
  const namedVoice = voices.value?.named.find(({ id }) => id === voice);
  // Names of OpenAI's voices tell no language: it is detected.
  const voiceLanguage = namedVoice?.preset === undefined ? namedVoice?.language : undefined;
  const onlyLanguage = languages.length === 1 ? languages[0] : undefined;
  const readingLanguage = language ?? voiceLanguage ?? onlyLanguage;
  const selectModel = (id: string) => {
    setModel(id);
    // Another model may not have the voice.
    setVoice(undefined);
    setLanguage(undefined);
  };
  const speakNow = () => {
    fileS.current = undefined;
    start({ model, input, isSsml, voice, language, speed, format });
  };
  return (
    <RequestPanel
      title="Text"
      action={{ name: 'Speak', icon: 'play' }}
      canStart={model !== undefined && !isTooLong && input.trim() !== ''}
      isWaiting={phase === 'requested'}
      isRunning={phase === 'requested' || phase === 'receiving' || phase === 'playing'}
      onStart={speakNow}
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
            description={
              isSsml
                ? `${formatCount(characters)} characters with the markup`
                : `${formatCount(characters)} of ${formatCount(MAX_CHARACTERS)} characters`
            }
            error={isTooLong ? 'The text is too long.' : fieldErrorMessage(error, 'input')}
          />
          <Switch
            label="SSML"
            description="The text is a document in SSML 1.1, such as <speak>Hello <break/> there.</speak>"
            checked={isSsml}
            onChange={({ currentTarget }) => setSsml(currentTarget.checked)}
          />
          {!isSsml && !isTooLong && <ReadingPreview input={input} language={readingLanguage} />}
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
            <LoadedModelPicker models={models} value={model} onChange={selectModel} error={error} />
            <LoadedVoicePicker
              voices={voices}
              value={voice}
              onChange={setVoice}
              error={fieldErrorMessage(error, 'voice')}
            />
            <Select
              label="Language"
              placeholder="Detected, or that of the voice"
              data={languages.map((tag) => ({ value: tag, label: languageName(tag) }))}
              value={language ?? null}
              onChange={(tag) => setLanguage(tag ?? undefined)}
              clearable
              clearButtonProps={{ 'aria-label': 'Choose no language' }}
              disabled={languages.length === 0}
              error={fieldErrorMessage(error, 'language')}
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
            <Waveform sound={speech.file} label="Synthesized speech" onPosition={setFileS} />
          )}
          {speech.words.length > 0 && <SpokenText words={speech.words} position={position} />}
          <SimpleGrid cols={3}>
            <SecondsFigure name="Time to first audio" seconds={speech.firstS} />
            <SecondsFigure name="Total time" seconds={speech.totalS} />
            <SecondsFigure name="Audio duration" seconds={speech.lengthS || undefined} />
          </SimpleGrid>
          <Group justify="space-between" gap="sm">
            <Group gap="xs">
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
              {CAPTIONS.map((extension) => (
                <Button
                  key={extension}
                  variant="default"
                  disabled={speech.file === undefined || speech.words.length === 0}
                  leftSection={<Icon name="download" size={16} />}
                  onClick={() => {
                    const text = captionsOf(speech.words, extension);
                    saveFile(new Blob([text], { type: CAPTION_TYPES[extension] }), `speech.${extension}`);
                  }}
                >
                  Download {extension.toUpperCase()}
                </Button>
              ))}
            </Group>
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
