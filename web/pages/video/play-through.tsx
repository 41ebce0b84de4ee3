import { ActionIcon, Group, Slider, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { Icon } from '../../components/icon.tsx';
import { formatClock, momentOf, type PartLengths, positionOf } from './play-position.ts';
import classes from './video.module.css';

/**
 * Delay in seconds between `play()` and the first frame of the segment; playback is started this much before
 * the clip ends. Measured in Chromium: with it the gap is below one frame, without it 0.1 s.
 */
const START_S = 0.1;

/** Starts playback. Ignores the AbortError of a pause before playback started. */
export function start(player: HTMLVideoElement | null): void {
  player?.play().catch(() => undefined);
}

/**
 * Plays a clip and its segment without a gap. Both are loaded and stacked, so that the transition does not
 * wait for a load.
 */
export function PlayThrough({ clip, segment }: { readonly clip: string; readonly segment: string }) {
  const first = useRef<HTMLVideoElement>(null);
  const second = useRef<HTMLVideoElement>(null);
  const [lengths, setLengths] = useState<PartLengths>({ clipS: 0, segmentS: 0 });
  const [shape, setShape] = useState('16 / 9');
  const [part, setPart] = useState<'clip' | 'segment'>('clip');
  const [moment, setMoment] = useState(0);
  const [isPlaying, setPlaying] = useState(false);

  useEffect(() => {
    if (!isPlaying) return;
    const follow = () => {
      const atS = (part === 'clip' ? first : second).current?.currentTime ?? 0;
      if (part === 'clip' && lengths.clipS - atS < START_S) start(second.current);
      setMoment(momentOf({ part, atS }, lengths));
      frame = requestAnimationFrame(follow);
    };
    let frame = requestAnimationFrame(follow);
    return () => cancelAnimationFrame(frame);
  }, [isPlaying, part, lengths]);

  const seek = (atS: number) => {
    const position = positionOf(atS, lengths);
    const { current: shown } = position.part === 'clip' ? first : second;
    const { current: other } = position.part === 'clip' ? second : first;
    if (shown === null || other === null) return;
    other.pause();
    // The segment is cued at its start.
    if (position.part === 'clip') other.currentTime = 0;
    shown.currentTime = position.atS;
    setPart(position.part);
    setMoment(atS);
    if (isPlaying) start(shown);
  };
  const toggle = () => {
    const { current: shown } = part === 'clip' ? first : second;
    if (isPlaying) {
      first.current?.pause();
      second.current?.pause();
      return setPlaying(false);
    }
    setPlaying(true);
    const isOver = part === 'segment' && second.current?.ended;
    if (!isOver) return start(shown);
    seek(0);
    start(first.current);
  };
  const continueWithSegment = () => {
    setPart('segment');
    start(second.current);
  };
  const measured = (name: keyof PartLengths) => (event: { currentTarget: HTMLVideoElement }) => {
    const { duration, videoWidth, videoHeight } = event.currentTarget;
    setLengths((before) => ({ ...before, [name]: duration }));
    setShape(`${videoWidth} / ${videoHeight}`);
  };
  const total = lengths.clipS + lengths.segmentS;
  return (
    <div>
      <div className={classes.stage} style={{ aspectRatio: shape }}>
        {/* biome-ignore lint/a11y/useMediaCaption: generated videos have no captions */}
        <video
          ref={second}
          src={segment}
          preload="auto"
          playsInline
          className={part === 'segment' ? undefined : classes.behind}
          onLoadedMetadata={measured('segmentS')}
          onEnded={() => setPlaying(false)}
          aria-label="Segment"
        />
        {/* biome-ignore lint/a11y/useMediaCaption: uploaded clips have no captions */}
        <video
          ref={first}
          src={clip}
          preload="auto"
          playsInline
          className={part === 'clip' ? undefined : classes.behind}
          onLoadedMetadata={measured('clipS')}
          onEnded={continueWithSegment}
          aria-label="Clip"
        />
      </div>
      <Group gap="sm" mt="sm" wrap="nowrap">
        <ActionIcon size="lg" onClick={toggle} aria-label={isPlaying ? 'Pause' : 'Play'}>
          <Icon name={isPlaying ? 'pause' : 'play'} />
        </ActionIcon>
        <Slider
          flex={1}
          min={0}
          max={total}
          step={0.05}
          value={moment}
          onChange={seek}
          label={formatClock}
          marks={[{ value: lengths.clipS, label: 'segment' }]}
          thumbLabel="Position"
          styles={{ bar: { transition: 'none' }, thumb: { transition: 'none' } }}
          disabled={total === 0}
        />
        <Text size="sm" className="figures" miw="6.5rem" ta="right">
          {formatClock(moment)} of {formatClock(total)}
        </Text>
      </Group>
    </div>
  );
}
