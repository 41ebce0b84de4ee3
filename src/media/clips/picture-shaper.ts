import {
  AV_BUFFERSRC_FLAG_KEEP_REF,
  AV_BUFFERSRC_FLAG_PUSH,
  type AVBufferSrcFlag,
  FFmpegError,
  Filter,
  type FilterContext,
  FilterGraph,
  FilterInOut,
  Frame,
} from 'node-av';

/** Rotation and output size of a picture. */
export interface PictureShape {
  /** Clockwise, applied before mirroring. */
  readonly rotation: 0 | 90 | 180 | 270;
  readonly mirrored: boolean;
  /** Even number of pixels. */
  readonly width: number;
  readonly height: number;
}

/** The caller keeps the frame, and the output is available immediately. */
const TAKE_NOW = (AV_BUFFERSRC_FLAG_KEEP_REF | AV_BUFFERSRC_FLAG_PUSH) as AVBufferSrcFlag;

const TURNS = { 0: [], 90: ['transpose=clock'], 180: ['hflip', 'vflip'], 270: ['transpose=cclock'] };

interface OpenGraph {
  /** Key of the input format. */
  readonly of: string;
  readonly graph: FilterGraph;
  readonly source: FilterContext;
  readonly sink: FilterContext;
}

/** Rotates, scales and converts decoded pictures to one size, 8-bit 4:2:0, limited range. */
export class PictureShaper {
  readonly #filters: string;
  #open: OpenGraph | undefined;

  constructor({ rotation, mirrored, width, height }: PictureShape) {
    this.#filters = [
      ...TURNS[rotation],
      ...(mirrored ? ['hflip'] : []),
      `scale=${width}:${height}:flags=bicubic+accurate_rnd:out_range=limited`,
      'setsar=1',
      'format=yuv420p',
    ].join(',');
  }

  /** Returns the converted picture, which the caller must free. The caller keeps `frame`. */
  async shape(frame: Frame): Promise<Frame> {
    const { source, sink } = await this.#graphFor(frame);
    FFmpegError.throwIfError(await source.buffersrcAddFrame(frame, TAKE_NOW), 'buffersrcAddFrame');
    const shaped = new Frame();
    shaped.alloc();
    try {
      FFmpegError.throwIfError(await sink.buffersinkGetFrame(shaped), 'buffersinkGetFrame');
    } catch (error) {
      shaped.free();
      throw error;
    }
    return shaped;
  }

  close(): void {
    this.#open?.graph.free();
    this.#open = undefined;
  }

  /** Returns the filter graph for the format of this picture, which may change within a stream. */
  async #graphFor(frame: Frame): Promise<OpenGraph> {
    const of = [
      `video_size=${frame.width}x${frame.height}`,
      `pix_fmt=${frame.format}`,
      'time_base=1/1',
      `colorspace=${frame.colorSpace}`,
      `range=${frame.colorRange}`,
    ].join(':');
    if (this.#open?.of !== of) {
      this.close();
      this.#open = await openGraph(of, this.#filters);
    }
    return this.#open;
  }
}

async function openGraph(of: string, filters: string): Promise<OpenGraph> {
  const graph = new FilterGraph();
  graph.alloc();
  try {
    const source = created(graph, 'buffer', of);
    const sink = created(graph, 'buffersink', null);
    // FFmpeg names the ends from the outside: the input of the filters is the output of the source, and vice
    // versa.
    const outputs = FilterInOut.createList([{ name: 'in', filterCtx: source, padIdx: 0 }]);
    const inputs = FilterInOut.createList([{ name: 'out', filterCtx: sink, padIdx: 0 }]);
    FFmpegError.throwIfError(graph.parsePtr(`[in]${filters}[out]`, inputs, outputs), 'parsePtr');
    FFmpegError.throwIfError(await graph.config(), 'config');
    return { of, graph, source, sink };
  } catch (error) {
    graph.free();
    throw error;
  }
}

function created(graph: FilterGraph, name: string, options: string | null): FilterContext {
  const filter = Filter.getByName(name);
  const context = filter && graph.createFilter(filter, name, options);
  if (context === null) throw new Error(`FFmpeg could not create the filter '${name}'`);
  return context;
}
