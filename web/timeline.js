const BAR_MS = 40;
const BAR_PX = 3;

/** The loudness of what was sent, the newest at the right, with the service's turns in colour. */
export class Timeline {
  constructor(canvas, rateHz) {
    this.canvas = canvas;
    this.step = Math.round((rateHz * BAR_MS) / 1000);
    this.clear();
    this.resized = new ResizeObserver(() => this.draw());
    this.resized.observe(canvas);
  }

  clear() {
    /** Peaks of the newest bars, and how many bars came before them. */
    this.bars = [];
    this.before = 0;
    /** Turns in ms of audio that was sent; one that goes on ends at Infinity. */
    this.turns = [];
    this.draw();
  }

  close() {
    this.resized.disconnect();
  }

  /** Adds samples that were sent: whole bars. */
  add(samples) {
    for (let at = 0; at < samples.length; at += this.step) {
      let peak = 0;
      for (const sample of samples.subarray(at, at + this.step)) peak = Math.max(peak, Math.abs(sample));
      this.bars.push(peak / 0x8000);
    }
    const most = Math.ceil(this.canvas.clientWidth / BAR_PX);
    const over = this.bars.length - most;
    if (over > 0) {
      this.bars.splice(0, over);
      this.before += over;
      this.turns = this.turns.filter(({ endMs }) => endMs > this.before * BAR_MS);
    }
    this.draw();
  }

  begin(startMs) {
    this.turns.push({ startMs, endMs: Infinity });
    this.draw();
  }

  end(endMs) {
    const turn = this.turns.at(-1);
    if (turn?.endMs === Infinity) turn.endMs = endMs;
    this.draw();
  }

  draw() {
    const { canvas, bars } = this;
    const scale = devicePixelRatio;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const paint = canvas.getContext('2d');
    paint.scale(scale, scale);
    const style = getComputedStyle(canvas);
    const [quiet, spoken] = [style.getPropertyValue('--quiet'), style.getPropertyValue('--accent')];
    bars.forEach((peak, index) => {
      const atMs = (this.before + index) * BAR_MS;
      const inTurn = this.turns.some(({ startMs, endMs }) => atMs + BAR_MS > startMs && atMs < endMs);
      // The ear hears ratios: 60 dB share the height.
      const loud = Math.max(0, 1 + Math.log10(Math.max(peak, 1e-3)) / 3);
      const tall = Math.max(2, loud * (height - 8));
      paint.fillStyle = inTurn ? spoken : quiet;
      paint.fillRect(width - (bars.length - index) * BAR_PX, (height - tall) / 2, BAR_PX - 1, tall);
    });
  }
}
