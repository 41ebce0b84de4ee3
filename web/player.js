// Audio that is scheduled ahead before the first piece is heard, against a late second piece.
const LEAD_S = 0.08;

/** Plays mono pieces one after the other without a gap. */
export class Player {
  /**
   * @param audio the AudioContext that plays
   * @param onPiece called with each piece and its rate
   * @param onSilent called when everything has been heard, or was stopped
   */
  constructor(audio, { onPiece = () => {}, onSilent = () => {} } = {}) {
    this.audio = audio;
    this.onPiece = onPiece;
    this.onSilent = onSilent;
    this.endS = 0;
    this.lengthS = 0;
    this.sources = new Set();
  }

  play(samples, rateHz) {
    if (samples.length === 0) return;
    const buffer = this.audio.createBuffer(1, samples.length, rateHz);
    buffer.copyToChannel(samples, 0);
    const source = this.audio.createBufferSource();
    source.buffer = buffer;
    source.connect(this.audio.destination);
    source.onended = () => {
      this.sources.delete(source);
      if (this.sources.size === 0) this.onSilent();
    };
    this.sources.add(source);
    const startS = Math.max(this.endS, this.audio.currentTime + LEAD_S);
    source.start(startS);
    this.endS = startS + buffer.duration;
    this.lengthS += buffer.duration;
    this.onPiece(samples, rateHz);
  }

  get playing() {
    return this.sources.size > 0;
  }

  stop() {
    for (const source of this.sources) source.stop();
    this.endS = 0;
  }
}

/** 16-bit little-endian samples out of pieces that may end in the middle of one. */
export class PcmReader {
  rest = new Uint8Array(0);

  read(bytes) {
    const all = new Uint8Array(this.rest.length + bytes.length);
    all.set(this.rest);
    all.set(bytes, this.rest.length);
    const view = new DataView(all.buffer);
    const samples = new Float32Array(all.length >> 1);
    for (let at = 0; at < samples.length; at += 1) samples[at] = view.getInt16(at * 2, true) / 32768;
    this.rest = all.slice(samples.length * 2);
    return samples;
  }
}
