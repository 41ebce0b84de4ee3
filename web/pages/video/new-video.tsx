import {
  Alert,
  Button,
  Group,
  NumberInput,
  Progress,
  SegmentedControl,
  Select,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { isAbort, type ServiceError, toServiceError } from '../../client/service-error.ts';
import { useSession } from '../../client/session.tsx';
import { useLoad } from '../../client/use-load.ts';
import { ErrorAlert } from '../../components/feedback/error-alert.tsx';
import { FileDrop } from '../../components/form/file-drop.tsx';
import { ModelPicker } from '../../components/form/model-picker.tsx';
import { Panel } from '../../components/panel.tsx';
import { useObjectUrl } from '../../components/use-object-url.ts';
import { clipMemory, type Origin } from './clip-memory.ts';
import { clipHint, formatRange, type LocalClip, type VideoModel } from './clip-rules.ts';
import {
  type ExtendForm,
  type ExtensionErrors,
  errorsAfter,
  extensionField,
  extensionForm,
  NEW_EXTENSION,
} from './extension-form.ts';
import classes from './video.module.css';
import type { Video } from './video-wire.ts';

/** Form that creates a video extension: source, model and prompt. */
export function NewVideo(props: {
  /** Id of the source video. */
  readonly of: string | undefined;
  readonly onCreated: (id: string) => void;
}) {
  const { of, onCreated } = props;
  const { client } = useSession();
  const [form, setForm] = useState<ExtendForm>(
    of === undefined ? NEW_EXTENSION : { ...NEW_EXTENSION, source: 'video', video: of },
  );
  const [fieldErrors, setFieldErrors] = useState<ExtensionErrors>({});
  const [error, setError] = useState<ServiceError>();
  const [progress, setProgress] = useState<number>();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const change = (changes: Partial<ExtendForm>) => {
    setForm((before) => ({ ...before, ...changes }));
    setFieldErrors((before) => errorsAfter(before, changes));
  };

  const start = async () => {
    const created = extensionForm(form);
    setError(undefined);
    setFieldErrors('fieldErrors' in created ? created.fieldErrors : {});
    if ('fieldErrors' in created) return;
    const abort = new AbortController();
    running.current = abort;
    setProgress(0);
    try {
      const { id } = await client.upload<Video>('v1/videos/extensions', created.form, {
        signal: abort.signal,
        onProgress: setProgress,
      });
      clipMemory.keep(id, originOf(form));
      onCreated(id);
    } catch (thrown) {
      if (isAbort(thrown)) return;
      const error = toServiceError(thrown);
      const field = extensionField(error.param);
      if (field === undefined) setError(error);
      else setFieldErrors({ [field]: error.message });
    } finally {
      setProgress(undefined);
    }
  };
  const isRunning = progress !== undefined;
  const { value: model } = useLoad(
    async (signal) => {
      if (form.model === '') return undefined;
      return client.get<VideoModel>(`v1/models/${encodeURIComponent(form.model)}`, { signal });
    },
    [client, form.model],
  );
  const { seconds, clip_seconds: clipSeconds } = model?.limits ?? {};
  return (
    <Panel title="Extend a clip">
      <Source form={form} model={model} onChange={change} error={fieldErrors.video} isRunning={isRunning} />
      <Group align="flex-start" grow preventGrowOverflow={false}>
        <div>
          <ModelPicker
            task="video"
            value={form.model || undefined}
            onChange={(model) => change({ model })}
            disabled={isRunning}
          />
          <Text size="xs" c={fieldErrors.model === undefined ? 'dimmed' : 'error'} mt={4}>
            {fieldErrors.model ?? (clipSeconds && `Continues clips of ${formatRange(clipSeconds)} s.`)}
          </Text>
        </div>
        <NumberInput
          label="Segment duration in seconds"
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          description={seconds && `Duration of the new segment: ${formatRange(seconds)} s.`}
          min={seconds?.minimum ?? 1}
          {...(seconds?.maximum !== undefined && { max: seconds.maximum })}
          allowDecimal={false}
          value={form.seconds}
          onChange={(value) => change({ seconds: typeof value === 'number' ? value : '' })}
          error={fieldErrors.seconds}
          disabled={isRunning}
        />
      </Group>
      <Textarea
        label="Prompt"
        description="What happens next. Models that only continue the motion ignore the prompt; the created video has a note about it."
        placeholder="The camera keeps panning over the harbour."
        value={form.prompt}
        onChange={({ currentTarget }) => change({ prompt: currentTarget.value })}
        error={fieldErrors.prompt}
        autosize
        minRows={2}
        maxRows={8}
        disabled={isRunning}
      />
      <ErrorAlert error={error} />
      <Group gap="sm">
        <Button onClick={start} loading={isRunning}>
          Create segment
        </Button>
        {isRunning && (
          <Button variant="default" onClick={() => running.current?.abort()}>
            Stop
          </Button>
        )}
        {isRunning && form.source === 'file' && (
          <Progress value={100 * progress} flex={1} aria-label="Upload" />
        )}
      </Group>
    </Panel>
  );
}

function originOf({ source, file, video }: ExtendForm): Origin {
  if (source === 'file' && file !== undefined) return { kind: 'file', file };
  return source === 'video' ? { kind: 'video', id: video } : { kind: 'url' };
}

function Source(props: {
  readonly form: ExtendForm;
  readonly model: VideoModel | undefined;
  readonly onChange: (changes: Partial<ExtendForm>) => void;
  readonly error: string | undefined;
  readonly isRunning: boolean;
}) {
  const { form, model, onChange, error, isRunning } = props;
  return (
    <>
      <SegmentedControl
        w="fit-content"
        aria-label="Source"
        value={form.source}
        onChange={(source) => onChange({ source: source as ExtendForm['source'] })}
        data={[
          { value: 'file', label: 'A file' },
          { value: 'video', label: 'Existing video' },
          { value: 'url', label: 'URL' },
        ]}
        disabled={isRunning}
      />
      {form.source === 'file' && (
        <>
          <FileDrop
            label="Clip"
            text="or drop a clip here: MP4 or QuickTime, H.264 or H.265, 24 to 60 frames per second, at most 200 MB."
            accept="video/mp4,video/quicktime,.mp4,.mov"
            file={form.file}
            onFile={(file) => onChange({ file })}
            error={error}
            disabled={isRunning}
          />
          {form.file !== undefined && <LocalPreview file={form.file} model={model} />}
        </>
      )}
      {form.source === 'video' && (
        <VideoPicker value={form.video} onChange={(video) => onChange({ video })} error={error} />
      )}
      {form.source === 'url' && (
        <TextInput
          label="Clip URL"
          description="An https URL on a public server."
          placeholder="https://example.com/clip.mp4"
          type="url"
          value={form.url}
          onChange={({ currentTarget }) => onChange({ url: currentTarget.value })}
          error={error}
        />
      )}
    </>
  );
}

/** Preview of the selected clip, with a hint if the service would reject it. */
function LocalPreview({ file, model }: { readonly file: File; readonly model: VideoModel | undefined }) {
  const address = useObjectUrl(file);
  const [clip, setClip] = useState<LocalClip>({ bytes: file.size });
  const [isUnreadable, setUnreadable] = useState(false);
  useEffect(() => {
    setClip({ bytes: file.size });
    setUnreadable(false);
  }, [file]);
  const hint = model && clipHint(clip, model);
  const { picture } = clip;
  return (
    <div>
      {address !== undefined && (
        // biome-ignore lint/a11y/useMediaCaption: uploaded clips have no captions
        <video
          src={address}
          controls
          preload="metadata"
          className={classes.player}
          style={{ maxHeight: '16rem', width: 'auto', maxWidth: '100%' }}
          aria-label="Clip preview"
          onError={() => setUnreadable(true)}
          onLoadedMetadata={({
            currentTarget: { videoWidth: width, videoHeight: height, duration: seconds },
          }) => setClip({ bytes: file.size, picture: { width, height, seconds } })}
        />
      )}
      {picture !== undefined && (
        <Text size="xs" c="dimmed">
          {picture.width}x{picture.height}
          {Number.isFinite(picture.seconds) && `, ${picture.seconds.toFixed(1)} s`}
        </Text>
      )}
      {isUnreadable && (
        <Text size="sm" c="dimmed">
          Preview not supported by this browser; the upload may still work.
        </Text>
      )}
      {hint !== undefined && (
        <Alert color="orange" variant="light" p="xs" mt="xs">
          {hint}
        </Alert>
      )}
    </div>
  );
}

/** Selects a completed video. */
function VideoPicker(props: {
  readonly value: string;
  readonly onChange: (id: string) => void;
  readonly error: string | undefined;
}) {
  const { client } = useSession();
  const { value: videos, error } = useLoad(
    async (signal) => {
      const { data } = await client.list<Video>('v1/videos', { signal, query: { limit: 100 } });
      return data.filter(({ status }) => status === 'completed');
    },
    [client],
  );
  return (
    <Select
      label="Video"
      description="Lists the 100 most recent videos."
      placeholder={videos?.length === 0 ? 'No completed videos' : 'Select a video'}
      data={(videos ?? []).map(({ id, prompt, seconds }) => ({
        value: id,
        label: `${prompt.slice(0, 60)} (${seconds} s, …${id.slice(-6)})`,
      }))}
      value={props.value === '' ? null : props.value}
      onChange={(id) => props.onChange(id ?? '')}
      error={props.error ?? error?.message}
      searchable
    />
  );
}
